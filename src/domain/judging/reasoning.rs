//! Separates a model's reasoning from its reply: `<think>…</think>` before the reply.
//!
//! Providers that support reasoning send it in a separate field; a model behind a plain server writes it into the reply. A score within the
//! reasoning is not a verdict, so judges' replies are split before they are parsed, and benchmark answers before they are judged.

use std::sync::LazyLock;

use regex::Regex;

/// Tags around a model's reasoning. A chat template can contain the opening tag, so that only the closing one is sent.
static REASONING_TAG: LazyLock<Regex> = LazyLock::new(|| {
    let names = "(?:seed:)?think|thinking|thought|reasoning";
    Regex::new(&format!(r"(?i)<(/?)(?:{names})>|\[(/?)THINK\]")).expect("the pattern is valid")
});

/// Model output, split into reasoning and reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitReply<'t> {
    /// Reasoning before the reply; empty if the model wrote none.
    pub reasoning: &'t str,
    /// Reply after the reasoning.
    pub reply: &'t str,
}

impl<'t> SplitReply<'t> {
    /// Splits a text after its last closing tag. If it begins with an opening tag that is never closed, the judge was cut off during its
    /// reasoning, and there is no reply; an opening tag in the middle is a quotation.
    #[must_use]
    pub fn split(text: &'t str) -> Self {
        let is_closing =
            |found: &regex::Captures<'_>| (1..=2).any(|at| found.get(at).is_some_and(|sign| !sign.is_empty()));
        let first = REASONING_TAG.captures(text).and_then(|found| found.get(0));
        let opened = first.filter(|mark| text[..mark.start()].trim().is_empty() && !mark.as_str().contains('/'));
        let last = REASONING_TAG.captures_iter(text).filter(is_closing).last().and_then(|found| found.get(0));
        let begin = opened.map_or(0, |mark| mark.end());
        match last {
            Some(mark) => Self { reasoning: text[begin..mark.start()].trim(), reply: text[mark.end()..].trim_start() },
            None if opened.is_some() => Self { reasoning: text[begin..].trim(), reply: "" },
            None => Self { reasoning: "", reply: text },
        }
    }

    /// Splits the answer of an evaluated model, which may itself mention such tags: only reasoning at the beginning is removed, up to its
    /// first closing tag. If that is missing, the model was cut off during its reasoning, and there is no answer.
    #[must_use]
    pub fn split_answer(text: &'t str) -> Self {
        let mut marks = REASONING_TAG.find_iter(text);
        let whole = Self { reasoning: "", reply: text };
        let Some(first) = marks.next() else { return whole };
        let is_closing = |mark: &regex::Match<'_>| mark.as_str().contains('/');
        let (begin, close) = match is_closing(&first) {
            // The chat template contained the opening tag.
            true => (0, Some(first)),
            false if text[..first.start()].trim().is_empty() => (first.end(), marks.find(is_closing)),
            false => return whole,
        };
        match close {
            Some(mark) => Self { reasoning: text[begin..mark.start()].trim(), reply: text[mark.end()..].trim_start() },
            None => Self { reasoning: text[begin..].trim(), reply: "" },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::verdict::{Preference, VerdictError, bracketed_score, dimension_scores, pairwise};

    #[track_caller]
    fn check(text: &str, reasoning: &str, reply: &str) {
        assert_eq!(SplitReply::split(text), SplitReply { reasoning, reply }, "{text:?}");
    }

    #[test]
    fn what_stands_between_the_marks_is_reasoning() {
        check("<think>\nHm.\n</think>\n\nRating: [[7]]", "Hm.", "Rating: [[7]]");
        check(" <THINKING>a</THINKING>b", "a", "b");
        check("[THINK]a[/THINK] b", "a", "b");
        check("<seed:think>a</seed:think>b", "a", "b");
        check("<think></think>\n[[A]]", "", "[[A]]");
        check("<think>It says </think>, not [[2]].</think>[[B]]", "It says </think>, not [[2]].", "[[B]]");
    }

    #[test]
    fn a_template_can_hold_the_opening_mark() {
        check("Is it [[3]]? No.\n</think>\nRating: [[8]]", "Is it [[3]]? No.", "Rating: [[8]]");
    }

    #[test]
    fn an_answer_counts_without_the_reasoning_before_it() {
        let check = |text: &str, reasoning: &str, reply: &str| {
            assert_eq!(SplitReply::split_answer(text), SplitReply { reasoning, reply }, "{text:?}");
        };
        check("<think>Could be A or C.</think>\n\nB", "Could be A or C.", "B");
        check("Could be A.\n</think>\nB", "Could be A.", "B");
        check("<think>Maybe B. Wait", "Maybe B. Wait", "");
        check("<think></think>B", "", "B");
        check("<think>Hm.</think>Close it with </think>.", "Hm.", "Close it with </think>.");
        for answer in ["B", "", "Reasoning stands between <think> and </think>.", "Write <reasoning>."] {
            check(answer, "", answer);
        }
    }

    #[test]
    fn a_judge_that_was_cut_off_while_it_thought_replied_nothing() {
        check("<think>Perhaps [[9]]", "Perhaps [[9]]", "");
        check("<think>It quotes </think> [[2]] and <think> more", "It quotes", "[[2]] and <think> more");
    }

    #[test]
    fn a_text_without_marks_is_all_reply_and_a_quoted_mark_opens_nothing() {
        check("Rating: [[7]]", "", "Rating: [[7]]");
        check(
            "The answer begins with <think> and ends there. [[B]]",
            "",
            "The answer begins with <think> and ends there. [[B]]",
        );
        check("a < b and </thinker> [[A]]", "", "a < b and </thinker> [[A]]");
        check("", "", "");
    }

    #[test]
    fn a_reply_that_quotes_both_marks_keeps_its_verdict_at_the_end() {
        let text = "<think>[[A]]</think>It says <think>x</think> twice, so [[B]]";
        assert_eq!(pairwise::parse(SplitReply::split(text).reply), Ok(Preference::B));
    }

    #[test]
    fn no_verdict_of_the_reasoning_counts() {
        let reply = |text| SplitReply::split(text).reply;
        let only_thought = "<think>{'清晰度': 9, '综合得分': 9} [[9]] [[A]]</think>I will not say.";
        assert_eq!(bracketed_score::parse(reply(only_thought)).map(|found| found.score), Err(VerdictError::Unreadable));
        assert_eq!(pairwise::parse(reply(only_thought)), Err(VerdictError::Unreadable));
        assert!(dimension_scores::parse(reply(only_thought), &["清晰度"]).is_err());
        let both = "<think>{'清晰度': 9, '综合得分': 9}</think>{'清晰度': 3, '综合得分': 4}";
        assert!((dimension_scores::parse(reply(both), &["清晰度"]).unwrap().score - 4.0).abs() < 1e-12);
    }
}
