//! What passes: a server that restarts, transactions in each other's way, instances that write at the same moment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use langya::domain::admin::action::AdminAction;
use langya::domain::battle::BattleId;
use langya::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{
    IfMissing, InsertedVote, NewVoteRow, OutageKind, Store, StoreError, VoteExclusion, VoteRange,
};
use sqlx::AssertSqlSafe;
use tokio::time::timeout;

use super::{admin, ready, vote};
use crate::support::log::Log;
use crate::support::postgres::{OwnServer, TestDatabase};

/// Fails the next votes with this code, as the server itself would; a sequence is not rolled back.
const FAIL_VOTES: &str = "
    CREATE SEQUENCE tries;
    CREATE FUNCTION fail_votes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF nextval('tries') <= TG_ARGV[1]::BIGINT THEN RAISE EXCEPTION 'made up' USING ERRCODE = TG_ARGV[0]; END IF;
        RETURN NEW;
    END $$";

/// What became of a vote whose first `times` tries fail with `code`.
async fn vote_failing(database: &TestDatabase, code: &str, times: u32) -> bool {
    let store = database.open().await;
    let pool = database.raw().await;
    ready(&store, code).await;
    let trigger = format!(
        "ALTER SEQUENCE tries RESTART; CREATE OR REPLACE TRIGGER fail_votes BEFORE INSERT ON votes \
         FOR EACH ROW EXECUTE FUNCTION fail_votes('{code}', '{times}')"
    );
    sqlx::raw_sql(AssertSqlSafe(trigger)).execute(&pool).await.unwrap();
    let answer = store.insert_vote(&vote(code, code, 1)).await;
    store.close().await;
    answer.is_ok_and(|answer| answer == InsertedVote::Stored)
}

#[actix_web::test]
async fn what_passes_is_tried_again_and_nothing_else() {
    let Some(database) = TestDatabase::create().await else { return };
    database.open().await.close().await;
    sqlx::raw_sql(FAIL_VOTES).execute(&database.raw().await).await.unwrap();
    for code in ["40001", "40P01", "57P01", "57P02", "57P03", "57P05", "25P03", "53300", "25006", "08006", "08001"] {
        assert!(vote_failing(&database, code, 3).await, "{code} passes");
    }
    for code in ["53100", "42501", "22P05", "57014"] {
        assert!(!vote_failing(&database, code, 1).await, "{code} is told at once");
    }
    assert!(!vote_failing(&database, "08000", 1_000).await, "a server that never recovers is given up on");
    database.drop().await;
}

#[actix_web::test]
async fn sessions_that_began_while_the_database_was_read_only_are_replaced_when_it_takes_writes_again() {
    let Some(database) = TestDatabase::create().await else { return };
    ready(&database.open().await, "x").await;
    // Its sessions begin with its first statements.
    let store = database.open().await;
    let name = &database.name;
    database.as_admin(format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await;
    store.latest_leaderboard().await.unwrap();
    let refused = store.insert_vote(&vote("v", "x", 1)).await.unwrap_err();
    assert_eq!(refused.outage_kind(), Some(OutageKind::ReadOnly), "{refused}");
    database.as_admin(format!("ALTER DATABASE {name} RESET default_transaction_read_only")).await;
    assert_eq!(store.insert_vote(&vote("v", "x", 1)).await.unwrap(), InsertedVote::Stored, "the session of votes");
    // Sent once, on the connection that has only read.
    store.add_audit_entry(&admin::entry("1", AdminAction::ConfirmLeak)).await.unwrap();
    database.drop().await;
}

#[actix_web::test]
async fn a_lock_that_keeps_votes_out_is_logged_once_and_so_is_its_end() {
    let Some(database) = TestDatabase::create().await else { return };
    let settings = StorageSettings { statement_timeout_ms: 2_000, ..database.settings() };
    let (store, log) = (Store::open(&settings, IfMissing::Create).await.unwrap(), Log::keep());
    let ids = ["v0", "v1", "v2", "v3"];
    for id in ids {
        ready(&store, id).await;
    }
    let (votes, raw) = (ids.map(|id| vote(id, id, 1)), database.raw().await);
    let mut held = raw.begin().await.unwrap();
    sqlx::query("LOCK TABLE votes IN ACCESS EXCLUSIVE MODE").execute(&mut *held).await.unwrap();
    let refused = join_all(votes.iter().map(|vote| store.insert_vote(vote))).await;
    assert!(refused.iter().all(|answer| answer.as_ref().is_err_and(StoreError::is_outage)), "{refused:?}");
    assert_eq!(store.refuses_votes(), Some(OutageKind::TableLocked));
    held.rollback().await.unwrap();
    for vote in &votes {
        assert_eq!(store.insert_vote(vote).await.unwrap(), InsertedVote::Stored);
    }
    assert_eq!(log.lines("refused while another session holds a lock").len(), 1, "{}", log.text());
    let ended = log.lines("votes are stored again");
    assert!(ended.len() == 1 && ended[0].contains("votes.refused=4"), "{}", log.text());
    assert_eq!((log.lines("refused").len(), store.refuses_votes()), (2, None), "{}", log.text());
    database.drop().await;
}

#[actix_web::test]
async fn a_right_that_is_taken_away_is_logged_once_and_so_is_its_end() {
    let Some(database) = TestDatabase::create().await else { return };
    database.open().await.close().await;
    let (raw, role) = (database.raw().await, format!("{}_user", database.name));
    let run = async |statement: String| {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&raw).await.unwrap();
    };
    run(format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'secret'; GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}; \
         GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}"
    ))
    .await;
    let as_user = database.url.replace("arena@", &format!("{role}:secret@"));
    let settings = StorageSettings { database: as_user.into(), ..StorageSettings::default() };
    let (store, log) = (Store::open(&settings, IfMissing::Fail).await.unwrap(), Log::keep());
    let ids = ["v0", "v1", "v2"];
    for id in ids {
        ready(&store, id).await;
    }
    store.check().await.unwrap();
    store.check_rights().await.unwrap();
    run(format!("REVOKE INSERT ON votes, webhook_messages FROM {role}")).await;
    for id in ids {
        let refused = store.insert_vote(&vote(id, id, 1)).await.unwrap_err();
        assert_eq!(refused.outage_kind(), Some(OutageKind::NoPrivilege), "{refused}");
        assert!(!refused.is_permanent(), "somebody may give it back: {refused}");
    }
    let unready = store.check().await.unwrap_err().to_string();
    assert!(
        unready.contains(&format!("lacks INSERT on votes: run `GRANT INSERT ON public.votes TO {role};`")),
        "{unready}"
    );
    let found = store.check_rights().await.unwrap_err().to_string();
    assert!(found.contains("lacks INSERT on votes, INSERT on webhook_messages: "), "{found}");
    run(format!("REVOKE UPDATE, DELETE ON sign_ins, turns FROM {role}")).await;
    let found = store.check_rights().await.unwrap_err().to_string();
    assert!(found.contains("UPDATE on sign_ins") && found.contains("DELETE on turns"), "{found}");
    assert!(!found.contains("DELETE on sign_ins"), "the arena deletes no sign-in: {found}");
    let statements = found.split('`').nth(1).unwrap();
    run(statements.to_owned()).await;
    store.check_rights().await.unwrap();
    store.check().await.unwrap();
    assert_eq!(store.insert_vote(&vote("v0", "v0", 1)).await.unwrap(), InsertedVote::Stored);
    let begun = log.lines("the database's user lacks a right");
    assert!(begun.len() == 1 && begun[0].contains("permission denied for table votes"), "{}", log.text());
    assert_eq!(log.lines("votes.refused=3").len(), 1, "{}", log.text());
    assert!(log.lines("the database fails").is_empty(), "the other tables can be used: {}", log.text());
    store.close().await;
    run(format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
    raw.close().await;
    database.drop().await;
}

#[actix_web::test]
async fn a_user_who_may_not_create_tables_serves_a_database_that_has_them_once_every_right_is_granted() {
    let Some(database) = TestDatabase::create().await else { return };
    database.open().await.close().await;
    let (raw, role) = (database.raw().await, format!("{}_user", database.name));
    let run = async |statement: String| {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&raw).await.unwrap();
    };
    run(format!("REVOKE ALL ON SCHEMA public FROM PUBLIC; CREATE ROLE {role} LOGIN PASSWORD 'secret'")).await;
    let as_user = database.url.replace("arena@", &format!("{role}:secret@"));
    let settings = StorageSettings { database: as_user.into(), ..StorageSettings::default() };
    for lacked in ["lacks USAGE on schema public: ", "lacks SELECT on _sqlx_migrations, SELECT on battles, "] {
        let refused = Store::open(&settings, IfMissing::Fail).await.unwrap_err().to_string();
        assert!(refused.contains(lacked), "{refused}");
        run(refused.split('`').nth(1).unwrap().to_owned()).await;
    }
    let store = Store::open(&settings, IfMissing::Create).await.unwrap();
    store.check_rights().await.unwrap();
    store.close().await;
    run(format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
    raw.close().await;
    database.drop().await;
}

#[actix_web::test]
async fn a_right_that_one_vote_needs_keeps_no_other_vote_out() {
    let Some(database) = TestDatabase::create().await else { return };
    database.open().await.close().await;
    let (raw, role) = (database.raw().await, format!("{}_user", database.name));
    let run = async |statement: String| {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&raw).await.unwrap();
    };
    run(format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'secret'; GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}; \
         GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}; REVOKE INSERT ON vote_exclusions FROM {role}"
    ))
    .await;
    let as_user = database.url.replace("arena@", &format!("{role}:secret@"));
    let settings = StorageSettings { database: as_user.into(), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Fail).await.unwrap();
    for id in ["v0", "v1"] {
        ready(&store, id).await;
    }
    let exclusions = vec![VoteExclusion { rule: ExclusionRule::NamedMode, reason: "chosen".into() }];
    let votes = [vote("v0", "v0", 1), NewVoteRow { exclusions, ..vote("v1", "v1", 1) }];
    // Polled before the writer runs, so that they are one group.
    let answers = join_all(votes.iter().map(|vote| store.insert_vote(vote))).await;
    assert_eq!(*answers[0].as_ref().unwrap(), InsertedVote::Stored);
    let refused = answers[1].as_ref().unwrap_err();
    assert_eq!(refused.outage_kind(), Some(OutageKind::NoPrivilege), "{refused}");
    let unready = store.check().await.unwrap_err().to_string();
    assert!(unready.contains("lacks INSERT on vote_exclusions: run `GRANT "), "{unready}");
    store.close().await;
    run(format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
    raw.close().await;
    database.drop().await;
}

#[actix_web::test]
async fn a_lock_that_keeps_other_statements_out_is_logged_once_and_leaves_the_other_tables_usable() {
    let Some(database) = TestDatabase::create().await else { return };
    let settings = StorageSettings { statement_timeout_ms: 2_000, ..database.settings() };
    let (store, log) = (Store::open(&settings, IfMissing::Create).await.unwrap(), Log::keep());
    let (battle, raw) = (BattleId::new("x"), database.raw().await);
    let mut held = raw.begin().await.unwrap();
    sqlx::query("LOCK TABLE battles IN ACCESS EXCLUSIVE MODE").execute(&mut *held).await.unwrap();
    for answer in join_all((0..4).map(|_| store.battle(&battle))).await {
        let refused = answer.unwrap_err();
        assert_eq!(refused.outage_kind(), Some(OutageKind::TableLocked), "{refused}");
    }
    store.check().await.unwrap();
    held.rollback().await.unwrap();
    assert!(store.battle(&battle).await.unwrap().is_none());
    let begun = log.lines("statements are refused while another session holds a lock");
    assert_eq!(begun.len(), 1, "{}", log.text());
    database.drop().await;
}

/// Casts a vote on each of these battles through one of the stores, many at the same time.
async fn cast(stores: &[Store], ids: &[String]) {
    let votes = ids.iter().zip(stores.iter().cycle()).map(async |(id, store)| {
        assert_eq!(store.insert_vote(&vote(id, id, 1)).await.unwrap(), InsertedVote::Stored);
    });
    join_all(votes).await;
}

#[actix_web::test]
async fn a_reader_that_pages_through_the_log_misses_no_vote_of_any_instance() {
    let Some(database) = TestDatabase::create().await else { return };
    let stores = [database.open().await, database.open().await, database.open().await];
    let ids: Vec<String> = (0..600).map(|number| format!("v{number}")).collect();
    for id in &ids {
        ready(&stores[0], id).await;
    }
    let reading = async {
        let (mut last, mut read) = (0, 0);
        while read < ids.len() {
            let upto = stores[0].last_vote_seq().await.unwrap().min(last + 7);
            let page = stores[0].vote_page(VoteRange { after: last, upto, ..VoteRange::ALL }, &[]).await.unwrap();
            last = upto;
            read += page.rows().count();
        }
    };
    let casting = async {
        // In small waves, so that the instances write at the same moment again and again.
        for wave in ids.chunks(6) {
            cast(&stores, wave).await;
        }
    };
    let (all_read, ()) = futures_util::join!(timeout(Duration::from_secs(30), reading), casting);
    all_read.expect("every vote is read: none appears behind a later one");
    database.drop().await;
}

/// One visitor after the other, until `enough`: a battle, its replies and its vote, none of which may fail.
async fn visit(store: &Store, visitor: usize, voted: &AtomicUsize, enough: usize) {
    for number in 0.. {
        if voted.load(Ordering::Relaxed) >= enough {
            return;
        }
        let id = format!("v{visitor}-{number}");
        ready(store, &id).await;
        assert_eq!(store.insert_vote(&vote(&id, &id, 1)).await.unwrap(), InsertedVote::Stored);
        assert_eq!(store.vote_on(&BattleId::new(&id)).await.unwrap().unwrap().id, id);
        voted.fetch_add(1, Ordering::Relaxed);
    }
}

#[actix_web::test]
async fn a_restart_of_the_server_is_ridden_out() {
    let Some(server) = OwnServer::start() else { return };
    let (store, log) = (server.open().await, Log::keep());
    for mode in ["fast", "immediate"] {
        let voted = AtomicUsize::new(0);
        let before = store.votes_after(0, super::ALWAYS[0], super::ALWAYS[1], u32::MAX).await.unwrap().len();
        let visitors = join_all((0..8).map(|visitor| visit(&store, before + visitor, &voted, 400)));
        let restarting = async {
            while voted.load(Ordering::Relaxed) < 100 {
                tokio::task::yield_now().await;
            }
            server.restart(mode).await;
        };
        let both = async { futures_util::join!(visitors, restarting) };
        timeout(Duration::from_secs(60), both).await.expect("the visitors come to their votes");
        let kept = store.votes_after(0, super::ALWAYS[0], super::ALWAYS[1], u32::MAX).await.unwrap().len();
        assert_eq!(kept, before + voted.load(Ordering::Relaxed), "after a restart that was {mode}");
    }
    store.close().await;
    let (begun, ended) = (log.lines("the database fails").len(), log.lines("the database answers again").len());
    assert!((1..=2).contains(&begun) && begun == ended, "an outage is logged once: {}", log.text());
}
