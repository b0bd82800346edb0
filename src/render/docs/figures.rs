//! Charts of the documentation, drawn by the leaderboard's chart code from constructed votes.

use crate::chart::scatter::Dot;
use crate::chart::{Frame, Setting, Topic, forest, scatter};
use crate::domain::battle::Outcome;
use crate::domain::benchmark::published;
use crate::domain::language::Language;
use crate::domain::rating::leaderboards::leaderboard::Leaderboard;
use crate::domain::rating::leaderboards::ranking::rank_log;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::votes::vote_log::VoteLog;

/// Draws the chart of this name; empty for an unknown name, which a test detects.
pub(super) fn draw(name: &str, language: Language) -> String {
    match name {
        "few-votes" => forest_of(&leaderboard(1), language),
        "many-votes" => forest_of(&leaderboard(20), language),
        "close-open" => close_and_open(language),
        _ => String::new(),
    }
}

fn forest_of(leaderboard: &Leaderboard, language: Language) -> String {
    let frame = Frame { language, setting: Setting::Page };
    forest::draw(&leaderboard.models, leaderboard.interval, leaderboard.confidence, frame)
}

/// Four models, each pair of which meets ten times in each round. Of ten battles the better model wins six, loses two and ties two.
fn leaderboard(rounds: usize) -> Leaderboard {
    let names = ["heron", "crane", "egret", "ibis"];
    let mut log = VoteLog::default();
    for (b, model_b) in names.iter().enumerate() {
        for model_a in &names[..b] {
            for battle in 0..10 * rounds {
                let outcome = match battle % 10 {
                    0..6 => Outcome::AWins,
                    6..8 => Outcome::BWins,
                    _ => Outcome::Tie,
                };
                log.push(model_a, model_b, outcome).expect("two different models");
            }
        }
    }
    rank_log(&log, &LeaderboardOptions::default()).expect("every two models have won against each other")
}

/// Scatter plot of SuperCLUE's published scores of the models in both of its sets.
fn close_and_open(language: Language) -> String {
    let column = |id, part| published::by_id(id).map(|table| table.part(part)).unwrap_or_default();
    let (close, open) = (column("superclue_close", "overall"), column("superclue_open", "turn:1"));
    let dot = |(name, x): (&&str, &f64)| {
        Some(Dot { name: (*name).to_owned(), at: [*x, *open.get(name)?], intervals: [None, None] })
    };
    let dots: Vec<Dot> = close.iter().filter_map(dot).collect();
    let titles = match language {
        Language::English => ["SuperCLUE CLOSE, accuracy, %", "SuperCLUE OPEN, %"],
        Language::Chinese => ["SuperCLUE CLOSE，准确率，%", "SuperCLUE OPEN，%"],
    };
    let topic = Topic { key: "close-open", title: &titles.join(" × ") };
    scatter::draw(topic, titles, &dots, Frame { language, setting: Setting::Page })
}
