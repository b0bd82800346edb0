//! Prints correlations as text or CSV.

use std::fmt::Write as _;

use serde_json::Value;

use crate::domain::correlation::report::{
    CoefficientReport, Correlations, HeldOutCorrelations, MixtureReport, PairReport, PermutationReport, SeriesReport,
};
use crate::domain::csv_injection::escape_formula;
use crate::domain::plural::counted;
use crate::domain::rating::intervals::bootstrap::ResamplingUnit;
use crate::domain::stats::correlation::PMethod;
use crate::error::CommandResult;
use crate::output::terminal_text::{coefficient, printable};

/// Width of the interval column.
const INTERVAL_WIDTH: usize = 24;
const P_LEGEND: &str =
    "p: two-sided; by all permutations (exact), Student's t (t) or the normal distribution (normal)\n";

/// Formats the correlation of two series as a table.
pub(super) fn pair(report: &PairReport) -> String {
    let mut text = series("x", &report.x) + &series("y", &report.y);
    text += &models(report.n, &report.models);
    text += &correlations(&report.correlations, report.confidence);
    if let Some(found) = &report.leaderboards {
        let share = |share: crate::domain::stats::Share| format!("{} of {}", share.of, share.total);
        let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
        let (x, y) = (share(found.separability_x), share(found.separability_y));
        line(&mut text, &format!("separated pairs of models: {x} in x, {y} in y"));
        let (agreement, brier) = (number(found.agreement_with_confidence), number(found.brier));
        line(&mut text, &format!("agreement with confidence {agreement}, Brier score of x for the order of y {brier}"));
    }
    if let Some(bootstrap) = report.bootstrap {
        let (replicates, seed) = (bootstrap.replicates, bootstrap.seed);
        let times = counted(replicates, "time", "times");
        let by_voter = [&report.x, &report.y].iter().any(|series| series.resampled == Some(ResamplingUnit::Voters));
        let votes = if by_voter { "voters with all of their votes" } else { "battles" };
        line(&mut text, &format!("resampled: {votes} and judged items, {times} with seed {seed}"));
    }
    text + &describe_unmatched_models(&[&report.x, &report.y])
}

/// Formats a mixture as a table.
pub(super) fn mixture(report: &MixtureReport) -> String {
    let mut text = series("target", &report.target);
    for (name, weight) in &report.weights {
        line(&mut text, &format!("{weight:>8.4}  {}", printable(name)));
    }
    text += &models(report.n, &report.models);
    text += "\nin-sample, fitted to these same models, so optimistic; p and intervals take the weights as given:\n";
    text += &correlations(&report.correlations, report.confidence);
    let PermutationReport { p, permutations, seed } = report.permutation_test;
    let [p, smallest] = [p, report.permutation_test.smallest_p(report.n)].map(p_value);
    line(
        &mut text,
        &format!(
            "p of pearson with the weights fitted again to each of {permutations} random permutations of the target: {p} \
             (one-sided; of {} it cannot be less than about {smallest}; seed {seed})",
            counted(report.n, "model", "models")
        ),
    );
    match &report.leave_one_out {
        HeldOutCorrelations::Found(left) => {
            text += "\neach model by the mixture fitted to the others:\n";
            text += &correlations(left, report.confidence);
        }
        HeldOutCorrelations::Undefined { undefined } => {
            line(&mut text, &format!("\nleaving one model out: {undefined}"))
        }
    }
    let all: Vec<&SeriesReport> = report.series.iter().chain([&report.target]).collect();
    text + &describe_unmatched_models(&all)
}

/// Flattens a report to CSV with dotted names. Names that a spreadsheet would evaluate are escaped.
///
/// # Errors
/// The CSV cannot be written.
pub(super) fn csv(report: &Value) -> CommandResult<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["name", "value"])?;
    for (name, value) in flatten_json("", report) {
        writer.write_record([escape_formula(&name).as_ref(), escape_formula(&value).as_ref()])?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn series(role: &str, series: &SeriesReport) -> String {
    let name = printable(&series.series);
    let title = if series.title == series.series { String::new() } else { format!("  {}", printable(&series.title)) };
    let coefficient_of_variation =
        series.coefficient_of_variation.map_or_else(String::new, |coefficient_of_variation| {
            format!("  (coefficient of variation {coefficient_of_variation:.4})")
        });
    format!("{role:<7} {name}{title}{coefficient_of_variation}\n")
}

fn models(n: usize, models: &[String]) -> String {
    let names: Vec<String> = models.iter().map(|model| printable(model)).collect();
    format!("models  {n}: {}\n", names.join(", "))
}

/// Formats the coefficients with p, its method, and intervals at this level.
fn correlations(found: &Correlations, confidence: f64) -> String {
    let resampled = found.named().iter().any(|(_, coefficient)| coefficient.resampled.is_some());
    let interval = format!("{confidence} interval (Fisher z)");
    let mut text = format!("{:<10} {:>8} {:>10}  {:<6}  {interval:<INTERVAL_WIDTH$}", "", "r", "p", "p by");
    text.push_str(if resampled { "  resampled\n" } else { "\n" });
    for (name, coefficient) in found.named() {
        line(&mut text, row(name, coefficient).trim_end());
    }
    for (name, coefficient) in found.named() {
        if let Some(p) = coefficient.exact_p {
            line(&mut text, &format!("p of {name} by all permutations of these tied values: {}", p_value(p)));
        }
    }
    if found.named().iter().any(|(_, coefficient)| coefficient.p.is_some()) { text + P_LEGEND } else { text }
}

fn row(name: &str, found: &CoefficientReport) -> String {
    let (Some(r), Some(p)) = (found.r, found.p) else {
        return format!("{name:<10} {}", found.undefined.as_deref().unwrap_or_default());
    };
    let p = p_value(p);
    let method = found.p_method.map_or("", PMethod::as_str);
    let fisher = interval(found.lower, found.upper, found.no_interval.as_deref());
    let resampled = found.resampled.as_ref();
    let resampled = resampled.map(|found| interval(found.lower, found.upper, found.undefined.as_deref()));
    let r = coefficient(r);
    format!("{name:<10} {r:>8} {p:>10}  {method:<6}  {fisher:<INTERVAL_WIDTH$}  {}", resampled.unwrap_or_default())
}

fn p_value(p: f64) -> String {
    if p > 0.0 && p < 1e-4 { format!("{p:.1e}") } else { format!("{p:.4}") }
}

fn interval(lower: Option<f64>, upper: Option<f64>, why_not: Option<&str>) -> String {
    match (lower, upper) {
        (Some(lower), Some(upper)) => format!("{} to {}", coefficient(lower), coefficient(upper)),
        _ => format!("none: {}", why_not.unwrap_or("it is not known")),
    }
}

/// Lists models missing from some series: an alias may match different names of one model.
fn describe_unmatched_models(series: &[&SeriesReport]) -> String {
    let mut text = String::new();
    for series in series.iter().filter(|series| !series.only_here.is_empty()) {
        let names: Vec<String> = series.only_here.iter().map(|name| printable(name)).collect();
        line(&mut text, &format!("not in all series, but in {}: {}", printable(&series.series), names.join(", ")));
    }
    if series.iter().filter(|series| !series.only_here.is_empty()).count() > 1 {
        text += "if two names belong to one model, list them under [aliases] in the settings or with --aliases\n";
    }
    text
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes what is written");
}

fn flatten_json(prefix: &str, value: &Value) -> Vec<(String, String)> {
    let named = |name: String, value: &Value| match value {
        Value::Object(_) => flatten_json(&name, value),
        Value::Null => Vec::new(),
        Value::String(text) => vec![(name, text.clone())],
        Value::Array(items) if items.iter().all(Value::is_string) => {
            vec![(name, items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))]
        }
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(at, item)| flatten_json(&format!("{name}.{}", at + 1), item)).collect()
        }
        other => vec![(name, other.to_string())],
    };
    let inner = |(name, value): (&String, &Value)| {
        named(if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") }, value)
    };
    value.as_object().into_iter().flatten().flat_map(inner).collect()
}
