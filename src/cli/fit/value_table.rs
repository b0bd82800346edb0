//! Formats value for money as a table below the leaderboard.

use crate::domain::rating::value::report::{
    Caveat, CheaperModel, CostBasis, ModelValue, ValueFinding, ValueReport, amount, percent, points,
};
use crate::output::name_table::name_table;
use crate::output::terminal_text::printable;

const HEADINGS: [&str; 6] = ["rating", "cost", "first token", "tokens/s", "Pareto", "model"];
/// Columns dropped on a narrow terminal, in this order.
const DROPPABLE_COLUMNS: [usize; 3] = [3, 2, 0];

/// Formats one row per model, with indistinguishable cheaper models, and a sentence about the best-rated model.
pub(super) fn value_table(report: &ValueReport, screen: Option<usize>) -> String {
    if report.models.is_empty() {
        return String::new();
    }
    let rows = [HEADINGS.map(str::to_owned)].into_iter().chain(report.models.iter().map(cells)).collect();
    let mut text = format!("\nvalue for money: {}\n", cost_line(report));
    text += &name_table(rows, &DROPPABLE_COLUMNS, screen);
    let best = match &report.finding {
        ValueFinding::CheaperModel { best, .. } => Some(best),
        _ => None,
    };
    let others = report.models.iter().filter(|value| Some(&value.model) != best);
    text.extend(others.filter_map(|value| Some(cheaper_line(&value.model, value.cheaper.as_ref()?))));
    let higher = report.rated_higher_without_cost.iter();
    text.extend(higher.map(|model| format!("note: {} is rated higher and has no known cost\n", printable(model))));
    text + &printable(&report.sentence) + "\n"
}

fn cost_line(report: &ValueReport) -> String {
    let currency = report.currency.as_ref().map_or_else(String::new, |currency| format!(" in {currency}"));
    match report.cost_basis {
        CostBasis::PromptsAndReplies => {
            format!("cost of 1,000 answers{currency}, prompts and replies, by langya's own count of tokens")
        }
        CostBasis::Replies => format!(
            "cost of 1,000 answers{currency}, replies only, by langya's own count of tokens: the votes have no prompts"
        ),
        CostBasis::OutputPrice => {
            format!("cost of a million tokens of output{currency}: the votes have no counts of tokens")
        }
    }
}

fn cells(value: &ModelValue) -> [String; 6] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let pareto = value.pareto.map(|pareto| if pareto { "yes" } else { "no" }.to_owned());
    [
        or_dash(value.rating.map(|rating| format!("{rating:.1}"))),
        or_dash(value.cost.map(amount)),
        or_dash(value.first_token_seconds.map(|seconds| format!("{seconds:.1} s"))),
        or_dash(value.tokens_per_second.map(|speed| speed.to_string())),
        or_dash(pareto),
        name(value),
    ]
}

fn name(value: &ModelValue) -> String {
    let name = printable(&value.model);
    match value.reservation {
        None => name,
        Some(Caveat::Practice) => format!("{name} (practice)"),
        Some(Caveat::Unbounded) => format!("{name} (no finite rating)"),
        Some(Caveat::Provisional) => format!("{name} (provisional)"),
        Some(Caveat::OtherGroup) => format!("{name} (other group)"),
    }
}

fn cheaper_line(model: &str, cheaper: &CheaperModel) -> String {
    let CheaperModel { model: other, difference, lower, upper, saving, .. } = cheaper;
    let [difference, lower, upper] = [*difference, *lower, *upper].map(points);
    let (model, other, saving) = (printable(model), printable(other), percent(*saving));
    format!(
        "{model} and {other}: {difference} points ({lower} to {upper}), not told apart; {other} costs {saving} less\n"
    )
}
