//! Name patterns: `*` matches any text, `?` one character; matching ignores case.

/// Pattern such as `qwen/*` or `*instruct*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wildcard {
    pattern: Vec<char>,
}

impl Wildcard {
    /// Compiles a pattern; one without `*` and `?` matches only itself.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self { pattern: fold_case(pattern) }
    }

    /// Whether the whole name matches. Takes at most as many steps as the product of both lengths.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (&self.pattern, fold_case(name));
        let (mut at, mut read) = (0, 0);
        // Position of the last star, and the end of the text that it matches so far.
        let mut star: Option<(usize, usize)> = None;
        while read < name.len() {
            match pattern.get(at) {
                Some('*') => {
                    star = Some((at, read));
                    at += 1;
                }
                Some(&c) if c == '?' || c == name[read] => (at, read) = (at + 1, read + 1),
                _ => {
                    let Some((back, taken)) = star else { return false };
                    (at, read) = (back + 1, taken + 1);
                    star = Some((back, taken + 1));
                }
            }
        }
        pattern[at..].iter().all(|&c| c == '*')
    }
}

fn fold_case(text: &str) -> Vec<char> {
    text.to_lowercase().chars().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_other_characters() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "openai/gpt-4o", true),
            ("openai/*", "openai/gpt-4o", true),
            ("openai/*", "x-openai/gpt-4o", false),
            ("*GPT*", "openai/gpt-4o", true),
            ("qwen?-7b", "Qwen2-7B", true),
            ("qwen?-7b", "qwen-7b", false),
            ("*a*b", "aab-ab", true),
            ("*a*b", "aab-a", false),
            ("千*", "千问", true),
            ("", "a", false),
            ("abc", "abcd", false),
        ] {
            assert_eq!(Wildcard::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_longer_than_the_product_of_the_lengths() {
        // Exponential matching would not end within the age of the universe.
        assert!(!Wildcard::new(&format!("{}b", "a*".repeat(40))).matches(&"a".repeat(2_000)));
    }
}
