//! Checks of a database server while the arena runs: whether it is durable, and whether the arena's user has the privileges for battles and
//! votes. Both can change at any time.

use super::{Database, Store, StoreError, on_reader};

/// Maximum number of privileges named in an error.
const MAX_LISTED_PRIVILEGES: usize = 6;

/// Privileges without which battles cannot begin or votes cannot be stored. A missing table is a different problem, and is left out.
const SELECT_MISSING_FOR_BATTLES: &str = "SELECT privilege || ' on ' || relation FROM (VALUES \
     ('battles', 'SELECT'), ('battles', 'INSERT'), ('battles', 'UPDATE'), ('turns', 'SELECT'), ('turns', 'INSERT'), \
     ('replies', 'SELECT'), ('replies', 'INSERT'), ('replies', 'UPDATE'), ('votes', 'SELECT'), ('votes', 'INSERT'), \
     ('vote_exclusions', 'SELECT'), ('vote_exclusions', 'INSERT')) \
     AS needed (relation, privilege) WHERE NOT has_table_privilege(to_regclass(relation), privilege) \
     UNION ALL SELECT 'USAGE on vote_numbers' WHERE NOT has_sequence_privilege(to_regclass('vote_numbers'), 'USAGE')";
/// Every table created by the migrations is read and written by a serving arena.
const SELECT_MISSING_ELSEWHERE: &str = "SELECT privilege || ' on ' || CAST(relname AS TEXT) FROM pg_class \
     CROSS JOIN (VALUES ('SELECT'), ('INSERT')) AS needed (privilege) \
     WHERE relkind IN ('r', 'p') AND NOT relispartition AND relname <> '_sqlx_migrations' \
     AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
     AND relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('votes')) \
     AND NOT has_table_privilege(pg_class.oid, privilege) ORDER BY relname, privilege";

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
        require_none_missing(&self.missing(SELECT_MISSING_FOR_BATTLES).await?)
    }

    /// Checks the privileges for every table of the arena.
    ///
    /// # Errors
    /// [`StoreError::MissingRights`] if one is missing, [`StoreError`] if the check fails.
    pub async fn check_rights(&self) -> Result<(), StoreError> {
        if !self.is_shared() {
            return Ok(());
        }
        let mut missing = self.missing(SELECT_MISSING_FOR_BATTLES).await?;
        for right in self.missing(SELECT_MISSING_ELSEWHERE).await? {
            if !missing.contains(&right) {
                missing.push(right);
            }
        }
        require_none_missing(&missing)
    }

    async fn missing(&self, select: &'static str) -> Result<Vec<String>, StoreError> {
        on_reader!(self, |pool| sqlx::query_scalar(select).fetch_all(pool).await)
    }
}

fn require_none_missing(missing: &[String]) -> Result<(), StoreError> {
    if missing.is_empty() {
        return Ok(());
    }
    let named = missing.iter().take(MAX_LISTED_PRIVILEGES).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = missing.len().saturating_sub(MAX_LISTED_PRIVILEGES);
    Err(StoreError::MissingRights(if more == 0 { named } else { format!("{named} and {more} more") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_rights_are_named_with_the_way_out() {
        assert!(require_none_missing(&[]).is_ok());
        let rights = |count: usize| (0..count).map(|number| format!("INSERT on t{number}")).collect::<Vec<_>>();
        let said = |count| require_none_missing(&rights(count)).unwrap_err().to_string();
        assert_eq!(
            said(1),
            "the user of the database lacks INSERT on t0: GRANT it, or make that user the owner of the tables"
        );
        assert!(said(8).contains("INSERT on t5 and 2 more: GRANT"), "{}", said(8));
    }
}
