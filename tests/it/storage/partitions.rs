//! Votes and replies on PostgreSQL lie in partitions by month.

use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::{BattleId, RunId, Side};
use langya::domain::time::Timestamp;
use langya::infra::storage::{InsertedVote, NewVoteRow, Store};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgPool;

use super::{battle, migrations, ready, reply, vote};
use crate::support::arena::card;
use crate::support::postgres::TestDatabase;
use crate::support::until;

/// 2026-01-31 23:59:59.999 and the millisecond after it, as the first 48 bits of ids.
const LAST_OF_JANUARY: &str = "019c167f-cbff-7000-8000-000000000001";
const FIRST_OF_FEBRUARY: &str = "019c167f-cc00-7000-8000-000000000002";

async fn text(pool: &PgPool, query: &str) -> String {
    let text: Option<String> = sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(pool).await.unwrap();
    text.unwrap_or_default()
}

/// Where the rows of a table lie.
async fn places(pool: &PgPool, table: &str) -> String {
    let query = format!(
        "SELECT string_agg(battle_id || ' in ' || CAST(CAST(tableoid AS REGCLASS) AS TEXT), ', ' ORDER BY battle_id) FROM {table}"
    );
    text(pool, &query).await
}

#[actix_web::test]
async fn each_row_lies_in_the_month_in_which_its_battle_began() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = database.open().await;
    let pool = database.raw().await;
    sqlx::query("SELECT add_month('2026-01-01'), add_month('2026-02-01')").execute(&pool).await.unwrap();
    let ids = [LAST_OF_JANUARY, FIRST_OF_FEBRUARY, "x"];
    for id in ids {
        ready(&store, id).await;
        assert!(matches!(
            store.insert_vote(&vote(&format!("vote of {id}"), id, 1)).await.unwrap(),
            InsertedVote::Stored
        ));
        let again = store.insert_vote(&vote(&format!("other vote of {id}"), id, 1)).await.unwrap();
        assert!(matches!(again, InsertedVote::Existing(_)), "one vote a battle: {again:?}");
        assert_eq!(store.replies(&BattleId::new(id)).await.unwrap().len(), 2);
    }
    let expected =
        format!("{LAST_OF_JANUARY} in votes_2026_01, {FIRST_OF_FEBRUARY} in votes_2026_02, x in votes_default");
    assert_eq!(places(&pool, "votes").await, expected);
    assert_eq!(places(&pool, "replies WHERE side = 'a'").await, expected.replace("votes_", "replies_"));
    let log = store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 10).await.unwrap();
    assert_eq!(
        log.iter().map(|vote| vote.battle.as_str()).collect::<Vec<_>>(),
        ids,
        "the log has the order of the votes"
    );
    assert_eq!(store.last_vote_seq().await.unwrap(), log[2].seq);
    database.drop().await;
}

#[actix_web::test]
async fn votes_cannot_be_changed_by_the_name_of_their_partition_either() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = database.open().await;
    ready(&store, "x").await;
    store.insert_vote(&vote("v", "x", 1)).await.unwrap();
    let pool = database.raw().await;
    for statement in ["UPDATE votes_default SET turn = 9", "DELETE FROM votes_default", "TRUNCATE votes_default"] {
        let refused = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains("votes are insert-only"), "{statement}: {refused}");
    }
    database.drop().await;
}

#[actix_web::test]
async fn partitions_are_there_months_ahead_and_are_created_once() {
    let Some(database) = TestDatabase::create().await else { return };
    let (one, two) = (database.open().await, database.open().await);
    let pool = database.raw().await;
    let ahead = "SELECT CAST(COUNT(*) AS TEXT) FROM pg_inherits WHERE inhparent IN ('votes'::regclass, 'replies'::regclass) \
                 AND CAST(CAST(inhrelid AS REGCLASS) AS TEXT) ~ '_[0-9]{4}_[0-9]{2}$'";
    assert_eq!(text(&pool, ahead).await, "8", "this month and three more of both tables");
    let next = "SELECT CAST(to_regclass('votes_' || to_char(now() AT TIME ZONE 'UTC' + INTERVAL '3 months', 'YYYY_MM')) AS TEXT)";
    let last = text(&pool, next).await;
    sqlx::query(AssertSqlSafe(format!("DROP TABLE {last}"))).execute(&pool).await.unwrap();
    // On a slow machine the second one gives up waiting for the first, and tries again as the job does.
    let try_to_add = async |store: &Store| match store.add_partitions().await {
        Err(error) if error.to_string().contains("lock timeout") => None,
        added => Some(added.unwrap()),
    };
    let add = async |store: &Store| until(async || try_to_add(store).await).await;
    let added = futures_util::future::join(add(&one), add(&two)).await;
    assert_eq!(added.0 + added.1, 1, "one of both instances creates it");
    assert_eq!(text(&pool, ahead).await, "8");
    database.drop().await;
}

#[actix_web::test]
async fn rows_of_a_month_without_a_partition_are_kept_and_stay() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = database.open().await;
    let pool = database.raw().await;
    ready(&store, LAST_OF_JANUARY).await;
    store.insert_vote(&vote("v", LAST_OF_JANUARY, 1)).await.unwrap();
    let added: i32 = sqlx::query_scalar("SELECT add_month('2026-01-01')").fetch_one(&pool).await.unwrap();
    assert_eq!(added, 0);
    assert_eq!(places(&pool, "votes").await, format!("{LAST_OF_JANUARY} in votes_default"));
    database.drop().await;
}

#[actix_web::test]
async fn a_vote_finds_its_partition_by_an_index() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = database.open().await;
    let pool = database.raw().await;
    sqlx::query("SELECT add_month('2026-01-01')").execute(&pool).await.unwrap();
    ready(&store, LAST_OF_JANUARY).await;
    let mut connection = pool.acquire().await.unwrap();
    // So few rows would be read without an index.
    for kind in ["SET enable_seqscan = off", "SET enable_bitmapscan = off"] {
        sqlx::query(kind).execute(&mut *connection).await.unwrap();
    }
    for (query, nodes) in [
        (format!("SELECT receipt FROM votes WHERE battle_id = '{LAST_OF_JANUARY}'"), 1),
        (format!("SELECT text FROM replies WHERE battle_id = '{LAST_OF_JANUARY}' ORDER BY turn, side"), 1),
        // This month and three more, January, imports and the default partition.
        ("SELECT id FROM votes WHERE seq > 5 ORDER BY seq LIMIT 10".to_owned(), 7),
        ("SELECT MAX(seq) FROM votes".to_owned(), 7),
    ] {
        let plan: Vec<String> =
            sqlx::query_scalar(AssertSqlSafe(format!("EXPLAIN {query}"))).fetch_all(&mut *connection).await.unwrap();
        let scans = plan.iter().filter(|line| line.contains("Scan")).collect::<Vec<_>>();
        assert!(scans.len() == nodes && scans.iter().all(|line| line.contains("Index")), "{query}: {plan:#?}");
        assert!(!plan.iter().any(|line| line.contains("Sort  (")), "{query}: {plan:#?}");
    }
    database.drop().await;
}

/// Rows of a table as one digest, in the order of this column.
async fn digest(pool: &PgPool, table: &str, order: &str) -> String {
    let columns = text(
        pool,
        &format!(
            "SELECT string_agg(column_name, ', ' ORDER BY column_name) FROM information_schema.columns \
             WHERE table_schema = 'public' AND table_name = '{table}'"
        ),
    )
    .await;
    let rows = format!("SELECT md5(string_agg(CAST(ROW({columns}) AS TEXT), E'\\n' ORDER BY {order})) FROM {table}");
    text(pool, &rows).await
}

#[actix_web::test]
async fn the_rows_of_an_arena_without_partitions_come_over_unchanged() {
    let Some(database) = TestDatabase::create().await else { return };
    let pool = database.raw().await;
    let migrations = migrations::in_folder("postgres").await;
    let at = migrations.iter().position(|migration| migration.description.contains("partition")).unwrap();
    let (before, after) = migrations.migrations.split_at(at);
    for migration in before {
        sqlx::raw_sql(migration.sql.clone()).execute(&pool).await.unwrap();
    }
    sqlx::raw_sql(include_str!("../../data/sample_rows.sql")).execute(&pool).await.unwrap();
    sqlx::raw_sql(include_str!("../../data/sample_months.sql")).execute(&pool).await.unwrap();
    let digests =
        async || [digest(&pool, "votes", "seq").await, digest(&pool, "replies", "battle_id, turn, side").await];
    let (old, ended) = (digests().await, digest(&pool, "battles", "id").await);
    sqlx::raw_sql(after[0].sql.clone()).execute(&pool).await.unwrap();
    assert_eq!(digests().await, old);
    assert_eq!(digest(&pool, "battles", "id").await, ended, "no vote ends its battle once more");
    let months = "SELECT string_agg(DISTINCT CAST(CAST(tableoid AS REGCLASS) AS TEXT), ' ') FROM votes";
    assert_eq!(text(&pool, months).await, "votes_2025_12 votes_2026_01 votes_default votes_imported");
    let next = "SELECT CAST(nextval(pg_get_serial_sequence('votes', 'seq')) - MAX(seq) AS TEXT) FROM votes";
    assert_eq!(text(&pool, next).await, "1", "the next vote gets the next number");
    database.drop().await;
}

/// A battle that is over, with its vote and replies, begun at the time of its id.
pub(crate) async fn past_battle(store: &Store, id: &str, began: Timestamp) {
    store.register_models(&["one", "two"].map(card), Timestamp(1)).await.unwrap();
    store.insert_battle(&battle(id), "琅琊榜?", began).await.unwrap();
    let replies = [reply(Side::A, "A"), reply(Side::B, "B")];
    store
        .finish_turn(&BattleId::new(id), &RunId::new("run"), Progress { stage: Stage::Ready, turn: 1 }, &replies, began)
        .await
        .unwrap();
    let cast = NewVoteRow { created_at: Timestamp(began.0 + 5_000), ..vote(&format!("of {id}"), id, 1) };
    store.insert_vote(&cast).await.unwrap();
}
