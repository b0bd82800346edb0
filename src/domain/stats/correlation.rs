//! How two series move together: Pearson's r, Spearman's ρ and Kendall's τ-b, with two-sided p-values and intervals.
//!
//! A value of one series belongs to the value of the other at the same position; both are finite. Fewer than three
//! pairs of values and series that do not vary have no correlation. How a p-value was found stands in
//! [`Correlation::p_method`]: exactly, by counting all orders, for few values without ties, and otherwise by the t
//! distribution (Pearson, Spearman) or the normal one (Kendall), as scipy does.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::exact::{self, KENDALL_UP_TO, SPEARMAN_UP_TO};
use super::ranks::{Ties, by_size, ranks};
use super::{Interval, Series, Undefined};
use crate::domain::rating::interval::ConfidenceLevel;
use crate::domain::rating::{real, real_len};

/// Two points always lie on a line.
const FEWEST: usize = 3;
/// A correlation this near to ±1 is ±1 and rounding.
const PERFECT: f64 = 1e-14;

/// Which correlation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Coefficient {
    /// Pearson's r, of the values.
    Pearson,
    /// Spearman's ρ: Pearson's r of the ranks.
    Spearman,
    /// Kendall's τ-b: pairs in the same order less those in the other, corrected for ties.
    Kendall,
}

impl Coefficient {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Pearson, Self::Spearman, Self::Kendall];

    /// This correlation of two series.
    ///
    /// # Errors
    /// [`Undefined`] as for [`pearson`].
    pub fn of(self, x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
        match self {
            Self::Pearson => pearson(x, y),
            Self::Spearman => spearman(x, y),
            Self::Kendall => kendall(x, y),
        }
    }

    /// Its name in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pearson => "pearson",
            Self::Spearman => "spearman",
            Self::Kendall => "kendall",
        }
    }
}

/// How a p-value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PMethod {
    /// t = r·√((n−2)/(1−r²)) with n−2 degrees of freedom.
    T,
    /// All orders of one series, counted.
    Exact,
    /// The normal distribution with the variance that the ties leave.
    Normal,
}

impl PMethod {
    /// Its name in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::T => "t",
            Self::Exact => "exact",
            Self::Normal => "normal",
        }
    }
}

/// A correlation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// Which.
    pub coefficient: Coefficient,
    /// Of how many pairs of values.
    pub n: usize,
    /// Between −1 and 1.
    pub r: f64,
    /// The probability of a correlation as strong in either direction where there is none.
    pub p: f64,
    /// How `p` was found.
    pub p_method: PMethod,
}

impl Correlation {
    /// The interval by Fisher's z: tanh(atanh r ± z·σ). σ² is 1/(n−3) for Pearson (Fisher 1921), (1 + ρ²/2)/(n−3) for
    /// Spearman (Bonett and Wright 2000) and 0.437/(n−4) for Kendall (Fieller, Hartley and Pearson 1957).
    ///
    /// # Errors
    /// [`Undefined::TooFew`] up to three pairs of values, for Kendall four; [`Undefined::Perfect`] at ±1.
    pub fn interval(&self, level: ConfidenceLevel) -> Result<Interval, Undefined> {
        let spent = if self.coefficient == Coefficient::Kendall { 4 } else { 3 };
        if self.n <= spent {
            return Err(Undefined::TooFew { found: self.n, needed: spent + 1 });
        }
        if self.r.abs() >= 1.0 {
            return Err(Undefined::Perfect);
        }
        let spread = match self.coefficient {
            Coefficient::Pearson => 1.0,
            Coefficient::Spearman => 1.0 + self.r * self.r / 2.0,
            Coefficient::Kendall => 0.437,
        };
        let (centre, margin) = (self.r.atanh(), level.z() * (spread / real_len(self.n - spent)).sqrt());
        Ok(Interval { lower: (centre - margin).tanh(), upper: (centre + margin).tanh() })
    }
}

/// Pearson's r = Σ(x−x̄)(y−ȳ) / √(Σ(x−x̄)²·Σ(y−ȳ)²).
///
/// # Errors
/// [`Undefined::Lengths`], [`Undefined::TooFew`] under three values, [`Undefined::NotFinite`], [`Undefined::Constant`].
pub fn pearson(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    check(x, y)?;
    let r = product_moment(x, y);
    Ok(Correlation { coefficient: Coefficient::Pearson, n: x.len(), r, p: t_test(x.len(), r), p_method: PMethod::T })
}

/// Spearman's ρ, with the mean rank for ties. p is exact up to nine values without ties.
///
/// # Errors
/// [`Undefined`] as for [`pearson`].
pub fn spearman(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    check(x, y)?;
    let (n, x_ranks, y_ranks) = (x.len(), ranks(x), ranks(y));
    let r = product_moment(&x_ranks, &y_ranks);
    let exact = n <= SPEARMAN_UP_TO && !Ties::of(x).any() && !Ties::of(y).any();
    let (p, p_method) = if exact {
        (exact::spearman_p(n, squared_differences(&x_ranks, &y_ranks)), PMethod::Exact)
    } else {
        (t_test(n, r), PMethod::T)
    };
    Ok(Correlation { coefficient: Coefficient::Spearman, n, r, p, p_method })
}

/// Spearman's ρ with p by the t distribution whatever the number of values: what scipy and most papers give.
///
/// # Errors
/// [`Undefined`] as for [`pearson`].
pub fn spearman_by_t(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    let found = spearman(x, y)?;
    Ok(Correlation { p: t_test(found.n, found.r), p_method: PMethod::T, ..found })
}

/// Spearman's ρ of values less the mean of their group, with p by the t distribution with n − groups − 1 degrees of freedom:
/// each group's mean has taken one.
///
/// # Errors
/// [`Undefined`] as for [`pearson`], and [`Undefined::TooFew`] under two values more than groups.
pub fn spearman_within(x: &[f64], y: &[f64], groups: usize) -> Result<Correlation, Undefined> {
    let found = spearman(x, y)?;
    let needed = groups + 2;
    // As many degrees of freedom as so many values of one group have.
    let values = (found.n + 1).checked_sub(groups).filter(|_| found.n >= needed);
    let values = values.ok_or(Undefined::TooFew { found: found.n, needed })?;
    Ok(Correlation { p: t_test(values, found.r), p_method: PMethod::T, ..found })
}

/// Kendall's τ-b = (C − D) / √((N − X)(N − Y)) for C concordant and D discordant of N pairs, X and Y of them tied in the
/// one and the other series. p is exact without ties, up to 33 values or where at most one pair is out of order.
///
/// # Errors
/// [`Undefined`] as for [`pearson`].
pub fn kendall(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    check(x, y)?;
    let (n, pairs) = (x.len(), concordance(x, y));
    let (x_ties, y_ties) = (Ties::of(x), Ties::of(y));
    let all = real_len(n) * (real_len(n) - 1.0) / 2.0;
    let excess = real(pairs.concordant) - real(pairs.discordant);
    let r = tau_b(excess, all, [x_ties.pairs, y_ties.pairs]);
    let few = n <= KENDALL_UP_TO || pairs.concordant.min(pairs.discordant) <= 1;
    let (p, p_method) = if few && !x_ties.any() && !y_ties.any() {
        (exact::kendall_p(n, usize::try_from(pairs.discordant).unwrap_or(usize::MAX)), PMethod::Exact)
    } else {
        (normal_test(n, excess, x_ties, y_ties), PMethod::Normal)
    };
    Ok(Correlation { coefficient: Coefficient::Kendall, n, r, p, p_method })
}

/// In which order two series have their pairs of positions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Concordance {
    /// Pairs that both have in the same order.
    pub concordant: u64,
    /// Pairs that they have in opposite orders.
    pub discordant: u64,
    /// Pairs that are equal in at least one of them.
    pub tied: u64,
}

/// Counts the pairs that two series of one length have in the same and in opposite orders.
#[must_use]
pub fn concordance(x: &[f64], y: &[f64]) -> Concordance {
    let mut pairs = Concordance::default();
    for j in 1..x.len().min(y.len()) {
        for i in 0..j {
            let (by_x, by_y) = (by_size(&x[i], &x[j]), by_size(&y[i], &y[j]));
            if by_x.is_eq() || by_y.is_eq() {
                pairs.tied += 1;
            } else if by_x == by_y {
                pairs.concordant += 1;
            } else {
                pairs.discordant += 1;
            }
        }
    }
    pairs
}

/// Pearson's r without its p-value, for those who need many.
///
/// # Errors
/// [`Undefined`] as for [`pearson`].
pub fn pearson_r(x: &[f64], y: &[f64]) -> Result<f64, Undefined> {
    check(x, y)?;
    Ok(product_moment(x, y))
}

fn check(x: &[f64], y: &[f64]) -> Result<(), Undefined> {
    if x.len() != y.len() {
        return Err(Undefined::Lengths { x: x.len(), y: y.len() });
    }
    usable(x, Series::First)?;
    usable(y, Series::Second)
}

/// Whether a series can have a correlation with another of its length.
pub(super) fn usable(values: &[f64], series: Series) -> Result<(), Undefined> {
    if values.len() < FEWEST {
        return Err(Undefined::TooFew { found: values.len(), needed: FEWEST });
    }
    if !values.iter().all(|value| value.is_finite()) {
        return Err(Undefined::NotFinite(series));
    }
    #[expect(clippy::float_cmp, reason = "only what is exactly equal has no spread at all")]
    if values.iter().all(|&value| value == values[0]) {
        return Err(Undefined::Constant(series));
    }
    Ok(())
}

fn product_moment(x: &[f64], y: &[f64]) -> f64 {
    cosine(&direction(x), &direction(y))
}

/// The cosine of the angle between two vectors of length 1: Pearson's r of what they are the [`direction`]s of.
pub(super) fn cosine(x: &[f64], y: &[f64]) -> f64 {
    unless_rounded(x.iter().zip(y).map(|(x, y)| x * y).sum())
}

/// Kendall's τ-b of series with an `excess` of C − D among `all` pairs of positions, so many of them `tied` in each.
pub(super) fn tau_b(excess: f64, all: f64, tied: [f64; 2]) -> f64 {
    unless_rounded(excess / (all - tied[0]).sqrt() / (all - tied[1]).sqrt())
}

/// A correlation without the rounding that keeps it off ±1, or takes it beyond.
fn unless_rounded(r: f64) -> f64 {
    if 1.0 - r.abs() < PERFECT { r.signum() } else { r }
}

/// The deviations from the mean, as a vector of length 1. They are taken from the first value, so that numbers far from
/// zero and close together lose no digits, and scaled before they are squared, so that nothing leaves the range of numbers.
pub(super) fn direction(values: &[f64]) -> Vec<f64> {
    let most = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let scale = if most > f64::MAX / 4.0 { 0.25 } else { 1.0 };
    let mut deviations: Vec<f64> = values.iter().map(|value| value * scale - values[0] * scale).collect();
    let mean: f64 = deviations.iter().map(|value| value / real_len(values.len())).sum();
    deviations.iter_mut().for_each(|value| *value -= mean);
    let farthest = deviations.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    deviations.iter_mut().for_each(|value| *value /= farthest);
    let length = deviations.iter().map(|value| value * value).sum::<f64>().sqrt();
    deviations.iter_mut().for_each(|value| *value /= length);
    deviations
}

fn t_test(n: usize, r: f64) -> f64 {
    let freedom = real_len(n - 2);
    let distance = (1.0 - r) * (1.0 + r);
    if distance <= 0.0 {
        return 0.0;
    }
    let t = r.abs() * (freedom / distance).sqrt();
    let distribution = StudentsT::new(0.0, 1.0, freedom).expect("there are at least three values");
    (2.0 * distribution.sf(t)).min(1.0)
}

fn squared_differences(x: &[f64], y: &[f64]) -> usize {
    let sum: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ranks without ties are whole")]
    let whole = sum.round() as usize;
    whole
}

/// The variance of C − D with ties (Kendall 1970, chapter 4).
fn normal_test(n: usize, excess: f64, x: Ties, y: Ties) -> f64 {
    let n = real_len(n);
    let m = n * (n - 1.0);
    let variance = (m * (2.0 * n + 5.0) - x.spread - y.spread) / 18.0
        + 2.0 * x.pairs * y.pairs / m
        + x.triples * y.triples / (9.0 * m * (n - 2.0));
    (2.0 * Normal::standard().sf(excess.abs() / variance.sqrt())).min(1.0)
}
