//! What the times of the frames tell under each pacing, as the simulation measures it with the default settings.

/// How replies are released, without the settings of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacingKind {
    /// From a reserve, at the tempo that the slower side keeps.
    Common,
    /// In published classes.
    Classes,
    /// After both replies have ended.
    Whole,
    /// As text comes.
    Raw,
}

/// Shares in percent that a classifier gets right from the times alone, and what visitors wait for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimingFigures {
    /// Which side is the slower model; the classifier knows the pair. Guessing gives 50.
    pub side: f64,
    /// Which of six pairs. Guessing gives 16.7.
    pub pair: f64,
    /// That a model that reasons before it writes takes part. Guessing gives 50.
    pub reasoning: f64,
    /// That a slow model takes part. Guessing gives 50.
    pub slow: f64,
    /// Seconds to the first text: the median, and within what nine of ten battles begin.
    pub wait: [f64; 2],
    /// Seconds to the vote.
    pub ready: [f64; 2],
}

/// What is measured without a reserve, when the longer reply's rest comes at the mean tempo at most: the pacing before
/// there was a reserve.
pub const WITHOUT_RESERVE: TimingFigures =
    TimingFigures { side: 81.8, pair: 67.0, reasoning: 98.9, slow: 96.6, wait: [2.6, 10.4], ready: [34.2, 128.4] };

const COMMON: TimingFigures =
    TimingFigures { side: 49.9, pair: 72.7, reasoning: 98.1, slow: 94.8, wait: [3.7, 11.7], ready: [43.3, 156.7] };

const CLASSES: TimingFigures =
    TimingFigures { side: 51.7, pair: 27.0, reasoning: 64.0, slow: 66.2, wait: [15.0, 15.0], ready: [82.4, 239.8] };

const WHOLE: TimingFigures =
    TimingFigures { side: 49.7, pair: 31.0, reasoning: 57.0, slow: 87.9, wait: [40.0, 140.0], ready: [51.0, 158.9] };

impl PacingKind {
    /// The figures; `None` where speeds simply show.
    #[must_use]
    pub fn figures(self) -> Option<TimingFigures> {
        match self {
            Self::Common => Some(COMMON),
            Self::Classes => Some(CLASSES),
            Self::Whole => Some(WHOLE),
            Self::Raw => None,
        }
    }
}
