use super::*;
use crate::model_register::changes::ModelSnapshot;
use crate::model_register::days::day_of_number;
use crate::time::Timestamp;

/// 2026-11-24.
const TUESDAY: i64 = 20_781;

fn model(id: &str, organization: &str) -> ModelCard {
    ModelCard {
        id: ModelId::new(id),
        name: id.to_uppercase(),
        organization: organization.into(),
        license: String::new(),
        practice: false,
    }
}

fn change(id: &str, number: u32, weight: f64, provider_model: &str) -> ModelChange {
    ModelChange {
        model: ModelId::new(id),
        number,
        changed_at: Timestamp(i64::from(number)),
        snapshot: ModelSnapshot {
            state: ModelState::of_weight(weight),
            weight,
            name: id.to_uppercase(),
            organization: String::new(),
            license: String::new(),
            practice: false,
            provider_model: Some(provider_model.into()),
        },
        reason: String::new(),
        author: ChangeAuthor::Settings,
    }
}

fn retired(mut change: ModelChange) -> ModelChange {
    change.snapshot.state = ModelState::Retired;
    change.snapshot.weight = 0.0;
    change
}

fn day(number: i64, model: &str, battles: u64) -> BattleDay {
    BattleDay { day: day_of_number(number), model: ModelId::new(model), imported: false, battles }
}

fn register(data: &RegisterData, on_leaderboard: &[&str], period: Period) -> Register {
    let leaderboard = on_leaderboard.iter().map(|id| (*id).to_owned()).collect();
    Register::new(data, &leaderboard, period, 12)
}

#[test]
fn shares_are_of_the_battles_of_this_arena_in_each_period() {
    let data = RegisterData {
        models: vec![model("a", ""), model("b", ""), model("c", ""), model("old", "")],
        days: vec![
            day(TUESDAY - 30, "a", 4),
            day(TUESDAY - 30, "b", 4),
            day(TUESDAY, "a", 3),
            day(TUESDAY, "b", 1),
            day(TUESDAY, "c", 2),
            BattleDay { imported: true, ..day(TUESDAY - 1000, "c", 10) },
            BattleDay { imported: true, ..day(TUESDAY - 1000, "old", 7) },
            BattleDay { imported: true, ..day(TUESDAY - 900, "old", 3) },
        ],
        counted_through: Some(day_of_number(TUESDAY)),
        ..RegisterData::default()
    };
    let register = register(&data, &[], Period::Month);
    assert_eq!((register.battles, register.imported_battles), (7, 10));
    let totals: Vec<_> = register.periods.iter().map(|period| (period.label.as_str(), period.battles)).collect();
    assert_eq!(totals, [("2026-10", 4), ("2026-11", 3)]);
    let shares = |id: usize| register.models[id].by_period.iter().map(|period| period.share).collect::<Vec<_>>();
    assert_eq!(shares(0), [1.0, 1.0]);
    assert_eq!(shares(2), [0.0, 2.0 / 3.0]);
    let c = &register.models[2];
    assert_eq!((c.first_day.as_deref(), c.last_day.as_deref()), (Some("2026-11-24"), Some("2026-11-24")));
    assert_eq!((c.battles, c.imported_battles, c.share), (2, 10, Some(2.0 / 7.0)));
    let old = &register.models[3];
    assert_eq!((old.first_day.as_deref(), old.last_day.as_deref()), (Some("2024-02-28"), Some("2024-06-07")));
    assert_eq!(c.state, EntryState::NotConfigured);
    let by_day = super::Register::new(&data, &BTreeSet::new(), Period::Day, 1);
    let labels: Vec<&str> = by_day.periods.iter().map(|period| period.label.as_str()).collect();
    assert_eq!(labels, ["2026-11-24"], "the latest only");
    assert_eq!(by_day.models[0].battles, 7, "and all battles in the sum");
}

#[test]
fn failures_are_a_share_of_the_battles_that_drew_a_model_on_the_last_thirty_counted_days() {
    let data = RegisterData {
        models: vec![model("a", ""), model("b", ""), model("unasked", "")],
        days: vec![
            day(TUESDAY - 30, "a", 100),
            day(TUESDAY - 29, "a", 4),
            day(TUESDAY, "a", 2),
            day(TUESDAY, "b", 6),
            BattleDay { imported: true, ..day(TUESDAY, "a", 50) },
        ],
        failures: [(ModelId::new("a"), FailedBattles { failed: 3, replaced: 2 })].into(),
        counted_through: Some(day_of_number(TUESDAY)),
        ..RegisterData::default()
    };
    let register = register(&data, &[], Period::Month);
    let failures: Vec<RecentFailures> = register.models.iter().map(|entry| entry.recent_failures).collect();
    let expected = [
        RecentFailures { drawn: 8, failed: 3, share: Some(0.375) },
        RecentFailures { drawn: 6, failed: 0, share: Some(0.0) },
        RecentFailures::default(),
    ];
    assert_eq!(failures, expected);
}

#[test]
fn best_of_n_shows_in_the_entries_of_an_organization() {
    let ids = ["try-1", "try-2", "try-3", "best"];
    let mut data = RegisterData {
        models: ids.iter().map(|id| model(id, "Maker")).chain([model("other", "")]).collect(),
        days: vec![
            day(TUESDAY, "try-1", 5),
            day(TUESDAY, "try-2", 5),
            day(TUESDAY, "best", 5),
            day(TUESDAY, "other", 5),
        ],
        ..RegisterData::default()
    };
    data.changes = vec![
        change("best", 1, 1.0, "p"),
        change("try-1", 1, 1.0, "p"),
        retired(change("try-1", 2, 0.0, "p")),
        change("try-2", 1, 1.0, "q"),
        retired(change("try-2", 2, 0.0, "q")),
        change("try-3", 1, 0.0, "r"),
    ];
    let register = register(&data, &["best", "other"], Period::Day);
    let maker = &register.organizations[0];
    assert_eq!((maker.organization.as_str(), maker.entries, maker.in_battles), ("Maker", 4, 3));
    assert_eq!((maker.provider_models, maker.on_leaderboard, maker.active), (3, 1, 1));
    assert_eq!(register.organizations[1].organization, "", "models without a maker come last");
    let best = &register.models[3];
    assert_eq!(best.same_provider_model_as, [SameProviderModel { id: "try-1".into(), at_present: true }]);
    assert_eq!(register.models[0].state, EntryState::Retired);
    assert_eq!(register.models[2].state, EntryState::Paused);
}

#[test]
fn a_model_that_was_exchanged_still_shows_what_it_was() {
    let data = RegisterData {
        models: vec![model("a", ""), model("b", "")],
        changes: vec![change("a", 1, 1.0, "p"), change("a", 2, 1.0, "q"), change("b", 1, 1.0, "p")],
        ..RegisterData::default()
    };
    let register = register(&data, &[], Period::Day);
    assert_eq!(register.models[0].changes[1].kinds, [ChangeKind::ProviderModel]);
    let earlier = |id: &str| vec![SameProviderModel { id: id.into(), at_present: false }];
    assert_eq!(register.models[0].same_provider_model_as, earlier("b"));
    assert_eq!(register.models[1].same_provider_model_as, earlier("a"));
}

#[test]
fn a_pairing_policy_is_in_force_until_the_next_one() {
    let policy = |number, policy: &str| PairingChange {
        number,
        changed_at: Timestamp(i64::from(number) * 10),
        policy: policy.into(),
        policy_version: 1,
        uniform_share: 0.2,
        elo_width: 100.0,
        new_model_votes: 50,
        new_model_boost: 2.0,
    };
    let data = RegisterData { pairing: vec![policy(1, "weighted"), policy(2, "active")], ..RegisterData::default() };
    let register = register(&data, &[], Period::Day);
    let spans: Vec<_> = register.pairing.iter().map(|p| (p.policy.as_str(), p.from, p.until)).collect();
    assert_eq!(spans, [("weighted", 10, Some(20)), ("active", 20, None)]);
}

#[test]
fn nothing_of_a_digest_is_published() {
    let data = RegisterData {
        models: vec![model("a", "")],
        changes: vec![change("a", 1, 1.0, "0123456789abcdef")],
        ..RegisterData::default()
    };
    let json = serde_json::to_string(&register(&data, &[], Period::Day)).unwrap();
    assert!(json.contains("\"state\":\"active\"") && !json.contains("0123456789abcdef"), "{json}");
}
