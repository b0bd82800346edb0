//! Standard errors under style control by leaving out one voter at a time, each by one Newton step; formulas as in
//! [`super::super::intervals::jackknife`], over (θ, β).

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::super::FitError;
use super::super::intervals::jackknife::{Correction, SumsOfVoters, ranges};
use super::super::votes::vote_log::Labels;
use super::errors::{Variances, by_voter, regularized_hessian_inverse};
use super::features::{FeatureGroup, FeatureVector, StyledVote, StyledVotes};
use super::negative_log_likelihood::{Shares, StyleLoss};

/// Computes the variances of the strengths and effects between voters. `None` if one voter cast all votes.
pub(super) fn variances(
    loss: &StyleLoss<'_>,
    point: &DVector<f64>,
    voters: &Labels,
) -> Result<Option<Variances>, FitError> {
    let size = point.len();
    if size == 0 {
        return Ok(Some(Variances::of_votes(DMatrix::zeros(0, 0))));
    }
    let inverse = regularized_hessian_inverse(loss, point)?;
    let information = loss.hessian(point).diagonal();
    let (order, begins) = by_voter(&loss.votes().rows, voters);
    let style = StyledPoint {
        votes: loss.votes(),
        kept: loss.kept(),
        models: loss.models().len(),
        point,
        inverse: &inverse,
        information: &information,
        predict: loss.predict(point),
    };
    let parts: Vec<SumsOfVoters> = ranges(begins.len() - 1)
        .into_par_iter()
        .map(|range| {
            let (mut sums, mut correction) = (SumsOfVoters::new(size), Correction::default());
            range.for_each(|voter| {
                style.leave_out(&order[begins[voter]..begins[voter + 1]], &mut correction, &mut sums);
            });
            sums
        })
        .collect();
    let sums = SumsOfVoters::total(size, parts);
    Ok(sums.covariance(&inverse).map(|covariance| Variances {
        values: covariance.diagonal(),
        covariance,
        voters: Some(sums.effective_voters()),
        single_voter: sums.single_voter().to_vec(),
    }))
}

/// One vote of the voter, by positions in the voter's parameters; the features follow the models there.
struct PlacedVote {
    first: usize,
    second: usize,
    x: FeatureVector,
    weight: f64,
}

/// Optimum with its derivatives, for leaving out voters.
struct StyledPoint<'a, P> {
    votes: &'a StyledVotes,
    /// Features in the fit.
    kept: &'a [usize],
    models: usize,
    point: &'a DVector<f64>,
    inverse: &'a DMatrix<f64>,
    /// Diagonal of the Hessian.
    information: &'a DVector<f64>,
    /// Computes θ_first − θ_second + x·β of a vote, from the difference of the strengths.
    predict: P,
}

impl<P: Fn(f64, &StyledVote) -> f64> StyledPoint<'_, P> {
    fn group_of(&self, vote: u32) -> FeatureGroup {
        let groups = self.votes.groups.as_slice();
        groups[groups.partition_point(|group| group.begin <= vote as usize) - 1]
    }

    /// Returns the parameters that votes touch, their models in order, then all features, with the number of models.
    fn touched(&self, votes: &[u32]) -> (Vec<usize>, usize) {
        let groups = votes.iter().map(|&vote| self.group_of(vote));
        let mut parameters: Vec<usize> = groups.flat_map(|group| [group.first, group.second]).collect();
        parameters.sort_unstable();
        parameters.dedup();
        let models = parameters.len();
        parameters.extend(self.models..self.point.len());
        (parameters, models)
    }

    /// Adds a voter to the sums.
    fn leave_out(&self, votes: &[u32], correction: &mut Correction, sums: &mut SumsOfVoters) {
        let (parameters, models) = self.touched(votes);
        let place = |model: usize| parameters[..models].binary_search(&model).expect("each vote's models are listed");
        let (mut score, mut information) = (vec![0.0; parameters.len()], vec![0.0; parameters.len()]);
        let mut terms = Vec::with_capacity(votes.len());
        for &vote in votes {
            let (group, vote) = (self.group_of(vote), &self.votes.votes[vote as usize]);
            let shares = Shares::at((self.predict)(self.point[group.first] - self.point[group.second], vote));
            let slope = vote.weight * shares.residual(vote.points);
            let weight = vote.weight * shares.p * shares.q;
            let (first, second) = (place(group.first), place(group.second));
            score[first] += slope;
            score[second] -= slope;
            information[first] += weight;
            information[second] += weight;
            for (at, &feature) in self.kept.iter().enumerate() {
                score[models + at] += slope * vote.x[feature];
                information[models + at] += weight * vote.x[feature] * vote.x[feature];
            }
            terms.push(PlacedVote { first, second, x: vote.x, weight });
        }
        sums.mark_sole_voter_parameters(&parameters[..models], &information, self.information);
        correction.set(&parameters, &score, self.inverse);
        match correction.solve(|from, to| self.curve(&terms, models, from, to)) {
            Some(corrected) => sums.add(&parameters, corrected, &information),
            None => {
                sums.add_information(&parameters, &information);
                sums.carry(&parameters[..models]);
            }
        }
    }

    /// Sets `to` to H_g times `from`.
    fn curve(&self, votes: &[PlacedVote], models: usize, from: &[f64], to: &mut [f64]) {
        to.fill(0.0);
        for vote in votes {
            let along = self.kept.iter().enumerate().map(|(at, &feature)| vote.x[feature] * from[models + at]);
            let slope = vote.weight * (from[vote.first] - from[vote.second] + along.sum::<f64>());
            to[vote.first] += slope;
            to[vote.second] -= slope;
            for (at, &feature) in self.kept.iter().enumerate() {
                to[models + at] += slope * vote.x[feature];
            }
        }
    }
}
