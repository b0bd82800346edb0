//! The rows of a vote log, grouped by voter.

use super::vote_log::Labels;

/// Rows by voter, in log order; each row without a voter is a group of its own.
pub(super) struct RowsByVoter {
    rows: Vec<u32>,
    /// Start of each voter's rows, and the end of the last.
    starts: Vec<usize>,
}

impl RowsByVoter {
    /// Counting sort; each row without a voter is a group of its own at the end.
    pub(super) fn new(voters: &Labels) -> Self {
        let known = voters.names.as_slice().len();
        let mut starts = vec![0; known + 1];
        voters.rows.iter().filter(|&&voter| voter != Labels::NONE).for_each(|&voter| starts[voter as usize + 1] += 1);
        (0..known).for_each(|voter| starts[voter + 1] += starts[voter]);
        let mut next = starts.clone();
        let mut rows = vec![0; starts[known]];
        for (row, &voter) in (0_u32..).zip(&voters.rows) {
            if voter == Labels::NONE {
                rows.push(row);
                starts.push(rows.len());
            } else {
                rows[next[voter as usize]] = row;
                next[voter as usize] += 1;
            }
        }
        Self { rows, starts }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|bounds| &self.rows[bounds[0]..bounds[1]]).filter(|rows| !rows.is_empty())
    }
}
