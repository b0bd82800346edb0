//! SVG writer: escapes all external text.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{Frame, Setting, stylesheet};
use crate::domain::text_direction;

/// SVG drawing being written. Positions and lengths are in CSS pixels, y grows downwards.
#[derive(Debug)]
pub(super) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

/// Accessible title and description of a chart.
pub(super) struct Caption {
    /// Distinguishes the charts of a page: a plain word.
    pub(super) key: Cow<'static, str>,
    pub(super) title: String,
    pub(super) description: String,
}

/// A position.
#[derive(Debug, Clone, Copy)]
pub(super) struct SvgPoint(pub(super) f64, pub(super) f64);

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    pub(super) fn text(&mut self, class: &str, at: SvgPoint, text: &str) {
        self.add(format_args!("<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>", n(at.0), n(at.1), escape(text)));
    }

    /// Draws a vertical text, read from bottom to top.
    pub(super) fn upright(&mut self, class: &str, at: SvgPoint, text: &str) {
        let (x, y) = (n(at.0), n(at.1));
        let text = escape(text);
        self.add(format_args!("<text class=\"{class}\" transform=\"translate({x} {y}) rotate(-90)\">{text}</text>"));
    }

    pub(super) fn line(&mut self, class: &str, from: SvgPoint, to: SvgPoint) {
        let (x1, y1, x2, y2) = (n(from.0), n(from.1), n(to.0), n(to.1));
        self.add(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    pub(super) fn rect(&mut self, class: &str, corner: SvgPoint, width: f64, height: f64) {
        let (x, y, width, height) = (n(corner.0), n(corner.1), n(width), n(height));
        self.add(format_args!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"));
    }

    pub(super) fn circle(&mut self, class: &str, centre: SvgPoint, radius: f64) {
        let (x, y, r) = (n(centre.0), n(centre.1), n(radius));
        self.add(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>"));
    }

    pub(super) fn polygon(&mut self, class: &str, points: &[SvgPoint]) {
        let points = format_points(points);
        self.add(format_args!("<polygon class=\"{class}\" points=\"{points}\"/>"));
    }

    pub(super) fn polyline(&mut self, class: &str, points: &[SvgPoint]) {
        let points = format_points(points);
        // Without the attribute a viewer without style sheets would fill the area.
        self.add(format_args!("<polyline class=\"{class}\" fill=\"none\" points=\"{points}\"/>"));
    }

    /// Draws many shapes of one class; `data` comes from [`path`]. Draws nothing if empty.
    pub(super) fn path(&mut self, class: &str, data: &str) {
        if !data.is_empty() {
            self.add(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
        }
    }

    /// Draws a text with a tooltip.
    pub(super) fn tipped_text(&mut self, class: &str, at: SvgPoint, text: &str, tip: &str) {
        let (x, y, text, tip) = (n(at.0), n(at.1), escape(text), escape(tip));
        self.add(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}<title>{tip}</title></text>"));
    }

    /// Draws a group with a tooltip.
    pub(super) fn with_tooltip(&mut self, tip: &str, draw: impl FnOnce(&mut Self)) {
        self.add(format_args!("<g><title>{}</title>", escape(tip)));
        draw(self);
        self.add(format_args!("</g>"));
    }

    /// Returns the whole chart.
    pub(super) fn finish(self, words: &Caption, frame: Frame) -> String {
        let (width, height, key, lang) = (n(self.width), n(self.height), escape(&words.key), frame.language.code());
        // The HTML parser needs no namespace for <svg>.
        let xmlns = if frame.setting == Setting::File { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
        let mut out = format!(
            "<svg class=\"chart\"{xmlns} lang=\"{lang}\" role=\"img\" \
             aria-labelledby=\"{key}-title {key}-description\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<title id=\"{key}-title\">{}</title>\n\
             <desc id=\"{key}-description\">{}</desc>\n",
            escape(&words.title),
            escape(&words.description),
        );
        if frame.setting == Setting::File {
            write!(
                out,
                "<style>{}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n",
                stylesheet::sheet()
            )
            .expect(TEXT_GROWS);
        }
        out + &self.body + "</svg>\n"
    }

    fn add(&mut self, element: std::fmt::Arguments) {
        writeln!(self.body, "{element}").expect(TEXT_GROWS);
    }
}

/// Builds the data of a path, shape by shape.
pub(super) mod path {
    use std::fmt::Write as _;

    use super::{SvgPoint, TEXT_GROWS, n};

    /// Adds a square.
    pub(in super::super) fn square(data: &mut String, corner: SvgPoint, size: f64) {
        let (x, y, size) = (n(corner.0), n(corner.1), n(size));
        write!(data, "M{x} {y}h{size}v{size}h-{size}z").expect(TEXT_GROWS);
    }

    /// Adds a line from its start by an offset.
    pub(in super::super) fn line(data: &mut String, start: SvgPoint, by: SvgPoint) {
        write!(data, "M{} {}l{} {}", n(start.0), n(start.1), n(by.0), n(by.1)).expect(TEXT_GROWS);
    }
}

const TEXT_GROWS: &str = "a String takes what is written";

fn format_points(points: &[SvgPoint]) -> String {
    points.iter().map(|at| format!("{},{}", n(at.0), n(at.1))).collect::<Vec<_>>().join(" ")
}

/// Formats a number with at most two decimals.
fn n(number: f64) -> String {
    let text = format!("{number:.2}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// Escapes text for XML; characters not allowed in XML become U+FFFD.
fn escape(text: &str) -> String {
    let text = text_direction::in_name(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
