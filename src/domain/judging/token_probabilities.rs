//! How sure a judge was of the numbers in its reply, and the score that is expected over what it could have said.
//!
//! A judge that says 7 may have been about to say 8. Where the provider returns the probabilities p(s) of the tokens that could have
//! stood in the place of a score s, the expected score Σ p(s)·s ∕ Σ p(s) is finer than the one that was drawn (G-Eval, Liu et al.
//! 2023, equation 1).

use serde::{Deserialize, Serialize};

use super::verdict::{Rating, Verdict, VerdictError};

/// Tokens of a reply that are kept: its last numbers. A verdict stands at the end.
pub const MOST_NUMBERS: usize = 64;
/// Alternatives that are kept of each; no provider returns more.
pub const MOST_ALTERNATIVES: usize = 20;

/// A token of a reply that is a number, with what could have stood in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberToken {
    /// Where its digits begin in the reply, in bytes.
    pub at: usize,
    /// Its digits.
    pub digits: String,
    /// Numbers in its place with their probabilities, itself among them. What is no number is left out, so that the sum may be
    /// less than 1.
    pub alternatives: Vec<(String, f64)>,
}

impl NumberToken {
    /// A token as the provider returns it, beginning at a byte of the reply; none where it is no whole number. Probabilities come as
    /// natural logarithms.
    #[must_use]
    pub fn new(at: usize, token: (&str, f64), others: &[(String, f64)]) -> Option<Self> {
        let (text, log_probability) = token;
        let digits = digits(text)?;
        let mut alternatives = vec![(digits.to_owned(), probability(log_probability)?)];
        for (other, log_probability) in others.iter().take(MOST_ALTERNATIVES) {
            let (Some(other), Some(probability)) = (self::digits(other), probability(*log_probability)) else {
                continue;
            };
            // The token itself is listed once more, and some tokens differ in their spaces alone.
            if other != digits {
                alternatives.push((other.to_owned(), probability));
            }
        }
        Some(Self { at: at + text.len() - text.trim_start().len(), digits: digits.to_owned(), alternatives })
    }

    fn end(&self) -> usize {
        self.at + self.digits.len()
    }

    /// Whether it is a whole number of the reply by itself: of one that goes on in the next token the probabilities are not known.
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

/// The number that a token is, without spaces around it.
fn digits(token: &str) -> Option<&str> {
    let digits = token.trim();
    (!digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// A provider that lies may send anything.
fn probability(logarithm: f64) -> Option<f64> {
    Some(logarithm.exp()).filter(|probability| (0.0..=1.0 + 1e-6).contains(probability))
}

/// The score of a reply, expected over what could have stood in the place of the number that decides it. `score` reads a reply. The
/// number is found by putting another one in its place: the last one that changes the score decides it. None where the reply has
/// no score, or nothing is known of that number.
pub fn expected_score(reply: &str, numbers: &[NumberToken], score: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let given = score(reply)?;
    let decides = |number: &&NumberToken| {
        let other = if number.digits == "3" { "4" } else { "3" };
        number.is_whole_in(reply) && score(&number.replaced_in(reply, other)) != Some(given)
    };
    let number = numbers.iter().rev().find(decides)?;
    let (mut sum, mut mass) = (0.0, 0.0);
    for (digits, probability) in &number.alternatives {
        // What is outside the scale is no score.
        let Some(score) = score(&number.replaced_in(reply, digits)) else { continue };
        sum += probability * score;
        mass += probability;
    }
    (mass > 0.0).then(|| sum / mass)
}

/// A verdict with its [expected score](expected_score) in the place of the written one; other verdicts, and scores of which nothing
/// is known, stay as they are. `parse` reads a reply.
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
    use crate::judging::verdict::{dictionary, rating};

    /// A reply whose tokens are given with the numbers in their places and their probabilities.
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
        let score = expected_score(&text, &numbers, |text| rating::parse(text).ok().map(|rating| rating.score));
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
        let overall = |text: &str| dictionary::parse(text, &["清晰度"]).ok().map(|rating| rating.score);
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
        let score = |text: &str| rating::parse(text).ok().map(|rating| rating.score);
        assert_eq!(expected_score("Rating: [[7]]", std::slice::from_ref(&elsewhere), score), None);
        assert_eq!(expected_score("评分：[[7]]", &[NumberToken { at: 1, ..elsewhere }], score), None);
        assert_eq!(expected_score("no score", &[], score), None);
    }
}
