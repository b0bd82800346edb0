//! Score table of all models and suites as CSV and as a chart.

use std::borrow::Cow;

use serde::Serialize;

use crate::chart::matrix::{ShadedBy, draw_shaded};
use crate::chart::{ChartSeries, Frame, Topic};
use crate::domain::correlation::suite_score_table::{
    ScoreTableComparison, ScoreTableModel, ScoreTableSuite, SuiteScoreTable,
};
use crate::i18n::pages::page_texts;

/// Fields of [`ScoreTableLine`], the header of the file even without lines.
const COLUMNS: [&str; 23] = [
    "suite",
    "title",
    "model",
    "score",
    "lower",
    "upper",
    "rank",
    "judged",
    "to_judge",
    "judged_at",
    "cost",
    "compared_with",
    "wins",
    "ties",
    "losses",
    "win_rate",
    "win_lower",
    "win_upper",
    "difference",
    "difference_lower",
    "difference_upper",
    "p",
    "adjusted_p",
];

/// Line of a model in a suite.
#[derive(Default, Serialize)]
struct ScoreTableLine<'a> {
    suite: Cow<'a, str>,
    title: Cow<'a, str>,
    model: Cow<'a, str>,
    score: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    rank: f64,
    judged: Option<u64>,
    to_judge: Option<u64>,
    judged_at: Option<String>,
    cost: Option<f64>,
    compared_with: Cow<'a, str>,
    wins: Option<u64>,
    ties: Option<u64>,
    losses: Option<u64>,
    win_rate: Option<f64>,
    win_lower: Option<f64>,
    win_upper: Option<f64>,
    difference: Option<f64>,
    difference_lower: Option<f64>,
    difference_upper: Option<f64>,
    p: Option<f64>,
    adjusted_p: Option<f64>,
}

/// Writes a line for each model and suite with a score, with its comparison if there is one. `escape_formula` escapes formulas for
/// spreadsheets.
///
/// # Errors
/// [`csv::Error`] if a line cannot be written.
pub fn csv(
    table: &SuiteScoreTable,
    compared: Option<&ScoreTableComparison>,
    escape_formula: fn(&str) -> Cow<'_, str>,
) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for (at, suite) in table.suites.iter().enumerate() {
        for model in &table.models {
            line(at, suite, model, compared, escape_formula).map_or(Ok(()), |line| writer.serialize(line))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn line<'a>(
    at: usize,
    suite: &'a ScoreTableSuite,
    model: &'a ScoreTableModel,
    compared: Option<&'a ScoreTableComparison>,
    escape_formula: fn(&str) -> Cow<'_, str>,
) -> Option<ScoreTableLine<'a>> {
    let score = model.scores[at]?;
    let (lower, upper) = score.interval.map(|interval| (interval.lower, interval.upper)).unzip();
    let found = compared.and_then(|compared| compared.of(&suite.suite, &model.model));
    let (win, difference) = (found.and_then(|found| found.win_interval), found.and_then(|found| found.difference));
    Some(ScoreTableLine {
        suite: escape_formula(&suite.suite),
        title: escape_formula(&suite.title),
        model: escape_formula(&model.model),
        score: score.score,
        lower,
        upper,
        rank: score.rank,
        judged: score.facts.map(|facts| facts.coverage.ok),
        to_judge: score.facts.map(|facts| facts.coverage.total),
        judged_at: score.facts.and_then(|facts| day(facts.judged_at)),
        cost: score.facts.and_then(|facts| facts.cost),
        compared_with: escape_formula(compared.filter(|_| found.is_some()).map_or("", |compared| &compared.with)),
        wins: found.map(|found| found.wins),
        ties: found.map(|found| found.ties),
        losses: found.map(|found| found.losses),
        win_rate: found.and_then(|found| found.win_rate),
        win_lower: win.map(|interval| interval.lower),
        win_upper: win.map(|interval| interval.upper),
        difference: difference.map(|difference| difference.mean),
        difference_lower: difference.and_then(|difference| difference.interval).map(|interval| interval.lower),
        difference_upper: difference.and_then(|difference| difference.interval).map(|interval| interval.upper),
        p: difference.map(|difference| difference.p),
        adjusted_p: found.and_then(|found| found.adjusted_p),
    })
}

/// UTC date of a time.
#[must_use]
pub fn day(at: i64) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(at).ok()?;
    Some(moment.strftime("%Y-%m-%d").to_string())
}

/// Draws the scores with a row for each model and a column for each suite.
#[must_use]
pub fn chart(table: &SuiteScoreTable, frame: Frame) -> String {
    let columns: Vec<String> = table.suites.iter().map(|suite| suite.title.clone()).collect();
    let row = |model: &ScoreTableModel| ChartSeries {
        name: model.model.clone(),
        values: model.scores.iter().map(|score| score.map(|score| score.score)).collect(),
    };
    let rows: Vec<ChartSeries> = table.models.iter().map(row).collect();
    let topic = Topic { key: "suite-board", title: page_texts(frame.language).benchmark.score_table };
    draw_shaded(ShadedBy::Column, topic, &columns, &rows, frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_it_is(text: &str) -> Cow<'_, str> {
        Cow::Borrowed(text)
    }

    #[test]
    fn a_file_without_scores_has_the_columns_of_one_with_scores() {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(ScoreTableLine::default()).unwrap();
        let with_a_line = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let empty = csv(&SuiteScoreTable::default(), None, as_it_is).unwrap();
        assert_eq!(empty.lines().collect::<Vec<_>>(), [with_a_line.lines().next().unwrap()]);
    }
}
