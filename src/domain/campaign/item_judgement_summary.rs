//! Aggregated judgements of annotators on one item.

use std::collections::BTreeMap;

use super::judgement::UnitJudgement;
use crate::battle::Outcome;
use crate::stats::{real, real_len};

/// Valid judgement, with the models in display order.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemJudgement {
    /// Id of the campaign.
    pub campaign: String,
    /// Models in display order.
    pub shown: Vec<String>,
    /// Judgement of the annotator.
    pub judgement: UnitJudgement,
}

/// Preferences between two models' answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairOpinion {
    /// Id of the campaign.
    pub campaign: String,
    /// The models in alphabetical order.
    pub models: [String; 2],
    /// Number of preferences for each model's answer.
    pub preferred: [u64; 2],
    /// Number of ties.
    pub ties: u64,
}

/// Mean score of a model's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreOpinion {
    /// Id of the campaign.
    pub campaign: String,
    /// Id of the model.
    pub model: String,
    /// Mean of the scores.
    pub mean: f64,
    /// Number of scores.
    pub scores: u64,
}

/// Judgements of annotators on an item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemJudgementSummary {
    /// Preferences by campaign and pair.
    pub pairs: Vec<PairOpinion>,
    /// Mean scores by campaign and model.
    pub scores: Vec<ScoreOpinion>,
}

impl ItemJudgementSummary {
    /// Aggregates judgements. A ranking counts as a preference in each pair.
    #[must_use]
    pub fn new(judgements: &[ItemJudgement]) -> Self {
        let mut pairs: BTreeMap<(&str, [&str; 2]), [u64; 3]> = BTreeMap::new();
        let mut scores: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
        for ItemJudgement { campaign, shown, judgement } in judgements {
            match (judgement, shown.as_slice()) {
                (UnitJudgement::Score(score), [model]) => {
                    scores.entry((campaign, model)).or_default().push(f64::from(*score));
                }
                (UnitJudgement::Ranking(places), models) => {
                    let ranked: Vec<&String> = places.iter().filter_map(|at| models.get(usize::from(*at))).collect();
                    for (at, better) in ranked.iter().enumerate() {
                        for worse in &ranked[at + 1..] {
                            count(&mut pairs, campaign, [better, worse], Outcome::AWins);
                        }
                    }
                }
                (judgement, [a, b]) => {
                    if let Some(outcome) = judgement.outcome() {
                        count(&mut pairs, campaign, [a, b], outcome);
                    }
                }
                _ => {}
            }
        }
        let pair = |((campaign, models), [one, other, ties]): ((&str, [&str; 2]), [u64; 3])| PairOpinion {
            campaign: campaign.to_owned(),
            models: models.map(str::to_owned),
            preferred: [one, other],
            ties,
        };
        let score = |((campaign, model), scores): ((&str, &str), Vec<f64>)| ScoreOpinion {
            campaign: campaign.to_owned(),
            model: model.to_owned(),
            mean: scores.iter().sum::<f64>() / real_len(scores.len()),
            scores: scores.len().try_into().unwrap_or(u64::MAX),
        };
        Self { pairs: pairs.into_iter().map(pair).collect(), scores: scores.into_iter().map(score).collect() }
    }

    /// Whether there are no judgements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.scores.is_empty()
    }
}

impl PairOpinion {
    /// Returns the share of the judgements that prefer the first model, with a tie as half a preference.
    #[must_use]
    pub fn share(&self) -> f64 {
        let [one, other] = self.preferred.map(real);
        (one + 0.5 * real(self.ties)) / (one + other + real(self.ties)).max(1.0)
    }
}

fn count<'j>(
    pairs: &mut BTreeMap<(&'j str, [&'j str; 2]), [u64; 3]>,
    campaign: &'j str,
    [a, b]: [&'j String; 2],
    outcome: Outcome,
) {
    let is_in_order = a <= b;
    let models = if is_in_order { [a.as_str(), b.as_str()] } else { [b.as_str(), a.as_str()] };
    let place = match outcome {
        Outcome::AWins => usize::from(!is_in_order),
        Outcome::BWins => usize::from(is_in_order),
        Outcome::Tie | Outcome::BothBad => 2,
    };
    pairs.entry((campaign, models)).or_default()[place] += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(shown: &[&str], judgement: UnitJudgement) -> ItemJudgement {
        let shown = shown.iter().map(|model| (*model).to_owned()).collect();
        ItemJudgement { campaign: "pilot".to_owned(), shown, judgement }
    }

    #[test]
    fn a_preference_counts_for_its_model_on_either_side() {
        let opinions = ItemJudgementSummary::new(&[
            judgement(&["a", "b"], UnitJudgement::Outcome(Outcome::AWins)),
            judgement(&["b", "a"], UnitJudgement::Outcome(Outcome::BWins)),
            judgement(&["b", "a"], UnitJudgement::Outcome(Outcome::BothBad)),
            judgement(&["b", "a", "c"], UnitJudgement::Ranking(vec![0, 2, 1])),
        ]);
        let counts: Vec<_> =
            opinions.pairs.iter().map(|pair| (pair.models.join(" "), pair.preferred, pair.ties)).collect();
        let expected = [("a b", [2, 1], 1), ("a c", [0, 1], 0), ("b c", [1, 0], 0)];
        assert_eq!(counts, expected.map(|(models, preferred, ties)| (models.to_owned(), preferred, ties)));
        assert!((opinions.pairs[0].share() - 0.625).abs() < 1e-12);
    }

    #[test]
    fn scores_are_a_mean_and_what_fits_no_answers_counts_nothing() {
        let scores = [2, 5].map(|score| judgement(&["a"], UnitJudgement::Score(score)));
        let opinions = ItemJudgementSummary::new(&scores);
        assert_eq!((opinions.scores[0].mean.to_bits(), opinions.scores[0].scores), (3.5_f64.to_bits(), 2));
        let odd =
            [judgement(&["a", "b"], UnitJudgement::Score(3)), judgement(&["a"], UnitJudgement::Outcome(Outcome::Tie))];
        assert!(ItemJudgementSummary::new(&odd).is_empty());
    }
}
