//! Judges on the arena's own battles: the real program over a database of battles, and a judge scripted over real HTTP.

mod job;
mod reports;
mod runs;

use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::text_counts::TextCounts;
use langya::domain::battle::{BattleId, ModelId, Outcome, RunId, Side, VisitorId};
use langya::domain::time::Timestamp;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{
    BattleRow, IfMissing, NewExclusion, NewReply, NewVoteRow, ReplyEnding, Store, VerdictRow,
};
use serde_json::Value;

use crate::bench::{Field, question, reply};
use crate::support::arena::card;
use crate::support::upstream::Script;

/// A battle with its vote.
#[derive(Clone)]
struct Battle {
    id: BattleId,
    models: [&'static str; 2],
    outcome: Outcome,
    language: &'static str,
    category: Option<&'static str>,
    /// How good each side's replies are, turn by turn: what the scripted judges look at.
    quality: Vec<[u32; 2]>,
    exclusion: Option<&'static str>,
    /// What is put behind each question.
    ballast: String,
    voted_at: i64,
}

impl Battle {
    /// One turn between `one` and `two`, of which the one that is better wins.
    fn new(number: usize, quality: [u32; 2]) -> Self {
        let outcome = match quality {
            [a, b] if a > b => Outcome::AWins,
            [a, b] if a < b => Outcome::BWins,
            _ => Outcome::Tie,
        };
        Self {
            id: BattleId::new(format!("battle-{number:03}")),
            models: ["one", "two"],
            outcome,
            language: "English",
            category: None,
            quality: vec![quality],
            exclusion: None,
            ballast: String::new(),
            voted_at: 1_000,
        }
    }

    async fn keep(&self, store: &Store) {
        let models = self.models.map(ModelId::new);
        let row = BattleRow {
            id: self.id.clone(),
            visitor: VisitorId::new("visitor"),
            mode: langya::domain::battle::mode::BattleMode::Anonymous,
            progress: Progress { stage: Stage::Answering, turn: 1 },
            models,
            pairing_policy: "uniform".into(),
            policy_version: 1,
            pair_probability: 0.5,
            language: self.language.into(),
            category: self.category.map(str::to_owned),
            intent: None,
            answered_by: Some(RunId::new("run")),
        };
        store.register_models(&self.models.map(card), Timestamp(1)).await.unwrap();
        for (turn, quality) in (1..).zip(&self.quality) {
            let question = format!("Question {turn} of {} {}", self.id, self.ballast);
            if turn == 1 {
                store.insert_battle(&row, &question, Timestamp(2)).await.unwrap();
            } else {
                assert!(
                    store
                        .begin_turn(
                            &self.id,
                            turn,
                            Some(&question),
                            Some(&RunId::new("run")),
                            &RunId::new("run"),
                            Timestamp(3)
                        )
                        .await
                        .unwrap()
                );
            }
            let replies = Side::BOTH.map(|side| self.reply(side, quality[side.index()]));
            let progress = Progress { stage: Stage::Ready, turn };
            assert!(store.finish_turn(&self.id, &RunId::new("run"), progress, &replies, Timestamp(4)).await.unwrap());
        }
        let vote = NewVoteRow {
            id: format!("vote-on-{}", self.id),
            battle: self.id.clone(),
            turn: u32::try_from(self.quality.len()).unwrap(),
            answered_by: Some(RunId::new("run")),
            outcome: self.outcome,
            satisfaction: None,
            reasons: Default::default(),
            first_token_ms: [None; 2],
            duration_ms: [1; 2],
            text_counts: [TextCounts::default(); 2],
            receipt: "{}".into(),
            created_at: Timestamp(self.voted_at),
            exclusions: Vec::new(),
        };
        store.insert_vote(&vote).await.unwrap();
        if let Some(rule) = self.exclusion {
            let vote_seq = store.vote_on(&self.id).await.unwrap().unwrap().seq;
            let excluded_at = Timestamp(self.voted_at);
            let exclusion = NewExclusion {
                id: self.id.as_str(),
                vote_seq,
                rule,
                reason: "a test",
                excluded_by: "ann",
                excluded_at,
            };
            assert_eq!(store.exclude_votes(&[exclusion]).await.unwrap(), 1);
        }
    }

    fn reply(&self, side: Side, quality: u32) -> NewReply {
        NewReply {
            side,
            model: ModelId::new(self.models[side.index()]),
            text: if quality == 0 {
                String::new()
            } else {
                format!("I on side {} am «{quality}» {{conversation_a}} [[C]]", side.as_str())
            },
            reasoning: String::new(),
            ending: ReplyEnding::Complete,
            first_token_ms: None,
            duration_ms: 1,
        }
    }
}

/// A field with a database of battles.
async fn field_of(battles: &[Battle], judge: impl Fn([u32; 2], usize) -> Script + Send + Sync + 'static) -> Field {
    let field = Field::empty(&["one", "two", "three"]).await;
    field.respond("judge", move |request, times| judge(qualities(question(request)), times));
    fill(&field, battles).await;
    field
}

async fn fill(field: &Field, battles: &[Battle]) {
    let settings = StorageSettings { data_dir: field.path().join("data"), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Create).await.unwrap();
    for battle in battles {
        battle.keep(&store).await;
    }
    store.close().await;
}

/// What a judge sees of both sides: the sums of their replies' qualities.
fn qualities(prompt: &str) -> [u32; 2] {
    let numbers: Vec<u32> = prompt.split('«').skip(1).filter_map(|rest| rest.split_once('»')?.0.parse().ok()).collect();
    let (a, b) = numbers.split_at(numbers.len() / 2);
    [a.iter().sum(), b.iter().sum()]
}

/// A judge that prefers what is better.
fn fair([a, b]: [u32; 2], _: usize) -> Script {
    reply(match a.cmp(&b) {
        std::cmp::Ordering::Greater => "A is not [[B]]. [[A]]",
        std::cmp::Ordering::Less => "[[B]]",
        std::cmp::Ordering::Equal => "No difference: [[C]]",
    })
}

/// A dozen battles, of which each side wins some.
fn dozen() -> Vec<Battle> {
    (0..12_u32).map(|number| Battle::new(number as usize, [1 + number % 3, 1 + (number / 3) % 3])).collect()
}

const RUN: [&str; 6] = ["judge", "run", "--judge", "judge", "--share", "1"];

async fn report(field: &Field) -> Value {
    serde_json::from_str(&field.done(&["judge", "report", "--format", "json"]).await).unwrap()
}

/// So many of so many, as the report has it.
fn share(rate: &Value) -> (u64, u64) {
    (rate["of"].as_u64().unwrap(), rate["total"].as_u64().unwrap())
}

async fn verdicts(field: &Field, battles: &[Battle]) -> Vec<VerdictRow> {
    let store = field.store().await;
    let mut rows = Vec::new();
    for battle in battles {
        rows.extend(store.verdicts_of(&battle.id).await.unwrap());
    }
    store.close().await;
    rows
}
