//! Overdispersion of votes beyond the ratings: correlation of the votes of one honest voter due to taste.

use crate::stats::distribution::quantile;

/// Minimum number of pairs of votes in a group of voters.
const MIN_PAIRS_PER_GROUP: f64 = 100.0;
/// Minimum number of groups for an estimate.
const MIN_GROUPS: usize = 10;
/// Default correlation with fewer groups: that of the votes of llmfao (124 people on 59 models).
const DEFAULT_CORRELATION: f64 = 0.11;
/// Maximum correlation attributed to taste.
const MAX_CORRELATION: f64 = 0.9;

/// Sum of the products of the residuals of any two votes of a voter on the same model.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SharedResiduals {
    /// Σ r_i·r_j over ordered pairs, r = (y − p)/√(p(1−p)).
    pub(in crate::integrity) products: f64,
    /// Number of ordered pairs.
    pub(in crate::integrity) pairs: f64,
}

impl SharedResiduals {
    /// Adds the votes on one model.
    pub(in crate::integrity) fn add(&mut self, residuals: impl Iterator<Item = f64>) {
        let (mut sum, mut squares, mut votes) = (0.0, 0.0, 0.0);
        for residual in residuals {
            sum += residual;
            squares += residual * residual;
            votes += 1.0;
        }
        self.products += sum * sum - squares;
        self.pairs += votes * (votes - 1.0);
    }
}

/// Estimates the correlation ρ that a taste gives two votes of one voter on one model, in the normal variables of
/// [`super::poisson_binomial`]: sin(π/2·c), c the correlation of the votes (exact for p = ½: Sheppard 1899).
///
/// c is the median over groups of voters, those with most votes first and each of at least 100 pairs of votes. A mean would be dominated by
/// riggers, whose votes on their target all agree; the median tolerates them until they are half of the groups. If half of the groups are
/// those of outliers, the estimate is that of the voters in the crowd, and at least the default, since honest voters with a taste are among
/// the outliers too.
pub(super) fn taste_correlation(crowd: Vec<SharedResiduals>, outliers: Vec<SharedResiduals>) -> f64 {
    if shows_taste_of_all(&crowd, &outliers) {
        return shared_factor_correlation(correlations([crowd, outliers].concat())).unwrap_or(DEFAULT_CORRELATION);
    }
    shared_factor_correlation(correlations(crowd)).unwrap_or(DEFAULT_CORRELATION).max(DEFAULT_CORRELATION)
}

/// Returns whether the taste is estimated from all voters: fewer than half of the groups are those of outliers, or there are too few groups
/// in all.
pub(super) fn shows_taste_of_all(crowd: &[SharedResiduals], outliers: &[SharedResiduals]) -> bool {
    let (of_crowd, all) = (correlations(crowd.to_vec()).len(), correlations([crowd, outliers].concat()).len());
    2 * of_crowd > all || all < MIN_GROUPS
}

/// Estimates the taste from the correlations of enough groups.
fn shared_factor_correlation(mut groups: Vec<f64>) -> Option<f64> {
    groups.sort_by(f64::total_cmp);
    let enough = groups.len() >= MIN_GROUPS;
    enough.then(|| (std::f64::consts::FRAC_PI_2 * quantile(&groups, 0.5).clamp(0.0, MAX_CORRELATION)).sin())
}

/// Computes the correlation of the votes in each group of voters.
fn correlations(mut voters: Vec<SharedResiduals>) -> Vec<f64> {
    voters.sort_by(|x, y| y.pairs.total_cmp(&x.pairs).then(y.products.total_cmp(&x.products)));
    let (mut groups, mut group) = (Vec::new(), SharedResiduals::default());
    for voter in voters {
        group.products += voter.products;
        group.pairs += voter.pairs;
        if group.pairs >= MIN_PAIRS_PER_GROUP {
            groups.push(group.products / group.pairs);
            group = SharedResiduals::default();
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voters(correlations: &[f64]) -> Vec<SharedResiduals> {
        correlations.iter().map(|c| SharedResiduals { products: 200.0 * c, pairs: 200.0 }).collect()
    }

    #[test]
    fn a_few_riggers_do_not_pass_for_taste() {
        let honest = taste_correlation(voters(&[0.1; 30]), Vec::new());
        assert!((honest - (std::f64::consts::FRAC_PI_2 * 0.1).sin()).abs() < 1e-12);
        let with_riggers = taste_correlation(voters(&[0.1; 30]), voters(&[1.8; 12]));
        assert!((with_riggers - honest).abs() < 1e-12, "{with_riggers}");
        assert!(
            (taste_correlation(voters(&[0.0; 9]), Vec::new()) - DEFAULT_CORRELATION).abs() < 1e-12,
            "too few groups"
        );
        assert!(taste_correlation(voters(&[-0.1; 20]), Vec::new()).abs() < 1e-12);
    }

    #[test]
    fn nor_do_many_riggers_among_voters_of_few_votes() {
        let riggers = || voters(&[1.8; 12]);
        assert!(
            (taste_correlation(Vec::new(), riggers()) - DEFAULT_CORRELATION).abs() < 1e-12,
            "no other voter has enough votes"
        );
        assert!((taste_correlation(voters(&[0.0; 12]), riggers()) - DEFAULT_CORRELATION).abs() < 1e-12);
        let honest = taste_correlation(voters(&[0.2; 12]), riggers());
        assert!((honest - (std::f64::consts::FRAC_PI_2 * 0.2).sin()).abs() < 1e-12, "{honest}");
    }

    #[test]
    fn products_are_those_of_all_ordered_pairs() {
        let mut shared = SharedResiduals::default();
        shared.add([1.0, -2.0, 0.5].into_iter());
        assert!((shared.products - 2.0 * (-2.0 + 0.5 - 1.0)).abs() < 1e-12 && (shared.pairs - 6.0).abs() < 1e-12);
    }
}
