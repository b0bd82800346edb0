//! Checks displayed replies: events in order, each text letter by letter one model's reply to that question, on the model's side.

use std::collections::HashSet;

use langya::domain::battle::Side;

use super::evidence::{
    BETWEEN_QUESTIONS, BattleHistory, Event, Evidence, Numbered, StoredBattle, StoredReply, Told, Written,
};
use super::{Index, Violation};

pub(super) fn check(evidence: &Evidence, index: &Index<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for history in index.histories.values() {
        check_history(history, index, &mut found);
    }
    let asked: HashSet<&str> =
        evidence.visitors.iter().flat_map(|visitor| &visitor.asked).map(String::as_str).collect();
    for turn in &evidence.stored.turns {
        if !asked.contains(turn.prompt.as_str()) {
            found.push(Violation::BattleInvented { battle: turn.battle.clone() });
        }
        check_conversations(&turn.battle, turn.turn, index, &mut found);
    }
    evidence.stored.replies.iter().for_each(|reply| check_stored(reply, index, &mut found));
    found
}

fn check_history(history: &BattleHistory, index: &Index<'_>, found: &mut Vec<Violation>) {
    check_numbers(history, found);
    let lost = |why: String| Violation::BattleLost { battle: history.id.clone(), why };
    let Some(row) = index.battles.get(history.id.as_str()) else {
        found.push(lost("it is not in the database".into()));
        return;
    };
    let voided = history.events.iter().any(|event| matches!(event, Event::Heard(heard) if heard.told == Told::Voided));
    let failed = Side::BOTH.into_iter().any(|side| index.failed.iter().any(|(id, at, _)| *id == row.id && *at == side));
    if (voided || row.stage == "voided") && !failed {
        found.push(Violation::Voided { battle: row.id.clone() });
    }
    for telling in tellings(history) {
        if row.turn < telling.turn || !index.turns.contains_key(&(row.id.as_str(), telling.turn)) {
            found.push(lost(format!("turn {} is not in the database", telling.turn)));
            continue;
        }
        Side::BOTH.into_iter().for_each(|side| check_shown(row, &telling, side, index, found));
    }
}

/// Checks that events have no gaps and no repeats. A `battle` frame may restart with other numbers: greater ones, or any after a `resume`.
fn check_numbers(history: &BattleHistory, found: &mut Vec<Violation>) {
    let (mut last, mut resumed) = (0, true);
    for event in &history.events {
        match event {
            Event::Resumed { after, .. } => (last, resumed) = (*after, true),
            Event::Heard(Numbered { seq, told, .. }) => {
                let anew = *told == Told::Turn && (resumed || *seq > last);
                if *seq != last + 1 && !anew {
                    let battle = history.id.clone();
                    found.push(Violation::Numbering { battle, expected: last + 1, got: *seq });
                }
                (last, resumed) = (*seq, false);
            }
            _ => {}
        }
    }
}

/// One turn as displayed, from its `battle` frame on.
#[derive(Debug, Default)]
struct Telling {
    turn: u32,
    texts: [String; 2],
    done: [bool; 2],
    ready: bool,
}

fn tellings(history: &BattleHistory) -> Vec<Telling> {
    let mut all: Vec<Telling> = Vec::new();
    for event in &history.events {
        let Event::Heard(Numbered { turn, told, .. }) = event else { continue };
        // Text of an unannounced turn forms a separate turn, which no model's reply will match.
        if *told == Told::Turn || all.last().is_none_or(|telling| telling.turn != *turn) {
            all.push(Telling { turn: *turn, ..Telling::default() });
        }
        let Some(telling) = all.last_mut() else { continue };
        match told {
            Told::Text { side, text } => telling.texts[side.index()].push_str(text),
            Told::Done { side } => telling.done[side.index()] = true,
            Told::Ready => telling.ready = true,
            Told::Turn | Told::Voided => {}
        }
    }
    all
}

fn check_shown(row: &StoredBattle, telling: &Telling, side: Side, index: &Index<'_>, found: &mut Vec<Violation>) {
    let (battle, turn) = (row.id.clone(), telling.turn);
    let shown = &telling.texts[side.index()];
    if !shown.is_empty() {
        check_author(row, turn, side, shown, index, found);
    }
    if !telling.ready {
        return;
    }
    let stored = index.replies.get(&(row.id.as_str(), turn, side)).map_or("", |reply| reply.text.as_str());
    if !telling.done[side.index()] {
        let why = format!("turn {turn} was ready before side {} was done", side.as_str());
        found.push(Violation::BattleLost { battle, why });
    } else if stored != shown {
        let (shown, stored) = (shown.clone(), stored.to_owned());
        found.push(Violation::TextNotAsStored { battle, turn, side: side.as_str(), shown, stored });
    }
}

/// Checks that one model wrote the text from its first letter on, and that this model is on this side.
fn check_author(row: &StoredBattle, turn: u32, side: Side, text: &str, index: &Index<'_>, found: &mut Vec<Violation>) {
    let battle = row.id.clone();
    let prompt = index.turns.get(&(row.id.as_str(), turn)).map_or("", |row| row.prompt.as_str());
    let authors: Vec<&Written> =
        index.written_to(prompt).iter().copied().filter(|request| request.text.starts_with(text)).collect();
    let sits_here = |request: &&Written| {
        request.model == row.models[side.index()]
            || index.failed.contains(&(row.id.as_str(), side, request.model.as_str()))
    };
    if authors.iter().any(sits_here) {
        return;
    }
    let other = &row.models[side.other().index()];
    found.push(match authors.first() {
        None => Violation::TextBroken { battle, turn, side: side.as_str(), text: text.to_owned() },
        Some(request) if request.model == *other => Violation::SidesSwapped { battle, turn },
        Some(request) => Violation::WrongModel { battle, turn, side: side.as_str(), model: request.model.clone() },
    });
}

/// Checks that a stored reply is its model's text, and the whole text if it is marked as complete.
fn check_stored(reply: &StoredReply, index: &Index<'_>, found: &mut Vec<Violation>) {
    let (battle, turn, side) = (reply.battle.clone(), reply.turn, reply.side.as_str());
    if !index.battles.contains_key(reply.battle.as_str()) {
        found.push(Violation::BattleLost { battle, why: "a reply without its battle".into() });
        return;
    }
    let prompt = index.turns.get(&(reply.battle.as_str(), turn)).map_or("", |row| row.prompt.as_str());
    let fits = |request: &&&Written| match reply.ending.as_str() {
        "complete" => request.text == reply.text,
        _ => request.text.starts_with(&reply.text),
    };
    let authors: Vec<&&Written> = index.written_to(prompt).iter().filter(fits).collect();
    if reply.text.is_empty() && reply.ending != "complete" {
        return;
    }
    if authors.is_empty() {
        found.push(Violation::TextBroken { battle, turn, side, text: reply.text.clone() });
    } else if !authors.iter().any(|request| request.model == reply.model) {
        found.push(Violation::WrongModel { battle, turn, side, model: reply.model.clone() });
    }
}

/// Checks that a model in a later turn received the earlier ones as they were displayed on its side.
fn check_conversations(battle: &str, turn: u32, index: &Index<'_>, found: &mut Vec<Violation>) {
    let (Some(row), Some(stored)) = (index.battles.get(battle), index.turns.get(&(battle, turn))) else { return };
    for request in index.written_to(&stored.prompt) {
        let Some(side) = Side::BOTH.into_iter().find(|side| row.models[side.index()] == request.model) else {
            continue;
        };
        // A question that was sent twice may be two turns.
        let is_of_other_turn = request.turn() != turn
            && index.turns.get(&(battle, request.turn())).is_some_and(|other| other.prompt == stored.prompt);
        if !is_of_other_turn && request.conversation != conversation(battle, turn, side, index) {
            let battle = battle.to_owned();
            found.push(Violation::ConversationChanged { battle, turn, model: request.model.clone() });
        }
    }
}

/// Returns the conversation of a side up to the question of a turn: alternating questions and replies. A question without a reply, since
/// the turn was cut before its first word, is in one message with the next one.
fn conversation(battle: &str, turn: u32, side: Side, index: &Index<'_>) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for earlier in 1..=turn {
        let prompt = index.turns.get(&(battle, earlier)).map_or("", |row| row.prompt.as_str());
        let last_is_question = said.len() % 2 == 1;
        match said.last_mut() {
            Some(open) if last_is_question => open.extend([BETWEEN_QUESTIONS, prompt]),
            _ => said.push(prompt.to_owned()),
        }
        let reply = index.replies.get(&(battle, earlier, side)).map_or("", |row| row.text.as_str());
        if earlier < turn && !reply.trim().is_empty() {
            said.push(reply.to_owned());
        }
    }
    said
}
