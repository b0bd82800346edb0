//! The contract of battles on models of the visitor's choice.

use langya::domain::battle::mode::BattleMode;
use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::{BattleId, ModelId, Outcome, Side};
use langya::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use langya::domain::model_register::days::number_of;
use langya::domain::rating::leaderboards::own_leaderboard::OwnVote;
use langya::domain::time::Timestamp;
use langya::infra::storage::{BattleRow, NewVoteRow, OwnBattlesFilter, Store, VoteExclusion};

use super::{battle, by, card, reply, vote};

/// 2026-01-20 at noon.
const NOON: i64 = 1_768_910_400_000;

fn id(number: usize) -> String {
    let digits = format!("{NOON:012x}");
    format!("{}-{}-7000-8000-{number:012}", &digits[..8], &digits[8..])
}

pub(super) async fn a_battle_on_chosen_models_is_kept_apart_and_its_vote_is_never_rated(store: &Store) {
    store.register_models(&["one", "two"].map(card), Timestamp(1)).await.unwrap();
    for (number, mode) in BattleMode::ALL.into_iter().enumerate() {
        let models = ["one", if mode == BattleMode::Direct { "one" } else { "two" }].map(ModelId::new);
        let row = BattleRow { mode, models, ..battle(&id(number)) };
        store.insert_battle(&row, "Which?", Timestamp(NOON)).await.unwrap();
        assert_eq!(store.battle(&row.id).await.unwrap().unwrap().mode, mode);
        let replies: Vec<_> = mode.sides().iter().map(|side| reply(*side, "A reply")).collect();
        let ready = Progress { stage: Stage::Ready, turn: 1 };
        assert!(store.finish_turn(&row.id, &by("run"), ready, &replies, Timestamp(NOON)).await.unwrap());
        let record = store.battle_record(&row.id).await.unwrap().unwrap();
        assert_eq!((record.battle.mode, record.replies.len()), (mode, mode.sides().len()));
        let own = store.own_battles(&row.visitor, &OwnBattlesFilter { limit: 1, ..Default::default() }).await.unwrap();
        let known = Side::BOTH.map(|side| mode.sides().contains(&side) && mode.names(side));
        assert_eq!((own[0].mode, own[0].models.each_ref().map(Option::is_some)), (mode, known));

        let because = mode.unrated_because();
        let exclusion =
            because.map(|reason| VoteExclusion { rule: ExclusionRule::NamedMode, reason: reason.to_owned() });
        let exclusions = exclusion.into_iter().collect();
        let cast = NewVoteRow { outcome: Outcome::AWins, exclusions, ..vote(&id(number), &id(number), 1) };
        store.insert_vote(&cast).await.unwrap();
        let kept = store.vote_on(&BattleId::new(id(number))).await.unwrap().unwrap();
        assert_eq!((kept.anonymous, kept.exclusion.is_none()), (because.is_none(), because.is_none()));
        let withdrawn = store.withdraw_exclusions(&[kept.seq], None, "ann", Timestamp(NOON), None).await.unwrap();
        assert_eq!(withdrawn, 0, "{mode:?}");
    }
    let rated = store.own_rated_votes(&battle("x").visitor, 10).await.unwrap();
    assert_eq!(rated, [OwnVote { models: ["one", "two"].map(ModelId::new), outcome: Outcome::AWins }]);
    let day = number_of(Timestamp(NOON));
    store.count_battle_days(day + 1).await.unwrap();
    let days = store.battle_days().await.unwrap();
    let counted: Vec<_> = days.iter().map(|day| (day.model.as_str(), day.battles)).collect();
    assert_eq!(counted, [("one", 1), ("two", 1)], "what visitors choose is no share of the pairing");
    let stats = store.model_stats_since(Timestamp(NOON)).await.unwrap();
    assert_eq!((stats.battles, stats.models["one"].replies), (1, 4), "every reply counts for reliability");
}
