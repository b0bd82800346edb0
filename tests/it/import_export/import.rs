//! `langya import arena`: an arena moves into PostgreSQL without a changed number.

use std::path::Path;
use std::process::Command;

use langya::domain::battle::{BattleId, VisitorId};
use langya::domain::benchmark::suite_id::SuiteId;
use langya::domain::labeling::LabelOrigin;
use langya::domain::labeling::report::PromptLabel;
use langya::domain::labeling::scheme::Scheme;
use langya::domain::model_register::changes::ModelChange;
use langya::domain::time::Timestamp;
use langya::infra::storage::{IfMissing, LabelSource, NewLabel, Store, VoteRange};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use crate::storage::{bench, images, model_register, verdicts};
use crate::support::arena::{TestArena, card};
use crate::support::postgres::TestDatabase;
use crate::support::program::{Server, langya, program};
use crate::support::scripted::Scripted;
use crate::support::until;
use crate::support::visitor::Visitor;

async fn vote_on(visitor: &mut Visitor, prompt: &str, outcome: &str) {
    visitor.ask(prompt).await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote(outcome).await["type"], "revealed");
}

/// Has a reviewer say what every prompt is about.
async fn label(store: &Store) -> Vec<PromptLabel> {
    let queries = store.queries_after("", 10).await.unwrap();
    let labels: Vec<NewLabel> =
        queries.iter().map(|query| NewLabel { query_id: &query.id, label: "leisure", confidence: None }).collect();
    let by = LabelSource { scheme: Scheme::Urs, source: LabelOrigin::Review, name: "Ünal" };
    assert_eq!(store.put_labels(by, &labels, Timestamp(7)).await.unwrap(), 5);
    store.labels_between(Scheme::Urs, "", "~").await.unwrap()
}

/// The changes of the arena's models, once its first ones are recorded.
async fn model_changes(store: &Store) -> Vec<ModelChange> {
    until(async || Some(store.model_changes().await.unwrap()).filter(|changes| changes.len() >= 2)).await
}

async fn session_key(store: &Store) -> String {
    store.secret("session_key", "another", Timestamp(0)).await.unwrap().expose_secret().to_owned()
}

#[actix_web::test]
async fn every_number_arrives_and_the_arena_goes_on() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Scripted::saying("One, 一 and \"more\"."), Scripted::saying("Two's."));
    let data = folder.path().join("data");
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.storage.data_dir.clone_from(&data);
    })
    .await;
    let mut visitor = arena.visitor().await;
    for (prompt, outcome) in [("First?", "a"), ("第二?", "b"), ("Third?", "tie"), ("Fourth?", "both_bad")] {
        vote_on(&mut visitor, prompt, outcome).await;
    }
    visitor.ask("Left without a vote?").await;
    visitor.until_ready().await;
    let labelled = label(&arena.app.store).await;
    let key = session_key(&arena.app.store).await;
    let busy = langya(folder.path(), ["fit", "--data-dir", "data", "--format", "json"]);
    let recorded = model_changes(&arena.app.store).await;
    bench::fill(&arena.app.store).await;
    verdicts::fill(&arena.app.store).await;
    let image = images::keep(&arena.app.store, "i", 5).await;
    arena.app.store.close().await;
    arena.end().await;
    ended_after_its_vote(&data.join("langya.db")).await;

    // As an instance that has started and has had no battle leaves it.
    let target = database.open().await;
    target.register_models(&[card("one")], Timestamp(1)).await.unwrap();
    target.add_model_changes(&[model_register::change(1)]).await.unwrap();
    target.count_battle_days(20_000).await.unwrap();
    target.close().await;

    let url = database.url.as_str();
    let exported = |place: [&str; 2]| {
        let done = langya(folder.path(), ["export", "votes", place[0], place[1], "--text", "--out", "-"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        done.stdout
    };
    let left = exported(["--data-dir", "data"]);
    let moved = langya(folder.path(), ["import", "arena", "data/langya.db", "--database", url]);
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    assert!(moved.stdout.contains("votes") && moved.stdout.contains('4'), "{}", moved.stdout);
    assert!(moved.stdout.contains("data/langya.db is marked as moved"), "{}", moved.stdout);
    let fitted = langya(folder.path(), ["fit", "--database", url, "--format", "json"]);
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(parse(&fitted.stdout), parse(&busy.stdout), "{}", fitted.stderr);
    assert_eq!(left, exported(["--database", url]), "the log is the same to the last byte");

    let again = langya(folder.path(), ["import", "arena", "data/langya.db", "--database", url]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("6 battles"), "{}", again.stderr);
    let store = Store::open(&database.settings(), IfMissing::Fail).await.unwrap();
    assert_eq!(store.labels_between(Scheme::Urs, "", "~").await.unwrap(), labelled);
    assert_eq!(session_key(&store).await, key, "visitors keep their sessions");
    assert_eq!(store.vote_page(VoteRange::ALL, &[]).await.unwrap().votes, 4);
    assert_eq!(store.answered(&SuiteId::new("mtbench101"), "v1").await.unwrap().len(), 1);
    assert_eq!(store.judged(&SuiteId::new("mtbench101"), "v1").await.unwrap().len(), 1);
    assert_eq!(store.verdicts_of(&BattleId::new("x")).await.unwrap().len(), 1);
    assert_eq!(store.model_changes().await.unwrap(), recorded, "the register of models goes on");
    assert_eq!(store.counted_through().await.unwrap(), None, "and its battles are counted again");
    let shown = store.own_image(&VisitorId::new("visitor"), &image).await.unwrap().unwrap();
    assert_eq!(shown.bytes[..], images::bytes("i"), "images are no text");
    store.close().await;
    database.drop().await;
}

/// As a battle whose vote was stored in one transaction with a later one.
async fn ended_after_its_vote(file: &Path) {
    let options = SqliteConnectOptions::new().filename(file);
    let mut connection = options.connect().await.unwrap();
    let late =
        "UPDATE battles SET updated_at = updated_at + 3 WHERE id = (SELECT battle_id FROM votes ORDER BY seq LIMIT 1)";
    assert_eq!(sqlx::query(late).execute(&mut connection).await.unwrap().rows_affected(), 1);
    connection.close().await.unwrap();
}

/// A vote whose names have so many bytes each, of letters that nothing can pack.
fn vote_with_names(bytes: usize) -> String {
    let mut state = 1_u64;
    let mut name = || -> String {
        let letter = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
        };
        (0..bytes).map(letter).collect()
    };
    let names = ["model_a", "model_b", "voter", "language", "category", "intent"].map(|column| (column, name()));
    let mut vote = json!({ "winner": "model_a", "tstamp": 1_700_000_000 });
    for (column, name) in names {
        vote[column] = name.into();
    }
    vote.to_string()
}

#[actix_web::test]
async fn names_that_postgresql_could_not_index_are_refused_by_either_database() {
    let folder = tempfile::tempdir().unwrap();
    for (file, bytes) in [("long.jsonl", 400), ("longer.jsonl", 401)] {
        std::fs::write(folder.path().join(file), vote_with_names(bytes)).unwrap();
    }
    let refused = langya(folder.path(), ["import", "votes", "longer.jsonl", "--data-dir", "data"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("shorten it to at most 400"), "{}", refused.stderr);
    let Some(database) = TestDatabase::create().await else { return };
    let kept = langya(folder.path(), ["import", "votes", "long.jsonl", "--database", database.url.as_str()]);
    assert_eq!(kept.code, Some(0), "{}", kept.stderr);
    database.drop().await;
}

#[actix_web::test]
async fn a_database_on_which_an_arena_was_started_is_no_target() {
    let Some(database) = TestDatabase::create().await else { return };
    let [folder, other] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let source = Server::start(folder.path(), &[]);
    let target = Server::start(other.path(), &["--database", &database.url]);
    let store = database.open().await;
    until(async || store.log_checkpoint().await.unwrap()).await;
    source.terminate();
    drop(target);
    let refused = langya(folder.path(), ["import", "arena", "data/langya.db", "--database", database.url.as_str()]);
    assert!(refused.code == Some(2) && refused.stderr.contains("log_checkpoint"), "{}", refused.stderr);
    assert!(refused.stderr.contains("create another one"), "{}", refused.stderr);
    store.close().await;
    database.drop().await;
}

/// Refuses rows of a connection whose statements end after a while: reading millions of rows back takes longer.
const REFUSE_LIMITED: &str = "CREATE FUNCTION refuse_limited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF current_setting('statement_timeout') <> '0' OR current_setting('idle_in_transaction_session_timeout') <> '0' THEN \
             RAISE EXCEPTION 'statements of a move may end too early'; \
         END IF; \
         RETURN NULL; \
     END $$; \
     CREATE TRIGGER refuse_limited BEFORE INSERT ON pairing_changes FOR EACH STATEMENT EXECUTE FUNCTION refuse_limited()";

#[actix_web::test]
async fn a_move_may_take_longer_than_any_statement_of_an_arena_that_serves() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = Server::start(folder.path(), &[]);
    source.logged("changes of models or of the pairing recorded").await;
    source.terminate();
    database.open().await.close().await;
    sqlx::raw_sql(REFUSE_LIMITED).execute(&database.raw().await).await.unwrap();
    let moved = langya(folder.path(), ["import", "arena", "data/langya.db", "--database", database.url.as_str()]);
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    database.drop().await;
}

/// Refuses votes of a statement without a limit of time, or with that of all others.
const REFUSE_OTHER_LIMITS: &str = "CREATE FUNCTION refuse_other_limits() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF current_setting('statement_timeout') IN ('0', '10s') THEN \
             RAISE EXCEPTION 'statement_timeout = %', current_setting('statement_timeout'); \
         END IF; \
         RETURN NULL; \
     END $$; \
     CREATE TRIGGER refuse_other_limits BEFORE INSERT ON votes FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_limits()";

#[actix_web::test]
async fn the_statement_that_imports_all_votes_has_a_longer_limit_and_still_one() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("votes.csv"), "model_a,model_b,winner\nx,y,model_a\n").unwrap();
    database.open().await.close().await;
    sqlx::raw_sql(REFUSE_OTHER_LIMITS).execute(&database.raw().await).await.unwrap();
    let imported = langya(folder.path(), ["import", "votes", "votes.csv", "--database", database.url.as_str()]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    database.drop().await;
}

/// Refuses to change the row of a battle.
const REFUSE_CHANGED_BATTLES: &str = "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'battle % is changed', OLD.id; \
     END $$; \
     CREATE TRIGGER refuse_change BEFORE UPDATE ON battles FOR EACH ROW EXECUTE FUNCTION refuse_change()";

#[actix_web::test]
async fn the_statement_that_imports_all_votes_changes_no_battle_while_other_votes_wait_for_it() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("votes.csv"), "model_a,model_b,winner\nx,y,model_a\nx,y,tie\n").unwrap();
    database.open().await.close().await;
    let raw = database.raw().await;
    sqlx::raw_sql(REFUSE_CHANGED_BATTLES).execute(&raw).await.unwrap();
    let imported = langya(folder.path(), ["import", "votes", "votes.csv", "--database", database.url.as_str()]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let voted = "SELECT COUNT(*) FROM battles JOIN votes ON battle_id = battles.id WHERE stage = 'voted'";
    assert_eq!(sqlx::query_scalar::<_, i64>(voted).fetch_one(&raw).await.unwrap(), 2);
    raw.close().await;
    database.drop().await;
}

/// Notes each statement that inserts votes.
const NOTE_STATEMENTS: &str = "CREATE TABLE vote_statements (at TIMESTAMPTZ); \
     CREATE FUNCTION note_statement() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         INSERT INTO vote_statements VALUES (now()); RETURN NULL; \
     END $$; \
     CREATE TRIGGER note_statement AFTER INSERT ON votes FOR EACH STATEMENT EXECUTE FUNCTION note_statement()";

/// An arena with this many imported votes in the folder's `data`.
fn import_votes(folder: &Path, votes: usize) {
    let vote = |vote: usize| format!("a{},b,{}\n", vote % 7, ["model_a", "tie", "both_bad"][vote % 3]);
    let rows: Vec<String> = (0..votes).map(vote).collect();
    std::fs::write(folder.join("votes.csv"), format!("model_a,model_b,winner\n{}", rows.concat())).unwrap();
    let imported = langya(folder, ["import", "votes", "votes.csv", "--data-dir", "data"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
}

#[actix_web::test]
async fn a_table_of_more_rows_than_a_statement_takes_arrives_whole() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    import_votes(folder.path(), 257);
    database.open().await.close().await;
    let pool = database.raw().await;
    sqlx::raw_sql(NOTE_STATEMENTS).execute(&pool).await.unwrap();
    let url = database.url.as_str();
    let exported =
        |flag: &str, place: &str| langya(folder.path(), ["export", "votes", flag, place, "--out", "-"]).stdout;
    let left = exported("--data-dir", "data");
    let moved = langya(folder.path(), ["import", "arena", "data/langya.db", "--database", url]);
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    assert_eq!((left.lines().count(), &left), (257, &exported("--database", url)));
    let statements: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM vote_statements").fetch_one(&pool).await.unwrap();
    assert_eq!(statements, 3, "a round trip for each hundred rows");
    pool.close().await;
    database.drop().await;
}

#[actix_web::test]
async fn a_file_whose_arena_was_moved_is_refused_by_every_command_until_the_move_is_undone() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    import_votes(here, 3);
    let move_it = || langya(here, ["import", "arena", "data/langya.db", "--database", database.url.as_str()]);
    let moved = move_it();
    assert!(moved.code == Some(0) && moved.stdout.contains("set storage.database"), "{moved:?}");
    for command in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["backup", "--out", "copy.db"],
        &["fit"],
        &["import", "votes", "votes.csv"],
        &["upgrade"],
        &["models", "list"],
    ] {
        let refused = langya(here, command);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{command:?}: {}", refused.stderr);
        for said in ["data/langya.db was moved to PostgreSQL on 20", "storage.database", "data/langya.db --undo"] {
            assert!(refused.stderr.contains(said), "{command:?}: {}", refused.stderr);
        }
    }
    let doctor = langya(here, ["doctor", "--no-models"]);
    assert!(doctor.code == Some(1) && doctor.stdout.contains("was moved to PostgreSQL"), "{}", doctor.stdout);
    assert!(move_it().stderr.contains("holds 3 battles already"), "it is moved into no second arena");
    let undone = langya(here, ["import", "arena", "data/langya.db", "--undo"]);
    assert!(undone.code == Some(0) && undone.stdout.contains("can be used again"), "{undone:?}");
    let copied = langya(here, ["backup", "--out", "copy.db"]);
    assert!(copied.code == Some(0) && copied.stdout.contains("3 votes"), "{copied:?}");
    let again = langya(here, ["import", "arena", "data/langya.db", "--undo"]);
    assert!(again.code == Some(0) && again.stdout.contains("was not marked as moved"), "{again:?}");
    database.drop().await;
}

#[actix_web::test]
async fn a_file_is_marked_as_moved_even_where_the_report_of_the_move_cannot_be_printed() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    import_votes(here, 3);
    let script = "exec \"$0\" import arena data/langya.db --database \"$1\" >/dev/full";
    let mut shell = Command::new("sh");
    let moved = shell.args(["-c", script, &program(), database.url.as_str()]).current_dir(here).output().unwrap();
    assert_eq!(moved.status.code(), Some(1), "{moved:?}");
    let refused = langya(here, ["backup", "--out", "copy.db"]);
    assert!(refused.stderr.contains("data/langya.db was moved to PostgreSQL"), "{}", refused.stderr);
    database.drop().await;
}

#[actix_web::test]
async fn a_copy_of_the_file_that_an_arena_has_left_is_no_backup_of_postgresql() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    import_votes(here, 3);
    let copied = langya(here, ["backup", "--out", "copy.db"]);
    assert_eq!(copied.code, Some(0), "{}", copied.stderr);
    let url = database.url.as_str();
    let moved = langya(here, ["import", "arena", "data/langya.db", "--database", url]);
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    let doctor = langya(here, ["doctor", "--no-models", "--database", url]);
    assert!(doctor.stdout.contains("`langya backup` has made none"), "{}", doctor.stdout);
    database.drop().await;
}

#[actix_web::test]
async fn a_damaged_table_is_named_and_nothing_is_moved() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    import_votes(folder.path(), 3);
    let options = SqliteConnectOptions::new().filename(folder.path().join("data/langya.db"));
    let mut connection = options.connect().await.unwrap();
    // The table begins where an index does, which is no table.
    let damage = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = \
         (SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_label_replies_1') WHERE name = 'label_replies'";
    sqlx::raw_sql(damage).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let refused = langya(folder.path(), ["import", "arena", "data/langya.db", "--database", database.url.as_str()]);
    assert!(
        refused.code == Some(1) && refused.stderr.contains("table label_replies of the SQLite file cannot be read"),
        "{refused:?}"
    );
    let store = database.open().await;
    assert_eq!(store.vote_page(VoteRange::ALL, &[]).await.unwrap().votes, 0);
    store.close().await;
    database.drop().await;
}

#[actix_web::test]
async fn what_cannot_be_moved_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let data = folder.path().join("data");
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.storage.data_dir.clone_from(&data);
    })
    .await;
    let into_sqlite = langya(folder.path(), ["import", "arena", "data/langya.db", "--data-dir", "other"]);
    assert_eq!(into_sqlite.code, Some(2));
    assert!(into_sqlite.stderr.contains("--database postgres://"), "{}", into_sqlite.stderr);
    let missing = langya(folder.path(), ["import", "arena", "nowhere.db", "--database", "postgres://127.0.0.1:1/x"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("nowhere.db"), "{}", missing.stderr);
    arena.end().await;
}
