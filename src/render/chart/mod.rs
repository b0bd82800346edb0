//! Charts as SVG, in which words, numbers and shapes repeat the information of colours.
//!
//! Pure. Every chart is one `<svg role="img">` with a title and a description, in the words of a [`Language`]. Names
//! are always shown as text, and are shortened to fit; the whole name is in a tooltip.
//! On a page ([`Setting::Page`]) the colours come from `static/chart.css`; a file ([`Setting::File`]) carries them with
//! it, light and dark. [`forest`] shows ratings with intervals, [`heatmap`] a number for each pair of models, [`history`]
//! ratings over time, [`style`](style_effects) the effects of style, [`value`] ratings against costs. Of benchmarks, [`radar`] shows models by
//! capability, [`violin`] distributions of scores, [`curves`](scores_by_turn) scores by turn, [`matrix`] a number for each model and task. Of
//! correlations, [`scatter`] shows two series against each other, [`mod@correlations`] a matrix, [`correlation_history`] one over time.

pub mod correlation_history;
pub mod correlations;
pub mod forest;
pub mod heatmap;
pub mod history;
pub mod matrix;
pub mod pair_values;
pub mod radar;
pub mod scatter;
pub mod scores_by_turn;
pub mod style_effects;
mod stylesheet;
pub mod value;
pub mod violin;

mod axis;
mod line_style;
mod plot;
mod svg;
mod text;
mod time;

use crate::domain::language::Language;

/// Language and setting of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// The language of titles, descriptions and labels.
    pub language: Language,
    /// Setting of the chart.
    pub setting: Setting,
}

/// Setting of a chart: a page, or a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// A page that has `static/style.css` and `static/chart.css`.
    Page,
    /// A standalone SVG file.
    File,
}

/// Key and title of a chart whose kind does not determine them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic<'a> {
    /// Distinguishes the charts of a page: a plain word.
    pub key: &'a str,
    /// Its title.
    pub title: &'a str,
}

/// One model's values by position; `None` if missing.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartSeries {
    /// The model.
    pub name: String,
    /// Its values in order of position.
    pub values: Vec<Option<f64>>,
}

/// Extracts the title of a chart, as XML text.
#[must_use]
pub fn title(svg: &str) -> &str {
    let title = svg.split_once("-title\">").and_then(|(_, rest)| rest.split_once("</title>"));
    title.map_or("", |(title, _)| title)
}

#[cfg(test)]
mod tests;
