//! Checks votes and receipts: sent, acknowledged and stored ones agree.

use std::collections::HashMap;

use langya::domain::battle::Side;
use serde_json::Value;

use super::evidence::{BattleHistory, Event, Evidence, StoredVote};
use super::{Index, Violation};

/// Error codes after which a visitor retries.
const RETRIED: [&str; 4] = ["storage", "draining", "rate_limited", "busy"];

pub(super) fn check(evidence: &Evidence, index: &Index<'_>) -> Vec<Violation> {
    let mut rows: HashMap<&str, Vec<&StoredVote>> = HashMap::new();
    for vote in &evidence.stored.votes {
        rows.entry(&vote.battle).or_default().push(vote);
    }
    let mut found = Vec::new();
    for (battle, votes) in &rows {
        if votes.len() > 1 {
            found.push(Violation::VoteDoubled { battle: (*battle).to_owned(), rows: votes.len() });
        }
        votes.iter().for_each(|vote| check_row(vote, index, &mut found));
    }
    for history in index.histories.values() {
        let vote = rows.get(history.id.as_str()).map(|votes| votes[0]);
        check_receipts(history, vote, &mut found);
        check_refusals(history, index, &mut found);
        check_end(history, &mut found);
    }
    check_owners(evidence, index, &mut found);
    found
}

/// Checks that every stored vote was sent, and was cast on two complete replies.
fn check_row(vote: &StoredVote, index: &Index<'_>, found: &mut Vec<Violation>) {
    let battle = vote.battle.clone();
    let sent = index.histories.get(vote.battle.as_str()).is_some_and(|history| {
        history.events.iter().any(|event| matches!(event, Event::Voted { outcome } if *outcome == vote.outcome))
    });
    if !sent {
        found.push(Violation::VoteInvented { battle: battle.clone(), outcome: vote.outcome.clone() });
    }
    let Some(row) = index.battles.get(vote.battle.as_str()) else {
        found.push(Violation::BattleLost { battle, why: "a vote without its battle".into() });
        return;
    };
    if row.visitor != vote.visitor {
        found.push(Violation::OwnerChanged { battle: battle.clone() });
    }
    if row.models != vote.models {
        found.push(Violation::NamesDiffer {
            battle: battle.clone(),
            told: vote.models.clone(),
            stored: row.models.clone(),
        });
    }
    if (row.stage.as_str(), row.turn) != ("voted", vote.turn) {
        let why = format!("the battle is {} in turn {}, the vote is on turn {}", row.stage, row.turn, vote.turn);
        found.push(Violation::VoteTooEarly { battle: battle.clone(), why });
    }
    for side in Side::BOTH {
        let ended = index.replies.get(&(vote.battle.as_str(), vote.turn, side));
        if ended.is_none_or(|reply| reply.text.is_empty() || reply.ending == "failed") {
            let why = format!("side {} has no reply that could be voted on", side.as_str());
            found.push(Violation::VoteTooEarly { battle: battle.clone(), why });
        }
    }
}

/// Checks that every receipt equals the first one, followed a vote, and agrees with the stored vote.
fn check_receipts(history: &BattleHistory, vote: Option<&StoredVote>, found: &mut Vec<Violation>) {
    let battle = || history.id.clone();
    let (mut voted, mut first): (bool, Option<&String>) = (false, None);
    for event in &history.events {
        match (event, first) {
            (Event::Voted { .. }, _) => voted = true,
            (Event::Receipt { text }, Some(first)) if text != first => {
                found.push(Violation::ReceiptChanged { battle: battle(), first: first.clone(), later: text.clone() });
            }
            (Event::Receipt { text }, None) => {
                if !voted {
                    found.push(Violation::NamesTooEarly { battle: battle() });
                }
                first = Some(text);
            }
            _ => {}
        }
    }
    match (first, vote) {
        (Some(_), None) => found.push(Violation::VoteLost { battle: battle() }),
        (Some(receipt), Some(vote)) => compare(receipt, vote, found),
        (None, _) => {}
    }
}

/// Compares a received receipt with the row and with the stored receipt.
fn compare(receipt: &str, vote: &StoredVote, found: &mut Vec<Violation>) {
    let battle = || vote.battle.clone();
    let mut told: Value = serde_json::from_str(receipt).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said = (text(&told["vote"]), text(&told["outcome"]));
    if said != (vote.id.clone(), vote.outcome.clone()) {
        let stored = format!("{} {}", vote.id, vote.outcome);
        found.push(Violation::OutcomeChanged { battle: battle(), told: format!("{} {}", said.0, said.1), stored });
    }
    let names = Side::BOTH.map(|side| text(&told[side.as_str()]["id"]));
    if names != vote.models {
        found.push(Violation::NamesDiffer { battle: battle(), told: names, stored: vote.models.clone() });
    }
    // Fields of the frame beyond the stored receipt: its head, the promise, which is derived from the vote, and the reasoning, which is
    // stored with the replies.
    let is_promised = is_promised(&told, vote);
    if let Some(frame) = told.as_object_mut() {
        ["type", "battle", "promise"].iter().for_each(|key| drop(frame.remove(*key)));
    }
    for side in Side::BOTH {
        if let Some(revealed) = told[side.as_str()].as_object_mut() {
            revealed.remove("reasoning");
        }
    }
    let stored: Value = serde_json::from_str(&vote.receipt).unwrap_or_default();
    if told != stored || !is_promised {
        let (told, stored) = (told.to_string(), stored.to_string());
        found.push(Violation::ReceiptNotAsStored { battle: battle(), told, stored });
    }
}

/// Returns whether the promise of a receipt refers to the stored vote, if the receipt has one.
fn is_promised(told: &Value, vote: &StoredVote) -> bool {
    let signed = told["promise"].as_str().and_then(|promise| promise.lines().nth(2));
    let said: Option<Value> = signed.and_then(|line| serde_json::from_str(line).ok());
    let Some(said) = said else { return told["included_by"].is_null() };
    let names = [&said["vote"], &said["battle"], &said["model_a"], &said["model_b"]];
    let [a, b] = &vote.models;
    names == [&vote.id, &vote.battle, a, b] && said["included_by"] == told["included_by"]
}

fn check_refusals(history: &BattleHistory, index: &Index<'_>, found: &mut Vec<Violation>) {
    for event in &history.events {
        let Event::Refused { asked, code } = event else { continue };
        let harmless = match (*asked, code.as_str()) {
            (_, code) if RETRIED.contains(&code) => true,
            // The question had arrived before the connection was lost.
            ("message", "not_ready") => true,
            // It arrived twice, and the second one is being answered.
            ("vote", "not_ready") => history.asked_twice(),
            ("vote", "empty_reply") => has_empty_reply(history, index),
            _ => false,
        };
        if !harmless {
            found.push(Violation::Refused { battle: history.id.clone(), asked, code: code.clone() });
        }
    }
}

fn has_empty_reply(history: &BattleHistory, index: &Index<'_>) -> bool {
    let turn = index.battles.get(history.id.as_str()).map_or(0, |row| row.turn);
    let shown = |side| index.replies.get(&(history.id.as_str(), turn, side)).map_or("", |reply| reply.text.as_str());
    Side::BOTH.into_iter().any(|side| shown(side).is_empty())
}

/// Checks that a visitor continues until a receipt, or an answer that ends the battle without one.
fn check_end(history: &BattleHistory, found: &mut Vec<Violation>) {
    // The refusals check whether a reply really was empty.
    let is_empty = |event: &Event| matches!(event, Event::Refused { asked: "vote", code } if code == "empty_reply");
    if history.has_receipt() || history.events.iter().any(is_empty) {
        return;
    }
    let why = match history.events.last() {
        Some(Event::GaveUp { why }) => why.clone(),
        last => format!("the last that was seen is {last:?}"),
    };
    found.push(Violation::Unfinished { battle: history.id.clone(), why });
}

/// Checks that a visitor has the same identity on every instance, and that no two visitors share one.
fn check_owners(evidence: &Evidence, index: &Index<'_>, found: &mut Vec<Violation>) {
    let mut owner_of: HashMap<&str, usize> = HashMap::new();
    for (number, visitor) in evidence.visitors.iter().enumerate() {
        let mut name = None;
        for history in &visitor.battles {
            let Some(row) = index.battles.get(history.id.as_str()) else { continue };
            let known = *name.get_or_insert(row.visitor.as_str());
            if known != row.visitor || *owner_of.entry(&row.visitor).or_insert(number) != number {
                found.push(Violation::OwnerChanged { battle: history.id.clone() });
            }
        }
    }
}
