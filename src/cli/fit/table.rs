//! Formats a leaderboard as a table, no wider than the terminal.

use std::fmt::Write as _;

use crate::domain::plural::counted;
use crate::domain::rating::intervals::bootstrap::ResamplingUnit;
use crate::domain::rating::intervals::sequential_testing::{NeighbourPair, NeighbourState};
use crate::domain::rating::leaderboards::leaderboard::{Leaderboard, RankedModel, VoteTotals};
use crate::domain::rating::notes::RatingNote;
use crate::domain::rating::options::{IntervalMethod, Method};
use crate::domain::rating::pooling::{PooledRating, PooledSlice, PooledSlices};
use crate::domain::rating::strengths::fit::Direction;
use crate::domain::rating::style::StyleEffect;
use crate::domain::rating::ties::comparison::{TieComparison, TieModel};
use crate::output::robustness_table::robustness_table;
use crate::output::terminal_text::{MIN_NAME_WIDTH, printable, width};

const HEADINGS: [&str; 11] =
    ["rank", "model", "rating", "lower", "upper", "Elo", "battles", "wins", "losses", "win+tie", ""];
/// Index of the name column, which is left-aligned, like the marks in the last column.
const NAME_COLUMN: usize = 1;

/// Columns dropped on a narrow terminal, in this order.
const DROPPABLE_COLUMNS: [usize; 7] = [8, 7, 9, 5, 6, 10, 0];

/// Formats the table with a summary above, and with neighbours and notes below.
pub(super) fn table(leaderboard: &Leaderboard, neighbours: &[NeighbourPair], screen: Option<usize>) -> String {
    let mut text = summary(leaderboard);
    let mut rows: Vec<[String; 11]> =
        sort_for_display(leaderboard).into_iter().map(|model| cells(model, leaderboard)).collect();
    if !rows.is_empty() {
        let headings = HEADINGS.map(str::to_owned);
        let mut widths: [usize; 11] = std::array::from_fn(|column| {
            rows.iter().chain([&headings]).map(|row| width(&row[column])).max().unwrap_or(0)
        });
        let shown = fit_screen(&mut widths, screen.unwrap_or(usize::MAX));
        for row in &mut rows {
            row[NAME_COLUMN] = console::truncate_str(&row[NAME_COLUMN], widths[NAME_COLUMN], "…").into_owned();
        }
        for row in [&headings].into_iter().chain(&rows) {
            text.push_str(aligned(row, &widths, &shown).trim_end());
            text.push('\n');
        }
        text.push_str(&legend(leaderboard));
    }
    text.extend(leaderboard.style.iter().map(effect_line));
    text.extend(leaderboard.tie_models.iter().map(tie_line));
    text.extend(leaderboard.models.iter().filter_map(good_enough_line));
    text.extend(leaderboard.pooled.as_ref().map(pooled_lines));
    if let Some(sequential) = leaderboard.sequential {
        text.extend(neighbours.iter().map(|pair| neighbour_line(pair, sequential.equal_within)));
    }
    // Relations of neighbours are shown only on request.
    let is_shown =
        |note: &&RatingNote| !neighbours.is_empty() || !matches!(note, RatingNote::DecidedByFewVoters { .. });
    for note in leaderboard.notes.iter().filter(is_shown) {
        writeln!(text, "note: {}", printable(&note.to_string())).expect("a String takes what is written");
    }
    text.extend(leaderboard.robustness.as_ref().map(|robustness| robustness_table(robustness, screen)));
    text
}

/// Sorts the models for the table: by group, with models that only won above and those that only lost below the others, then by rank,
/// rating and name.
fn sort_for_display(leaderboard: &Leaderboard) -> Vec<&RankedModel> {
    let shown = |model: &RankedModel| {
        let end = match model.unbounded {
            Some(Direction::Above) => 0,
            None => 1,
            Some(Direction::Below) => 2,
        };
        let ranks = model.rank_range(leaderboard.interval).map_or([u64::MAX; 2], |ranks| [ranks.best, ranks.worst]);
        (model.component, end, ranks)
    };
    let mut models: Vec<&RankedModel> = leaderboard.models.iter().collect();
    models.sort_by(|x, y| {
        shown(x)
            .cmp(&shown(y))
            .then_with(|| y.rating_or_limit().total_cmp(&x.rating_or_limit()))
            .then_with(|| x.model.cmp(&y.model))
    });
    models
}

fn effect_line(effect: &StyleEffect) -> String {
    let (coefficient, lower, upper) = (effect.coefficient, effect.lower, effect.upper);
    let estimate = format!("{coefficient:+.3} ({lower:+.3} to {upper:+.3}) log odds");
    match effect.feature.as_str() {
        "side" => {
            let share = 100.0 / (1.0 + (-coefficient).exp());
            format!("side: A {estimate}: of votes between equal models, {share:.1}% go to A, ties counting half\n")
        }
        "side_in_later_turns" => format!("side in battles of several turns: A {estimate} more\n"),
        "same_maker" => format!("judges for models of their own maker: {estimate}\n"),
        feature => format!("style: {feature} {estimate} per standard deviation\n"),
    }
}

fn tie_line(compared: &TieComparison) -> String {
    let model = match compared.ties {
        TieModel::Half => "an equal share in every pair",
        TieModel::Davidson => "Davidson",
        TieModel::RaoKupper => "Rao–Kupper",
    };
    let TieComparison { log_likelihood, parameters, aic, bic, .. } = compared;
    format!(
        "ties by {model}: log likelihood {log_likelihood:.2}, {parameters} parameters, AIC {aic:.2}, BIC {bic:.2}\n"
    )
}

/// Formats the share of prompts for which a model is good enough.
fn good_enough_line(model: &RankedModel) -> Option<String> {
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    let interval = model.good_enough_lower.zip(model.good_enough_upper);
    let interval = interval.map(|(lower, upper)| format!(" ({} to {})", percent(lower), percent(upper)));
    let (share, name) = (percent(model.good_enough?), printable(&model.model));
    let (interval, change) = (interval.unwrap_or_default(), level_change(model).unwrap_or_default());
    Some(format!("{name} alone is good enough for {share} of prompts{interval}{change}\n"))
}

/// Formats the change of the share from the earlier half of the votes to the later.
fn level_change(model: &RankedModel) -> Option<String> {
    let points = |share: f64| format!("{:+.1}", 100.0 * share);
    let (lower, upper) = (model.good_enough_change_lower?, model.good_enough_change_upper?);
    let trend = match (lower > 0.0, upper < 0.0) {
        (true, _) => "rising",
        (_, true) => "falling",
        _ => "no clear trend",
    };
    let [change, lower, upper] = [model.good_enough_change?, lower, upper].map(points);
    Some(format!("; {trend}: {change} points in the later half of the votes ({lower} to {upper})"))
}

/// Formats the pooled ratings in each slice.
fn pooled_lines(pooled: &PooledSlices) -> String {
    let PooledSlices { by, spread, design_effect, slices } = pooled;
    let mut text = format!(
        "pooled by {}: ratings differ between slices by {spread:.1} points (standard deviation); design effect \
         {design_effect:.2}\n",
        by.as_str()
    );
    for PooledSlice { slice, votes, models } in slices {
        let votes = counted(votes, "vote", "votes");
        writeln!(text, "{} ({votes})", printable(slice)).expect("a String takes what is written");
        text.extend(models.iter().map(pooled_line));
    }
    text
}

fn pooled_line(rated: &PooledRating) -> String {
    let PooledRating { rating, lower, upper, difference, difference_lower, difference_upper, battles, .. } = rated;
    format!(
        "  {}: {rating:.1} ({lower:.1} to {upper:.1}), {difference:+.1} here ({difference_lower:+.1} to \
         {difference_upper:+.1}), {}\n",
        printable(&rated.model),
        counted(battles, "battle", "battles")
    )
}

/// Formats the relation of a model to the next one.
fn neighbour_line(pair: &NeighbourPair, equal_within: f64) -> String {
    let (upper, lower) = (printable(&pair.upper), printable(&pair.lower));
    let state = match pair.state {
        NeighbourState::Separated => "separated".to_owned(),
        NeighbourState::Open => "open".to_owned(),
        NeighbourState::Equal => format!("equal within {equal_within} points"),
    };
    let apart = match (pair.difference, pair.low, pair.high) {
        (Some(difference), Some(low), Some(high)) => {
            format!("{difference:+.1} points ({low:+.1} to {high:+.1}, however often you look): ")
        }
        (Some(difference), ..) => format!("{difference:+.1} points: "),
        _ => String::new(),
    };
    format!("{upper} and {lower}: {apart}{state}\n")
}

/// Returns the columns that fit the terminal; shortens names if even the fewest columns do not fit.
fn fit_screen(widths: &mut [usize; 11], screen: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..widths.len()).collect();
    let total = |shown: &[usize], widths: &[usize; 11]| shown.iter().map(|&column| widths[column] + 2).sum::<usize>();
    // Names are shortened before columns are dropped.
    let spare = widths[NAME_COLUMN].saturating_sub(2 * MIN_NAME_WIDTH);
    let mut dispensable = DROPPABLE_COLUMNS.into_iter();
    while total(&shown, widths) > screen.saturating_add(spare) {
        let Some(column) = dispensable.next() else { break };
        shown.retain(|&kept| kept != column);
    }
    let over = total(&shown, widths).saturating_sub(screen);
    widths[NAME_COLUMN] = widths[NAME_COLUMN].saturating_sub(over).max(MIN_NAME_WIDTH.min(widths[NAME_COLUMN]));
    shown
}

fn summary(leaderboard: &Leaderboard) -> String {
    let iterations = counted(leaderboard.iterations, "iteration", "iterations");
    let method = match leaderboard.method {
        Method::Bt if leaderboard.converged => format!("Bradley–Terry, converged in {iterations}"),
        Method::Bt => format!("Bradley–Terry, NOT converged in {iterations}"),
        Method::Elo => "Elo in log order".into(),
    };
    let interval = match leaderboard.interval {
        IntervalMethod::Jackknife => {
            format!("intervals by leaving out each of {} at {} confidence", voters(leaderboard), leaderboard.confidence)
        }
        IntervalMethod::Auto | IntervalMethod::Sandwich => {
            format!("sandwich intervals, which take votes as independent, at {} confidence", leaderboard.confidence)
        }
        IntervalMethod::Cluster => {
            format!("sandwich intervals clustered by {} at {} confidence", voters(leaderboard), leaderboard.confidence)
        }
        IntervalMethod::Bootstrap => bootstrap(leaderboard),
        IntervalMethod::None => "no intervals".into(),
    };
    let ties = leaderboard.davidson.map_or_else(String::new, |ties| format!("; ties by Davidson, ν = {:.3}", ties.nu));
    let VoteTotals { read, rated, excluded } = &leaderboard.votes;
    let reasons: Vec<String> = excluded.iter().map(|(rule, votes)| format!("{votes} {}", printable(rule))).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" (left out: {})", reasons.join(", ")) };
    let read = counted(read, "vote", "votes");
    format!("{method}{ties}; {interval}; {rated} of {read} rated{reasons}\n")
}

fn bootstrap(leaderboard: &Leaderboard) -> String {
    let report = leaderboard.bootstrap.unwrap_or_default();
    let (replicates, seed) = (counted(report.replicates, "replicate", "replicates"), report.seed);
    let unit = match report.resampled {
        ResamplingUnit::Voters => voters(leaderboard),
        ResamplingUnit::Votes => "votes".to_owned(),
    };
    let confidence = leaderboard.confidence;
    format!("bootstrap intervals at {confidence} confidence from {replicates} of {unit}, seed {seed}")
}

/// Describes the voters whose variation determines the intervals.
fn voters(leaderboard: &Leaderboard) -> String {
    leaderboard.voters.map_or_else(|| "the voters".to_owned(), |number| counted(number, "voter", "voters"))
}

/// Formats the legend of the columns.
fn legend(leaderboard: &Leaderboard) -> String {
    let rank = if leaderboard.models.iter().any(|model| model.best_rank.is_some()) {
        "the places that the votes allow, right for all models together at this confidence"
    } else if leaderboard.interval == IntervalMethod::None {
        "the order of the ratings, which may be chance"
    } else {
        "1 + the models whose lower bound is above this model's upper bound"
    };
    format!(
        "rank: {rank}; rating: points, where 400 more are odds of 10 to 1; lower, upper: interval of the rating; \
         Elo: the votes one by one in log order; win+tie: share of battles won or tied, both-bad being neither\n"
    )
}

fn cells(model: &RankedModel, leaderboard: &Leaderboard) -> [String; 11] {
    let bound = |bound: Option<f64>| bound.map_or_else(|| "–".into(), |value| format!("{value:.1}"));
    [
        model.rank_range(leaderboard.interval).map_or_else(|| "–".to_owned(), |ranks| ranks.to_string()),
        printable(&model.model),
        rating(model),
        bound(model.lower),
        bound(model.upper),
        format!("{:.1}", model.elo),
        model.battles.to_string(),
        model.wins.to_string(),
        model.losses.to_string(),
        format!("{:.1}%", 100.0 * model.win_tie_rate),
        marks(model, leaderboard.components > 1),
    ]
}

/// Formats the rating, or the bound of a model without one.
fn rating(model: &RankedModel) -> String {
    match (model.at_least, model.at_most) {
        (Some(limit), _) => format!("≥{limit:.1}"),
        (_, Some(limit)) => format!("≤{limit:.1}"),
        _ => format!("{:.1}", model.rating_or_limit()),
    }
}

fn marks(model: &RankedModel, with_component: bool) -> String {
    let mut marks = Vec::new();
    match model.unbounded {
        Some(Direction::Above) => marks.push("only won".to_owned()),
        Some(Direction::Below) => marks.push("only lost".to_owned()),
        None => {}
    }
    if with_component {
        marks.push(format!("group {}", model.component));
    }
    if model.provisional {
        marks.push("provisional".to_owned());
    }
    marks.join(", ")
}

fn aligned(row: &[String; 11], widths: &[usize; 11], shown: &[usize]) -> String {
    let mut line = String::new();
    for &column in shown {
        let cell = row[column].as_str();
        let padding = " ".repeat(widths[column].saturating_sub(width(cell)));
        let left = column == NAME_COLUMN || column == widths.len() - 1;
        let (before, after) = if left { ("", padding.as_str()) } else { (padding.as_str(), "") };
        line.extend([before, cell, after, "  "]);
    }
    line
}
