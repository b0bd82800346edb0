//! The migrations of both databases: equal names, and each runs over the rows that the one before left.

use std::path::Path;

use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

use crate::support::postgres::TestDatabase;

/// Rows as the migration of this name left them; a new migration brings its own.
fn sample_rows(name: &str) -> &'static str {
    match name.split_once('_').map_or("", |(_, words)| words) {
        "create_arena.sql" => include_str!("../../data/sample_rows.sql"),
        "keep_admins.sql" => {
            "INSERT INTO admin_users (id, name, role, passphrase_hash, totp_step, created_at) VALUES ('u1', 'ada', 'owner', '', 0, 1); \
             INSERT INTO admin_recovery_codes (code_hash, user_id) VALUES ('00', 'u1'); \
             INSERT INTO admin_invites (id, token_hash, role, first_run, created_by, created_at, expires_at) \
             VALUES ('i1', '00', 'owner', TRUE, '', 1, 2); \
             INSERT INTO admin_sessions (id, token_hash, user_id, address, created_at, seen_at, expires_at) \
             VALUES ('s1', '00', 'u1', '127.0.0.1', 1, 1, 2); \
             INSERT INTO admin_audit (id, acted_at, actor, action, subject, former, latter, via, address) \
             VALUES ('a1', 1, 'ada', 'join', 'ada', NULL, '{\"reason\":\"kept\"}', 'page', '127.0.0.1'), \
             ('a2', 2, 'ada', 'enter_request', 'request q1', NULL, '{\"battle\":\"b1\",\"reason\":\"who asks\"}', 'page', '')"
        }
        "expire_pending_factors.sql" => {
            "UPDATE admin_users SET totp_pending = '00', totp_pending_at = 1 WHERE id = 'u1'"
        }
        "note_log_failures.sql" => {
            "INSERT INTO instances (id, beats, settings, log_fails, started_at, seen_at) VALUES ('leader', 1, '', TRUE, 1, 1)"
        }
        "keep_webhooks.sql" => {
            "INSERT INTO webhook_positions (webhook, event, position, state) VALUES ('ours', 'votes.recorded', 1, '{}'); \
             INSERT INTO webhook_messages (id, webhook, event, body, created_at, failures, next_at, state, error) \
             VALUES ('m1', 'ours', 'votes.recorded', '{}', 1, 0, 1, 'waiting', '')"
        }
        "keep_api_keys.sql" => {
            "INSERT INTO api_keys (id, name, key_hash, scopes, created_by, created_at, expires_at, used_day, revoked_at) \
             VALUES ('k1', 'nightly', '00', 'read,admin', 'ada', 1, 2, 0, NULL)"
        }
        "keep_attempts.sql" => {
            "INSERT INTO request_attempts (id, result, model, request_sha256, status, text, requests, latency_ms, \
             input_tokens, output_tokens, created_at) VALUES ('t1', 'j3', 'two', '11', 'unsettled', '?', 1, 9, 5, NULL, 16)"
        }
        "keep_benchmarks.sql" => include_str!("../../data/sample_bench_rows.sql"),
        "keep_counts.sql" => "INSERT INTO vote_counts (id, last_vote_seq, body) VALUES (1, 2, '{}')",
        // As an index that takes rows without a run for different ones lets it in.
        "name_who_answers.sql" | "keep_failures_once.sql" => {
            "INSERT INTO side_failures (battle_id, turn, side, model, replaced_by, reason, failed_at) VALUES \
             ('b1', 1, 'b', 'one', 'two', 'timed out', 11) ON CONFLICT DO NOTHING"
        }
        "register_models.sql" => {
            "INSERT INTO model_changes (model, number, changed_at, state, weight, name, organization, license, practice, \
             provider_model, reason, author) VALUES ('one', 1, 1, 'paused', 0, 'One', '', '', FALSE, NULL, '', 'settings'); \
             INSERT INTO pairing_changes (number, changed_at, policy, policy_version, uniform_share, elo_width, \
             new_model_votes, new_model_boost) VALUES (1, 1, 'weighted', 1, 0.2, 100, 50, 2); \
             INSERT INTO counted_sources (source, through_day) VALUES ('arena', 0); \
             INSERT INTO battle_days (source, day, model, battles) VALUES ('arena', 0, 'one', 2), ('arena', 0, 'two', 2)"
        }
        "keep_public_log.sql" => {
            "INSERT INTO log_entries (position, kind, subject, body) VALUES (0, 'vote', 'w1', '{}'); \
             INSERT INTO log_nodes (level, position, hash) VALUES (1, 0, ''); \
             INSERT INTO log_checkpoint (id, size, root, note, signed_at, last_vote_seq, exclusion_changes) \
             VALUES (1, 1, '', '', 1, 1, 0); INSERT INTO log_salts (position, salt) VALUES (0, '00'); \
             INSERT INTO log_voters (visitor, tag) VALUES ('v1', '00')"
        }
        "record_runs.sql" => {
            "INSERT INTO bench_runs (id, suite, version, sample, models, judges, baseline, state, answers, answers_due, judgements, \
             judgements_due, calls, input_tokens, output_tokens, cost, expected_cost, error, started_at, changed_at) \
             VALUES ('r1', 's', 'v', 1, '[\"m\"]', '[]', '', 'running', 0, 1, 0, 1, 0, 0, 0, 0.5, NULL, '', 1, 1)"
        }
        "keep_plans.sql" => {
            "INSERT INTO bench_plans (id, plan, steps, state, stop_asked, note, started_by, started_at, changed_at) \
             VALUES ('p1', '{}', '[]', 'running', FALSE, '', 'ada', 1, 1); UPDATE bench_runs SET plan = 'p1', step = 0"
        }
        "keep_batches.sql" => {
            "INSERT INTO bench_batches (id, suite, model, provider_id, requests, state, created_at, changed_at) \
             VALUES ('ba1', 's', 'm', NULL, '00', 'intended', 1, 1)"
        }
        "forget_batches.sql" => {
            "INSERT INTO bench_batches (id, suite, model, provider_id, requests, state, created_at, changed_at) \
             VALUES ('ba2', 's', 'm', 'batch_2', '00', 'forgotten', 1, 1)"
        }
        "check_leaks.sql" => {
            "INSERT INTO leak_checks (vote_seq, judge, prompt_sha256, status, leaks, attempts, input_tokens, output_tokens, created_at) \
             VALUES (1, 'j', '00', 'ok', 'reply A 1', 1, 2, 3, 4)"
        }
        "keep_requests.sql" => {
            "INSERT INTO deletion_requests (id, battle, scope, reason, entered_by, created_at, state, answer, decided_by, battles) \
             VALUES ('q1', 'b1', 'battle', 'r', '', 1, 'open', '', '', 0)"
        }
        "review_flagged_texts.sql" => {
            "INSERT INTO moderation_flags (id, battle, turn, part, categories, flagged_at, state, decided_by) \
             VALUES ('f1', 'b1', 1, 'prompt', 'hate', 1, 'open', '')"
        }
        "keep_labels.sql" => {
            "INSERT INTO query_labels (query_id, scheme, source, label, confidence, annotator, ts) \
             SELECT id, 'superclue', 'model', 'safety', 0.5, '', 1 FROM battles"
        }
        "keep_campaigns.sql" => {
            "INSERT INTO campaigns (id, plan, state, items, units, shared_units, created_at) \
             VALUES ('c', '{}', 'open', 1, 1, 0, 1); \
             INSERT INTO campaign_items (campaign, item, name, prompt, reference, category, language) \
             VALUES ('c', 0, 'q', 'Why?', '', '', ''); \
             INSERT INTO campaign_answers (campaign, item, model, answer) VALUES ('c', 0, 'm', 'So.'), ('c', 0, 'n', 'No.'); \
             INSERT INTO campaign_units (campaign, unit, item, models, shared, gold, given) \
             VALUES ('c', 0, 0, '[\"m\",\"n\"]', FALSE, NULL, 1); \
             INSERT INTO campaign_annotators (id, campaign, token_hash, quota, created_at, first_time, repeats, shared, judged, \
             side_balance) VALUES ('c-1', 'c', '00', NULL, 1, 1, 0, 0, 1, '{}'); \
             INSERT INTO campaign_assignments (id, campaign, annotator, number, unit, item, kind, shown, given_at, judged_at) \
             VALUES ('s', 'c', 'c-1', 1, 0, 0, 'fresh', '[\"m\",\"n\"]', 2, 3); \
             INSERT INTO campaign_judgements (id, assignment, revision, judgement, judged_at) \
             VALUES ('j', 's', 1, '{\"outcome\":\"a\"}', 3)"
        }
        "leave_annotators_out.sql" => {
            "INSERT INTO campaign_exclusions (id, campaign, annotator, reason, excluded_by, excluded_at) \
             VALUES ('e', 'c', 'c-1', 'r', '', 4)"
        }
        "keep_campaign_verdicts.sql" => {
            "INSERT INTO campaign_verdicts (id, campaign, unit, judge, game, prompt_sha256, params, raw_text, earlier, parsed, status, \
             attempts, latency_ms, input_tokens, output_tokens, created_at) \
             VALUES ('cv', 'c', 0, 'j', 1, '00', '{}', '[[A]]', '[]', '{\"winner\":\"a\"}', 'ok', 1, 9, 5, 6, 20)"
        }
        "end_campaigns.sql" => "UPDATE campaigns SET ended = 'separated', ended_at = 9 WHERE id = 'c'",
        "share_campaign_links.sql" => {
            "INSERT INTO campaign_links (id, campaign, token_hash, places, taken, created_at) VALUES ('c-link-1', 'c', '01', 5, 1, 4)"
        }
        "keep_consents.sql" => {
            "INSERT INTO consent_texts (version, body, first_agreed_at) VALUES ('00', '[]', 1); \
             INSERT INTO consents (visitor, version, agreed_at) VALUES ('v1', '00', 1)"
        }
        "keep_images.sql" => {
            "INSERT INTO images (id, visitor, media_type, width, height, file, created_at) VALUES ('i1', 'v1', 'image/png', 1, 1, '00', 1); \
             INSERT INTO battle_images (battle_id, position, image_id) VALUES ('b1', 1, 'i1')"
        }
        "keep_label_replies.sql" => {
            "INSERT INTO label_replies (model, request_sha256, label, created_at) VALUES ('m', '00', NULL, 1)"
        }
        "keep_secrets.sql" => "INSERT INTO secrets (name, value, created_at) VALUES ('session_key', '00', 1)",
        "keep_shares.sql" => "INSERT INTO battle_shares (battle_id, token, created_at) VALUES ('b1', '00', 25)",
        "keep_sign_ins.sql" => {
            "INSERT INTO invites (id, code_hash, note, quota, uses, created_at) VALUES ('i1', '00', '', 1, 1, 1); \
             INSERT INTO sign_ins (visitor, method, invite_id, signed_in_at, expires_at) VALUES ('v1', 'invite', 'i1', 2, 3)"
        }
        "keep_verdicts.sql" => {
            "INSERT INTO battle_verdicts (id, battle_id, judge, game, prompt_sha256, params, raw_text, earlier, parsed, status, \
             attempts, latency_ms, input_tokens, output_tokens, created_at) \
             SELECT 'v' || id, id, 'j', 1, '00', '{}', '[[A]]', '[]', '{\"winner\":\"a\"}', 'ok', 1, 9, 5, 6, 20 FROM battles"
        }
        _ => "",
    }
}

fn names(database: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(database);
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn migrations_have_the_same_names_on_both_databases() {
    let names_on_sqlite = names("sqlite");
    assert_eq!(names_on_sqlite, names("postgres"));
    for two in names_on_sqlite.windows(2) {
        assert_ne!(
            two[0][..14],
            two[1][..14],
            "{} and {} have one timestamp: databases know them by it",
            two[0],
            two[1]
        );
    }
    for name in &names_on_sqlite {
        let (date, words) = name.split_once('_').unwrap();
        assert!(date.len() == 14 && date.bytes().all(|byte| byte.is_ascii_digit()), "{name}: YYYYMMDDHHMMSS first");
        let words = words.strip_suffix(".sql").unwrap();
        assert!(words.contains('_') && words.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase()), "{name}");
    }
}

/// Each migration, and then the sample rows that belong to it.
macro_rules! replay {
    ($migrator:expr, $names:expr, $pool:expr) => {{
        let (migrator, names): (Migrator, Vec<String>) = ($migrator, $names);
        assert_eq!(migrator.iter().count(), names.len());
        for (migration, name) in migrator.iter().zip(&names) {
            sqlx::raw_sql(migration.sql.clone()).execute($pool).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            sqlx::raw_sql(sample_rows(name)).execute($pool).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let votes: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM votes").fetch_one($pool).await.unwrap();
        assert_eq!(votes, 2, "the sample rows are still there");
        let failures: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM side_failures").fetch_one($pool).await.unwrap();
        assert_eq!(failures, 1, "one failure, reported three times");
        let exclusions: Vec<(i64, String)> =
            sqlx::query_as("SELECT vote_seq, rule FROM vote_exclusions").fetch_all($pool).await.unwrap();
        assert_eq!(exclusions, [(2, "admin".to_owned())], "the exclusion that stood in the vote");
        let audited: Vec<String> = sqlx::query_scalar("SELECT latter FROM admin_audit ORDER BY id").fetch_all($pool).await.unwrap();
        let audited: Vec<serde_json::Value> = audited.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let expected = [serde_json::json!({"reason": "kept"}), serde_json::json!({"battle": "b1"})];
        assert_eq!(audited, expected, "who asked for a deletion is forgotten, and nothing else");
        let change = sqlx::query("UPDATE admin_audit SET latter = NULL").execute($pool).await;
        assert!(change.unwrap_err().to_string().contains("append-only"));
    }};
}

/// The migrations of one database, read from their folder.
pub(super) async fn in_folder(database: &str) -> Migrator {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(database);
    Migrator::new(folder).await.unwrap()
}

#[actix_web::test]
async fn migrations_are_replayed_over_sample_rows_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let empty = SqliteConnectOptions::new().filename(folder.path().join("empty.db")).create_if_missing(true);
    let pool = SqlitePool::connect_with(empty).await.unwrap();
    replay!(in_folder("sqlite").await, names("sqlite"), &pool);
    let broken = sqlx::query("PRAGMA foreign_key_check").fetch_all(&pool).await.unwrap();
    assert!(broken.is_empty());
}

#[actix_web::test]
async fn migrations_are_replayed_over_sample_rows_on_postgres() {
    let Some(database) = TestDatabase::create().await else { return };
    replay!(in_folder("postgres").await, names("postgres"), &database.raw().await);
    database.drop().await;
}
