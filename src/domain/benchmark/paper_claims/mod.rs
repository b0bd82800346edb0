//! Claims of the papers about their own results, recomputed from their printed tables.
//!
//! A [`Claim`] compares the numbers of a paper's text with those that follow from its tables ([`published`] and the few counts here).
//! Nothing is stored: [`all`] computes them on each call. If a printed number does not follow from the printed table, the claim describes
//! the contradiction.

mod alignbench;
mod mtbench101;
mod superclue;
mod urs;

use schemars::JsonSchema;
use serde::Serialize;

use super::published::{self, Published};

/// Text in both languages of the pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BilingualText {
    /// English text.
    pub en: String,
    /// Chinese text.
    pub zh: String,
}

impl BilingualText {
    fn new(en: &str, zh: &str) -> Self {
        Self { en: en.to_owned(), zh: zh.to_owned() }
    }
}

/// Result of comparing a paper's numbers with its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// All printed numbers agree.
    Reproduced,
    /// At least one printed number disagrees.
    Contradiction,
    /// The paper has no printed number to compare with.
    NotPrinted,
}

/// Number of a paper, printed or computed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Number {
    /// Name of the number.
    pub name: BilingualText,
    /// Number as printed in the paper; `None` if it is not.
    pub printed: Option<String>,
    /// Recomputed number.
    pub ours: f64,
    /// Decimals of the recomputed number.
    pub decimals: usize,
    /// Maximum deviation of the recomputed from the printed number.
    pub tolerance: f64,
    /// Whether the deviation is within the tolerance; `None` without a printed number.
    pub agrees: Option<bool>,
}

impl Number {
    /// Formats the recomputed number.
    #[must_use]
    pub fn written(&self) -> String {
        format!("{:.*}", self.decimals, self.ours)
    }

    /// Compares a number with a printed one, within half a unit of the last printed digit.
    fn compare_with_printed(name: BilingualText, printed: &str, ours: f64) -> Self {
        let decimals = printed.split_once('.').map_or(0, |(_, behind)| behind.len());
        let places = u8::try_from(decimals).unwrap_or(u8::MAX);
        let tolerance = 0.5 * 10_f64.powi(-i32::from(places)) + ROUNDING;
        let told: f64 = printed.parse().expect("a test reads every printed number");
        let agrees = Some((ours - told).abs() <= tolerance);
        Self { name, printed: Some(printed.to_owned()), ours, decimals: decimals + 1, tolerance, agrees }
    }

    /// Creates a number that the paper does not print.
    fn unprinted(name: BilingualText, ours: f64) -> Self {
        Self { name, printed: None, ours, decimals: 4, tolerance: 0.0, agrees: None }
    }

    /// Creates the largest deviation from any of `cells` printed numbers.
    fn largest_deviation(name: BilingualText, cells: usize, ours: f64, tolerance: f64) -> Self {
        let agrees = Some(ours <= tolerance + ROUNDING);
        Self { name, printed: Some(format!("{cells} ×")), ours, decimals: 4, tolerance, agrees }
    }

    /// Creates a p-value of which the paper prints only whether it is below 0.05.
    fn significance(name: BilingualText, under: bool, p: f64) -> Self {
        let printed = if under { "p < 0.05" } else { "p ≥ 0.05" };
        Self {
            name,
            printed: Some(printed.to_owned()),
            ours: p,
            decimals: 4,
            tolerance: 0.0,
            agrees: Some((p < 0.05) == under),
        }
    }
}

/// Tolerance for representing decimal fractions in binary.
const ROUNDING: f64 = 1e-9;

/// Claim of a paper.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    /// Key of the claim.
    pub id: &'static str,
    /// Title of the paper.
    pub paper: &'static str,
    /// Table or passage.
    pub place: &'static str,
    /// Statement of the claim.
    pub says: BilingualText,
    /// Compared numbers.
    pub numbers: Vec<Number>,
    /// Result of the comparison.
    pub verdict: ClaimVerdict,
    /// Description of the contradiction, if there is one.
    pub contradiction: Option<BilingualText>,
}

impl Claim {
    fn new(
        id: &'static str,
        (paper, place): (&'static str, &'static str),
        says: BilingualText,
        numbers: Vec<Number>,
    ) -> Self {
        let verdict = if numbers.iter().any(|number| number.agrees == Some(false)) {
            ClaimVerdict::Contradiction
        } else if numbers.iter().any(|number| number.agrees.is_some()) {
            ClaimVerdict::Reproduced
        } else {
            ClaimVerdict::NotPrinted
        };
        Self { id, paper, place, says, numbers, verdict, contradiction: None }
    }

    /// Sets the description for the case of a contradiction.
    fn or_else(self, contradiction: BilingualText) -> Self {
        let contradiction = (self.verdict == ClaimVerdict::Contradiction).then_some(contradiction);
        Self { contradiction, ..self }
    }
}

/// Computes every claim, by paper. The mixture search covers a grid of half a million points, so callers should keep the result.
#[must_use]
pub fn all() -> Vec<Claim> {
    [superclue::claims(), alignbench::claims(), mtbench101::claims(), urs::claims()].concat()
}

const WHOLE: &str = "the shipped tables are whole: a test computes every claim";

fn table(id: &str) -> &'static Published {
    published::by_id(id).expect(WHOLE)
}

/// Returns one value of a series.
fn value(series: &Published, subject: &str, part: &str) -> f64 {
    let point = series.points.iter().find(|point| point.subject == subject && point.part == part);
    point.expect(WHOLE).value
}

/// Returns the values of a part, in the order of `subjects`.
fn column(id: &str, part: &str, subjects: &[&str]) -> Vec<f64> {
    subjects.iter().map(|subject| value(table(id), subject, part)).collect()
}

/// Returns the largest of some deviations.
fn most(distances: impl Iterator<Item = f64>) -> f64 {
    distances.fold(0.0, |most, one| one.abs().max(most))
}

#[cfg(test)]
mod tests;
