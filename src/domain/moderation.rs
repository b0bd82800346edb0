//! Maps the moderation categories of a text to accept, review or refuse; the settings list the categories that refuse a prompt and those
//! that only flag it for review.

use std::str::FromStr;

/// Wildcard for all categories in a list.
pub const ANY_CATEGORY: &str = "*";
/// Category of a text that a service flags without a category, or with one that has no plain name.
pub const OTHER_CATEGORY: &str = "other";
/// Maximum number of categories named in a decision.
const MAX_CATEGORIES: usize = 32;

/// Moderation decision on a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModerationResult {
    /// No listed category was found.
    Allowed,
    /// The text is put before a reviewer; the battle continues.
    Flagged(Vec<String>),
    /// The prompt is refused, and no model is asked.
    Refused(Vec<String>),
}

impl ModerationResult {
    /// Returns the decision's name in metrics.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Flagged(_) => "flagged",
            Self::Refused(_) => "refused",
        }
    }
}

/// Categories that refuse and categories that flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CategoryRules<'r> {
    /// Categories that refuse.
    pub refuse: &'r [String],
    /// Categories that flag.
    pub flag: &'r [String],
}

impl CategoryRules<'_> {
    /// Decides on a text in which a service found these categories.
    #[must_use]
    pub fn apply(self, found: &[String]) -> ModerationResult {
        let named = |list: &[String]| -> Vec<String> {
            let is_named = |category: &&String| list.iter().any(|name| name == ANY_CATEGORY || name == *category);
            found.iter().filter(is_named).take(MAX_CATEGORIES).cloned().collect()
        };
        match (named(self.refuse), named(self.flag)) {
            (refused, _) if !refused.is_empty() => ModerationResult::Refused(refused),
            (_, flagged) if !flagged.is_empty() => ModerationResult::Flagged(flagged),
            _ => ModerationResult::Allowed,
        }
    }
}

/// Returns the plain names of an answer's categories, sorted and without duplicates; a flag without any becomes [`OTHER_CATEGORY`].
#[must_use]
pub fn plain_categories<'c>(found: impl Iterator<Item = &'c str>, is_flagged: bool) -> Vec<String> {
    let mut names: Vec<String> =
        found.map(|name| if is_category(name) { name } else { OTHER_CATEGORY }.to_owned()).collect();
    if names.is_empty() && is_flagged {
        names.push(OTHER_CATEGORY.to_owned());
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether a category can be named in settings and lists.
#[must_use]
pub fn is_category(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-".contains(&byte))
}

/// Part of a turn that a flag refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeratedPart {
    /// The visitor's prompt.
    Prompt,
    /// The reply of side A.
    ReplyA,
    /// The reply of side B.
    ReplyB,
}

/// Review state of a moderation flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModerationFlagState {
    /// Not decided yet.
    Open,
    /// The reviewer kept the text.
    Kept,
    /// The text was deleted.
    Removed,
}

/// Error of an unknown part or state name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown part or state of a flag")]
pub struct UnknownFlagName;

impl ModeratedPart {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Prompt, Self::ReplyA, Self::ReplyB];

    /// Returns the name in the database and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::ReplyA => "reply_a",
            Self::ReplyB => "reply_b",
        }
    }
}

impl ModerationFlagState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Open, Self::Kept, Self::Removed];

    /// Returns the name in the database and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Kept => "kept",
            Self::Removed => "removed",
        }
    }
}

impl FromStr for ModeratedPart {
    type Err = UnknownFlagName;

    fn from_str(text: &str) -> Result<Self, UnknownFlagName> {
        Self::ALL.into_iter().find(|part| part.as_str() == text).ok_or(UnknownFlagName)
    }
}

impl FromStr for ModerationFlagState {
    type Err = UnknownFlagName;

    fn from_str(text: &str) -> Result<Self, UnknownFlagName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(UnknownFlagName)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn what_refuses_wins_over_what_flags_and_the_star_stands_for_all() {
        let (refuse, flag) = (names(&["sexual/minors"]), names(&["*"]));
        let rules = CategoryRules { refuse: &refuse, flag: &flag };
        assert_eq!(rules.apply(&[]), ModerationResult::Allowed);
        assert_eq!(rules.apply(&names(&["hate"])), ModerationResult::Flagged(names(&["hate"])));
        assert_eq!(rules.apply(&names(&["hate", "sexual/minors"])), ModerationResult::Refused(refuse.clone()));
        let only = CategoryRules { refuse: &[], flag: &names(&["violence"]) }.apply(&names(&["hate"]));
        assert_eq!(only, ModerationResult::Allowed, "a category that nobody names changes nothing");
        let all = CategoryRules { refuse: &names(&["*"]), flag: &[] }.apply(&names(&["hate"]));
        assert_eq!(all, ModerationResult::Refused(names(&["hate"])));
    }

    #[test]
    fn names_of_categories_are_plain_and_a_flag_without_any_has_one() {
        let of = |found: &[&str], flagged| plain_categories(found.iter().copied(), flagged);
        assert_eq!(of(&["self-harm/intent", "hate", "hate"], true), ["hate", "self-harm/intent"]);
        assert_eq!(of(&["<b>", "a,b", "", &"x".repeat(65)], true), ["other"]);
        assert_eq!(of(&[], true), ["other"]);
        assert!(of(&[], false).is_empty());
    }

    #[test]
    fn a_rule_holds_however_many_categories_a_service_finds() {
        let mut found: Vec<String> = (0..100).map(|n| format!("c{n}")).collect();
        found.push("violence".to_owned());
        let found = plain_categories(found.iter().map(String::as_str), true);
        let refuse = ["violence".to_owned()];
        let named = CategoryRules { refuse: &refuse, flag: &[] }.apply(&found);
        assert_eq!(named, ModerationResult::Refused(refuse.to_vec()));
        let any = [ANY_CATEGORY.to_owned()];
        let ModerationResult::Flagged(kept) = (CategoryRules { refuse: &[], flag: &any }).apply(&found) else {
            panic!()
        };
        assert_eq!(kept.len(), MAX_CATEGORIES);
    }
}
