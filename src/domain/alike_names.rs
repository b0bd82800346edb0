//! Names that most readers take for one.

use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

/// The names that differ from another one only in case, spaces, Unicode form or letters that look alike (UTS 39); those that look the same
/// stand side by side.
pub(crate) fn alike_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<(String, &str)> = names.into_iter().map(|name| (look(name), name)).collect();
    names.sort_unstable();
    names.dedup();
    let alike = names.chunk_by(|one, other| one.0 == other.0).filter(|names| names.len() > 1).flatten();
    alike.map(|(_, name)| (*name).to_owned()).collect()
}

/// What a reader sees of a name.
fn look(name: &str) -> String {
    let plain: String = name.nfkc().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    skeleton(&plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_the_same_stand_side_by_side_and_others_are_left_out() {
        // A Cyrillic letter, and a character that is not seen.
        let (cyrillic, invisible) = ("g\u{440}t-4", "Claude\u{200b}");
        let names = ["claude", "gpt-4o", "gpt-4", invisible, "gpt-40", "gpt-4 ", cyrillic, "gpt-4"];
        assert_eq!(alike_names(names), [invisible, "claude", "gpt-4", "gpt-4 ", cyrillic]);
        assert!(alike_names(["gpt-4", "gpt-4"]).is_empty(), "a name that is there twice is one name");
    }
}
