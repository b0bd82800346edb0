//! Token probabilities of the numbers in a judge's reply, and expected scores.
//!
//! A judge that says 7 may have been about to say 8. If the provider returns the probabilities p(s) of the alternative tokens at the
//! position of a score s, the expected score Σ p(s)·s ∕ Σ p(s) is finer than the sampled one (G-Eval, Liu et al. 2023, equation 1).

use serde::{Deserialize, Serialize};

use super::verdict::{Rating, Verdict, VerdictError};

/// Maximum number of tokens kept per reply: its last numbers, since a verdict is at the end.
pub const MAX_KEPT_TOKENS: usize = 64;
/// Maximum number of alternatives kept per token; no provider returns more.
pub const MAX_ALTERNATIVES: usize = 20;

/// Number token of a reply with its alternatives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberToken {
    /// Byte offset of its digits in the reply.
    pub at: usize,
    /// Digits of the token.
    pub digits: String,
    /// Numbers at the position with their probabilities, including the token itself; tokens that differ only in spaces give one number
    /// more than once. Tokens that are no numbers are left out, so the sum may be less than 1.
    pub alternatives: Vec<(String, f64)>,
}

impl NumberToken {
    /// Parses a token returned by the provider, beginning at a byte of the reply; `None` if it is not a whole number. Probabilities are
    /// natural logarithms.
    #[must_use]
    pub fn new(at: usize, token: (&str, f64), others: &[(String, f64)]) -> Option<Self> {
        let (text, log_probability) = token;
        let digits = digits(text)?;
        let mut alternatives = vec![(digits.to_owned(), probability(log_probability)?)];
        // The token itself is listed again; one that differs in spaces is another token of the same number.
        for (other, log_probability) in others.iter().take(MAX_ALTERNATIVES).filter(|(other, _)| other != text) {
            if let (Some(other), Some(probability)) = (self::digits(other), probability(*log_probability)) {
                alternatives.push((other.to_owned(), probability));
            }
        }
        Some(Self { at: at + text.len() - text.trim_start().len(), digits: digits.to_owned(), alternatives })
    }

    fn end(&self) -> usize {
        self.at + self.digits.len()
    }

    /// Whether the token is a complete number of the reply: the probabilities of a number that continues in the next token are unknown.
    fn is_whole_in(&self, reply: &str) -> bool {
        let Some(digits) = reply.get(self.at..self.end()) else { return false };
        let before = reply[..self.at].chars().next_back();
        let mut after = reply[self.end()..].chars();
        let (next, second) = (after.next(), after.next());
        let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
        let begins_before = is_digit(before) || matches!(before, Some('.' | '-'));
        let goes_on = is_digit(next) || (next == Some('.') && is_digit(second));
        digits == self.digits && !begins_before && !goes_on
    }

    fn replaced_in(&self, reply: &str, number: &str) -> String {
        [&reply[..self.at], number, &reply[self.end()..]].concat()
    }
}

/// Returns the digits of a number token, without surrounding spaces.
fn digits(token: &str) -> Option<&str> {
    let digits = token.trim();
    (!digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// Converts a log probability; `None` for a value outside the valid range, which a faulty provider may send.
fn probability(logarithm: f64) -> Option<f64> {
    Some(logarithm.exp()).filter(|probability| (0.0..=1.0 + 1e-6).contains(probability))
}

/// Computes the expected score of a reply over the alternatives of its decisive number; `score` parses a reply. The decisive number is the
/// last one whose replacement changes the score. Returns `None` if the reply has no score, or that number's alternatives are unknown.
pub fn expected_score(reply: &str, numbers: &[NumberToken], score: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let given = score(reply)?;
    let decides = |number: &&NumberToken| {
        let other = if number.digits == "3" { "4" } else { "3" };
        number.is_whole_in(reply) && score(&number.replaced_in(reply, other)) != Some(given)
    };
    let number = numbers.iter().rev().find(decides)?;
    let (mut sum, mut mass) = (0.0, 0.0);
    for (digits, probability) in &number.alternatives {
        // A value outside the scale is not a score.
        let Some(score) = score(&number.replaced_in(reply, digits)) else { continue };
        sum += probability * score;
        mass += probability;
    }
    (mass > 0.0).then(|| sum / mass)
}

/// Parses a verdict and replaces its written score by the [expected score](expected_score); other verdicts, and scores without known
/// alternatives, are unchanged. `parse` parses a reply.
#[must_use]
pub fn expected_verdict(
    verdict: Verdict,
    reply: &str,
    numbers: &[NumberToken],
    parse: impl Fn(&str) -> Result<Verdict, VerdictError>,
) -> Verdict {
    let score = |reply: &str| match parse(reply) {
        Ok(Verdict::Rating(rating)) => Some(rating.score),
        _ => None,
    };
    match (verdict, expected_score(reply, numbers, score)) {
        (Verdict::Rating(rating), Some(score)) => {
            Verdict::Rating(Rating { score, written: Some(rating.score), ..rating })
        }
        (verdict, _) => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::verdict::{bracketed_score, dimension_scores};

    /// Reply of tokens that are given with their alternatives and probabilities.
    fn reply(tokens: &[(&str, &[(&str, f64)])]) -> (String, Vec<NumberToken>) {
        let (mut text, mut numbers) = (String::new(), Vec::new());
        for (token, others) in tokens {
            let others: Vec<_> = others.iter().map(|(token, share)| ((*token).to_owned(), share.ln())).collect();
            let own = others.iter().find(|(other, _)| other == token).map_or(0.0, |(_, own)| *own);
            numbers.extend(NumberToken::new(text.len(), (token, own), &others));
            text.push_str(token);
        }
        (text, numbers)
    }

    #[track_caller]
    fn check(tokens: &[(&str, &[(&str, f64)])], expected: Option<f64>) {
        let (text, numbers) = reply(tokens);
        let score =
            expected_score(&text, &numbers, |text| bracketed_score::parse(text).ok().map(|rating| rating.score));
        let is_near = match (score, expected) {
            (Some(score), Some(expected)) => (score - expected).abs() < 1e-12,
            (score, expected) => score == expected,
        };
        assert!(is_near, "{text}: {score:?} instead of {expected:?}");
    }

    #[test]
    fn a_score_is_the_mean_over_what_could_have_been_said() {
        check(&[("Rating: [[", &[]), ("7", &[("7", 0.6), ("8", 0.3), ("6", 0.1)]), ("]]", &[])], Some(7.2));
        check(&[("Rating: [[", &[]), (" 7", &[(" 7", 0.5), ("8", 0.5), (" 8", 0.0)]), ("]]", &[])], Some(7.5));
        check(&[("Rating: [[", &[]), ("7", &[("7", 0.25), ("9", 0.25), ("good", 0.5)]), ("]]", &[])], Some(8.0));
        let spaced: &[(&str, f64)] = &[("7", 0.5), (" 7", 0.2), ("8", 0.2), (" 8", 0.1)];
        check(&[("Rating: [[", &[]), ("7", spaced), ("]]", &[])], Some(7.3));
    }

    #[test]
    fn what_is_outside_the_scale_is_no_score() {
        check(&[("Rating: [[", &[]), ("9", &[("9", 0.5), ("0", 0.2), ("99", 0.3)]), ("]]", &[])], Some(9.0));
    }

    #[test]
    fn the_number_that_decides_is_found_wherever_it_stands() {
        let sure: &[(&str, f64)] = &[("1", 1.0)];
        let torn: &[(&str, f64)] = &[("6", 0.5), ("4", 0.5)];
        check(&[("[[", &[]), ("6", torn), ("]] Of points 1 to ", &[]), ("1", sure), (".", &[])], Some(5.0));
        let (text, numbers) = reply(&[
            ("{'清晰度': ", &[]),
            ("9", &[("9", 0.5), ("1", 0.5)]),
            (", '综合得分': ", &[]),
            ("6", torn),
            ("}", &[]),
        ]);
        let overall = |text: &str| dimension_scores::parse(text, &["清晰度"]).ok().map(|rating| rating.score);
        assert_eq!(expected_score(&text, &numbers, overall), Some(5.0));
    }

    #[test]
    fn of_a_number_in_two_tokens_nothing_is_known() {
        let torn: &[(&str, f64)] = &[("1", 0.5), ("9", 0.5)];
        check(&[("Rating: [[", &[]), ("1", torn), ("0", &[("0", 1.0)]), ("]]", &[])], None);
        check(
            &[("Rating: [[", &[]), ("7", &[("7", 0.5), ("8", 0.5)]), (".", &[]), ("5", &[("5", 1.0)]), ("]]", &[])],
            None,
        );
    }

    #[test]
    fn a_provider_that_lies_changes_no_score() {
        check(
            &[("Rating: [[", &[]), ("7", &[("7", 0.5), ("1", f64::INFINITY), ("2", f64::NAN)]), ("]]", &[])],
            Some(7.0),
        );
        let elsewhere = NumberToken { at: 400, digits: "7".to_owned(), alternatives: vec![("1".to_owned(), 1.0)] };
        let score = |text: &str| bracketed_score::parse(text).ok().map(|rating| rating.score);
        assert_eq!(expected_score("Rating: [[7]]", std::slice::from_ref(&elsewhere), score), None);
        assert_eq!(expected_score("评分：[[7]]", &[NumberToken { at: 1, ..elsewhere }], score), None);
        assert_eq!(expected_score("no score", &[], score), None);
    }
}
