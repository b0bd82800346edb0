//! The register of models: their names, changes that are only added, and battles by day.

use langya::domain::battle::ModelId;
use langya::domain::model_register::changes::{ChangeAuthor, ModelChange, ModelSnapshot, ModelState, PairingChange};
use langya::domain::model_register::days::{day_of_number, number_of};
use langya::domain::time::Timestamp;
use langya::infra::llm::ModelCard;
use langya::infra::storage::{BreakerReport, Store};

use super::{ready, vote};
use crate::support::arena::card;

pub(super) const FORBIDDEN: [&str; 4] = [
    "UPDATE model_changes SET weight = 2",
    "DELETE FROM model_changes",
    "UPDATE pairing_changes SET policy = 'uniform'",
    "DELETE FROM pairing_changes",
];

/// A change of the model `one`.
pub(crate) fn change(number: u32) -> ModelChange {
    ModelChange {
        model: ModelId::new("one"),
        number,
        changed_at: Timestamp(i64::from(number) * 1000),
        snapshot: ModelSnapshot {
            state: ModelState::Active,
            weight: 0.1 + 0.2,
            name: "One 一".into(),
            organization: String::new(),
            license: "MIT".into(),
            practice: false,
            provider_model: (number > 1).then(|| "00ff".to_owned()),
        },
        reason: "a \"reason\"".into(),
        author: ChangeAuthor::Command,
    }
}

fn pairing(number: u32) -> PairingChange {
    PairingChange {
        number,
        changed_at: Timestamp(7),
        policy: "elo".into(),
        policy_version: 1,
        uniform_share: 0.1 + 0.2,
        elo_width: 1e-3,
        new_model_votes: 50,
        new_model_boost: 2.0,
    }
}

/// A change of each kind.
pub(super) async fn fill(store: &Store) {
    store.register_models(&[card("one")], Timestamp(1)).await.unwrap();
    assert_eq!(store.add_model_changes(&[change(1)]).await.unwrap(), 1);
    assert!(store.add_pairing_change(&pairing(1)).await.unwrap());
}

pub(super) async fn models_are_registered_renamed_and_kept(store: &Store) {
    store.register_models(&["b", "a"].map(card), Timestamp(1)).await.unwrap();
    let open = BreakerReport { state: "open".into(), failures: 7 };
    store.put_breaker(&ModelId::new("a"), &open, Timestamp(2)).await.unwrap();
    let renamed = ModelCard { name: "New name".into(), practice: true, ..card("a") };
    store.register_models(std::slice::from_ref(&renamed), Timestamp(3)).await.unwrap();
    let known = store.registered_models().await.unwrap();
    assert_eq!((&known[0].card, &known[0].breaker), (&renamed, &open), "a new name does not heal the breaker");
    let closed = BreakerReport { state: "closed".into(), failures: 0 };
    assert_eq!((&known[1].card, &known[1].breaker, known.len()), (&card("b"), &closed, 2));
}

pub(super) async fn a_change_is_recorded_once_and_read_back_as_it_was(store: &Store) {
    let before = store.register_version().await.unwrap();
    fill(store).await;
    let version = store.register_version().await.unwrap();
    assert_ne!(version, before);
    let other = ModelChange { reason: "another writer's".into(), ..change(1) };
    assert_eq!(
        store.add_model_changes(&[other, change(2)]).await.unwrap(),
        1,
        "the first writer of a number has its way"
    );
    assert!(!store.add_pairing_change(&PairingChange { policy: "active".into(), ..pairing(1) }).await.unwrap());
    assert_eq!(store.model_changes().await.unwrap(), [change(1), change(2)]);
    assert_eq!(store.pairing_changes().await.unwrap(), [pairing(1)]);
    assert_ne!(store.register_version().await.unwrap(), version);
    let unknown = ModelChange { model: ModelId::new("nobody"), ..change(1) };
    store.add_model_changes(&[change(3), unknown]).await.unwrap_err();
    assert_eq!(store.model_changes().await.unwrap().len(), 2, "all of them or none");
}

/// The id of a battle that began then.
fn id_at(ms: i64, number: u32) -> String {
    let digits = format!("{ms:012x}");
    format!("{}-{}-7000-8000-{number:012}", &digits[..8], &digits[8..])
}

pub(super) async fn battles_are_counted_by_the_day_on_which_they_began(store: &Store) {
    let noon = 1_768_910_400_000;
    let day = number_of(Timestamp(noon));
    let midnight = noon + 12 * 3_600_000;
    for (ms, number) in [(noon, 1), (midnight - 1, 2), (midnight, 3), (midnight + 86_400_000, 4)] {
        ready(store, &id_at(ms, number)).await;
    }
    assert_eq!(store.oldest_open_battle().await.unwrap(), Some(Timestamp(noon)));
    for (ms, number) in [(noon, 1), (midnight - 1, 2), (midnight, 3)] {
        let id = id_at(ms, number);
        store.insert_vote(&vote(&id, &id, 1)).await.unwrap();
    }
    assert_eq!(store.oldest_open_battle().await.unwrap(), Some(Timestamp(midnight + 86_400_000)));

    assert_eq!(store.counted_through().await.unwrap(), None);
    assert_eq!(store.count_battle_days(day).await.unwrap(), 0, "that day is not over");
    assert_eq!(store.count_battle_days(day + 2).await.unwrap(), 2);
    assert_eq!(store.count_battle_days(day + 2).await.unwrap(), 0, "each day is counted once");
    assert_eq!(store.counted_through().await.unwrap(), Some(day + 1));
    let counted = store.battle_days().await.unwrap();
    let counted: Vec<_> = counted.iter().map(|one| (one.day, one.model.as_str(), one.battles, one.imported)).collect();
    let [first, second] = [day, day + 1].map(day_of_number);
    let expected =
        [(first, "one", 2, false), (first, "two", 2, false), (second, "one", 1, false), (second, "two", 1, false)];
    assert_eq!(counted, expected);
    assert_eq!(store.count_battle_days(day + 9).await.unwrap(), 1, "the day with an open battle, when it is asked for");
    assert_eq!(store.counted_through().await.unwrap(), Some(day + 8), "days without battles count too");

    // The clock was ahead: what is counted too early is counted again once it is over.
    assert_eq!(store.count_battle_days(day + 1).await.unwrap(), 0);
    assert_eq!(store.counted_through().await.unwrap(), Some(day));
    ready(store, &id_at(midnight + 1, 5)).await;
    assert_eq!(store.count_battle_days(day + 3).await.unwrap(), 2);
    let recounted = store.battle_days().await.unwrap();
    let of_day = |number| recounted.iter().find(|one| one.day == day_of_number(number) && one.model.as_str() == "one");
    assert_eq!([day, day + 1].map(|number| of_day(number).unwrap().battles), [2, 2]);
}
