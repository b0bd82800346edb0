//! Joint covariances of strengths, from which the standard errors of differences are computed.

use nalgebra::DMatrix;

use crate::rating::strengths::model_block::ModelBlock;

/// Maximum number of models of a block with a joint covariance: the cost grows with the cube of their number.
pub(in crate::rating) const MAX_MODELS: usize = 500;

/// Covariances of the strengths of each block, up to terms that cancel in differences within a component.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::rating) struct Covariances {
    blocks: Vec<DMatrix<f64>>,
    /// Block and row of each model of the tally.
    places: Vec<Option<(usize, usize)>>,
}

impl Covariances {
    /// Whether the covariance of a block of `models` models is kept.
    pub(in crate::rating) fn is_kept_for(models: usize) -> bool {
        models <= MAX_MODELS
    }

    /// Stores the covariance of the parameters of a block; those of the models come first.
    pub(in crate::rating) fn put(&mut self, block: &ModelBlock, covariance: DMatrix<f64>) {
        self.put_models(&block.members, covariance);
    }

    /// Stores the covariance of some models, by position in the tally, in the order of its first rows.
    pub(in crate::rating) fn put_models(&mut self, models: &[usize], covariance: DMatrix<f64>) {
        let most = models.iter().max().map_or(0, |last| last + 1);
        self.places.resize(self.places.len().max(most), None);
        for (row, &model) in models.iter().enumerate() {
            self.places[model] = Some((self.blocks.len(), row));
        }
        self.blocks.push(covariance);
    }

    fn place(&self, model: usize) -> Option<(usize, usize)> {
        self.places.get(model).copied().flatten()
    }

    pub(in crate::rating) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether the model is in a block with a covariance.
    pub(in crate::rating) fn has(&self, model: usize) -> bool {
        self.place(model).is_some()
    }

    /// Computes the standard error of the difference of two strengths of one component.
    pub(in crate::rating) fn error_of_difference(&self, one: usize, other: usize) -> Option<f64> {
        let ((block, first), (another, second)) = (self.place(one)?, self.place(other)?);
        let of = &self.blocks[block];
        (block == another)
            .then(|| (of[(first, first)] + of[(second, second)] - 2.0 * of[(first, second)]).max(0.0).sqrt())
    }

    /// Returns the covariance of models of one component, each of which [has](Self::has) one.
    pub(in crate::rating) fn of(&self, models: &[usize]) -> Option<DMatrix<f64>> {
        let places: Vec<(usize, usize)> = models.iter().filter_map(|&model| self.place(model)).collect();
        let block = &self.blocks[places.first()?.0];
        Some(DMatrix::from_fn(places.len(), places.len(), |i, j| block[(places[i].1, places[j].1)]))
    }
}
