//! Style sheet of a standalone chart: `static/chart.css` with the colours of `static/style.css` inlined, first the light ones, then the
//! dark ones for `prefers-color-scheme: dark`. Inlined, because many SVG viewers do not support variables.

use std::fmt::Write as _;
use std::sync::LazyLock;

const PAGE_CSS: &str = include_str!("../../../static/style.css");
const CHART_CSS: &str = include_str!("../../../static/chart.css");

static COLOURS_CSS: LazyLock<String> = LazyLock::new(|| {
    let colours: Vec<Colour> = PAGE_CSS.lines().chain(CHART_CSS.lines()).filter_map(Colour::parse).collect();
    let rules = CHART_CSS.lines().filter(|line| line.starts_with('.'));
    let rules = rules.fold(String::new(), |rules, rule| rules + rule + "\n");
    let written_out = |which: fn(&Colour) -> &str| {
        colours.iter().fold(rules.clone(), |css, colour| css.replace(&format!("var(--{})", colour.name), which(colour)))
    };
    let mut sheet = format!("\n{}", written_out(|colour| colour.light));
    let dark = written_out(|colour| colour.dark);
    let dark = dark.lines().filter(|rule| rule.contains('#'));
    sheet.push_str("@media (prefers-color-scheme: dark) {\n");
    for rule in dark {
        writeln!(sheet, "{rule}").expect("a String takes what is written");
    }
    sheet + "}\n"
});

/// The rules, ready for a `<style>` element.
pub(super) fn sheet() -> &'static str {
    &COLOURS_CSS
}

struct Colour {
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

impl Colour {
    /// Reads `--name: light-dark(LIGHT, DARK);`.
    fn parse(line: &'static str) -> Option<Self> {
        let (name, value) = line.trim().strip_prefix("--")?.split_once(": light-dark(")?;
        let (light, dark) = value.strip_suffix(");")?.split_once(", ")?;
        Some(Self { name, light, dark })
    }
}

#[cfg(test)]
mod tests {
    use super::sheet;

    #[test]
    fn every_colour_is_written_out_in_light_and_dark() {
        assert!(!sheet().contains("var("), "{}", sheet());
        let (light, dark) = sheet().split_once("@media").unwrap();
        for rule in [".ground { fill: #f6f3ec", ".h8 { fill: #0d3a30", ".point { fill: #1d6755"] {
            assert!(light.contains(rule), "{rule} is not in {light}");
        }
        for rule in [".ground { fill: #14181a", ".h8 { fill: #c9f0e2", ".point { fill: #86cdb5"] {
            assert!(dark.contains(rule), "{rule} is not in {dark}");
        }
        assert!(!dark.contains("font-size: 16px"), "what has no colour is said once");
    }
}
