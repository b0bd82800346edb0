//! Tests of the checker: it finds nothing in a clean run, and each planted violation.

mod battles;
mod replies;
mod votes;

use langya::domain::battle::{Outcome, Side};
use langya::domain::rating::leaderboards::ranking::rank_log;
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::rating::votes::vote_log::VoteLog;
use serde_json::json;

use super::evidence::{
    BattleHistory, Event, Evidence, Numbered, StoredBattle, StoredReply, StoredTurn, StoredVote, Told, VisitorHistory,
    Written,
};
use super::{Violation, violations};

const WORDS: [&str; 4] = ["eins ", "zwei ", "drei ", "vier "];

/// Builder of the evidence of a correct run.
#[derive(Default)]
struct Run {
    evidence: Evidence,
    seq: u64,
}

impl Run {
    fn battle(&mut self, visitor: usize, id: &str, models: [&str; 2]) {
        let stored = StoredBattle {
            id: id.into(),
            visitor: format!("visitor-{visitor}"),
            stage: "ready".into(),
            turn: 0,
            models: models.map(str::to_owned),
        };
        self.evidence.stored.battles.push(stored);
        while self.evidence.visitors.len() <= visitor {
            self.evidence.visitors.push(VisitorHistory::default());
        }
        let history = BattleHistory { id: id.into(), events: Vec::new() };
        self.evidence.visitors[visitor].battles.push(history);
        self.seq = 0;
    }

    fn history(&mut self, id: &str) -> &mut BattleHistory {
        let all = self.evidence.visitors.iter_mut().flat_map(|visitor| &mut visitor.battles);
        all.into_iter().find(|history| history.id == id).unwrap()
    }

    fn row(&mut self, id: &str) -> &mut StoredBattle {
        self.evidence.stored.battles.iter_mut().find(|row| row.id == id).unwrap()
    }

    fn hear(&mut self, id: &str, told: Told) {
        self.seq += 1;
        let (seq, turn) = (self.seq, self.row(id).turn);
        self.history(id).events.push(Event::Heard(Numbered { seq, turn, told }));
    }

    fn ask(&mut self, visitor: usize, id: &str) {
        self.row(id).turn += 1;
        let turn = self.row(id).turn;
        let prompt = format!("{id} asks {turn}");
        self.evidence.visitors[visitor].asked.push(prompt.clone());
        self.evidence.stored.turns.push(StoredTurn { battle: id.into(), turn, prompt });
    }

    /// Writes the models' replies; every request gets different words.
    fn write(&mut self, id: &str) -> [String; 2] {
        let row = self.row(id).clone();
        Side::BOTH.map(|side| {
            let text: String = WORDS.iter().map(|word| format!("{}.{word}", self.evidence.written.len())).collect();
            let conversation = self.conversation(id, side);
            let model = row.models[side.index()].clone();
            self.evidence.written.push(Written { model, conversation, text: text.clone() });
            text
        })
    }

    fn conversation(&self, id: &str, side: Side) -> Vec<String> {
        let mut said = Vec::new();
        let mut unanswered = String::new();
        for turn in self.evidence.stored.turns.iter().filter(|turn| turn.battle == id) {
            let question = std::mem::take(&mut unanswered) + &turn.prompt;
            let replies = &self.evidence.stored.replies;
            let reply = replies.iter().find(|row| row.battle == id && row.turn == turn.turn && row.side == side);
            match reply {
                Some(reply) if reply.text.is_empty() => unanswered = question + "\n\n",
                reply => {
                    said.push(question);
                    said.extend(reply.map(|row| row.text.clone()));
                }
            }
        }
        said
    }

    /// Adds a turn that a shutdown cuts before the first word of either side.
    fn cut_turn(&mut self, visitor: usize, id: &str) {
        self.ask(visitor, id);
        self.write(id);
        self.hear(id, Told::Turn);
        Side::BOTH.into_iter().for_each(|side| self.hear(id, Told::Done { side }));
        self.hear(id, Told::Ready);
        self.keep(id, &Default::default());
        self.evidence.stored.replies.iter_mut().rev().take(2).for_each(|reply| reply.ending = "cut".into());
    }

    /// Adds a turn from its first event to `ready`, with the connection lost after `lost_after` words.
    fn tell(&mut self, id: &str, texts: &[String; 2], lost_after: Option<usize>) {
        self.hear(id, Told::Turn);
        for (at, _) in WORDS.iter().enumerate() {
            if lost_after == Some(at) {
                let after = self.seq;
                self.history(id).events.push(Event::Resumed { after, note: String::new() });
            }
            for side in Side::BOTH {
                let word = texts[side.index()].split_inclusive(' ').nth(at).unwrap().to_owned();
                self.hear(id, Told::Text { side, text: word });
            }
        }
        Side::BOTH.into_iter().for_each(|side| self.hear(id, Told::Done { side }));
        self.hear(id, Told::Ready);
    }

    fn keep(&mut self, id: &str, texts: &[String; 2]) {
        let row = self.row(id).clone();
        for side in Side::BOTH {
            self.evidence.stored.replies.push(StoredReply {
                battle: id.into(),
                turn: row.turn,
                side,
                model: row.models[side.index()].clone(),
                text: texts[side.index()].clone(),
                ending: "complete".into(),
            });
        }
    }

    fn turn(&mut self, visitor: usize, id: &str, lost_after: Option<usize>) {
        self.ask(visitor, id);
        let texts = self.write(id);
        self.tell(id, &texts, lost_after);
        self.keep(id, &texts);
    }

    fn vote(&mut self, id: &str, outcome: &str) {
        let row = self.row(id).clone();
        self.row(id).stage = "voted".into();
        let receipt = json!({"vote": format!("vote-{id}"), "outcome": outcome,
            "a": {"id": row.models[0], "rating": 1000.25}, "b": {"id": row.models[1], "rating": 999.75},
            "included_by": 60_000});
        let promise = json!({"vote": format!("vote-{id}"), "battle": id, "model_a": row.models[0],
            "model_b": row.models[1], "included_by": 60_000});
        let mut frame = receipt.clone();
        frame["promise"] = json!(format!("version\nlog\n{promise}\n\nsignature\n"));
        frame["type"] = json!("revealed");
        frame["battle"] = json!(id);
        frame["a"]["reasoning"] = json!(["thoughts"]);
        let events = [Event::Voted { outcome: outcome.into() }, Event::Receipt { text: frame.to_string() }];
        self.history(id).events.extend(events);
        self.evidence.stored.votes.push(StoredVote {
            seq: i64::try_from(self.evidence.stored.votes.len()).unwrap() + 1,
            id: format!("vote-{id}"),
            battle: id.into(),
            visitor: row.visitor,
            models: row.models,
            outcome: outcome.into(),
            turn: row.turn,
            receipt: receipt.to_string(),
        });
    }

    /// Adds the same vote again, and another one: both get the first receipt.
    fn vote_again(&mut self, id: &str, outcome: &str) {
        let events = self.history(id).events.clone();
        let receipt = events.iter().find(|event| matches!(event, Event::Receipt { .. })).unwrap();
        self.history(id).events.extend([Event::Voted { outcome: outcome.into() }, receipt.clone()]);
    }

    /// Exports the log and fits the leaderboard with the arena's own code.
    fn publish(&mut self) {
        let mut votes = VoteLog::default();
        for vote in &self.evidence.stored.votes {
            let outcome = Outcome::parse(&vote.outcome).unwrap();
            votes.push(&vote.models[0], &vote.models[1], outcome).unwrap();
            let winner = ["model_a", "model_b", "tie", "both_bad"][outcome as usize];
            self.evidence.log.push(json!({"seq": vote.seq, "battle_id": vote.battle, "model_a": vote.models[0],
                "model_b": vote.models[1], "winner": winner, "turn": vote.turn}));
        }
        let options = LeaderboardOptions::default();
        let leaderboard = serde_json::to_value(rank_log(&votes, &options).unwrap()).unwrap();
        self.evidence.leaderboards.push(("fit".into(), leaderboard));
    }
}

/// Builds a clean run: two turns with a lost connection and a changed vote; a turn that was taken over and sent again; a refused and then
/// acknowledged vote; a battle that its visitor never received; a question that is repeated with the next one, since a shutdown left it
/// without a reply.
fn clean() -> Evidence {
    let mut run = Run::default();
    run.battle(0, "one", ["red", "green"]);
    run.turn(0, "one", Some(2));
    run.turn(0, "one", None);
    run.vote("one", "a");
    run.vote_again("one", "b");

    run.battle(1, "two", ["green", "blue"]);
    run.ask(1, "two");
    let texts = run.write("two");
    run.hear("two", Told::Turn);
    run.hear("two", Told::Text { side: Side::A, text: texts[0][..6].to_owned() });
    run.history("two").events.push(Event::Resumed { after: 2, note: String::new() });
    let anew = run.write("two");
    run.tell("two", &anew, None);
    run.keep("two", &anew);
    run.vote("two", "a");

    run.battle(1, "three", ["blue", "red"]);
    run.turn(1, "three", Some(0));
    let refused = Event::Refused { asked: "vote", code: "storage".into() };
    run.history("three").events.extend([Event::Voted { outcome: "a".into() }, refused]);
    run.vote("three", "a");

    run.battle(1, "four", ["red", "blue"]);
    run.turn(1, "four", None);
    run.vote("four", "tie");

    run.battle(1, "five", ["blue", "green"]);
    run.turn(1, "five", None);
    run.row("five").stage = "answering".into();
    run.evidence.visitors[1].battles.pop();

    run.battle(2, "six", ["green", "red"]);
    run.cut_turn(2, "six");
    run.turn(2, "six", None);
    run.vote("six", "b");
    run.publish();
    run.evidence
}

/// Modifies a clean run and returns the violations.
fn spoilt(spoil: impl FnOnce(&mut Evidence)) -> Vec<Violation> {
    let mut evidence = clean();
    spoil(&mut evidence);
    violations(&evidence)
}

#[track_caller]
fn check(spoil: impl FnOnce(&mut Evidence), expected: impl Fn(&Violation) -> bool) {
    let found = spoilt(spoil);
    assert!(found.iter().any(expected), "{found:#?}");
}

fn history<'a>(evidence: &'a mut Evidence, id: &str) -> &'a mut BattleHistory {
    evidence.visitors.iter_mut().flat_map(|visitor| &mut visitor.battles).find(|history| history.id == id).unwrap()
}

fn received<'a>(evidence: &'a mut Evidence, id: &str) -> Vec<&'a mut Numbered> {
    let events = history(evidence, id).events.iter_mut();
    events.filter_map(|event| if let Event::Heard(heard) = event { Some(heard) } else { None }).collect()
}

/// Returns the positions of the texts of side A in a history.
fn texts_of_a(evidence: &mut Evidence, id: &str) -> Vec<usize> {
    let is_text =
        |event: &Event| matches!(event, Event::Heard(Numbered { told: Told::Text { side: Side::A, .. }, .. }));
    let events = &history(evidence, id).events;
    events.iter().enumerate().filter(|(_, event)| is_text(event)).map(|(at, _)| at).collect()
}

fn renumber(evidence: &mut Evidence, id: &str) {
    let mut last = 0;
    for event in &mut history(evidence, id).events {
        match event {
            Event::Heard(heard) => {
                last += 1;
                heard.seq = last;
            }
            Event::Resumed { after, .. } => *after = last,
            _ => {}
        }
    }
}

#[test]
fn a_clean_run_has_no_violations() {
    assert_eq!(violations(&clean()), []);
}
