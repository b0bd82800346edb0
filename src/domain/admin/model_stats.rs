//! What an operator looks at of a model: how often it is asked, and how often it fails.

/// Statistics of one model in recent battles that are over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelStats {
    /// Battles that have it on a side.
    pub battles: u64,
    /// Replies that it wrote to their end, or until they were stopped.
    pub replies: u64,
    /// Replies that failed, those that another model then wrote included.
    pub failures: u64,
    /// Median time to the first token in milliseconds.
    pub first_token_ms: Option<u64>,
}

impl ModelStats {
    /// Share of its replies that failed; `None` where it was not asked.
    #[must_use]
    pub fn error_rate(&self) -> Option<f64> {
        ratio(self.failures, self.failures + self.replies)
    }

    /// Share of this many battles that have it on a side.
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
