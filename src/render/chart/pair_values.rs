//! The values of every pair of models, for heat maps.

use std::collections::HashMap;

use super::Frame;
use super::heatmap::{self, HeatValues, HeatmapData};
use crate::domain::rating::POINTS_PER_STRENGTH;
use crate::domain::rating::counts::tally::Tally;
use crate::domain::rating::leaderboards::leaderboard::RankedModel;

type PairMatrix = Vec<Vec<Option<f64>>>;

/// Results of a model against another; `None` without battles, or where the ratings cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpponentRecord {
    /// The opponent's position on the leaderboard.
    pub opponent: usize,
    /// Share of the votes that the model won, a tie counting half.
    pub won: Option<f64>,
    /// Rated votes between both.
    pub votes: Option<f64>,
    /// Win rate predicted by the ratings.
    pub predicted: Option<f64>,
}

/// Square matrices over the models of a leaderboard, in its order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairs {
    wins: PairMatrix,
    counts: PairMatrix,
    predicted: PairMatrix,
}

impl Pairs {
    /// Computes the matrices from a leaderboard's models and the votes behind it.
    #[must_use]
    pub fn new(models: &[RankedModel], tally: &Tally) -> Self {
        let place: HashMap<&str, usize> = models.iter().enumerate().map(|(at, row)| (row.model.as_str(), at)).collect();
        let empty = || vec![vec![None; models.len()]; models.len()];
        let (mut wins, mut counts) = (empty(), empty());
        for pair in &tally.pairs {
            let name = |model: usize| place.get(tally.models[model].name.as_str()).copied();
            let (Some(one), Some(other)) = (name(pair.first), name(pair.second)) else { continue };
            let votes = pair.points_first() + pair.points_second();
            counts[one][other] = Some(votes);
            counts[other][one] = Some(votes);
            wins[one][other] = Some(pair.points_first() / votes);
            wins[other][one] = Some(pair.points_second() / votes);
        }
        let predicted = models.iter().map(|row| models.iter().map(|column| predicted(row, column)).collect()).collect();
        Self { wins, counts, predicted }
    }

    /// Draws one of the matrices for the first models, which have these names.
    #[must_use]
    pub fn draw(&self, shown: HeatValues, names: &[String], frame: Frame) -> String {
        let values = match shown {
            HeatValues::Wins => &self.wins,
            HeatValues::Counts => &self.counts,
            HeatValues::Predicted => &self.predicted,
        };
        let first = |row: &Vec<Option<f64>>| row.iter().take(names.len()).copied().collect();
        let values: PairMatrix = values.iter().take(names.len()).map(first).collect();
        heatmap::draw(shown, HeatmapData { names, values: &values }, frame)
    }

    /// Results of a model against each other one of the first `count`.
    #[must_use]
    pub fn opponent_records(&self, model: usize, count: usize) -> Vec<OpponentRecord> {
        let value = |values: &PairMatrix, opponent: usize| *values.get(model)?.get(opponent)?;
        let meeting = |opponent: usize| OpponentRecord {
            opponent,
            won: value(&self.wins, opponent),
            votes: value(&self.counts, opponent),
            predicted: value(&self.predicted, opponent),
        };
        (0..count).filter(|&opponent| opponent != model).map(meeting).collect()
    }
}

/// Win rate predicted by the ratings: 1 / (1 + e^((R_column − R_row) / s)). `None` between components, and where a rating is only a
/// bound.
fn predicted(row: &RankedModel, column: &RankedModel) -> Option<f64> {
    let (one, other) = row.rating.zip(column.rating)?;
    (row.component == column.component).then(|| 1.0 / (1.0 + ((other - one) / POINTS_PER_STRENGTH).exp()))
}
