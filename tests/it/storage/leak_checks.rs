//! What every database promises of checks for leaks.

use langya::domain::benchmark::scores::judgement::JudgeTokens;
use langya::domain::time::Timestamp;
use langya::infra::storage::{LeakCheckCounts, LeakCheckRow, LeakCheckStatus, NewExclusions, NewVoteRow, Store};

use super::{exclude, ready, vote};

fn row(vote_seq: i64, status: LeakCheckStatus, leaks: &str) -> LeakCheckRow {
    LeakCheckRow {
        vote_seq,
        judge: "琅".to_owned(),
        prompt_sha256: "00".to_owned(),
        status,
        leaks: leaks.to_owned(),
        attempts: 2,
        tokens: JudgeTokens { prompt: 3, reply: 4 },
        created_at: Timestamp(100),
    }
}

fn decision(id: &str) -> NewExclusions {
    NewExclusions {
        id: id.to_owned(),
        rule: "identity_leak".to_owned(),
        reason: "a test".to_owned(),
        decided_by: "langya".to_owned(),
        decided_at: Timestamp(101),
    }
}

pub(super) async fn a_vote_is_checked_once_and_excluded_with_its_check(store: &Store) {
    let mut numbers = Vec::new();
    for (id, at) in [("a", 50), ("b", 60), ("c", 70), ("d", 80), ("e", 90)] {
        ready(store, id).await;
        let cast = NewVoteRow { created_at: Timestamp(at), ..vote(id, id, 1) };
        store.insert_vote(&cast).await.unwrap();
        numbers.push(store.vote_on(&cast.battle).await.unwrap().unwrap().seq);
    }
    let unchecked = async |after: i64, since: i64, limit: u32| -> Vec<i64> {
        let votes = store.votes_without_leak_check(after, Timestamp(since), limit).await.unwrap();
        votes.into_iter().map(|vote| vote.seq).collect()
    };
    let [a, b, c, d, e] = numbers[..] else { panic!("{numbers:?}") };
    assert_eq!(unchecked(0, 0, 9).await, [a, b, c, d, e]);
    assert_eq!((unchecked(a, 70, 9).await, unchecked(0, 0, 2).await), (vec![c, d, e], vec![a, b]));
    // What is excluded already needs no check, and of what a person let back in nothing is asked again.
    exclude(store, "c", "duplicate").await;
    exclude(store, "d", "identity_leak").await;
    assert!(store.withdraw_exclusion(d, "identity_leak", "ann", Timestamp(95)).await.unwrap());
    assert_eq!(unchecked(0, 0, 9).await, [a, b, e]);
    assert_eq!(store.count_without_leak_check(Timestamp(60)).await.unwrap(), 2);

    let insert = async |row: LeakCheckRow, decision: Option<&NewExclusions>| {
        store.insert_leak_check(&row, decision).await.unwrap()
    };
    assert!(insert(row(a, LeakCheckStatus::Ok, "reply A 1"), Some(&decision("first"))).await);
    assert!(!insert(row(a, LeakCheckStatus::Ok, "reply A 1"), Some(&decision("second"))).await, "once");
    assert!(!insert(row(b, LeakCheckStatus::Unreadable, ""), None).await);
    // A person decided of it while the model was asked.
    assert!(!insert(row(d, LeakCheckStatus::Ok, "prompt 1"), Some(&decision("third"))).await);
    assert_eq!(unchecked(0, 0, 9).await, [e]);
    let rows = store.exclusions_of(a).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["first"]);
    assert_eq!(store.exclusions_of(d).await.unwrap().len(), 1);
    let counts = LeakCheckCounts { checked: 3, found: 2, unread: 1 };
    assert_eq!(store.leak_check_counts().await.unwrap(), counts);
    let calls = async |since| store.leak_check_calls(Timestamp(since)).await.unwrap();
    assert_eq!((calls(100).await, calls(101).await), (6, 0));
}
