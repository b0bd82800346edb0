//! Statistics: how two series move together, how far judges agree, and how sure that is.
//!
//! Pure. [`correlation`] compares two series of numbers, [`matrix`] every two of many, [`distribution`] describes one,
//! [`combination`] mixes several into the one that follows a target best, [`agreement`] compares people with judges,
//! [`resample`] redraws what was observed. A number that does not exist is an [`Undefined`] with its reason, never a NaN.

pub mod agreement;
pub mod combination;
pub mod correlation;
pub mod distribution;
pub mod matrix;
pub mod proportion;
pub mod resample;

mod exact;
mod ranks;

pub use ranks::ranks;

use serde::Serialize;

/// Why a number does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undefined {
    /// There is too little to reckon with.
    #[error("there are only {found}, and it takes {needed}")]
    TooFew {
        /// How many there are.
        found: usize,
        /// How many it takes.
        needed: usize,
    },
    /// Two series that should have one value a model each do not.
    #[error("one series has {x} values and the other {y}")]
    Lengths {
        /// Values of the first.
        x: usize,
        /// Values of the second.
        y: usize,
    },
    /// A series that does not vary moves with nothing.
    #[error("all values of the {0} series are equal")]
    Constant(Series),
    /// A value is infinite or not a number.
    #[error("the {0} series has a value that is not a finite number")]
    NotFinite(Series),
    /// The correlation is exactly 1 or −1, whose Fisher z is infinite.
    #[error("the correlation is perfect, so its interval has no width to estimate")]
    Perfect,
    /// Every observation is of one kind, so that chance alone agrees always.
    #[error("all ratings are equal, so that chance alone would agree as well")]
    NoVariation,
    /// The mean that would be divided by is zero.
    #[error("the mean is zero")]
    ZeroMean,
    /// There is nothing that could agree or be won.
    #[error("there is nothing to compare")]
    Nothing,
}

impl Undefined {
    /// The same of two series in the other order.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Lengths { x, y } => Self::Lengths { x: y, y: x },
            Self::Constant(series) => Self::Constant(series.other()),
            Self::NotFinite(series) => Self::NotFinite(series.other()),
            same => same,
        }
    }
}

/// Which of two series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// The one given first.
    First,
    /// The one given second.
    Second,
}

impl Series {
    fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

impl std::fmt::Display for Series {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Second => "second",
        })
    }
}

/// Between which two values a number lies at a stated confidence level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Those that count.
    pub of: u64,
    /// All.
    pub total: u64,
}

impl Share {
    /// The share as a number between 0 and 1.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] where there are none at all.
    pub fn rate(self) -> Result<f64, Undefined> {
        if self.total == 0 {
            Err(Undefined::Nothing)
        } else {
            Ok(crate::domain::rating::real(self.of) / crate::domain::rating::real(self.total))
        }
    }

    /// Counts one more.
    pub fn count(&mut self, holds: bool) {
        self.of += u64::from(holds);
        self.total += 1;
    }
}
