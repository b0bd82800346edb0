//! Prints the report of `langya judge report` as tables or CSV.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

use crate::domain::battle_judging::agreement::{AgreementBySetup, Rate, SliceAgreement, SliceKind, Statistic};
use crate::domain::battle_judging::leaderboards::{JudgeLeaderboards, Place};
use crate::domain::battle_judging::report::{BattleJudgingReport, JudgeReport};
use crate::domain::benchmark::scores::judgement::Status;
use crate::domain::csv_injection::escape_formula;
use crate::domain::plural::counted;
use crate::domain::rating::verdict_worth_in_votes::WorthReport;
use crate::error::CommandResult;
use crate::output::table::table;
use crate::output::terminal_text::printable;

/// Formats the whole report as tables.
pub(super) fn tables(report: &BattleJudgingReport) -> String {
    if report.judges.is_empty() {
        return "no battle was judged yet: `langya judge run --judge MODEL` asks a model\n".to_owned();
    }
    let mut parts: Vec<String> = report.judges.iter().map(format_judge).collect();
    if !report.between.is_empty() {
        let rows = report.between.iter().map(|pair| {
            let names = printable(&pair.judges.join(" and "));
            [vec![names, pair.battles.to_string()], setup_cells(&pair.agreement)].concat()
        });
        let heads = ["judges", "battles", "agree", "without ties", "kappa"];
        parts.push(table(&heads, rows.collect()));
    }
    parts.join("\n")
}

fn format_judge(judge: &JudgeReport) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a String takes what is written");
    line(format!("judge {} (instructions {})", printable(&judge.judge), judge.prompt));
    let ended = judge.statuses.iter().map(|(status, games)| {
        let words = status.parse::<Status>().map_or(status.as_str(), |known| known.in_words());
        format!("{games} {words}")
    });
    line(format!("games: {}", ended.collect::<Vec<_>>().join(", ")));
    line(format!("battles with both games read: {}", rate(&judge.judged)));
    line(format!("both orders say the same: {}", rate(&judge.consistent)));
    line(format!("else the first position wins: {}", rate(&judge.first_position)));
    line(format!("else the second position wins: {}", rate(&judge.second_position)));
    line(format!("else one of the orders is a tie: {}", rate(&judge.one_tie)));
    line(worth(&judge.worth));
    if judge.own_battles > 0 {
        let battles = counted(judge.own_battles, "battle", "battles");
        line(format!("of its own: {battles}, in which it may favour itself"));
    }
    if judge.by_other_prompts > 0 {
        let battles = counted(judge.by_other_prompts, "battle", "battles");
        line(format!("not counted: {battles} judged with other instructions"));
    }
    let rows = judge
        .agreements()
        .map(|(slice, battles, found)| [vec![part(slice), battles.to_string()], setup_cells(found)].concat());
    let heads = ["agreement with people", "battles", "agree", "without ties", "kappa"];
    text + "\n" + &table(&heads, rows.collect()) + "\n" + &leaderboards(&judge.leaderboards)
}

fn worth(worth: &WorthReport) -> String {
    match (worth.residual_correlation, worth.times, &worth.undefined) {
        (Some(r), Some(times), _) => format!(
            "correlation of verdicts with what ratings do not explain in the votes: {r:+.3}; verdicts on every battle make \
             the ratings as precise as {times:.2} times as many votes"
        ),
        (.., Some(why)) => format!("what verdicts are worth in votes is unknown: {why}"),
        _ => "what verdicts are worth in votes is unknown".to_owned(),
    }
}

fn leaderboards(leaderboards: &JudgeLeaderboards) -> String {
    let rows = leaderboards.models.iter().map(|row| {
        let [votes, verdicts] = [&row.votes, &row.verdicts].map(|place| (place.rank.to_string(), rating(place)));
        vec![printable(&row.model), votes.0, votes.1, verdicts.0, verdicts.1]
    });
    let heads = ["model", "rank by votes", "rating by votes", "rank by verdicts", "rating by verdicts"];
    let mut text = table(&heads, rows.collect());
    for (name, found) in [("Spearman", &leaderboards.spearman), ("Kendall", &leaderboards.kendall)] {
        writeln!(text, "{name}: {}", statistic_text(found)).expect("a String takes what is written");
    }
    if let Some(pairs) = leaderboards.pairs {
        let all = pairs.same + pairs.otherwise + pairs.equal;
        writeln!(text, "pairs of models ordered otherwise: {} of {all}", pairs.otherwise)
            .expect("a String takes what is written");
    }
    if leaderboards.unbounded > 0 {
        writeln!(
            text,
            "without {} that only won or only lost, so that the rating is a bound",
            counted(leaderboards.unbounded, "model", "models")
        )
        .expect("a String takes what is written");
    }
    text
}

fn part(slice: Option<&SliceAgreement>) -> String {
    slice
        .map_or_else(|| "all".to_owned(), |slice| format!("{} {}", slice_kind_label(slice.by), printable(&slice.value)))
}

fn slice_kind_label(by: SliceKind) -> &'static str {
    match by {
        SliceKind::Language => "language",
        SliceKind::Category => "category",
        SliceKind::Intent => "intent",
        SliceKind::Turns => "turns",
        SliceKind::Distance => "points apart",
    }
}

fn setup_cells(found: &AgreementBySetup) -> Vec<String> {
    vec![rate(&found.with_ties), rate(&found.without_ties), statistic_text(&found.kappa)]
}

fn rate(rate: &Rate) -> String {
    match rate.share.value {
        Some(share) => format!("{share:.3}{} of {}", format_interval(&rate.share, 3), rate.total),
        None => statistic_text(&rate.share),
    }
}

fn statistic_text(statistic: &Statistic) -> String {
    match (statistic.value, &statistic.undefined) {
        (Some(value), _) => format!("{value:.3}{}", format_interval(statistic, 3)),
        (None, Some(reason)) => format!("- ({reason})"),
        (None, None) => "-".to_owned(),
    }
}

fn format_interval(statistic: &Statistic, digits: usize) -> String {
    statistic.interval.map_or_else(String::new, |ends| format!(" ({:.digits$} to {:.digits$})", ends.lower, ends.upper))
}

fn rating(place: &Place) -> String {
    let rating = format!("{:.0}", place.rating);
    match (place.unbounded, place.lower, place.upper) {
        (true, ..) => format!("{rating} (a bound)"),
        (false, Some(lower), Some(upper)) => format!("{rating} ({lower:.0} to {upper:.0})"),
        _ => rating,
    }
}

/// Output row of the agreement on a part of the battles.
#[derive(Serialize)]
struct PartAgreementRow<'r> {
    judge: Cow<'r, str>,
    prompt: &'r str,
    by: &'r str,
    value: Cow<'r, str>,
    battles: usize,
    agree: u64,
    share: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    decided: u64,
    agree_decided: u64,
    share_decided: Option<f64>,
    lower_decided: Option<f64>,
    upper_decided: Option<f64>,
    kappa: Option<f64>,
}

impl<'r> PartAgreementRow<'r> {
    fn new(
        judge: &'r JudgeReport,
        slice: Option<&'r SliceAgreement>,
        battles: usize,
        found: &AgreementBySetup,
    ) -> Self {
        let ends = |rate: &Rate| rate.share.interval.map(|ends| (ends.lower, ends.upper)).unzip();
        let ((lower, upper), (lower_decided, upper_decided)) = (ends(&found.with_ties), ends(&found.without_ties));
        Self {
            judge: escape_formula(&judge.judge),
            prompt: &judge.prompt,
            by: slice.map_or("all", |slice| slice_kind_label(slice.by)),
            value: slice.map_or(Cow::Borrowed(""), |slice| escape_formula(&slice.value)),
            battles,
            agree: found.with_ties.of,
            share: found.with_ties.share.value,
            lower,
            upper,
            decided: found.without_ties.total,
            agree_decided: found.without_ties.of,
            share_decided: found.without_ties.share.value,
            lower_decided,
            upper_decided,
            kappa: found.kappa.value,
        }
    }
}

/// Formats agreement with people as CSV, one row per judge and part of the battles. Names that a spreadsheet would evaluate are escaped.
pub(super) fn csv(report: &BattleJudgingReport) -> CommandResult<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for judge in &report.judges {
        for (slice, battles, found) in judge.agreements() {
            writer.serialize(PartAgreementRow::new(judge, slice, battles, found))?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
