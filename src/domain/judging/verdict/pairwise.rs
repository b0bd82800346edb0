//! Parses `[[A]]`, `[[B]]` or `[[C]]` (a tie), or one of the five verdicts from `[[A>>B]]` to `[[B>>A]]`, and combines the two games of a
//! pair. The last mark is used; a list of different verdicts repeats the requested format and is not a verdict.
//!
//! Each question is judged twice with the sides swapped. With three verdicts a model wins only if it wins both games. With five, as in
//! Arena-Hard (Li et al. 2024, arXiv 2406.11939; `show_result.py` of arena-hard-auto, `weight=3`), each game counts separately, and a clear
//! verdict as three slight ones.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::{Verdict, VerdictError, no_verdict};

/// Preference of a judge between the two answers that it saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    /// First answer.
    A,
    /// Second answer.
    B,
    /// Neither answer.
    Tie,
}

/// Result of both games for the model against the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// Both games prefer the model.
    Win,
    /// The games disagree, or one says tie.
    Tie,
    /// Both games prefer the baseline.
    Loss,
}

/// Margin of a judge's preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Margin {
    /// One answer is slightly better, or neither is.
    Slight,
    /// One answer is much better.
    Clear,
}

impl Margin {
    /// Returns the number of votes that a verdict counts as.
    #[must_use]
    pub fn votes(self) -> u16 {
        match self {
            Self::Slight => 1,
            Self::Clear => 3,
        }
    }
}

/// Set of verdicts that a judge can choose from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum VerdictScale {
    /// A is better, B is better, or a tie.
    #[default]
    Three,
    /// A or B is slightly or much better, or a tie.
    Five,
}

impl VerdictScale {
    /// Parses the last verdict mark.
    ///
    /// # Errors
    /// [`VerdictError`] if the reply has none of these verdicts.
    pub fn parse(self, reply: &str) -> Result<Verdict, VerdictError> {
        match self {
            Self::Three => parse(reply).map(|winner| Verdict::Pair { winner, margin: None }),
            Self::Five => {
                parse_five_levels(reply).map(|(winner, margin)| Verdict::Pair { winner, margin: Some(margin) })
            }
        }
    }
}

static FIVE_LEVEL_MARK: LazyLock<Regex> = LazyLock::new(|| {
    let side = "([ABＡＢ])";
    Regex::new(&format!(r"(?:\[\[|【【|［［)\s*{side}\s*([<>＜＞=＝]{{1,2}})\s*{side}\s*(?:\]\]|】】|］］)"))
        .expect("the pattern is valid")
});

/// Parses the last of the five verdicts in either direction: `[[A>>B]]` means the same as `[[B<<A]]`.
fn parse_five_levels(reply: &str) -> Result<(Preference, Margin), VerdictError> {
    let read = |found: regex::Captures<'_>| {
        let (left, right) = match (&found[1], &found[3]) {
            ("A" | "Ａ", "B" | "Ｂ") => (Preference::A, Preference::B),
            ("B" | "Ｂ", "A" | "Ａ") => (Preference::B, Preference::A),
            _ => return None,
        };
        match &found[2] {
            ">>" | "＞＞" => Some((left, Margin::Clear)),
            ">" | "＞" => Some((left, Margin::Slight)),
            "=" | "＝" => Some((Preference::Tie, Margin::Slight)),
            "<" | "＜" => Some((right, Margin::Slight)),
            "<<" | "＜＜" => Some((right, Margin::Clear)),
            _ => None,
        }
    };
    let marks = FIVE_LEVEL_MARK
        .captures_iter(reply)
        .filter_map(|found| Some(VerdictMark { range: found.get(0)?.range(), says: read(found)? }));
    last_outside_lists(reply, marks.collect()).ok_or_else(|| no_verdict(reply))
}

static VERDICT_MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:\[\[|【【|［［)\s*([ABCＡＢＣ])\s*(?:\]\]|】】|］］)").expect("the pattern is valid")
});

/// Parses the last verdict mark.
///
/// # Errors
/// [`VerdictError`] if the reply has none.
pub fn parse(reply: &str) -> Result<Preference, VerdictError> {
    let read = |found: regex::Captures<'_>| {
        let says = match &found[1] {
            "A" | "Ａ" => Preference::A,
            "B" | "Ｂ" => Preference::B,
            _ => Preference::Tie,
        };
        Some(VerdictMark { range: found.get(0)?.range(), says })
    };
    last_outside_lists(reply, VERDICT_MARK.captures_iter(reply).filter_map(read).collect())
        .ok_or_else(|| no_verdict(reply))
}

/// Verdict in its brackets.
struct VerdictMark<T> {
    range: Range<usize>,
    says: T,
}

/// Separator between the marks of a list.
static LIST_SEPARATOR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^(?:[ \t\x{3000},，、;；/|"'“”‘’「」『』`*]|\b(?i:or|and)\b|或者?|和)*$"#)
        .expect("the pattern is valid")
});

/// Separator between marks of a list with the condition of each verdict.
static CONDITION_SEPARATOR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^[\s,，、;；"'“”‘’「」『』`*]*(?:(?i:if|when|where|for)\b|如果|若|助手)[^.。!?！？\n]{0,80}$"#)
        .expect("the pattern is valid")
});

/// Minimum number of verdicts in a list with conditions: it names all of them.
const MIN_LISTED_VERDICTS: usize = 3;

/// Returns the last verdict that is not in a list of different verdicts.
fn last_outside_lists<T: Copy + PartialEq>(reply: &str, marks: Vec<VerdictMark<T>>) -> Option<T> {
    let between = |one: &VerdictMark<T>, other: &VerdictMark<T>| &reply[one.range.end..other.range.start];
    let is_list = |one: &VerdictMark<T>, other: &VerdictMark<T>| LIST_SEPARATOR.is_match(between(one, other));
    let is_form = |one: &VerdictMark<T>, other: &VerdictMark<T>| {
        is_list(one, other) || CONDITION_SEPARATOR.is_match(between(one, other))
    };
    let outside =
        marks.chunk_by(is_form).filter(|run| different(run.iter()) < MIN_LISTED_VERDICTS).flatten().collect::<Vec<_>>();
    let outside = outside.chunk_by(|one, other| is_list(one, other)).filter(|run| different(run.iter().copied()) < 2);
    outside.flatten().next_back().map(|mark| mark.says)
}

/// Counts the different verdicts of marks.
fn different<'m, T: Copy + PartialEq + 'm>(marks: impl IntoIterator<Item = &'m VerdictMark<T>>) -> usize {
    let mut known: Vec<T> = Vec::new();
    for mark in marks {
        if !known.contains(&mark.says) {
            known.push(mark.says);
        }
    }
    known.len()
}

/// Combines two games: the model is A in the first and B in the second.
#[must_use]
pub fn both_games(first: Preference, second: Preference) -> GameResult {
    match (first, second) {
        (Preference::A, Preference::B) => GameResult::Win,
        (Preference::B, Preference::A) => GameResult::Loss,
        _ => GameResult::Tie,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: Result<Preference, VerdictError>) {
        assert_eq!(parse(reply), expected, "{reply:?}");
    }

    #[test]
    fn the_last_token_counts() {
        check("… [[A]]", Ok(Preference::A));
        check("[[B]] because", Ok(Preference::B));
        check("[[ C ]]", Ok(Preference::Tie));
        check("not [[A]] but [[B]]", Ok(Preference::B));
        check("判定：【【A】】", Ok(Preference::A));
        check("判定：【【Ａ】】", Ok(Preference::A));
        check("判定：［［Ｂ］］", Ok(Preference::B));
        check("判定：［［C］］", Ok(Preference::Tie));
    }

    #[test]
    fn five_levels_are_read_from_either_side() {
        use Margin::{Clear, Slight};
        let check = |reply: &str, winner, margin| {
            assert_eq!(
                VerdictScale::Five.parse(reply),
                Ok(Verdict::Pair { winner, margin: Some(margin) }),
                "{reply:?}"
            );
        };
        check("My final verdict is [[A>>B]]", Preference::A, Clear);
        check("[[A>B]].", Preference::A, Slight);
        check("My final verdict is tie: [[A=B]]", Preference::Tie, Slight);
        check("[[B=A]]", Preference::Tie, Slight);
        check("[[B>A]]", Preference::B, Slight);
        check("[[B>>A]]", Preference::B, Clear);
        check("[[A<<B]]", Preference::B, Clear);
        check("[[B < A]]", Preference::A, Slight);
        check("判定：【【A＞＞B】】", Preference::A, Clear);
        check("判定：［［Ｂ＞Ａ］］", Preference::B, Slight);
        check("not [[A>>B]] but [[B>A]]", Preference::B, Slight);
    }

    #[test]
    fn each_form_is_read_where_it_was_asked_for() {
        let unreadable = Err(VerdictError::Unreadable);
        for reply in ["[[A]]", "[[C]]", "[[A>A]]", "[[A>=B]]", "[[A<>B]]", "A>>B", ""] {
            assert_eq!(VerdictScale::Five.parse(reply), unreadable, "{reply:?}");
        }
        assert_eq!(VerdictScale::Three.parse("[[A>>B]]"), unreadable);
        assert_eq!(VerdictScale::Three.parse("[[B]]"), Ok(Verdict::Pair { winner: Preference::B, margin: None }));
        assert_eq!(VerdictScale::Five.parse("I'm sorry, no."), Err(VerdictError::Refused));
    }

    #[test]
    fn a_reply_without_a_token_is_an_error() {
        check("I prefer A", Err(VerdictError::Unreadable));
        check("[[D]]", Err(VerdictError::Unreadable));
        check("", Err(VerdictError::Unreadable));
    }
    #[test]
    fn the_form_repeated_is_no_verdict() {
        let form = "(Format: [[A]], [[B]] or [[C]])";
        check(&format!("[[B]]. {form}"), Ok(Preference::B));
        check(&format!("{form} [[B]]"), Ok(Preference::B));
        check(&format!("[[B]]\n{}", &form[9..]), Ok(Preference::B));
        check(form, Err(VerdictError::Unreadable));
        check("最后请写“[[A]]”、“[[B]]”或“[[C]]”。", Err(VerdictError::Unreadable));
        check("[[A]] or [[B]]", Err(VerdictError::Unreadable));
        let asked = "\"[[A]]\" if assistant A is better, \"[[B]]\" if assistant B is better, \"[[C]]\" for a tie.";
        check(&format!("My verdict: [[A]]. I was to write {asked}"), Ok(Preference::A));
        let chinese = "如果助手A更好，写“[[A]]”；如果助手B更好，写“[[B]]”；如果不分上下，写“[[C]]”。";
        check(&format!("判定：[[B]]。{chinese}"), Ok(Preference::B));
        check(chinese, Err(VerdictError::Unreadable));
        check("[[A]], [[A]]", Ok(Preference::A));
        check("[[A]] for its style, but [[B]]", Ok(Preference::B));
        let five = "[[A>>B]], [[A>B]], [[A=B]], [[B>A]] or [[B>>A]]";
        let clear = Verdict::Pair { winner: Preference::A, margin: Some(Margin::Clear) };
        assert_eq!(VerdictScale::Five.parse(&format!("[[A>>B]] (one of {five})")), Ok(clear));
        assert_eq!(VerdictScale::Five.parse(five), Err(VerdictError::Unreadable));
    }
}
