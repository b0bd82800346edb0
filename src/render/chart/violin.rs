//! Violin plots: distributions of the scores of each model, or of other values, on one scale.
//!
//! The density is a Gaussian kernel estimate over the scores, f(x) = sum of exp(-((x - s)/h)^2 / 2), with Silverman's bandwidth
//! h = 0.9 min(standard deviation, quartile range / 1.34) n^(-1/5); all violins have the same maximum height.

use std::ops::RangeInclusive;

use super::axis::real;
use super::svg::{Canvas, Caption, SvgPoint};
use super::text::shorten;
use super::{Frame, Topic};
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

/// The scores of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ViolinSample {
    /// The model.
    pub name: String,
    /// Its scores, in any order; those that are not numbers are left out.
    pub scores: Vec<f64>,
}

const WIDTH: f64 = 760.0;
const NAME_ROOM: f64 = 190.0;
const PLOT: f64 = 220.0;
const PLOT_END: f64 = 640.0;
const HEAD: f64 = 66.0;
const ROW: f64 = 46.0;
const FOOT: f64 = 40.0;
/// Half the height of a violin.
const HALF_HEIGHT: f64 = 18.0;
const DENSITY_STEPS: u32 = 90;
/// Minimum bandwidth as a share of the scale: scores are mostly whole numbers.
const MIN_BANDWIDTH: f64 = 0.035;

/// Draws the samples in the order in which they come, on a scale from end to end of the range.
#[must_use]
pub fn draw(topic: Topic<'_>, samples: &[ViolinSample], range: &RangeInclusive<f64>, frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let rows: Vec<ViolinRow<'_>> = samples.iter().filter_map(ViolinRow::new).collect();
    let bottom = HEAD + ROW * real(rows.len());
    let mut canvas = Canvas::new(WIDTH, bottom + FOOT);
    canvas.text("heading", SvgPoint(16.0, 26.0), topic.title);
    canvas.text("quiet", SvgPoint(16.0, 46.0), if rows.is_empty() { texts.no_data } else { texts.violin.reading });
    let scale = ViolinScale(range);
    if !rows.is_empty() {
        scale.draw(&mut canvas, bottom);
    }
    for (number, row) in rows.iter().enumerate() {
        let y = HEAD + ROW * (real(number) + 0.5);
        canvas.with_tooltip(&row.describe(texts), |canvas| row.draw(canvas, &scale, y));
    }
    let descriptions: Vec<String> = rows.iter().map(|row| row.describe(texts)).collect();
    let description = match rows.as_slice() {
        [] => texts.no_data.to_owned(),
        rows => {
            fill(texts.violin.description, &[("count", &rows.len().to_string()), ("models", &descriptions.join(" "))])
        }
    };
    canvas.finish(&Caption { key: topic.key.to_owned().into(), title: topic.title.to_owned(), description }, frame)
}

/// The scores of all models on the width of the plot.
struct ViolinScale<'r>(&'r RangeInclusive<f64>);

impl ViolinScale<'_> {
    fn span(&self) -> f64 {
        self.0.end() - self.0.start()
    }

    fn place(&self, score: f64) -> f64 {
        PLOT + (PLOT_END - PLOT) * (score - self.0.start()) / self.span()
    }

    fn draw(&self, canvas: &mut Canvas, bottom: f64) {
        let (step, decimals) = self.step();
        let ticks = (0..).map(|number| self.0.start() + step * f64::from(number));
        for tick in ticks.take_while(|tick| *tick <= self.0.end() + 1e-9) {
            let x = self.place(tick);
            canvas.line("grid", SvgPoint(x, HEAD), SvgPoint(x, bottom));
            // Rounding may leave a negative zero.
            let tick = if tick.abs() < 1e-9 { 0.0 } else { tick };
            canvas.text("quiet middle", SvgPoint(x, bottom + 18.0), &format!("{tick:.decimals$}"));
        }
    }

    /// Distance between ticks, and their number of decimals.
    fn step(&self) -> (f64, usize) {
        match self.span() {
            span if span > 20.0 => (20.0, 0),
            span if span > 2.0 => (1.0, 0),
            span if span > 0.8 => (0.2, 1),
            span if span > 0.25 => (0.1, 1),
            _ => (0.05, 2),
        }
    }
}

/// A model's scores in order.
struct ViolinRow<'a> {
    name: &'a str,
    sorted: Vec<f64>,
}

impl<'a> ViolinRow<'a> {
    fn new(sample: &'a ViolinSample) -> Option<Self> {
        let mut sorted: Vec<f64> = sample.scores.iter().copied().filter(|score| score.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then_some(Self { name: &sample.name, sorted })
    }

    fn mean(&self) -> f64 {
        self.sorted.iter().sum::<f64>() / real(self.sorted.len())
    }

    /// Quantile of the scores, linearly interpolated.
    fn quantile(&self, share: f64) -> f64 {
        let last = self.sorted.len() - 1;
        let at = share * real(last);
        let below = (0..last).take_while(|&place| real(place + 1) <= at).count();
        let (low, high) = (self.sorted[below], self.sorted[(below + 1).min(last)]);
        low + (high - low) * (at - real(below))
    }

    /// Kernel bandwidth.
    fn bandwidth(&self, span: f64) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.sorted.iter().map(|score| (score - mean).powi(2)).sum();
        let std_dev = (squares / real(self.sorted.len())).sqrt();
        let quartiles = (self.quantile(0.75) - self.quantile(0.25)) / 1.34;
        let spread = if quartiles > 0.0 { std_dev.min(quartiles) } else { std_dev };
        (0.9 * spread * real(self.sorted.len()).powf(-0.2)).max(MIN_BANDWIDTH * span)
    }

    /// Distinct scores with their counts.
    fn counted(&self) -> Vec<(f64, f64)> {
        let runs = self.sorted.chunk_by(|one, next| one.total_cmp(next).is_eq());
        runs.map(|run| (run[0], real(run.len()))).collect()
    }

    /// The outline, from the left end above and back below.
    fn outline(&self, scale: &ViolinScale<'_>, y: f64) -> Vec<SvgPoint> {
        let (counted, h) = (self.counted(), self.bandwidth(scale.span()));
        let density = |x: f64| counted.iter().map(|(s, n)| n * (-0.5 * ((x - s) / h).powi(2)).exp()).sum::<f64>();
        let at = |step: u32| scale.0.start() + scale.span() * f64::from(step) / f64::from(DENSITY_STEPS);
        let heights: Vec<(f64, f64)> = (0..=DENSITY_STEPS).map(|step| (at(step), density(at(step)))).collect();
        let most = heights.iter().map(|(_, height)| *height).fold(f64::MIN_POSITIVE, f64::max);
        let side = |sign: f64| {
            let place =
                move |(x, height): &(f64, f64)| SvgPoint(scale.place(*x), y - sign * HALF_HEIGHT * height / most);
            heights.iter().map(place).collect::<Vec<SvgPoint>>()
        };
        side(1.0).into_iter().chain(side(-1.0).into_iter().rev()).collect()
    }

    fn draw(&self, canvas: &mut Canvas, scale: &ViolinScale<'_>, y: f64) {
        canvas.text("end", SvgPoint(PLOT - 14.0, y + 4.5), &shorten(self.name, NAME_ROOM / 13.0));
        canvas.polygon("violin", &self.outline(scale, y));
        let [lower, median, upper] = [0.25, 0.5, 0.75].map(|share| scale.place(self.quantile(share)));
        canvas.line("quartiles", SvgPoint(lower, y), SvgPoint(upper, y));
        canvas.circle("hollow", SvgPoint(median, y), 4.0);
        let summary = format!("{:.2} · {}", self.mean(), self.sorted.len());
        canvas.text("quiet end", SvgPoint(WIDTH - 16.0, y + 4.5), &summary);
    }

    fn describe(&self, texts: &ChartTexts) -> String {
        let text = |value: f64| format!("{value:.2}");
        let [lower, median, upper] = [0.25, 0.5, 0.75].map(|share| text(self.quantile(share)));
        let (mean, count) = (text(self.mean()), self.sorted.len().to_string());
        let values = [
            ("name", self.name),
            ("lower", &lower),
            ("median", &median),
            ("upper", &upper),
            ("mean", &mean),
            ("count", &count),
        ];
        fill(texts.violin_one, &values)
    }
}
