//! The checker finds nothing in a clean run, and each planted violation in a spoilt one.

use langya::domain::battle::{Outcome, Side};
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::rating::ranking::rank_log;
use langya::domain::rating::vote_log::VoteLog;
use serde_json::{Value, json};

use super::evidence::{
    BattleHistory, Event, Evidence, Numbered, StoredBattle, StoredFailure, StoredReply, StoredTurn, StoredVote, Told,
    VisitorHistory, Written,
};
use super::{Violation, violations};

const WORDS: [&str; 4] = ["eins ", "zwei ", "drei ", "vier "];

/// Writes the evidence of a run as a sound arena would leave it.
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

    /// The models write; every request has words of its own.
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
        for turn in self.evidence.stored.turns.iter().filter(|turn| turn.battle == id) {
            said.push(turn.prompt.clone());
            let replies = &self.evidence.stored.replies;
            let reply = replies.iter().find(|row| row.battle == id && row.turn == turn.turn && row.side == side);
            said.extend(reply.map(|row| row.text.clone()));
        }
        said
    }

    /// Tells a turn from its first event to `ready`, the connection being lost after as many words as `lost_after`.
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

    /// The same vote again, and another one: both get the first receipt.
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

/// Two turns with a lost connection and a changed mind; a turn that was taken over and told again; a refused and then
/// acknowledged vote; a battle of which its visitor never heard.
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
    run.publish();
    run.evidence
}

/// Spoils a clean run and returns what the checker says of it.
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

/// The positions of the texts of side A in a history.
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

#[test]
fn a_lost_vote_is_found() {
    check(|e| drop(e.stored.votes.remove(1)), |v| matches!(v, Violation::VoteLost { battle } if battle == "two"));
}

#[test]
fn a_doubled_vote_is_found() {
    let double = |e: &mut Evidence| {
        let again = StoredVote { seq: 9, id: "another".into(), ..e.stored.votes[0].clone() };
        e.stored.votes.push(again);
    };
    check(double, |v| matches!(v, Violation::VoteDoubled { battle, rows: 2 } if battle == "one"));
}

#[test]
fn an_invented_vote_is_found() {
    let invented = |v: &Violation| matches!(v, Violation::VoteInvented { .. });
    check(|e| e.stored.votes[1].outcome = "b".into(), invented);
    check(|e| e.stored.votes[0].battle = "five".into(), invented);
    let unsent = |e: &mut Evidence| history(e, "four").events.retain(|event| !matches!(event, Event::Voted { .. }));
    check(unsent, invented);
}

#[test]
fn a_changed_outcome_is_found() {
    let change = |e: &mut Evidence| e.stored.votes[0].outcome = "b".into();
    check(change, |v| matches!(v, Violation::OutcomeChanged { battle, .. } if battle == "one"));
    let other = |e: &mut Evidence| e.stored.votes[0].id = "another".into();
    check(other, |v| matches!(v, Violation::OutcomeChanged { .. }));
}

#[test]
fn a_receipt_that_changes_on_a_retry_is_found() {
    let change = |e: &mut Evidence| {
        let Some(Event::Receipt { text }) = history(e, "one").events.last_mut() else { panic!("a retry") };
        *text = text.replace("1000.25", "1000.26");
    };
    check(change, |v| matches!(v, Violation::ReceiptChanged { .. }));
}

#[test]
fn a_receipt_that_is_not_the_stored_one_is_found() {
    let change = |e: &mut Evidence| e.stored.votes[2].receipt = e.stored.votes[2].receipt.replace("1000.25", "1001");
    check(change, |v| matches!(v, Violation::ReceiptNotAsStored { battle, .. } if battle == "three"));
}

#[test]
fn a_promise_of_another_vote_is_found() {
    let change = |e: &mut Evidence| {
        let Some(Event::Receipt { text }) = history(e, "four").events.last_mut() else { panic!("a receipt") };
        let other = text.replace("\\\"vote-four\\\"", "\\\"vote-two\\\"");
        assert_ne!(*text, other);
        *text = other;
    };
    check(change, |v| matches!(v, Violation::ReceiptNotAsStored { battle, .. } if battle == "four"));
}

#[test]
fn names_before_a_vote_are_found() {
    let early = |e: &mut Evidence| {
        let events = &mut history(e, "two").events;
        let receipt = events.pop().unwrap();
        events.insert(0, receipt);
    };
    check(early, |v| matches!(v, Violation::NamesTooEarly { .. }));
}

#[test]
fn revealed_names_that_differ_from_the_rows_are_found() {
    let differ = |v: &Violation| matches!(v, Violation::NamesDiffer { .. });
    check(|e| e.stored.votes[0].models.swap(0, 1), differ);
    let told = |e: &mut Evidence| {
        let Some(Event::Receipt { text }) = history(e, "four").events.last_mut() else { panic!("a receipt") };
        *text = text.replace("\"red\"", "\"green\"");
    };
    check(told, differ);
}

#[test]
fn a_vote_on_replies_that_had_not_ended_is_found() {
    let early = |v: &Violation| matches!(v, Violation::VoteTooEarly { battle, .. } if battle == "two");
    check(|e| e.stored.replies.retain(|row| !(row.battle == "two" && row.side == Side::B)), early);
    check(|e| e.stored.battles[1].stage = "answering".into(), early);
    check(|e| e.stored.votes[1].turn = 2, early);
    let fail = |e: &mut Evidence| {
        e.stored.replies.iter_mut().filter(|row| row.battle == "two").for_each(|row| row.ending = "failed".into());
    };
    check(fail, early);
}

#[test]
fn a_battle_that_changes_hands_is_found() {
    let changed = |v: &Violation| matches!(v, Violation::OwnerChanged { .. });
    check(|e| e.stored.battles[2].visitor = "visitor-0".into(), changed);
    check(|e| e.stored.votes[0].visitor = "visitor-1".into(), changed);
}

#[test]
fn a_refused_vote_is_found() {
    let refuse = |e: &mut Evidence| {
        let refused = Event::Refused { asked: "vote", code: "unknown_battle".into() };
        history(e, "two").events.insert(0, refused);
    };
    check(refuse, |v| matches!(v, Violation::Refused { code, .. } if code == "unknown_battle"));
    let not_ready = Event::Refused { asked: "vote", code: "not_ready".into() };
    let refused = |v: &Violation| matches!(v, Violation::Refused { code, .. } if code == "not_ready");
    check(|e| history(e, "two").events.extend([Event::Asked, not_ready.clone()]), refused);
    let asked_twice = spoilt(|e| history(e, "two").events.extend([Event::Asked, Event::Asked, not_ready.clone()]));
    assert_eq!(asked_twice, [], "the second question is being answered");
    let not_empty = |e: &mut Evidence| {
        history(e, "two").events.push(Event::Refused { asked: "vote", code: "empty_reply".into() });
    };
    check(not_empty, |v| matches!(v, Violation::Refused { code, .. } if code == "empty_reply"));
}

#[test]
fn a_visitor_without_a_receipt_is_found() {
    let unfinished = |v: &Violation| matches!(v, Violation::Unfinished { .. });
    check(|e| drop(history(e, "three").events.pop()), unfinished);
    let gave_up = |e: &mut Evidence| {
        let events = &mut history(e, "three").events;
        events.pop();
        events.push(Event::GaveUp { why: "nobody answered".into() });
    };
    check(gave_up, unfinished);
}

#[test]
fn a_lost_battle_is_found() {
    let lost = |v: &Violation| matches!(v, Violation::BattleLost { battle, .. } if battle == "one");
    check(|e| drop(e.stored.battles.remove(0)), lost);
    check(|e| e.stored.turns.retain(|row| !(row.battle == "one" && row.turn == 2)), lost);
    let never_done = |e: &mut Evidence| {
        let events = &mut history(e, "one").events;
        events.retain(|event| {
            !matches!(event, Event::Heard(Numbered { turn: 2, told: Told::Done { side: Side::B }, .. }))
        });
        renumber(e, "one");
    };
    check(never_done, lost);
}

#[test]
fn an_invented_battle_is_found() {
    let invent = |e: &mut Evidence| drop(e.visitors[0].asked.pop());
    check(invent, |v| matches!(v, Violation::BattleInvented { battle } if battle == "one"));
}

#[test]
fn a_battle_voided_without_a_failed_model_is_found() {
    let voided = |v: &Violation| matches!(v, Violation::Voided { .. });
    let void = |e: &mut Evidence| e.stored.battles[3].stage = "voided".into();
    let failed = StoredFailure { battle: "four".into(), side: Side::A, model: "red".into() };
    check(void, voided);
    let found = spoilt(|e| {
        void(e);
        e.stored.failures.push(failed);
    });
    assert!(!found.iter().any(voided), "a failed model explains it: {found:#?}");
}

#[test]
fn gaps_and_repeats_in_the_numbers_are_found() {
    let numbering = |v: &Violation| matches!(v, Violation::Numbering { .. });
    check(|e| received(e, "one").into_iter().skip(4).for_each(|heard| heard.seq += 1), numbering);
    check(|e| received(e, "one").into_iter().skip(4).for_each(|heard| heard.seq -= 1), numbering);
    let after_resume = |e: &mut Evidence| received(e, "three").into_iter().skip(1).for_each(|heard| heard.seq += 1);
    check(after_resume, numbering);
}

#[test]
fn a_lost_piece_of_text_is_found() {
    let lose = |e: &mut Evidence| {
        let at = texts_of_a(e, "one")[1];
        history(e, "one").events.remove(at);
        renumber(e, "one");
    };
    check(lose, |v| matches!(v, Violation::TextBroken { battle, turn: 1, side: "a", .. } if battle == "one"));
}

#[test]
fn a_doubled_piece_of_text_is_found() {
    let double = |e: &mut Evidence| {
        let at = texts_of_a(e, "one")[2];
        let events = &mut history(e, "one").events;
        events.insert(at, events[at].clone());
        renumber(e, "one");
    };
    check(double, |v| matches!(v, Violation::TextBroken { .. }));
}

#[test]
fn pieces_of_text_in_another_order_are_found() {
    let reorder = |e: &mut Evidence| {
        let at = texts_of_a(e, "one");
        history(e, "one").events.swap(at[1], at[2]);
        renumber(e, "one");
    };
    check(reorder, |v| matches!(v, Violation::TextBroken { .. }));
}

#[test]
fn a_lost_end_of_a_text_is_found() {
    let lose = |e: &mut Evidence| {
        let at = texts_of_a(e, "two").pop().unwrap();
        history(e, "two").events.remove(at);
        renumber(e, "two");
    };
    check(lose, |v| matches!(v, Violation::TextNotAsStored { battle, .. } if battle == "two"));
}

#[test]
fn a_turn_told_again_without_forgetting_the_first_telling_is_found() {
    let continued = |e: &mut Evidence| {
        let again = |event: &Event| matches!(event, Event::Heard(Numbered { seq: 3, told: Told::Turn, .. }));
        history(e, "two").events.retain(|event| !again(event));
        renumber(e, "two");
    };
    check(continued, |v| matches!(v, Violation::TextBroken { battle, .. } if battle == "two"));
}

#[test]
fn swapped_sides_are_found() {
    let swap = |e: &mut Evidence| {
        for heard in received(e, "two").into_iter().filter(|heard| heard.seq > 3) {
            match &mut heard.told {
                Told::Text { side, .. } | Told::Done { side } => *side = side.other(),
                _ => {}
            }
        }
    };
    check(swap, |v| matches!(v, Violation::SidesSwapped { battle, turn: 1 } if battle == "two"));
}

#[test]
fn a_model_that_is_not_in_the_battle_is_found() {
    let wrong = |v: &Violation| matches!(v, Violation::WrongModel { model, .. } if model == "red");
    let intrude = |e: &mut Evidence| {
        e.written
            .iter_mut()
            .filter(|w| w.question() == "two asks 1" && w.model == "blue")
            .for_each(|w| w.model = "red".into());
    };
    check(intrude, wrong);
    let found = spoilt(|e| {
        intrude(e);
        e.stored.failures.push(StoredFailure { battle: "two".into(), side: Side::B, model: "red".into() });
    });
    let shown = found.iter().filter(|violation| wrong(violation)).count();
    assert_eq!(shown, 0, "a replaced model may have been seen: {found:#?}");
    check(
        |e| e.stored.replies[0].model = "blue".into(),
        |v| matches!(v, Violation::WrongModel { battle, model, .. } if battle == "one" && model == "blue"),
    );
}

#[test]
fn a_reply_kept_short_and_called_complete_is_found() {
    let shorten = |e: &mut Evidence| e.stored.replies.iter_mut().for_each(|row| row.text.truncate(9));
    check(shorten, |v| matches!(v, Violation::TextBroken { .. }));
}

#[test]
fn another_history_given_to_a_model_is_found() {
    let changed =
        |v: &Violation| matches!(v, Violation::ConversationChanged { battle, turn: 2, .. } if battle == "one");
    check(|e| e.written[2].conversation.swap(0, 1), changed);
    check(|e| e.written[3].conversation[1].push('!'), changed);
}

#[test]
fn an_exported_log_that_is_not_the_table_is_found() {
    let differs = |v: &Violation| matches!(v, Violation::LogDiffers { .. });
    check(|e| drop(e.log.pop()), differs);
    check(|e| e.log.swap(0, 1), differs);
    check(|e| e.log[3]["winner"] = json!("both_bad"), differs);
}

#[test]
fn a_leaderboard_that_is_not_the_recount_is_found() {
    #[track_caller]
    fn spoil(change: impl FnOnce(&mut Value)) {
        check(
            |e| change(&mut e.leaderboards[0].1),
            |v| matches!(v, Violation::LeaderboardDiffers { origin, .. } if origin == "fit"),
        );
    }
    spoil(|leaderboard| leaderboard["votes"]["rated"] = json!(3));
    spoil(|leaderboard| leaderboard["models"][0]["wins"] = json!(7));
    spoil(|leaderboard| leaderboard["models"][1]["elo"] = json!(1000.001));
    spoil(|leaderboard| {
        assert_eq!(leaderboard["components"], 1, "the example's ratings can be compared");
        let rating = leaderboard["models"][2]["rating"].as_f64().unwrap();
        leaderboard["models"][2]["rating"] = json!(rating + 1e-5);
    });
    spoil(|leaderboard| drop(leaderboard["models"].as_array_mut().unwrap().pop()));
}
