//! Chart of style effects: each coefficient as a dot with its interval as a line, on one scale around zero.

use super::Frame;
use super::axis::{Axis, label, real};
use super::svg::{Canvas, Caption, SvgPoint};
use super::text::shorten;
use crate::domain::rating::style::StyleEffect;
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

const WIDTH: f64 = 720.0;
const NAME_ROOM: f64 = 150.0;
const PLOT: f64 = 180.0;
const PLOT_END: f64 = 530.0;
const HEAD: f64 = 66.0;
const ROW: f64 = 30.0;
const FOOT: f64 = 48.0;

/// Draws the effects in the order in which they come.
#[must_use]
pub fn draw(effects: &[StyleEffect], frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let bottom = HEAD + ROW * real(effects.len());
    let mut canvas = Canvas::new(WIDTH, bottom + FOOT);
    canvas.text("heading", SvgPoint(16.0, 26.0), texts.style.title);
    canvas.text("quiet", SvgPoint(16.0, 46.0), if effects.is_empty() { texts.no_data } else { texts.style.reading });
    let ends = effects.iter().flat_map(|effect| [effect.lower, effect.upper, 0.0]);
    let axis = Axis::over(ends, 0.005, PLOT, PLOT_END);
    for tick in axis.ticks(5.0) {
        let x = axis.place(tick);
        canvas.line("grid", SvgPoint(x, HEAD), SvgPoint(x, bottom));
        canvas.text("quiet middle", SvgPoint(x, bottom + 17.0), &label(tick, axis.span()));
    }
    canvas.text("quiet middle", SvgPoint(f64::midpoint(PLOT, PLOT_END), bottom + 36.0), texts.style_axis);
    let zero = axis.place(0.0);
    canvas.line("rule", SvgPoint(zero, HEAD - 4.0), SvgPoint(zero, bottom + 4.0));
    for (number, effect) in effects.iter().enumerate() {
        let y = HEAD + ROW * (real(number) + 0.5);
        canvas.with_tooltip(&describe(effect, texts), |canvas| draw_effect(canvas, effect, (&axis, y), texts));
    }
    canvas.finish(&caption(effects, texts), frame)
}

fn draw_effect(canvas: &mut Canvas, effect: &StyleEffect, (axis, y): (&Axis, f64), texts: &ChartTexts) {
    let (lower, upper) = (axis.place(effect.lower), axis.place(effect.upper));
    canvas.text("end", SvgPoint(PLOT - 14.0, y + 4.5), &shorten(texts.feature(&effect.feature), NAME_ROOM / 13.0));
    canvas.line("whisker", SvgPoint(lower, y), SvgPoint(upper, y));
    for end in [lower, upper] {
        canvas.line("whisker", SvgPoint(end, y - 5.0), SvgPoint(end, y + 5.0));
    }
    // Hollow if the interval includes zero.
    let class = if effect.lower <= 0.0 && effect.upper >= 0.0 { "hollow" } else { "point" };
    canvas.circle(class, SvgPoint(axis.place(effect.coefficient), y), 4.5);
    let estimate = format!("{:+.3}  ({:+.3} … {:+.3})", effect.coefficient, effect.lower, effect.upper);
    canvas.text("end", SvgPoint(WIDTH - 16.0, y + 4.5), &estimate);
}

fn caption(effects: &[StyleEffect], texts: &ChartTexts) -> Caption {
    let descriptions: Vec<String> = effects.iter().map(|effect| describe(effect, texts)).collect();
    let description = match effects {
        [] => texts.no_data.to_owned(),
        _ => fill(texts.style.description, &[("models", &descriptions.join(" "))]),
    };
    Caption { key: "style".into(), title: texts.style.title.to_owned(), description }
}

fn describe(effect: &StyleEffect, texts: &ChartTexts) -> String {
    let text = |value: f64| format!("{value:+.3}");
    let [value, lower, upper] = [effect.coefficient, effect.lower, effect.upper].map(text);
    fill(
        texts.style_one,
        &[("name", texts.feature(&effect.feature)), ("value", &value), ("lower", &lower), ("upper", &upper)],
    )
}
