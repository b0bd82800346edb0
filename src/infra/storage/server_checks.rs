//! Checks of a database server while the arena runs: whether it is durable, and whether the arena's user has the privileges of a serving
//! arena. Both can change at any time.

use sqlx::postgres::PgConnection;

use super::{Database, Store, StoreError, on_reader};

/// Maximum number of privileges named in an error; the GRANT statement has all of them.
const MAX_LISTED_PRIVILEGES: usize = 6;

/// Tables with rows that a serving arena updates: by UPDATE, by ON CONFLICT DO UPDATE, or by locking them.
const UPDATED_TABLES: &[&str] = &[
    "admin_identities",
    "admin_invites",
    "admin_recovery_codes",
    "admin_sessions",
    "admin_users",
    "api_keys",
    "battle_days",
    "battles",
    "bench_batches",
    "bench_plans",
    "bench_runs",
    "campaign_annotators",
    "campaign_assignments",
    "campaign_exclusions",
    "campaign_judgements",
    "campaign_links",
    "campaign_units",
    "campaigns",
    "counted_sources",
    "deletion_requests",
    "instances",
    "invites",
    "leaderboards",
    "limit_counts",
    "log_checkpoint",
    "models",
    "moderation_flags",
    "prompt_labels",
    "replies",
    "sign_ins",
    "turns",
    "vote_counts",
    "vote_exclusions",
    "webhook_messages",
    "webhook_positions",
];
/// Tables with rows that a serving arena deletes.
const EMPTIED_TABLES: &[&str] = &[
    "admin_recovery_codes",
    "battle_images",
    "battle_shares",
    "images",
    "instances",
    "limit_counts",
    "log_salts",
    "prompt_labels",
    "replies",
    "turns",
    "webhook_messages",
];
/// Privileges without which battles cannot begin or votes cannot be stored. A missing table is a different problem, and is left out.
const SELECT_MISSING_FOR_BATTLES: &str = "SELECT privilege, relation FROM (VALUES \
     ('battles', 'SELECT'), ('battles', 'INSERT'), ('battles', 'UPDATE'), ('turns', 'SELECT'), ('turns', 'INSERT'), \
     ('replies', 'SELECT'), ('replies', 'INSERT'), ('replies', 'UPDATE'), ('votes', 'SELECT'), ('votes', 'INSERT'), \
     ('vote_exclusions', 'SELECT'), ('vote_exclusions', 'INSERT')) \
     AS needed (relation, privilege) WHERE NOT has_table_privilege(to_regclass(relation), privilege) \
     UNION ALL SELECT 'USAGE', 'vote_numbers' WHERE NOT has_sequence_privilege(to_regclass('vote_numbers'), 'USAGE')";
/// A serving arena reads every table created by the migrations, and inserts into it. The tables in the list $1 it updates, and those in $2
/// it empties.
const SELECT_MISSING_ELSEWHERE: &str = "SELECT privilege, CAST(relname AS TEXT) FROM pg_class \
     CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS needed (privilege) \
     WHERE relkind IN ('r', 'p') AND NOT relispartition AND relname <> '_sqlx_migrations' \
     AND (privilege IN ('SELECT', 'INSERT') OR (privilege = 'UPDATE' AND CAST(relname AS TEXT) = ANY (string_to_array($1, ','))) \
     OR (privilege = 'DELETE' AND CAST(relname AS TEXT) = ANY (string_to_array($2, ',')))) \
     AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
     AND relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('votes')) \
     AND NOT has_table_privilege(pg_class.oid, privilege) ORDER BY relname, privilege";
/// A schema with an arena, for a user who may use no schema: its tables then seem missing.
const SELECT_UNUSABLE_SCHEMA: &str = "SELECT quote_ident(nspname), quote_ident(current_user) FROM pg_class \
     JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relname = '_sqlx_migrations' AND current_schema() IS NULL \
     AND NOT has_schema_privilege(pg_namespace.oid, 'USAGE') ORDER BY nspname <> 'public', nspname LIMIT 1";
const SELECT_USER: &str = "SELECT quote_ident(current_schema()), quote_ident(current_user)";

/// Missing privilege, such as INSERT, and its table or sequence.
type MissingRight = (String, String);

impl Store {
    /// Checks whether the server's commits still survive a crash; the embedded database is checked before each write.
    ///
    /// # Errors
    /// [`StoreError::Outage`] if it would lose them, [`StoreError`] if the check fails.
    pub async fn check_durable(&self) -> Result<(), StoreError> {
        match &self.database {
            Database::Sqlite(_) => Ok(()),
            Database::Postgres(postgres) => postgres.check_durable().await,
        }
    }

    /// Checks the privileges for battles and votes.
    ///
    /// # Errors
    /// [`StoreError::MissingRights`] if one is missing, [`StoreError`] if the check fails.
    pub(super) async fn check_rights_for_battles(&self) -> Result<(), StoreError> {
        let missing = self.missing_for_battles().await?;
        self.require_none(&missing).await
    }

    /// Checks the privileges for every table that a serving arena uses.
    ///
    /// # Errors
    /// [`StoreError::MissingRights`] if one is missing, [`StoreError`] if the check fails.
    pub async fn check_rights(&self) -> Result<(), StoreError> {
        if !self.is_shared() {
            return Ok(());
        }
        let mut missing = self.missing_for_battles().await?;
        let (updated, emptied) = (UPDATED_TABLES.join(","), EMPTIED_TABLES.join(","));
        let elsewhere: Vec<MissingRight> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_MISSING_ELSEWHERE).bind(&updated).bind(&emptied).fetch_all(pool).await
        })?;
        add_unlisted(&mut missing, elsewhere);
        self.require_none(&missing).await
    }

    async fn missing_for_battles(&self) -> Result<Vec<MissingRight>, StoreError> {
        on_reader!(self, |pool| sqlx::query_as(SELECT_MISSING_FOR_BATTLES).fetch_all(pool).await)
    }

    async fn require_none(&self, missing: &[MissingRight]) -> Result<(), StoreError> {
        if missing.is_empty() {
            return Ok(());
        }
        let (schema, user): (String, String) =
            on_reader!(self, |pool| sqlx::query_as(SELECT_USER).fetch_one(pool).await)?;
        Err(missing_rights(missing, &schema, &user))
    }
}

/// Returns the error for a user who may not even read the table of migrations, before the database can be opened.
pub(super) async fn missing_with_migrations(connection: &mut PgConnection) -> Result<StoreError, StoreError> {
    let mut missing: Vec<MissingRight> = vec![("SELECT".into(), "_sqlx_migrations".into())];
    let for_battles: Vec<MissingRight> = sqlx::query_as(SELECT_MISSING_FOR_BATTLES).fetch_all(&mut *connection).await?;
    let elsewhere: Vec<MissingRight> = sqlx::query_as(SELECT_MISSING_ELSEWHERE)
        .bind(UPDATED_TABLES.join(","))
        .bind(EMPTIED_TABLES.join(","))
        .fetch_all(&mut *connection)
        .await?;
    add_unlisted(&mut missing, for_battles);
    add_unlisted(&mut missing, elsewhere);
    let (schema, user): (String, String) = sqlx::query_as(SELECT_USER).fetch_one(connection).await?;
    Ok(missing_rights(&missing, &schema, &user))
}

/// Returns the error for a user who may not use the schema of the tables; `None` if there are no tables, or that is not the reason.
pub(super) async fn missing_schema_right(connection: &mut PgConnection) -> Result<Option<StoreError>, StoreError> {
    let found: Option<(String, String)> = sqlx::query_as(SELECT_UNUSABLE_SCHEMA).fetch_optional(connection).await?;
    Ok(found.map(|(schema, user)| StoreError::MissingRights {
        rights: format!("USAGE on schema {schema}"),
        grant: format!("GRANT USAGE ON SCHEMA {schema} TO {user};"),
    }))
}

/// Adds the privileges that are not in the list yet: the two statements overlap.
fn add_unlisted(missing: &mut Vec<MissingRight>, others: Vec<MissingRight>) {
    for right in others {
        if !missing.contains(&right) {
            missing.push(right);
        }
    }
}

fn missing_rights(missing: &[MissingRight], schema: &str, user: &str) -> StoreError {
    StoreError::MissingRights { rights: listed(missing), grant: grant(missing, schema, user) }
}

/// Names the first missing privileges.
fn listed(missing: &[MissingRight]) -> String {
    let named = missing.iter().take(MAX_LISTED_PRIVILEGES).map(|(right, relation)| format!("{right} on {relation}"));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = missing.len().saturating_sub(MAX_LISTED_PRIVILEGES);
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// Builds the statements that grant all missing privileges, one for each privilege.
fn grant(missing: &[MissingRight], schema: &str, user: &str) -> String {
    let mut relations: Vec<(&str, Vec<String>)> = Vec::new();
    for (right, relation) in missing {
        let relation = format!("{schema}.{relation}");
        match relations.iter_mut().find(|(known, _)| *known == right.as_str()) {
            Some((_, known)) => known.push(relation),
            None => relations.push((right.as_str(), vec![relation])),
        }
    }
    let statement = |(right, relations): &(&str, Vec<String>)| {
        let kind = if *right == "USAGE" { "SEQUENCE " } else { "" };
        format!("GRANT {right} ON {kind}{} TO {user};", relations.join(", "))
    };
    relations.iter().map(statement).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use regex::Regex;

    use super::*;

    /// Statements that only commands execute: on the embedded database, when a campaign is deleted, and when suites and scores are imported.
    const OF_COMMANDS: [(&str, &str); 13] = [
        ("DELETE", "campaign_annotators"),
        ("DELETE", "campaign_answers"),
        ("DELETE", "campaign_assignments"),
        ("DELETE", "campaign_exclusions"),
        ("DELETE", "campaign_items"),
        ("DELETE", "campaign_judgements"),
        ("DELETE", "campaign_links"),
        ("DELETE", "campaign_units"),
        ("DELETE", "campaign_verdicts"),
        ("DELETE", "campaigns"),
        ("DELETE", "secrets"),
        ("UPDATE", "bench_scores"),
        ("UPDATE", "bench_suites"),
    ];
    /// Updates by a conflict clause in a constant of its own, and by a function of the migrations.
    const WITHOUT_TABLE: [(&str, &str); 4] =
        [("UPDATE", "limit_counts"), ("UPDATE", "prompt_labels"), ("UPDATE", "replies"), ("UPDATE", "turns")];

    fn read_sources(folder: &Path, sources: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read_sources(&path, sources);
            } else if !path.ends_with("server_checks.rs") {
                sources.push(fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn every_table_that_a_statement_updates_or_empties_is_checked() {
        let mut sources = Vec::new();
        read_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("storage"), &mut sources);
        let change = Regex::new(r"\b(UPDATE|DELETE) (?:FROM |OF )?([a-z_]+) (?:SET|WHERE|\{)").unwrap();
        // A constant ends with a semicolon.
        let upsert = Regex::new(r"INSERT INTO ([a-z_]+)[^;]*?DO UPDATE").unwrap();
        let (mut found, mut upserts) = (BTreeSet::from(WITHOUT_TABLE), 0);
        for source in &sources {
            found.extend(change.captures_iter(source).map(|part| {
                let (_, [privilege, table]) = part.extract();
                (privilege, table)
            }));
            found.extend(upsert.captures_iter(source).map(|part| ("UPDATE", part.extract::<1>().1[0])));
            upserts += source.matches("DO UPDATE").count() - upsert.captures_iter(source).count();
        }
        assert_eq!(upserts, 3, "a conflict clause without its table belongs to WITHOUT_TABLE");
        found.retain(|change| !OF_COMMANDS.contains(change));
        let checked = UPDATED_TABLES.iter().map(|table| ("UPDATE", *table));
        let checked: BTreeSet<_> = checked.chain(EMPTIED_TABLES.iter().map(|table| ("DELETE", *table))).collect();
        assert_eq!(checked, found);
    }

    #[test]
    fn missing_rights_are_named_with_the_statement_that_grants_them() {
        let right = |right: &str, table: &str| (right.to_owned(), table.to_owned());
        let missing = [
            right("INSERT", "votes"),
            right("USAGE", "vote_numbers"),
            right("UPDATE", "turns"),
            right("INSERT", "log_entries"),
        ];
        let said = |missing: &[MissingRight]| {
            let (rights, grant) = (listed(missing), grant(missing, "public", "\"the arena\""));
            StoreError::MissingRights { rights, grant }.to_string()
        };
        assert_eq!(
            said(&missing),
            "the user of the database lacks INSERT on votes, USAGE on vote_numbers, UPDATE on turns, INSERT on log_entries: \
             run `GRANT INSERT ON public.votes, public.log_entries TO \"the arena\"; \
             GRANT USAGE ON SEQUENCE public.vote_numbers TO \"the arena\"; GRANT UPDATE ON public.turns TO \"the arena\";` \
             as the owner of the tables, or make that user the owner"
        );
        let many: Vec<_> = (0..8).map(|number| right("INSERT", &format!("t{number}"))).collect();
        assert!(said(&many).contains("INSERT on t5 and 2 more: run") && said(&many).contains("public.t7"));
    }
}
