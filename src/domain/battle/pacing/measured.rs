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

const COMMON: TimingFigures =
    TimingFigures { side: 51.6, pair: 73.5, reasoning: 99.1, slow: 96.6, wait: [4.0, 11.6], ready: [46.2, 170.6] };

const CLASSES: TimingFigures =
    TimingFigures { side: 52.2, pair: 23.8, reasoning: 62.0, slow: 62.6, wait: [15.0, 15.0], ready: [87.0, 288.6] };

const WHOLE: TimingFigures =
    TimingFigures { side: 49.0, pair: 34.0, reasoning: 56.6, slow: 89.7, wait: [45.0, 150.0], ready: [55.7, 174.4] };

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
