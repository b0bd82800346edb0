//! Texts on the robustness of a leaderboard, as questions and answers for readers without statistics.

mod chinese;
mod english;

use crate::domain::rating::robustness::{OverallRobustness, TieOrder};
use crate::i18n::without_spaces_between_han;

pub(super) use chinese::CHINESE;
pub(super) use english::ENGLISH;

/// Significance level below which a result is reported.
const SIGNIFICANT: f64 = 0.05;

/// The texts of one language.
pub struct RobustnessTexts {
    pub title: &'static str,
    /// `{votes}` and `{time}` are filled in.
    pub computed: &'static str,
    answers: fn(&OverallRobustness, &Naming<'_>) -> Vec<RobustnessAnswer>,
}

/// Function from a model to its display name.
pub(super) type Naming<'a> = dyn Fn(&str) -> String + 'a;

/// Question of a reader with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustnessAnswer {
    pub question: &'static str,
    pub text: String,
}

impl RobustnessTexts {
    /// Renders a report; `name` returns the display name of a model. Empty if no votes compare two models.
    pub fn answers(&self, report: &OverallRobustness, name: impl Fn(&str) -> String) -> Vec<RobustnessAnswer> {
        let mut answers = if report.first_place.is_none() { Vec::new() } else { (self.answers)(report, &name) };
        for answer in &mut answers {
            answer.text = without_spaces_between_han(&answer.text);
        }
        answers
    }
}

/// Formats a difference of ratings.
fn points(difference: f64) -> String {
    if difference.abs() < 10.0 { format!("{difference:.1}") } else { format!("{difference:.0}") }
}

/// Formats a share in percent, never as 0 for a positive share.
fn percent(share: f64) -> String {
    match 100.0 * share {
        tiny if tiny > 0.0 && tiny < 0.01 => "< 0.01".to_owned(),
        small if small < 1.0 => format!("{small:.2}"),
        some if some < 10.0 => format!("{some:.1}"),
        much => format!("{much:.0}"),
    }
}

/// Formats a p-value as cases in 100; `None` below 0.01.
fn times_in_100(p: f64) -> Option<String> {
    (p >= 0.01).then(|| format!("{:.0}", 100.0 * p))
}

/// Formats a mean count.
fn mean_number(mean: f64) -> String {
    if mean < 10.0 { format!("{mean:.1}") } else { format!("{mean:.0}") }
}

fn is_significant(p: f64) -> bool {
    p <= SIGNIFICANT
}

/// Median of the deciles.
fn median(deciles: &[f64]) -> f64 {
    deciles.get(deciles.len() / 2).copied().unwrap_or_default()
}

/// Whether the same models are first under every rule.
fn agree_on_first(orders: &[TieOrder]) -> bool {
    orders.windows(2).all(|two| two[0].first == two[1].first)
}

/// The order with the largest move of a model.
fn largest_rank_move(orders: &[TieOrder]) -> Option<&TieOrder> {
    let distance = |order: &&TieOrder| order.largest_move.as_ref().map(|moved| moved.place.abs_diff(moved.published));
    orders.iter().max_by_key(distance).filter(|order| order.largest_move.is_some())
}

#[cfg(test)]
mod tests;
