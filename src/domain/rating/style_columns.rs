//! Counts of style features, for each vote of a log.

/// Counts of a style feature in the replies of sides A and B, one pair for each vote.
pub type FeatureCounts = Vec<[u32; 2]>;

/// Columns of LMArena's four style features.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyleColumns {
    /// Tokens, headings, list items, bold spans; 0 where the count is not known.
    features: [FeatureCounts; 4],
    /// Whether each of the four is known on both sides, for each vote.
    known: Vec<[bool; 4]>,
}

impl StyleColumns {
    /// Returns the numbers of tokens.
    #[must_use]
    pub fn tokens(&self) -> &[[u32; 2]] {
        &self.features[0]
    }

    /// Returns the numbers of Markdown headings of any level.
    #[must_use]
    pub fn headings(&self) -> &[[u32; 2]] {
        &self.features[1]
    }

    /// Returns the numbers of list items of any kind.
    #[must_use]
    pub fn lists(&self) -> &[[u32; 2]] {
        &self.features[2]
    }

    /// Returns the numbers of bold spans of any kind.
    #[must_use]
    pub fn bold(&self) -> &[[u32; 2]] {
        &self.features[3]
    }

    /// Returns the counts of tokens, headings, list items and bold spans.
    #[must_use]
    pub fn features(&self) -> &[FeatureCounts; 4] {
        &self.features
    }

    /// Returns for each vote whether each of the four counts is known.
    #[must_use]
    pub fn known(&self) -> &[[bool; 4]] {
        &self.known
    }

    /// Returns for each vote whether it has every count that any vote has; `None` where all votes have.
    #[must_use]
    pub fn complete(&self) -> Option<Vec<bool>> {
        let used: [bool; 4] = std::array::from_fn(|feature| self.known.iter().any(|known| known[feature]));
        let complete: Vec<bool> = self.known.iter().map(|known| *known == used).collect();
        complete.contains(&false).then_some(complete)
    }

    /// Adds the known counts of a vote. Zero tokens on both sides mean that no counts were recorded: no two replies are empty, and a
    /// database stores zeros for a file without counts.
    pub fn push(&mut self, counts: [Option<[u32; 2]>; 4]) {
        let counts = if counts[0] == Some([0, 0]) { [None; 4] } else { counts };
        self.known.push(counts.map(|count| count.is_some()));
        self.features.iter_mut().zip(counts).for_each(|(column, count)| column.push(count.unwrap_or_default()));
    }

    /// Adds the votes of `other` at the end.
    pub(super) fn append(&mut self, other: &Self) {
        self.features.iter_mut().zip(&other.features).for_each(|(mine, theirs)| mine.extend_from_slice(theirs));
        self.known.extend_from_slice(&other.known);
    }

    /// Reorders the votes to those at `rows`, in that order.
    pub(super) fn pick(&mut self, rows: &[u32]) {
        self.features.iter_mut().for_each(|counts| pick(counts, rows));
        pick(&mut self.known, rows);
    }

    /// Keeps the votes whose entry in `keep` is true.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        self.features.iter_mut().for_each(|counts| retain(counts, keep));
        retain(&mut self.known, keep);
    }
}

/// Reorders a column to the entries at `rows`, in that order.
pub(super) fn pick<T: Copy>(column: &mut Vec<T>, rows: &[u32]) {
    *column = rows.iter().map(|&row| column[row as usize]).collect();
}

/// Keeps the entries of a column whose entry in `keep` is true.
pub(super) fn retain<T>(column: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    column.retain(|_| keep.next().copied().unwrap_or(true));
}
