//! Statistics of a model for operators: requests and failures.

/// Statistics of one model in recent finished battles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelStats {
    /// Number of battles with the model on a side.
    pub battles: u64,
    /// Number of replies that were completed, or stopped by the visitor.
    pub replies: u64,
    /// Number of replies that failed, including those that another model replaced.
    pub failures: u64,
    /// Median time to the first token in milliseconds.
    pub first_token_ms: Option<u64>,
}

impl ModelStats {
    /// Returns the share of replies that failed; `None` without any.
    #[must_use]
    pub fn error_rate(&self) -> Option<f64> {
        ratio(self.failures, self.failures + self.replies)
    }

    /// Returns the model's share of this many battles.
    #[must_use]
    pub fn share(&self, battles: u64) -> Option<f64> {
        ratio(self.battles, battles)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    let real = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    (whole > 0).then(|| real(part) / real(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_shares_of_what_was_asked_and_nothing_where_nothing_was() {
        let stats = ModelStats { battles: 3, replies: 6, failures: 2, first_token_ms: None };
        assert_eq!((stats.error_rate(), stats.share(12)), (Some(0.25), Some(0.25)));
        assert_eq!((ModelStats::default().error_rate(), ModelStats::default().share(0)), (None, None));
    }
}
