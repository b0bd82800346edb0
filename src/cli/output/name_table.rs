//! Table with a name in its last column, no wider than the terminal.

use super::terminal_text::{MIN_NAME_WIDTH, width};

/// Formats rows as lines, the first one with the headings: columns are right-aligned, and the name follows. On a narrow terminal
/// dispensable columns are dropped in order, and then the name is shortened.
pub(crate) fn name_table<const N: usize>(
    mut rows: Vec<[String; N]>,
    dispensable: &[usize],
    screen: Option<usize>,
) -> String {
    let name = N - 1;
    let mut widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0));
    let shown = fit_screen(&mut widths, dispensable, screen.unwrap_or(usize::MAX));
    let mut text = String::new();
    for row in &mut rows {
        row[name] = console::truncate_str(&row[name], widths[name], "…").into_owned();
        for &column in &shown {
            let padding = " ".repeat(widths[column].saturating_sub(width(&row[column])));
            text.extend([padding.as_str(), row[column].as_str(), "  "]);
        }
        text.push_str(&row[name]);
        text.push('\n');
    }
    text
}

/// Returns the columns before the name that fit the terminal; the name takes the rest.
fn fit_screen<const N: usize>(widths: &mut [usize; N], dispensable: &[usize], screen: usize) -> Vec<usize> {
    let name = N - 1;
    let mut shown: Vec<usize> = (0..name).collect();
    let total = |shown: &[usize]| shown.iter().map(|&column| widths[column] + 2).sum::<usize>();
    let shortest = MIN_NAME_WIDTH.min(widths[name]);
    let mut dispensable = dispensable.iter();
    while total(&shown).saturating_add(shortest) > screen {
        let Some(column) = dispensable.next() else { break };
        shown.retain(|kept| kept != column);
    }
    let left = screen.saturating_sub(total(&shown));
    widths[name] = widths[name].min(left).max(shortest);
    shown
}
