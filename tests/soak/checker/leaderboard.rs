//! Checks the exported log against the votes, and leaderboards against a recount that shares no code with the arena's.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Violation;
use super::evidence::{Evidence, StoredVote};

/// Maximum difference of a rating from the recount's.
const TOLERANCE: f64 = 1e-6;
const ELO_STEP: f64 = 4.0;

pub(super) fn check(evidence: &Evidence) -> Vec<Violation> {
    let votes = &evidence.stored.votes;
    let mut found = check_log(&evidence.log, votes);
    let recount = recount(votes);
    for (origin, leaderboard) in &evidence.leaderboards {
        let differs = |why| Violation::LeaderboardDiffers { origin: origin.clone(), why };
        found.extend(differences(leaderboard, &recount, votes.len()).into_iter().map(differs));
    }
    found
}

fn check_log(log: &[Value], votes: &[StoredVote]) -> Vec<Violation> {
    let mut found = Vec::new();
    if log.len() != votes.len() {
        let why = format!("{} lines for {} votes", log.len(), votes.len());
        found.push(Violation::LogDiffers { row: log.len().min(votes.len()), why });
    }
    for (row, (line, vote)) in log.iter().zip(votes).enumerate() {
        let winner = match vote.outcome.as_str() {
            "a" => "model_a",
            "b" => "model_b",
            other => other,
        };
        let wanted = serde_json::json!({"seq": vote.seq, "battle_id": vote.battle, "model_a": vote.models[0],
            "model_b": vote.models[1], "winner": winner, "turn": vote.turn});
        let differs = wanted.as_object().into_iter().flatten().find(|(key, value)| line[key.as_str()] != **value);
        if let Some((key, value)) = differs {
            let why = format!("{key} is {} and not {value}", line[key.as_str()]);
            found.push(Violation::LogDiffers { row, why });
        }
    }
    found
}

/// Results of a model by the votes.
#[derive(Debug, Clone, Copy)]
struct Line {
    wins: u64,
    losses: u64,
    ties: u64,
    both_bad: u64,
    elo: f64,
    rating: f64,
}

impl Default for Line {
    fn default() -> Self {
        Self { wins: 0, losses: 0, ties: 0, both_bad: 0, elo: 1000.0, rating: 1000.0 }
    }
}

fn recount(votes: &[StoredVote]) -> BTreeMap<&str, Line> {
    let mut lines: BTreeMap<&str, Line> = BTreeMap::new();
    for vote in votes {
        let [a, b] = vote.models.each_ref().map(String::as_str);
        let mut line = [a, b].map(|model| lines.get(model).copied().unwrap_or_default());
        let expected = 1.0 / (1.0 + 10_f64.powf((line[1].elo - line[0].elo) / 400.0));
        let moved = ELO_STEP * (points(&vote.outcome) - expected);
        line[0].elo += moved;
        line[1].elo -= moved;
        for (line, won) in line.iter_mut().zip(["a", "b"]) {
            match vote.outcome.as_str() {
                "tie" => line.ties += 1,
                "both_bad" => line.both_bad += 1,
                outcome if outcome == won => line.wins += 1,
                _ => line.losses += 1,
            }
        }
        lines.insert(a, line[0]);
        lines.insert(b, line[1]);
    }
    for (model, rating) in bradley_terry(votes) {
        lines.entry(model).or_default().rating = rating;
    }
    lines
}

fn points(outcome: &str) -> f64 {
    match outcome {
        "a" => 1.0,
        "b" => 0.0,
        _ => 0.5,
    }
}

/// Computes ratings by minorisation-maximisation (Hunter 2004): p_i = w_i / Σ n_ij / (p_i + p_j), iterated to rounding.
fn bradley_terry(votes: &[StoredVote]) -> BTreeMap<&str, f64> {
    let mut won: BTreeMap<&str, f64> = BTreeMap::new();
    let mut met: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for vote in votes {
        let [a, b] = vote.models.each_ref().map(String::as_str);
        *won.entry(a).or_default() += points(&vote.outcome);
        *won.entry(b).or_default() += 1.0 - points(&vote.outcome);
        *met.entry((a, b)).or_default() += 1.0;
        *met.entry((b, a)).or_default() += 1.0;
    }
    let mut strengths: BTreeMap<&str, f64> = won.keys().map(|model| (*model, 1.0)).collect();
    for _ in 0..100_000 {
        let next: BTreeMap<&str, f64> = strengths
            .iter()
            .map(|(model, own)| {
                let met = met.iter().filter(|((one, _), _)| one == model);
                let share: f64 = met.map(|((_, other), times)| times / (own + strengths[other])).sum();
                (*model, won[model] / share)
            })
            .collect();
        let mean_log = next.values().map(|strength| strength.ln()).sum::<f64>() / real(next.len());
        let next: BTreeMap<&str, f64> =
            next.into_iter().map(|(model, strength)| (model, strength / mean_log.exp())).collect();
        let moved = next.iter().map(|(model, strength)| (strength / strengths[model]).ln().abs()).fold(0.0, f64::max);
        strengths = next;
        if moved < 1e-13 {
            break;
        }
    }
    strengths.into_iter().map(|(model, strength)| (model, 1000.0 + 400.0 * strength.log10())).collect()
}

fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn differences(leaderboard: &Value, recount: &BTreeMap<&str, Line>, votes: usize) -> Vec<String> {
    let mut found = Vec::new();
    if leaderboard["votes"]["rated"] != votes {
        found.push(format!("it rates {} votes of {votes}", leaderboard["votes"]["rated"]));
    }
    let models = leaderboard["models"].as_array().cloned().unwrap_or_default();
    let row_of = |model: &str| models.iter().find(|row| row["model"] == model);
    // Ratings of several components, and of models that only won or lost, are not comparable.
    let comparable = leaderboard["components"] == 1 && models.iter().all(|row| row["unbounded"].is_null());
    for (model, line) in recount {
        let Some(row) = row_of(model) else {
            found.push(format!("{model} is missing"));
            continue;
        };
        let counts = [("wins", line.wins), ("losses", line.losses), ("ties", line.ties), ("both_bad", line.both_bad)];
        found.extend(
            counts
                .iter()
                .filter(|(key, count)| row[*key] != *count)
                .map(|(key, count)| format!("{model} has {key} {} and not {count}", row[*key])),
        );
        let numbers = [("elo", line.elo, true), ("rating", line.rating, comparable)];
        found.extend(
            numbers
                .iter()
                .filter(|(key, value, counts)| {
                    *counts && !row[*key].as_f64().is_some_and(|it| (it - value).abs() < TOLERANCE)
                })
                .map(|(key, value, _)| format!("{model} has {key} {} and not {value}", row[*key])),
        );
    }
    found
}
