//! What the papers say of their own results, computed again from the tables that they print.
//!
//! A [`Claim`] holds the numbers of a paper's text beside those that follow from its tables ([`published`]
//! and the few counts here). Nothing is stored: [`all`] computes when it is called. Where a printed number does not follow
//! from the printed table, the claim says what the contradiction is.

mod alignbench;
mod mtbench101;
mod superclue;
mod urs;

use schemars::JsonSchema;
use serde::Serialize;

use super::published::{self, Published};

/// A text in both languages of the pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BilingualText {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

impl BilingualText {
    fn new(en: &str, zh: &str) -> Self {
        Self { en: en.to_owned(), zh: zh.to_owned() }
    }
}

/// Whether what a paper prints follows from its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// Every printed number does.
    Reproduced,
    /// One does not.
    Contradiction,
    /// The paper prints no number to compare with.
    NotPrinted,
}

/// A number of a paper, or one that it could have printed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Number {
    /// What it is.
    pub name: BilingualText,
    /// As the paper prints it; `None` where it does not.
    pub printed: Option<String>,
    /// Ours.
    pub ours: f64,
    /// Digits behind the point that ours is shown with.
    pub decimals: usize,
    /// How far from the printed one ours may lie.
    pub tolerance: f64,
    /// Whether it lies no farther; `None` where nothing is printed.
    pub agrees: Option<bool>,
}

impl Number {
    /// Ours as text.
    #[must_use]
    pub fn written(&self) -> String {
        format!("{:.*}", self.decimals, self.ours)
    }

    /// Beside a printed number, which ours may miss by half of its last digit.
    fn beside(name: BilingualText, printed: &str, ours: f64) -> Self {
        let decimals = printed.split_once('.').map_or(0, |(_, behind)| behind.len());
        let places = u8::try_from(decimals).unwrap_or(u8::MAX);
        let tolerance = 0.5 * 10_f64.powi(-i32::from(places)) + ROUNDING;
        let told: f64 = printed.parse().expect("a test reads every printed number");
        let agrees = Some((ours - told).abs() <= tolerance);
        Self { name, printed: Some(printed.to_owned()), ours, decimals: decimals + 1, tolerance, agrees }
    }

    /// Which the paper does not print.
    fn unprinted(name: BilingualText, ours: f64) -> Self {
        Self { name, printed: None, ours, decimals: 4, tolerance: 0.0, agrees: None }
    }

    /// The farthest that any of `cells` printed numbers lies from ours.
    fn farthest(name: BilingualText, cells: usize, ours: f64, tolerance: f64) -> Self {
        let agrees = Some(ours <= tolerance + ROUNDING);
        Self { name, printed: Some(format!("{cells} ×")), ours, decimals: 4, tolerance, agrees }
    }

    /// A p-value of which the paper prints only whether it is under 0.05.
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

/// What binary fractions leave of decimal ones.
const ROUNDING: f64 = 1e-9;

/// A study of a paper.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    /// Its key.
    pub id: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The table or passage.
    pub place: &'static str,
    /// What is said.
    pub says: BilingualText,
    /// The numbers.
    pub numbers: Vec<Number>,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// What does not fit, where the verdict is a contradiction.
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

    /// What to say where the numbers contradict each other.
    fn or_else(self, contradiction: BilingualText) -> Self {
        let contradiction = (self.verdict == ClaimVerdict::Contradiction).then_some(contradiction);
        Self { contradiction, ..self }
    }
}

/// Every study, by paper. A mixture is sought on a grid of half a million points, so keep what this gives.
#[must_use]
pub fn all() -> Vec<Claim> {
    [superclue::claims(), alignbench::claims(), mtbench101::claims(), urs::claims()].concat()
}

const WHOLE: &str = "the shipped tables are whole: a test computes every claim";

fn table(id: &str) -> &'static Published {
    published::by_id(id).expect(WHOLE)
}

/// One value of a series.
fn value(series: &Published, subject: &str, part: &str) -> f64 {
    let point = series.points.iter().find(|point| point.subject == subject && point.part == part);
    point.expect(WHOLE).value
}

/// The values of a part, in the order of `subjects`.
fn column(id: &str, part: &str, subjects: &[&str]) -> Vec<f64> {
    subjects.iter().map(|subject| value(table(id), subject, part)).collect()
}

/// The greatest of some distances.
fn most(distances: impl Iterator<Item = f64>) -> f64 {
    distances.fold(0.0, |most, one| one.abs().max(most))
}

#[cfg(test)]
mod tests;
