//! Markdown report of a study, citable in papers.

use std::fmt::Write as _;

use super::methods;
use super::pictures::{self, Picture};
use crate::domain::correlation::report::{CoefficientReport, HeldOutCorrelations, MixtureReport, PermutationReport};
use crate::domain::correlation::study::{Mixture, Results, StudiedCombination, StudiedPair};
use crate::report::benchmark::markdown::escaped;

const TEXT_GROWS: &str = "a String takes what is written";

/// Writes the report.
pub(super) fn write(results: &Results, pictures: &[Picture]) -> String {
    let mut out = format!("# {}\n\n", escaped(&results.title));
    section(&mut out, "", &methods_text(results));
    section(&mut out, "Warnings", &list(&results.warnings));
    section(&mut out, "Series", &series(results));
    section(&mut out, "Correlations", &pairs(results.pairs.iter().filter(|pair| pair.slice.is_none())));
    section(&mut out, "By part of the votes", &slices(results));
    section(&mut out, "Mixtures", &results.combinations.iter().map(mixture).collect::<String>());
    section(&mut out, "Figures", &figures(results, pictures));
    section(&mut out, "Data", &data(results));
    section(&mut out, "Methods", &methods::of(results));
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// Writes a section, unless empty.
fn section(out: &mut String, title: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    if !title.is_empty() {
        write!(out, "## {title}\n\n").expect(TEXT_GROWS);
    }
    write!(out, "{}\n\n", text.trim_end()).expect(TEXT_GROWS);
}

fn methods_text(results: &Results) -> String {
    let (percent, bootstrap) = (percent(results.confidence), results.bootstrap);
    let resampled = if results.pairs.iter().any(|pair| pair.report.bootstrap.is_some()) {
        let (replicates, seed) = (bootstrap.replicates, bootstrap.seed);
        format!("votes and judged items are resampled {replicates} times with seed {seed}")
    } else {
        "nothing is resampled".to_owned()
    };
    let models = match results.models.as_slice() {
        [] => "all models that the series have".to_owned(),
        models => format!("these models: {}", joined(models)),
    };
    format!(
        "Made by {}. Series: {}; comparisons: {}; mixtures: {}. It is over {models}, with intervals at {percent} %; {resampled}. \
         `results.json` holds every number, `data` holds them as tables, and `langya correlate --study study.toml` over the same \
         database makes the same bytes again.",
        escaped(&results.program),
        results.series.len(),
        results.pairs.len(),
        results.combinations.len(),
    )
}

fn percent(share: f64) -> String {
    let text = format!("{:.4}", 100.0 * share);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn joined(names: &[String]) -> String {
    names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(", ")
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("- {}\n", escaped(line))).collect()
}

fn series(results: &Results) -> String {
    let mut out = head(&["series", "what it is", "n", "mean", "deviation", "variation"], 2);
    for series in &results.series {
        let cells = [
            escaped(&series.series),
            escaped(&series.title),
            format!("{} {}", series.points.len(), series.subjects.as_str()),
            number(series.mean),
            number(series.std_dev),
            number(series.coefficient_of_variation),
        ];
        line(&mut out, &cells);
    }
    out
}

fn pairs<'p>(pairs: impl Iterator<Item = &'p StudiedPair>) -> String {
    let mut out = head(&["pair", "x", "y", "n", "coefficient", "r", "p", "Fisher", "resampled"], 3);
    let empty = out.len();
    for pair in pairs {
        for (coefficient, found) in pair.report.correlations.named() {
            let [p, fisher, resampled] = uncertainty(found);
            let cells = [
                pair.pair.to_string(),
                escaped(&pair.report.x.series),
                escaped(&pair.report.y.series),
                pair.report.n.to_string(),
                coefficient.to_owned(),
                found.r.map_or_else(|| "none".to_owned(), |r| format!("{r:.4}")),
                p,
                fisher,
                resampled,
            ];
            line(&mut out, &cells);
        }
    }
    if out.len() == empty { String::new() } else { out }
}

/// p-value and the two intervals of a coefficient.
fn uncertainty(found: &CoefficientReport) -> [String; 3] {
    let between = |lower: Option<f64>, upper: Option<f64>| match (lower, upper) {
        (Some(lower), Some(upper)) => format!("{lower:.4} to {upper:.4}"),
        _ => "–".to_owned(),
    };
    let shown = |p: f64, how: &str| if p < 1e-4 { format!("{p:.1e} ({how})") } else { format!("{p:.4} ({how})") };
    let by_method = found.p.map(|p| shown(p, found.p_method.map_or("", |method| method.as_str())));
    let exact = found.exact_p.map(|p| shown(p, "exact"));
    let p: Vec<String> = [by_method, exact].into_iter().flatten().collect();
    let p = if p.is_empty() { "–".to_owned() } else { p.join(", ") };
    let resampled = found.resampled.as_ref();
    let resampled = between(resampled.and_then(|found| found.lower), resampled.and_then(|found| found.upper));
    [p, between(found.lower, found.upper), resampled]
}

/// Writes a table for each slice of the votes, after a table of Pearson's correlation of each pair in all slices.
fn slices(results: &Results) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for slice in results.pairs.iter().filter_map(|pair| pair.slice.as_deref()) {
        if !parts.contains(&slice) {
            parts.push(slice);
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    let mut out =
        "Pearson's correlation of each pair, with the number of models:\n\n".to_owned() + &overview(results, &parts);
    for part in parts {
        let of_part = pairs(results.pairs.iter().filter(|pair| pair.slice.as_deref() == Some(part)));
        write!(out, "\n### {}\n\n{of_part}", escaped(part)).expect(TEXT_GROWS);
    }
    out
}

fn overview(results: &Results, parts: &[&str]) -> String {
    let heads: Vec<String> = parts.iter().map(|part| escaped(part)).collect();
    let heads: Vec<&str> = ["pair", "all votes"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    let mut out = head(&heads, 1);
    for whole in results.pairs.iter().filter(|pair| pair.slice.is_none()) {
        let of = |part: Option<&str>| {
            results.pairs.iter().find(|pair| pair.pair == whole.pair && pair.slice.as_deref() == part)
        };
        let cell = |pair: Option<&StudiedPair>| {
            pair.map_or_else(
                || "–".to_owned(),
                |pair| {
                    let r = pair.report.correlations.pearson.r;
                    format!("{} (n = {})", r.map_or_else(|| "none".to_owned(), |r| format!("{r:.4}")), pair.report.n)
                },
            )
        };
        let cells = [None].into_iter().chain(parts.iter().map(|part| Some(*part))).map(|part| cell(of(part)));
        line(&mut out, &std::iter::once(whole.pair.to_string()).chain(cells).collect::<Vec<_>>());
    }
    out
}

fn mixture(combination: &StudiedCombination) -> String {
    let mut out = format!("### {}: {}\n\n", combination.combination, escaped(&combination.target));
    let found = match &combination.outcome {
        Mixture::Found(found) => found,
        Mixture::Undefined(why) => return out + &format!("There is none: {}\n\n", escaped(why)),
    };
    out += &head(&["series", "weight"], 1);
    combination.of.iter().for_each(|name| line(&mut out, &[escaped(name), format!("{:.4}", found.weights[name])]));
    let (models, n) = (joined(&found.models), found.n);
    write!(out, "\n{n} models: {models}\n\n").expect(TEXT_GROWS);
    writeln!(out, "{}\n", describe_permutation_test(found)).expect(TEXT_GROWS);
    out += &head(&["coefficient", "r of the numbers fitted to", "r leaving one out", "p"], 1);
    let left = match &found.leave_one_out {
        HeldOutCorrelations::Found(left) => Some(left),
        HeldOutCorrelations::Undefined { .. } => None,
    };
    for (place, (name, coefficient)) in found.correlations.named().into_iter().enumerate() {
        let left = left.map(|left| left.named()[place].1);
        let [left_r, left_p] = [number(left.and_then(|left| left.r)), number(left.and_then(|left| left.p))];
        line(&mut out, &[name.to_owned(), number(coefficient.r), left_r, left_p]);
    }
    if let HeldOutCorrelations::Undefined { undefined } = &found.leave_one_out {
        write!(out, "\nLeaving one out: {}\n", escaped(&undefined.to_string())).expect(TEXT_GROWS);
    }
    out + "\n"
}

/// p-value of the permutation test of Pearson's r. The p-value for given weights would be too small.
fn describe_permutation_test(found: &MixtureReport) -> String {
    let PermutationReport { p, permutations, seed } = found.permutation_test;
    let (n, smallest) = (found.n, found.permutation_test.smallest_p(found.n));
    format!(
        "Pearson's r of the numbers fitted to has p = {p:.4}, with the weights fitted again to each of {permutations} random \
         permutations of the target (one-sided, seed {seed}). So many permutations of {n} models cannot give a p of less than \
         about {smallest:.4}."
    )
}

fn figures(results: &Results, pictures: &[Picture]) -> String {
    let picture = |(number, picture): (usize, &Picture)| {
        let title = escaped(&picture.title);
        format!("![Figure {number}](figures/{})\n\nFigure {number}. {title}.\n\n", picture.name)
    };
    let left_out = pictures::left_out(results).map_or(String::new(), |text| text + "\n\n");
    left_out + &(1..).zip(pictures).map(picture).collect::<String>()
}

fn data(results: &Results) -> String {
    let mut out = head(&["source", "what", "value"], 3);
    let facts = results.data.facts();
    facts.iter().for_each(|fact| line(&mut out, &[escaped(&fact.source), fact.what.to_owned(), escaped(&fact.value)]));
    if facts.is_empty() { String::new() } else { out }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"))
}

/// Header of a table whose first `text` columns are text.
fn head(columns: &[&str], text: usize) -> String {
    let mut out = String::new();
    line(&mut out, &columns.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>());
    let rule = |place: usize| if place < text { "---".to_owned() } else { "---:".to_owned() };
    line(&mut out, &(0..columns.len()).map(rule).collect::<Vec<_>>());
    out
}

fn line(out: &mut String, cells: &[String]) {
    writeln!(out, "| {} |", cells.join(" | ")).expect(TEXT_GROWS);
}
