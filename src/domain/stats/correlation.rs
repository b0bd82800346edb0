//! Correlation of two series: Pearson's r, Spearman's ρ and Kendall's τ-b, with two-sided p-values and intervals.
//!
//! Values at the same position form a pair; all values are finite. A correlation needs at least three pairs and two
//! series that vary. [`Correlation::p_method`] says how p is computed: exactly, from all permutations, for few values
//! without ties; otherwise from the t distribution (Pearson, Spearman) or the normal distribution (Kendall), as in
//! scipy and the papers. For few values with ties, [`exact_p`] counts all permutations.

use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::confidence::ConfidenceLevel;
use super::exact_p_values::{self, MAX_EXACT_KENDALL, MAX_EXACT_SPEARMAN, MAX_EXACT_TIED};
use super::ranks::{Ties, by_size, ranks};
use super::{Interval, SeriesSide, Undefined};
use super::{real, real_len};

/// Minimum number of pairs of values: two points are always on a line.
const MIN_PAIRS: usize = 3;
/// Maximum rounding error of a correlation of ±1.
const PERFECT_TOLERANCE: f64 = 1e-14;

/// A correlation coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coefficient {
    /// Pearson's r of the values.
    Pearson,
    /// Spearman's ρ: Pearson's r of the ranks.
    Spearman,
    /// Kendall's τ-b: concordant minus discordant pairs, corrected for ties.
    Kendall,
}

impl Coefficient {
    /// All coefficients.
    pub const ALL: [Self; 3] = [Self::Pearson, Self::Spearman, Self::Kendall];

    /// The correlation of two series.
    ///
    /// # Errors
    /// [`Undefined`] as for [`pearson`].
    pub fn correlate(self, x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
        match self {
            Self::Pearson => pearson(x, y),
            Self::Spearman => spearman(x, y),
            Self::Kendall => kendall(x, y),
        }
    }

    /// Name in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pearson => "pearson",
            Self::Spearman => "spearman",
            Self::Kendall => "kendall",
        }
    }
}

/// Method of a p-value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PMethod {
    /// t = r·√((n−2)/(1−r²)) with n−2 degrees of freedom.
    T,
    /// All permutations of one series.
    Exact,
    /// The normal distribution, with the variance corrected for ties.
    Normal,
}

impl PMethod {
    /// Name in results.
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
    /// Coefficient.
    pub coefficient: Coefficient,
    /// Number of pairs of values.
    pub n: usize,
    /// Correlation, between −1 and 1.
    pub r: f64,
    /// Two-sided p-value: probability of a correlation at least as strong if there is none.
    pub p: f64,
    /// Method of `p`.
    pub p_method: PMethod,
}

impl Correlation {
    /// Interval by Fisher's z: tanh(atanh r ± z·σ). σ² is 1/(n−3) for Pearson (Fisher 1921), (1 + ρ²/2)/(n−3) for
    /// Spearman (Bonett and Wright 2000) and 0.437/(n−4) for Kendall (Fieller, Hartley and Pearson 1957).
    ///
    /// # Errors
    /// [`Undefined::TooFew`] for up to three pairs of values (Kendall: four); [`Undefined::Perfect`] at ±1.
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
/// [`Undefined::Lengths`], [`Undefined::TooFew`] for fewer than three values, [`Undefined::NotFinite`],
/// [`Undefined::Constant`].
pub fn pearson(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    check(x, y)?;
    let (n, r) = (x.len(), product_moment(x, y));
    let (coefficient, p) = (Coefficient::Pearson, t_test(n, r));
    Ok(Correlation { coefficient, n, r, p, p_method: PMethod::T })
}

/// Spearman's ρ, with the mean rank for ties. p is exact for up to nine values without ties.
///
/// # Errors
/// [`Undefined`] as for [`pearson`].
pub fn spearman(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    check(x, y)?;
    let (n, x_ranks, y_ranks) = (x.len(), ranks(x), ranks(y));
    let r = product_moment(&x_ranks, &y_ranks);
    let tied = Ties::new(x).any() || Ties::new(y).any();
    let (p, p_method) = if n <= MAX_EXACT_SPEARMAN && !tied {
        (exact_p_values::spearman_p(n, squared_differences(&x_ranks, &y_ranks)), PMethod::Exact)
    } else {
        (t_test(n, r), PMethod::T)
    };
    Ok(Correlation { coefficient: Coefficient::Spearman, n, r, p, p_method })
}

/// Spearman's ρ with p from the t distribution for any number of values, as in scipy and most papers.
///
/// # Errors
/// [`Undefined`] as for [`pearson`].
pub fn spearman_by_t(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    let found = spearman(x, y)?;
    Ok(Correlation { p: t_test(found.n, found.r), p_method: PMethod::T, ..found })
}

/// Spearman's ρ of values minus the mean of their group, with p from the t distribution with n − groups − 1 degrees of
/// freedom: each group mean takes one.
///
/// # Errors
/// [`Undefined`] as for [`pearson`], and [`Undefined::TooFew`] for fewer than groups + 2 values.
pub fn spearman_within(x: &[f64], y: &[f64], groups: usize) -> Result<Correlation, Undefined> {
    let found = spearman(x, y)?;
    let needed = groups + 2;
    // The number of values of a single group that has the same degrees of freedom.
    let values = (found.n + 1).checked_sub(groups).filter(|_| found.n >= needed);
    let values = values.ok_or(Undefined::TooFew { found: found.n, needed })?;
    Ok(Correlation { p: t_test(values, found.r), p_method: PMethod::T, ..found })
}

/// Kendall's τ-b = (C − D) / √((N − X)(N − Y)) for C concordant and D discordant of N pairs, of which X and Y are tied
/// in the first and second series. p is exact without ties for up to 33 values, or if at most one pair is discordant.
///
/// # Errors
/// [`Undefined`] as for [`pearson`].
pub fn kendall(x: &[f64], y: &[f64]) -> Result<Correlation, Undefined> {
    check(x, y)?;
    let (n, pairs) = (x.len(), concordance(x, y));
    let (x_ties, y_ties) = (Ties::new(x), Ties::new(y));
    let all = real_len(n) * (real_len(n) - 1.0) / 2.0;
    let excess = real(pairs.concordant) - real(pairs.discordant);
    let r = tau_b(excess, all, [x_ties.pairs, y_ties.pairs]);
    let tied = x_ties.any() || y_ties.any();
    let few = n <= MAX_EXACT_KENDALL || pairs.concordant.min(pairs.discordant) <= 1;
    let (p, p_method) = if few && !tied {
        (exact_p_values::kendall_p(n, usize::try_from(pairs.discordant).unwrap_or(usize::MAX)), PMethod::Exact)
    } else {
        (normal_test(n, excess, x_ties, y_ties), PMethod::Normal)
    };
    Ok(Correlation { coefficient: Coefficient::Kendall, n, r, p, p_method })
}

/// Two-sided p-value of a rank correlation of up to eight values of which some are tied, where [`Correlation::p`] is an approximation:
/// from all permutations of one series, up to 40,320. `None` for other values and for Pearson's r.
#[must_use]
pub fn exact_p(coefficient: Coefficient, x: &[f64], y: &[f64]) -> Option<f64> {
    check(x, y).ok()?;
    let has_ties = || Ties::new(x).any() || Ties::new(y).any();
    if x.len() > MAX_EXACT_TIED || !has_ties() {
        return None;
    }
    match coefficient {
        Coefficient::Pearson => None,
        Coefficient::Spearman => Some(exact_p_values::tied_spearman_p(&ranks(x), &ranks(y))),
        Coefficient::Kendall => Some(exact_p_values::tied_kendall_p(&ranks(x), &ranks(y))),
    }
}

/// Concordant and discordant pairs of positions of two series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Concordance {
    /// Pairs in the same order in both series.
    pub concordant: u64,
    /// Pairs in opposite orders.
    pub discordant: u64,
    /// Pairs tied in at least one series.
    pub tied: u64,
}

/// Counts concordant and discordant pairs of two series of one length.
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

/// Pearson's r without a p-value, which is faster.
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
    usable(x, SeriesSide::First)?;
    usable(y, SeriesSide::Second)
}

/// Checks that a series can have a correlation.
pub(super) fn usable(values: &[f64], series: SeriesSide) -> Result<(), Undefined> {
    if values.len() < MIN_PAIRS {
        return Err(Undefined::TooFew { found: values.len(), needed: MIN_PAIRS });
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

/// The cosine between two unit vectors: Pearson's r of the series of which they are the [`direction`]s.
pub(super) fn cosine(x: &[f64], y: &[f64]) -> f64 {
    without_rounding_error(x.iter().zip(y).map(|(x, y)| x * y).sum())
}

/// Kendall's τ-b from `excess` = C − D, the number of `all` pairs of positions, and the `tied` pairs of each series.
pub(super) fn tau_b(excess: f64, all: f64, tied: [f64; 2]) -> f64 {
    without_rounding_error(excess / (all - tied[0]).sqrt() / (all - tied[1]).sqrt())
}

/// Removes rounding that keeps a correlation off ±1 or takes it beyond.
fn without_rounding_error(r: f64) -> f64 {
    if 1.0 - r.abs() < PERFECT_TOLERANCE { r.signum() } else { r }
}

/// Deviations from the mean, as a unit vector. Values are taken relative to the first, so that large numbers close
/// together lose no digits, and scaled before squaring, so that nothing overflows.
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

/// Normal test with the variance of C − D under ties (Kendall 1970, chapter 4).
fn normal_test(n: usize, excess: f64, x: Ties, y: Ties) -> f64 {
    let n = real_len(n);
    let m = n * (n - 1.0);
    let variance = (m * (2.0 * n + 5.0) - x.spread - y.spread) / 18.0
        + 2.0 * x.pairs * y.pairs / m
        + x.triples * y.triples / (9.0 * m * (n - 2.0));
    (2.0 * Normal::standard().sf(excess.abs() / variance.sqrt())).min(1.0)
}
