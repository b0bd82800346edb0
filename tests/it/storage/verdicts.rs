//! What every database promises of judges' verdicts on battles: kept once, never changed, found beside their votes.

use langya::domain::battle::{BattleId, Outcome};
use langya::domain::battle_judging::subject::JudgedSubject;
use langya::domain::benchmark::item::ItemSampling;
use langya::domain::benchmark::scores::judgement::{Game, JudgeTokens, Status};
use langya::domain::judging::verdict::Preference;
use langya::domain::time::Timestamp;
use langya::infra::storage::{JudgeSpending, SettledGame, Store, VerdictRow};

use super::{exclude, ready, vote};

fn verdict(id: &str, status: Status, at: i64) -> VerdictRow {
    VerdictRow {
        id: id.into(),
        subject: JudgedSubject::Battle(BattleId::new("x")),
        judge: "j".into(),
        game: Game::Second,
        prompt_sha256: "p".into(),
        params: ItemSampling { temperature: Some(0.0), ..ItemSampling::default() },
        raw_text: format!("said by {id} 琅琊"),
        earlier: vec!["no".into()],
        parsed: (status == Status::Ok).then_some(Preference::Tie),
        status,
        attempts: 2,
        latency_ms: 9,
        tokens: JudgeTokens { prompt: 50, reply: 6 },
        created_at: Timestamp(at),
    }
}

pub(super) async fn a_verdict_is_kept_once_and_failures_may_repeat(store: &Store) {
    ready(store, "x").await;
    let failed = [verdict("1", Status::TransportFailed, 1), verdict("2", Status::TransportFailed, 2)];
    let first = verdict("3", Status::Ok, 3);
    assert!(!store.has_verdicts().await.unwrap());
    store.insert_verdicts(&failed).await.unwrap();
    assert!(store.has_verdicts().await.unwrap(), "a judge was sent the conversation");
    for _ in 0..2 {
        store.insert_verdicts(&[first.clone(), verdict("4", Status::Ok, 4)]).await.unwrap();
    }
    let others = [
        VerdictRow { game: Game::First, ..verdict("5", Status::Ok, 5) },
        VerdictRow { judge: "k".into(), ..verdict("6", Status::Ok, 6) },
        VerdictRow { prompt_sha256: "q".into(), ..verdict("7", Status::Ok, 7) },
    ];
    store.insert_verdicts(&others).await.unwrap();
    let expected: Vec<VerdictRow> = failed.into_iter().chain([first]).chain(others).collect();
    assert_eq!(store.verdicts_of(&BattleId::new("x")).await.unwrap(), expected);
    assert_eq!(
        (store.verdict_count().await.unwrap(), store.verdicts_of(&BattleId::new("y")).await.unwrap()),
        (6, vec![])
    );
}

pub(super) async fn only_rated_votes_stand_beside_verdicts(store: &Store) {
    for battle in ["x", "y"] {
        ready(store, battle).await;
        store.insert_vote(&vote(battle, battle, 1)).await.unwrap();
        let on = |id: &str, status| VerdictRow {
            subject: JudgedSubject::Battle(BattleId::new(battle)),
            ..verdict(id, status, 3)
        };
        let rows = [on(&format!("1{battle}"), Status::Ok), on(&format!("2{battle}"), Status::Refused)];
        store.insert_verdicts(&rows).await.unwrap();
    }
    exclude(store, "y", "admin").await;
    let said = store.judged_votes("").await.unwrap();
    let found: Vec<_> = said.iter().map(|one| (one.seq, one.status, one.parsed)).collect();
    assert_eq!(found, [(1, Status::Ok, Some(Preference::Tie)), (1, Status::Refused, None)]);
    let one = &said[0];
    assert_eq!(
        (one.models.each_ref().map(String::as_str), one.outcome, one.turns),
        (["one", "two"], Outcome::BWins, 1)
    );
    assert_eq!((one.language.as_str(), one.category.as_deref(), one.intent.as_deref()), ("zh", Some("maths"), None));
    assert_eq!((one.judge.as_str(), one.prompt_sha256.as_str(), one.game), ("j", "p", Game::Second));
    assert_eq!(store.judged_votes("j").await.unwrap(), said);
    assert_eq!(store.judged_votes("k").await.unwrap(), []);
}

pub(super) async fn what_is_settled_and_what_was_spent_is_known_since_a_moment(store: &Store) {
    ready(store, "x").await;
    let by = |id: &str, judge: &str, status, at| VerdictRow { judge: judge.into(), ..verdict(id, status, at) };
    let rows = [
        by("1", "j", Status::TransportFailed, 10),
        by("2", "k", Status::ParseFailed, 20),
        by("3", "l", Status::Ok, 30),
        by("4", "l", Status::TransportFailed, 40),
    ];
    store.insert_verdicts(&rows).await.unwrap();
    let settled = async |prompt: &str, since| {
        let mut games = store.settled_games(prompt, Timestamp(since)).await.unwrap();
        games.sort();
        games
    };
    let game = |judge: &str| SettledGame {
        subject: JudgedSubject::Battle(BattleId::new("x")),
        judge: judge.into(),
        game: Game::Second,
    };
    assert_eq!(settled("p", 0).await, [game("k"), game("l")], "what never came through is open");
    assert_eq!(settled("p", 30).await, [game("l")]);
    assert_eq!(settled("q", 0).await, []);
    let read = store.read_games("p", Timestamp(0)).await.unwrap();
    assert_eq!(read, [game("l")], "what nobody could read may be asked again");
    let spent = |judge: &str, rows: u64| JudgeSpending {
        judge: judge.into(),
        calls: 2 * rows,
        tokens: JudgeTokens { prompt: 50 * rows, reply: 6 * rows },
    };
    assert_eq!(store.verdict_spending(Timestamp(20)).await.unwrap(), [spent("k", 1), spent("l", 2)]);
    assert_eq!(store.verdict_spending(Timestamp(41)).await.unwrap(), []);
}

/// One row, so that a test may try to change it.
pub(crate) async fn fill(store: &Store) {
    ready(store, "x").await;
    store.insert_verdicts(&[verdict("1", Status::Ok, 1)]).await.unwrap();
}
