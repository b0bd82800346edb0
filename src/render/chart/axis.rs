//! Axes: mapping of values to pixels, ticks and their labels.

/// Linear map from a range of values to a range of pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    /// The highest of the values.
    last: f64,
    start: f64,
    end: f64,
}

impl Axis {
    /// Creates an axis from `start` to `end` in pixels that covers all values with a margin of `beside`.
    pub(super) fn over(values: impl Iterator<Item = f64>, beside: f64, start: f64, end: f64) -> Self {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        let room = (0.04 * (high - low)).max(beside);
        Self { low: low - room, high: high + room, last: high, start, end }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)
    }

    /// Round values inside the axis, about `count` of them.
    pub(super) fn ticks(&self, count: f64) -> Vec<f64> {
        self.multiples(round_step((self.high - self.low) / count))
    }

    /// Ticks of an axis of decimal logarithms: 1, 2 and 5 times the powers of ten inside it, or only the powers if there would be more
    /// than `most`.
    pub(super) fn decimal_ticks(&self, most: usize) -> Vec<f64> {
        let powers = |digits: &'static [f64]| -> Vec<f64> {
            let decade = |decade: f64| digits.iter().map(move |digit| digit.log10() + decade);
            let mut ticks: Vec<f64> = self.decades().flat_map(decade).collect();
            ticks.retain(|tick| (self.low..=self.high).contains(tick));
            ticks
        };
        let fine = powers(&[1.0, 2.0, 5.0]);
        if fine.len() > most { powers(&[1.0]) } else { fine }
    }

    /// The whole numbers from the one below the axis to its end.
    fn decades(&self) -> impl Iterator<Item = f64> + use<> {
        let (first, last) = (self.low.floor(), self.high.floor());
        std::iter::successors(Some(first), move |decade| Some(decade + 1.0).filter(|next| *next <= last))
    }

    /// All multiples of `step` inside the axis.
    pub(super) fn multiples(&self, step: f64) -> Vec<f64> {
        let mut ticks = Vec::new();
        let mut tick = (self.low / step).ceil();
        while tick * step <= self.high {
            ticks.push(tick * step);
            tick += 1.0;
        }
        ticks
    }

    /// Clamps a value to the axis.
    pub(super) fn clamped(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// Its lowest and highest value.
    pub(super) fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The highest of the values, without the margin.
    pub(super) fn last(&self) -> f64 {
        self.last
    }

    /// The length in values.
    pub(super) fn span(&self) -> f64 {
        self.high - self.low
    }
}

/// The next of …, 1, 2, 5, 10, 20, 50, … that is not below `least`.
fn round_step(least: f64) -> f64 {
    let decade = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|digit| digit * decade).find(|&step| step >= least).unwrap_or(10.0 * decade)
}

/// Formats a tick with as many decimals as the step needs.
pub(super) fn label(value: f64, span: f64) -> String {
    if value.abs() >= 1e7 {
        return format!("{value:.2e}");
    }
    let decimals = if span < 0.005 {
        6
    } else if span < 0.05 {
        4
    } else if span < 0.5 {
        3
    } else if span < 5.0 {
        2
    } else if span < 20.0 {
        1
    } else {
        0
    };
    // Rounding may leave a negative zero.
    let value = if value.abs() < span * 1e-9 { 0.0 } else { value };
    format!("{value:.decimals$}").replace('-', "−")
}

/// Converts a count to a floating-point number.
pub(super) fn real(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}
