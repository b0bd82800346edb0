//! The board of all models and suites as CSV and as a chart.

use std::borrow::Cow;

use serde::Serialize;

use crate::chart::matrix::{ShadedBy, draw_shaded};
use crate::chart::{ChartSeries, Frame, Topic};
use crate::domain::correlation::suite_board::{BoardComparison, BoardModel, BoardSuite, SuiteBoard};
use crate::i18n::pages::page_texts;

/// A model in a suite.
#[derive(Serialize)]
struct BoardLine<'a> {
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

/// Writes a line a model and suite that it has a score in, with its comparison where there is one. `defused` makes a text harmless
/// to a spreadsheet.
///
/// # Errors
/// [`csv::Error`] where a line cannot be written.
pub fn csv(
    board: &SuiteBoard,
    compared: Option<&BoardComparison>,
    defused: fn(&str) -> Cow<'_, str>,
) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (at, suite) in board.suites.iter().enumerate() {
        for model in &board.models {
            line((at, suite), model, compared, defused).map_or(Ok(()), |line| writer.serialize(line))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn line<'a>(
    (at, suite): (usize, &'a BoardSuite),
    model: &'a BoardModel,
    compared: Option<&'a BoardComparison>,
    defused: fn(&str) -> Cow<'_, str>,
) -> Option<BoardLine<'a>> {
    let score = model.scores[at]?;
    let (lower, upper) = score.interval.map(|interval| (interval.lower, interval.upper)).unzip();
    let found = compared.and_then(|compared| compared.of(&suite.suite, &model.model));
    let (win, difference) = (found.and_then(|found| found.win_interval), found.and_then(|found| found.difference));
    Some(BoardLine {
        suite: defused(&suite.suite),
        title: defused(&suite.title),
        model: defused(&model.model),
        score: score.score,
        lower,
        upper,
        rank: score.rank,
        judged: score.facts.map(|facts| facts.coverage.ok),
        to_judge: score.facts.map(|facts| facts.coverage.total),
        judged_at: score.facts.and_then(|facts| day(facts.judged_at)),
        cost: score.facts.and_then(|facts| facts.cost),
        compared_with: defused(compared.filter(|_| found.is_some()).map_or("", |compared| &compared.with)),
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

/// The day of a moment in UTC.
#[must_use]
pub fn day(at: i64) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(at).ok()?;
    Some(moment.strftime("%Y-%m-%d").to_string())
}

/// Draws the scores, a row a model and a column a suite.
#[must_use]
pub fn chart(board: &SuiteBoard, frame: Frame) -> String {
    let columns: Vec<String> = board.suites.iter().map(|suite| suite.title.clone()).collect();
    let row = |model: &BoardModel| ChartSeries {
        name: model.model.clone(),
        values: model.scores.iter().map(|score| score.map(|score| score.score)).collect(),
    };
    let rows: Vec<ChartSeries> = board.models.iter().map(row).collect();
    let topic = Topic { key: "suite-board", title: page_texts(frame.language).benchmark.board };
    draw_shaded(ShadedBy::Column, topic, &columns, &rows, frame)
}
