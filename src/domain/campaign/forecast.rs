//! Forecast of a campaign's effort and precision.

use serde::Serialize;

use super::assignment::repeats_of;
use super::plan::{CampaignPlan, Task};
use crate::rating::POINTS_PER_STRENGTH;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::real;

/// Seconds per comparison of two answers, the middle of what annotation studies report.
const SECONDS_PER_JUDGEMENT: f64 = 60.0;

/// Judgements, precision and time of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Number of items.
    pub items: u64,
    /// Number of models, or other candidates.
    pub models: u64,
    /// Number of units: pairs of answers, answers, or items to rank.
    pub units: u64,
    /// Number of judgements needed, without repetitions.
    pub judgements: u64,
    /// Number of repeated judgements.
    pub repeats: u64,
    /// Minimum number of annotators, since none judges an item twice.
    pub annotators_at_least: u64,
    /// Expected half width of a rating's 95 % interval in rating points for models of about equal strength; `None` for scores, and with
    /// fewer than two models.
    pub half_width: Option<f64>,
    /// Working time in hours, at one minute per judgement.
    pub hours: f64,
}

impl Forecast {
    /// Forecasts a campaign with this many items, models and units, and `most_units` units per item at most.
    ///
    /// A vote between equals has the information p(1−p) = ¼ about the difference of two strengths. If all pairs of m models have the same
    /// number of votes and each model v, the variance of a strength around their mean is 4/v · ((m−1)/m)². A ranking of m models compares
    /// each with all others, not independently: ranks of equals have the variance (m²−1)/12, so that J rankings leave a strength
    /// 4(m²−1)/(3m²J).
    #[must_use]
    pub fn new(plan: &CampaignPlan, items: u64, models: u64, units: u64, most_units: u64) -> Self {
        let judgements = units * u64::from(plan.judgements_per_item);
        let repeats = u64::from(repeats_of(u32::try_from(judgements).unwrap_or(u32::MAX), plan.repeat_share));
        let half_width = (plan.task != Task::Score && models > 1 && judgements > 0).then(|| {
            let (judgements, models) = (real(judgements), real(models));
            let variance = match plan.task {
                Task::Rank => 4.0 * (models.powi(2) - 1.0) / (3.0 * models.powi(2) * judgements),
                _ => 2.0 * models / judgements * ((models - 1.0) / models).powi(2),
            };
            ConfidenceLevel::default().z() * variance.sqrt() * POINTS_PER_STRENGTH
        });
        Self {
            items,
            models,
            units,
            judgements,
            repeats,
            annotators_at_least: most_units * u64::from(plan.judgements_per_item),
            half_width,
            hours: real(judgements + repeats) * SECONDS_PER_JUDGEMENT / 3600.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome;
    use rand::SeedableRng as _;
    use rand::seq::SliceRandom as _;
    use rand_chacha::ChaCha8Rng;

    use crate::rating::MEAN_RATING;
    use crate::rating::leaderboards::ranking::rank_log;
    use crate::rating::options::{IntervalMethod, LeaderboardOptions};
    use crate::rating::votes::vote_log::VoteLog;
    use crate::stats::real_len;

    const PLAN: &str =
        "[campaign]\nid = \"a\"\ntitle = \"t\"\ntask = \"pairwise\"\nanswers = \"x\"\nrepeat_share = 0.1\n";

    #[test]
    fn the_width_is_that_of_a_fit_of_equal_models() {
        let plan = CampaignPlan::parse(PLAN).unwrap();
        let (models, rounds) = (5_u32, 40_u64);
        let mut log = VoteLog::default();
        for model in 0..models {
            log.models.position(&model.to_string());
        }
        for round in 0..rounds * 3 {
            for a in 0..models {
                for b in a + 1..models {
                    log.a.push(a);
                    log.b.push(b);
                    log.outcomes.push(if round % 2 == 0 { Outcome::AWins } else { Outcome::BWins });
                }
            }
        }
        let leaderboard = rank_log(&log, &LeaderboardOptions::default()).unwrap();
        let fitted = (leaderboard.models[0].upper.unwrap() - leaderboard.models[0].lower.unwrap()) / 2.0;
        let forecast = Forecast::new(&plan, rounds, u64::from(models), rounds * 10, 10);
        let expected = forecast.half_width.unwrap();
        assert!((fitted / expected - 1.0).abs() < 0.03, "{fitted} {expected}");
        assert_eq!((forecast.judgements, forecast.repeats, forecast.annotators_at_least), (1200, 120, 30));
        assert!((forecast.hours - 22.0).abs() < 1e-9);
    }

    #[test]
    fn the_width_of_a_ranking_is_that_of_random_orders() {
        let (models, rankings) = (5_usize, 150_u64);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut ratings = Vec::new();
        for _ in 0..400 {
            let mut log = VoteLog::default();
            for model in 0..models {
                log.models.position(&model.to_string());
            }
            for _ in 0..rankings {
                let mut order: Vec<u32> = (0..5).collect();
                order.shuffle(&mut rng);
                for (place, &better) in order.iter().enumerate() {
                    for &worse in &order[place + 1..] {
                        log.a.push(better);
                        log.b.push(worse);
                        log.outcomes.push(Outcome::AWins);
                    }
                }
            }
            let options = LeaderboardOptions { interval: IntervalMethod::None, ..LeaderboardOptions::default() };
            let leaderboard = rank_log(&log, &options).unwrap();
            ratings.extend(leaderboard.models.iter().map(|model| model.rating.unwrap() - MEAN_RATING));
        }
        let spread = (ratings.iter().map(|rating| rating * rating).sum::<f64>() / real_len(ratings.len())).sqrt();
        let plan = CampaignPlan::parse(&PLAN.replace("pairwise", "rank")).unwrap();
        let plan = CampaignPlan { judgements_per_item: 3, ..plan };
        let forecast = Forecast::new(&plan, rankings / 3, models as u64, rankings / 3, 1).half_width.unwrap();
        let seen = ConfidenceLevel::default().z() * spread;
        assert!((forecast / seen - 1.0).abs() < 0.05, "{forecast} {seen}");
    }
}
