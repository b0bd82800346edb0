//! Pareto set: the options that no other option dominates.
//!
//! An option dominates another if it is at least as good by every criterion and better by one (Börzsönyi, Kossmann and
//! Stocker, *The Skyline Operator*, ICDE 2001; Ehrgott, *Multicriteria Optimization*, 2005, section 2.1). Where values are
//! missing, comparing only what both options have is not transitive: options can dominate each other in a circle, and all
//! of them are lost (Khalefa, Mokbel and Levandoski, *Skyline Query Processing for Incomplete Data*, ICDE 2008). Here an
//! option is dominated only by one that is known to be at least as good by every criterion known of the first. This is
//! transitive, so at least one option remains, and a missing value never counts in favour of an option.

/// Values of one option by criterion, larger is better; `None` where unknown.
pub type Criteria<const N: usize> = [Option<f64>; N];

/// Returns for each option whether it is in the Pareto set. Equal options are in it together.
#[must_use]
pub fn pareto_set<const N: usize>(options: &[Criteria<N>]) -> Vec<bool> {
    options.iter().map(|option| !options.iter().any(|other| dominates(other, option))).collect()
}

fn dominates<const N: usize>(one: &Criteria<N>, other: &Criteria<N>) -> bool {
    let mut is_better = false;
    for (one, other) in one.iter().zip(other) {
        let Some(other) = other else { continue };
        match one {
            Some(one) if one >= other => is_better |= one > other,
            _ => return false,
        }
    }
    is_better
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<const N: usize>(options: &[Criteria<N>], expected: &[bool]) {
        assert_eq!(pareto_set(options), expected);
    }

    #[test]
    fn an_option_that_is_nowhere_better_is_dominated() {
        check(&[[Some(3.0), Some(1.0)], [Some(2.0), Some(2.0)], [Some(1.0), Some(1.5)]], &[true, true, false]);
        check::<2>(&[], &[]);
    }

    #[test]
    fn equal_options_stay_and_an_equal_value_does_not_save_a_worse_one() {
        let (same, dearer) = ([Some(2.0), Some(-1.0)], [Some(2.0), Some(-3.0)]);
        check(&[same, same, dearer], &[true, true, false]);
    }

    #[test]
    fn a_missing_value_counts_neither_for_nor_against_an_option() {
        // The known value of the second is worse than the first's; the third is faster.
        check(&[[Some(2.0), Some(1.0)], [Some(1.0), None], [Some(1.0), Some(5.0)]], &[true, false, true]);
        // The option without a speed does not dominate the one with it.
        check(&[[Some(2.0), None], [Some(1.0), Some(1.0)]], &[true, true]);
    }

    #[test]
    fn options_with_gaps_do_not_dominate_each_other_in_a_circle() {
        let circle = [[Some(1.0), Some(2.0), None], [None, Some(1.0), Some(2.0)], [Some(2.0), None, Some(1.0)]];
        check(&circle, &[true, true, true]);
    }
}
