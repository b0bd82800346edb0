//! Information leaked by frame timing under each pacing, as measured by the simulation with the default settings.

/// Kind of pacing, without its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacingKind {
    /// From a reserve, at the tempo that the slower side sustains.
    Common,
    /// In published classes.
    Classes,
    /// After both replies have ended.
    Whole,
    /// Immediately when text arrives.
    Raw,
}

/// Accuracy in percent of classifiers that see only timing, and waiting times of visitors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PacingMetrics {
    /// Accuracy on the side of the slower model; the classifier knows the pair. Guessing gives 50.
    pub side: f64,
    /// Accuracy on the pair, one of six. Guessing gives 16.7.
    pub pair: f64,
    /// Accuracy on the presence of a model that reasons before it writes. Guessing gives 50.
    pub reasoning: f64,
    /// Accuracy on the presence of a slow model. Guessing gives 50.
    pub slow: f64,
    /// Seconds to the first text: median and 90th percentile.
    pub wait: [f64; 2],
    /// Seconds to the vote: median and 90th percentile.
    pub ready: [f64; 2],
}

const COMMON_METRICS: PacingMetrics =
    PacingMetrics { side: 51.2, pair: 72.0, reasoning: 99.0, slow: 93.4, wait: [3.8, 11.6], ready: [47.7, 180.6] };

const CLASSES_METRICS: PacingMetrics =
    PacingMetrics { side: 51.2, pair: 25.5, reasoning: 61.1, slow: 62.1, wait: [15.0, 15.0], ready: [87.0, 287.8] };

const WHOLE_METRICS: PacingMetrics =
    PacingMetrics { side: 50.8, pair: 34.7, reasoning: 56.8, slow: 90.0, wait: [45.0, 150.0], ready: [55.8, 177.3] };

impl PacingKind {
    /// The metrics; `None` for raw pacing, which reveals speeds directly.
    #[must_use]
    pub fn metrics(self) -> Option<PacingMetrics> {
        match self {
            Self::Common => Some(COMMON_METRICS),
            Self::Classes => Some(CLASSES_METRICS),
            Self::Whole => Some(WHOLE_METRICS),
            Self::Raw => None,
        }
    }
}
