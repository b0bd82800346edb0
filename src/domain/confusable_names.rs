//! Detection of confusable names.

use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

/// Returns the names that differ from another one only in case, spaces, Unicode form or confusable letters (UTS 39); confusable names are
/// adjacent.
pub(crate) fn confusable_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<(String, &str)> = names.into_iter().map(|name| (confusable_skeleton(name), name)).collect();
    names.sort_unstable();
    names.dedup();
    let alike = names.chunk_by(|one, other| one.0 == other.0).filter(|names| names.len() > 1).flatten();
    alike.map(|(_, name)| (*name).to_owned()).collect()
}

/// Returns the confusability skeleton of a name (UTS 39): case-folded, without spaces and invisible characters.
fn confusable_skeleton(name: &str) -> String {
    let plain: String = name.nfkc().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    skeleton(&plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_the_same_stand_side_by_side_and_others_are_left_out() {
        // A Cyrillic letter, and an invisible character.
        let (cyrillic, invisible) = ("g\u{440}t-4", "Claude\u{200b}");
        let names = ["claude", "gpt-4o", "gpt-4", invisible, "gpt-40", "gpt-4 ", cyrillic, "gpt-4"];
        assert_eq!(confusable_names(names), [invisible, "claude", "gpt-4", "gpt-4 ", cyrillic]);
        assert!(confusable_names(["gpt-4", "gpt-4"]).is_empty(), "a name that is there twice is one name");
    }
}
