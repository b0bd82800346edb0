//! Line styles distinguishable without colour: dashes and marks; and names at the ends of lines.

use super::svg::{Canvas, SvgPoint};
use super::text::shorten;

/// Number of distinguishable line styles.
pub(super) const LINE_STYLES: usize = 12;
/// Vertical space for the name of a line.
const LABEL_HEIGHT: f64 = 15.0;

/// Style of a line: colour, dashes and mark.
pub(super) struct LineStyle {
    colour: &'static str,
    dashes: &'static str,
    mark: fn(&mut Canvas, &str, SvgPoint),
}

impl LineStyle {
    /// Returns style number `at`; the first [`LINE_STYLES`] differ in dashes or marks.
    pub(super) fn nth(at: usize) -> Self {
        const MARKER_SHAPES: [fn(&mut Canvas, &str, SvgPoint); 4] = [
            |canvas, class, at| canvas.circle(class, at, 4.0),
            |canvas, class, SvgPoint(x, y)| canvas.rect(class, SvgPoint(x - 3.5, y - 3.5), 7.0, 7.0),
            |canvas, class, SvgPoint(x, y)| {
                canvas.polygon(class, &[SvgPoint(x, y - 5.0), SvgPoint(x + 4.5, y + 3.5), SvgPoint(x - 4.5, y + 3.5)])
            },
            |canvas, class, SvgPoint(x, y)| {
                canvas.polygon(
                    class,
                    &[SvgPoint(x, y - 5.0), SvgPoint(x + 5.0, y), SvgPoint(x, y + 5.0), SvgPoint(x - 5.0, y)],
                );
            },
        ];
        Self {
            colour: ["a", "b", "c", "d"][at % 4],
            dashes: ["solid", "dashed", "dotted"][(at / 4) % 3],
            mark: MARKER_SHAPES[at % 4],
        }
    }

    pub(super) fn line(&self, canvas: &mut Canvas, line: &[SvgPoint]) {
        canvas.polyline(&format!("trace {} {}", self.colour, self.dashes), line);
    }

    pub(super) fn mark(&self, canvas: &mut Canvas, at: SvgPoint) {
        (self.mark)(canvas, &format!("mark {}", self.colour), at);
    }

    /// Draws the line with marks at intervals and at the end.
    pub(super) fn draw(&self, canvas: &mut Canvas, line: &[SvgPoint]) {
        self.line(canvas, line);
        let every = line.len().div_ceil(8).max(1);
        let marked = line.iter().enumerate().filter(|(at, _)| (line.len() - 1 - at).is_multiple_of(every));
        for (_, &at) in marked {
            self.mark(canvas, at);
        }
    }
}

/// Line with a name.
pub(super) struct NamedLine<'a> {
    /// Number of its style.
    pub(super) style: usize,
    pub(super) name: &'a str,
    /// Its latest value as text.
    pub(super) value: String,
    /// End point of the line.
    pub(super) end: SvgPoint,
}

/// Area for the names of lines.
pub(super) struct NameMargin {
    /// The end of the plot.
    pub(super) left: f64,
    /// The end of the chart.
    pub(super) right: f64,
    /// The lowest height of a name.
    pub(super) lowest: f64,
}

/// Draws the names at the ends of their lines, moved apart where they would overlap.
pub(super) fn names(canvas: &mut Canvas, mut lines: Vec<NamedLine<'_>>, margin: &NameMargin) {
    lines.sort_by(|x, y| x.end.1.total_cmp(&y.end.1));
    let mut heights: Vec<f64> = lines.iter().map(|line| line.end.1).collect();
    for at in 1..heights.len() {
        heights[at] = heights[at].max(heights[at - 1] + LABEL_HEIGHT);
    }
    let mut lowest = margin.lowest;
    for height in heights.iter_mut().rev() {
        *height = height.min(lowest);
        lowest = *height - LABEL_HEIGHT;
    }
    // Each name has a sample of its line: a connection from the line's end to the name would look like a fall or a rise.
    let x = margin.left + 40.0;
    for (line, y) in lines.iter().zip(heights) {
        let style = LineStyle::nth(line.style);
        style.line(canvas, &[SvgPoint(x - 28.0, y), SvgPoint(x - 2.0, y)]);
        style.mark(canvas, SvgPoint(x - 15.0, y));
        let text = format!("{}  {}", line.value, shorten(line.name, (margin.right - x - 56.0) / 13.0));
        canvas.with_tooltip(line.name, |canvas| canvas.text("", SvgPoint(x + 4.0, y + 4.5), &text));
    }
}
