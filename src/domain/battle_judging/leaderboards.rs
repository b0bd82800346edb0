//! Leaderboard of a judge's verdicts compared with the leaderboard of the votes on the same battles.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::agreement::{MissingReason, Statistic};
use super::verdicts::JudgedBattle;
use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::leaderboards::leaderboard::RankedModel;
use crate::rating::leaderboards::ranking::rank_log;
use crate::rating::options::LeaderboardOptions;
use crate::rating::votes::vote_log::VoteLog;
use crate::stats::agreement::choices::Choice;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::correlation::{Coefficient, concordance};

/// Place of a model on one of the two leaderboards.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "JudgePlace")]
pub struct Place {
    /// Rank, 1 is best; models that the intervals do not separate can share a rank.
    pub rank: u64,
    /// Rating on the public scale; a bound for a model that only won or only lost.
    pub rating: f64,
    /// Lower bound of the interval, if any.
    pub lower: Option<f64>,
    /// Upper bound of the interval, if any.
    pub upper: Option<f64>,
    /// Whether the model only won or only lost, so that the rating is a bound.
    pub unbounded: bool,
}

impl Place {
    fn new(row: &RankedModel) -> Self {
        let RankedModel { rank, lower, upper, .. } = *row;
        Self { rank, rating: row.rating_or_limit(), lower, upper, unbounded: row.unbounded.is_some() }
    }
}

/// Places of a model on both leaderboards.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ModelPlaces {
    /// Name of the model.
    pub model: String,
    /// Place by the votes.
    pub votes: Place,
    /// Place by the verdicts.
    pub verdicts: Place,
}

/// Pairs of models by their order on both leaderboards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PairOrders {
    /// Number of pairs in the same order.
    pub same: u64,
    /// Number of pairs in opposite orders.
    pub otherwise: u64,
    /// Number of pairs that are equal on either leaderboard.
    pub equal: u64,
}

/// Leaderboards by votes and by verdicts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JudgeLeaderboards {
    /// Number of battles in both fits.
    pub battles: usize,
    /// Models, sorted by their place by the votes.
    pub models: Vec<ModelPlaces>,
    /// Number of models that only won or only lost on either leaderboard: their ratings are bounds, which the statistics leave out.
    pub unbounded: u64,
    /// Spearman's correlation of the ratings.
    pub spearman: Statistic,
    /// Kendall's correlation of the ratings.
    pub kendall: Statistic,
    /// Orders of the pairs of models; `None` where the ratings are not comparable.
    pub pairs: Option<PairOrders>,
}

/// Fits both leaderboards on the battles with two readable games.
///
/// # Errors
/// [`FitError`] if the optimiser fails.
pub fn leaderboards(battles: &[JudgedBattle<'_>], level: ConfidenceLevel) -> Result<JudgeLeaderboards, FitError> {
    let options = LeaderboardOptions { confidence: level, ..LeaderboardOptions::default() };
    let votes = rank_log(&log(battles, |battle, _| battle.vote.outcome), &options)?;
    let verdicts = rank_log(&verdict_log(battles), &options)?;
    let by_model: BTreeMap<&str, &RankedModel> = verdicts.models.iter().map(|row| (row.model.as_str(), row)).collect();
    let row = |row: &RankedModel| {
        let other = by_model.get(row.model.as_str())?;
        Some(ModelPlaces { model: row.model.clone(), votes: Place::new(row), verdicts: Place::new(other) })
    };
    let models: Vec<ModelPlaces> = votes.models.iter().filter_map(row).collect();
    let components = votes.components.max(verdicts.components);
    let (bounds, rated): (Vec<&ModelPlaces>, Vec<&ModelPlaces>) =
        models.iter().partition(|row| row.votes.unbounded || row.verdicts.unbounded);
    Ok(JudgeLeaderboards {
        battles: battles.iter().filter(|battle| battle.verdict().is_some()).count(),
        unbounded: bounds.len() as u64,
        spearman: correlation(Coefficient::Spearman, &rated, components, level),
        kendall: correlation(Coefficient::Kendall, &rated, components, level),
        pairs: (components <= 1).then(|| orders(&rated)),
        models,
    })
}

/// Converts verdicts into votes, in the order of the votes on the same battles.
#[must_use]
pub fn verdict_log(battles: &[JudgedBattle<'_>]) -> VoteLog {
    log(battles, |_, verdict| match verdict {
        Choice::First => Outcome::AWins,
        Choice::Second => Outcome::BWins,
        Choice::Tie => Outcome::Tie,
    })
}

fn log(battles: &[JudgedBattle<'_>], outcome: impl Fn(&JudgedBattle<'_>, Choice) -> Outcome) -> VoteLog {
    let mut log = VoteLog::default();
    for battle in battles {
        let ([a, b], Some(verdict)) = (&battle.vote.models, battle.verdict()) else { continue };
        // No battle has a model against itself.
        let _ = log.push(a, b, outcome(battle, verdict));
    }
    log
}

fn ratings(models: &[&ModelPlaces]) -> (Vec<f64>, Vec<f64>) {
    models.iter().map(|row| (row.votes.rating, row.verdicts.rating)).unzip()
}

fn correlation(by: Coefficient, models: &[&ModelPlaces], components: usize, level: ConfidenceLevel) -> Statistic {
    if components > 1 {
        return Statistic::missing(MissingReason::SeparateGroups(components));
    }
    let (votes, verdicts) = ratings(models);
    let found = by.correlate(&votes, &verdicts);
    let interval = found.as_ref().ok().and_then(|found| found.interval(level).ok());
    Statistic::new(found.map(|found| found.r), interval)
}

fn orders(models: &[&ModelPlaces]) -> PairOrders {
    let (votes, verdicts) = ratings(models);
    let pairs = concordance(&votes, &verdicts);
    PairOrders { same: pairs.concordant, otherwise: pairs.discordant, equal: pairs.tied }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome::{AWins, BWins};
    use crate::battle_judging::verdicts::tests::both;
    use crate::battle_judging::verdicts::{JudgedVote, by_judge};
    use crate::judging::verdict::Preference::{A, B};

    /// Battles of a against b with the given preferences of people and of the judge.
    fn battles(
        seq: i64,
        models: [&str; 2],
        outcomes: &[(Outcome, [crate::judging::verdict::Preference; 2])],
    ) -> Vec<JudgedVote> {
        let one = |(number, (outcome, games)): (i64, &(Outcome, _))| {
            both(seq + number, *outcome, *games).map(|said| JudgedVote { models: models.map(str::to_owned), ..said })
        };
        (0..).zip(outcomes).flat_map(one).collect()
    }

    const AGREED: [(Outcome, [crate::judging::verdict::Preference; 2]); 4] =
        [(AWins, [A, B]), (AWins, [A, B]), (AWins, [A, B]), (BWins, [B, A])];
    /// People prefer the first model three times of four, the judge the second.
    const OPPOSED: [(Outcome, [crate::judging::verdict::Preference; 2]); 4] =
        [(AWins, [B, A]), (AWins, [B, A]), (AWins, [B, A]), (BWins, [A, B])];

    #[test]
    fn pairs_that_the_judge_orders_otherwise_are_counted() {
        let said =
            [battles(0, ["x", "y"], &AGREED), battles(10, ["y", "z"], &OPPOSED), battles(20, ["x", "z"], &AGREED)]
                .concat();
        let found = leaderboards(&by_judge(&said)[0].battles, ConfidenceLevel::default()).unwrap();
        let names: Vec<_> = found.models.iter().map(|row| row.model.as_str()).collect();
        assert_eq!((found.battles, names), (12, vec!["x", "y", "z"]));
        assert_eq!(found.pairs, Some(PairOrders { same: 2, otherwise: 1, equal: 0 }), "{found:?}");
        // One pair of three is out of order: 1 − 6·2/24 and (2 − 1)/3.
        assert!((found.spearman.value.unwrap() - 0.5).abs() < 1e-12);
        assert!((found.kendall.value.unwrap() - 1.0 / 3.0).abs() < 1e-12);
        // x beats y three to one in the votes, so by 400·log10(3) at least where z is left out.
        assert!(found.models[0].votes.rating > found.models[1].votes.rating);
    }

    #[test]
    fn a_model_that_only_won_has_no_part_in_the_statistics() {
        let said =
            [battles(0, ["x", "y"], &AGREED), battles(10, ["y", "z"], &AGREED), battles(20, ["x", "z"], &AGREED)]
                .concat();
        let only_won = battles(30, ["w", "x"], &[(AWins, [A, B]), (AWins, [A, B])]);
        let level = ConfidenceLevel::default();
        let without = leaderboards(&by_judge(&said)[0].battles, level).unwrap();
        let all = [said, only_won].concat();
        let found = leaderboards(&by_judge(&all)[0].battles, level).unwrap();
        assert_eq!((without.unbounded, found.unbounded, found.models.len()), (0, 1, 4));
        assert_eq!(found.pairs, without.pairs);
        assert_eq!((&found.spearman, &found.kendall), (&without.spearman, &without.kendall));
    }

    #[test]
    fn groups_that_never_met_have_no_order() {
        let said = [battles(0, ["x", "y"], &AGREED), battles(10, ["v", "w"], &AGREED)].concat();
        let found = leaderboards(&by_judge(&said)[0].battles, ConfidenceLevel::default()).unwrap();
        assert_eq!(found.pairs, None);
        assert!(found.spearman.undefined.unwrap().contains("2 groups"));
        let nothing = leaderboards(&[], ConfidenceLevel::default()).unwrap();
        assert_eq!((nothing.battles, nothing.models.len(), nothing.kendall.value), (0, 0, None));
    }
}
