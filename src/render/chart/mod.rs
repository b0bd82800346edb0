//! Charts: data to SVG that says in words, numbers and shapes what it says in colour.
//!
//! Pure. Every chart is one `<svg role="img">` with a title and a description, in the words of a [`Language`]. Names
//! are shown as text whatever they hold, and are shortened where there is no room; the whole name is in a tooltip.
//! On a page ([`Setting::Page`]) the colours come from `static/chart.css`; a file ([`Setting::File`]) carries them with
//! it, light and dark. [`forest`] shows ratings with intervals, [`heatmap`] a number for each pair of models, [`history`]
//! ratings over time, [`style`] the effects of style, [`value`] ratings against costs. Of benchmarks, [`radar`] shows models by capability, [`violin`] how
//! scores are distributed, [`curves`] scores turn by turn, [`matrix`] a number for each model and task. Of correlations,
//! [`scatter`] shows two series against each other, [`mod@correlations`] all of several, [`correlation_history`] one over time.

pub mod correlation_history;
pub mod correlations;
pub mod curves;
pub mod forest;
pub mod heatmap;
pub mod history;
pub mod matrix;
pub mod pairs;
pub mod radar;
pub mod scatter;
pub mod style;
pub mod value;
pub mod violin;

mod axis;
mod colours;
mod line_style;
mod plot;
mod svg;
mod text;
mod time;

use crate::domain::language::Language;

/// Where a chart is shown and in what words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// The language of titles, descriptions and labels.
    pub language: Language,
    /// What is around the chart.
    pub setting: Setting,
}

/// What is around a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// A page that has `static/style.css` and `static/chart.css`.
    Page,
    /// Nothing: the SVG is a file of its own.
    File,
}

/// What a chart is about, where its kind does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic<'a> {
    /// Distinguishes the charts of a page: a plain word.
    pub key: &'a str,
    /// Its title.
    pub title: &'a str,
}

/// One model's values, one a place; none where there is nothing to show.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartSeries {
    /// The model.
    pub name: String,
    /// Its values, in the order of the places.
    pub values: Vec<Option<f64>>,
}

/// The title of a chart, as XML text.
#[must_use]
pub fn title(svg: &str) -> &str {
    let title = svg.split_once("-title\">").and_then(|(_, rest)| rest.split_once("</title>"));
    title.map_or("", |(title, _)| title)
}

#[cfg(test)]
mod tests;
