//! Pages of the vote log for fits: thousands of votes in one row with one text per column, because a separate row for each of millions
//! takes many times longer in a driver.
//!
//! The database joins the values of each requested column with ASCII's record separator. Visitors' texts are stripped of it, names of
//! models and imported votes are refused if they contain it, and the other columns have fixed vocabularies.

use sqlx::{AssertSqlSafe, Row};

use crate::domain::battle::Outcome;
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::domain::rating::votes::vote_range::VoteRange;
use crate::metrics::store_time;
use crate::storage::vote::exclusions::EXCLUSION;
use crate::storage::{Database, Store, StoreError, on_reader, unsigned};

/// Separator between the values of consecutive rows.
pub(in crate::storage) const RECORD_SEPARATOR: char = '\u{1e}';

/// Counts the values joined in a text, at least one.
pub(in crate::storage) fn packed_values(text: &str) -> usize {
    memchr::memchr_iter(RECORD_SEPARATOR as u8, text.as_bytes()).count() + 1
}

/// Whether a column of the log can store a text: without the record separator, and without NUL, which PostgreSQL cannot store.
#[must_use]
pub fn is_storable(text: &str) -> bool {
    !text.contains([RECORD_SEPARATOR, '\0'])
}

/// Columns of a vote besides its models and outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteColumn {
    /// Number in the log.
    Seq,
    /// Id of the battle.
    Battle,
    /// Pseudonym of the voter.
    Voter,
    /// Language of the first prompt.
    Language,
    /// Category; empty if unknown.
    Category,
    /// Intent; empty if unknown.
    Intent,
    /// Number of turns.
    Turn,
    /// Time of the vote in milliseconds since 1970.
    CreatedAt,
    /// Probability of the pair.
    PairProbability,
    /// Pairing policy.
    PairingPolicy,
    /// Text counts of both sides as JSON.
    TextCounts,
    /// Satisfaction; empty if unknown.
    Satisfaction,
    /// Reasons for side A, joined by commas; empty if there are none.
    ReasonsA,
    /// Reasons for side B.
    ReasonsB,
    /// All prompts of the visitor.
    Prompts,
    /// First prompt of the visitor; empty for an imported vote.
    FirstPrompt,
    /// Times of both replies in milliseconds, separated by spaces: first token and end of side A, then of side B. An unknown time is empty.
    Timings,
}

/// Votes of a range, in log order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VotePage {
    /// Range of the page.
    pub range: VoteRange,
    /// Number of votes.
    pub votes: usize,
    outcomes: String,
    models: [String; 2],
    columns: Vec<(VoteColumn, String)>,
}

/// A vote of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedVote<'a> {
    /// The models on sides A and B.
    pub models: [&'a str; 2],
    /// Its outcome, or the rule that excludes it.
    pub outcome: PackedOutcome<'a>,
}

/// Outcome of a vote, if it is rated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedOutcome<'a> {
    /// Outcome of a rated vote.
    Rated(Outcome),
    /// Name of the rule that excludes the vote.
    Excluded(&'a str),
}

impl PackedOutcome<'_> {
    /// Whether the vote is rated.
    #[must_use]
    pub fn is_rated(self) -> bool {
        matches!(self, Self::Rated(_))
    }
}

/// Prefix of a rule's name in place of an outcome; no outcome begins with it.
const EXCLUDED_PREFIX: char = 'x';

impl VotePage {
    /// Creates a page; `texts` are outcomes, models A, models B and then the columns.
    fn new(range: VoteRange, votes: usize, columns: &[VoteColumn], texts: Vec<String>) -> Result<Self, StoreError> {
        let named = ["outcome", "model_a", "model_b"].into_iter().chain(columns.iter().map(|column| column.name()));
        for (name, text) in named.zip(&texts) {
            // A missing or additional value would shift all that follow to another vote.
            let held = if votes == 0 { 0 } else { packed_values(text) };
            if held != votes {
                return Err(inconsistent(range, name, &format!("{held} values of {votes} votes")));
            }
        }
        let mut texts = texts.into_iter();
        let mut next = || texts.next().unwrap_or_default();
        let (outcomes, models) = (next(), [next(), next()]);
        Ok(Self { range, votes, outcomes, models, columns: columns.iter().map(|&column| (column, next())).collect() })
    }

    /// Returns an iterator over the votes.
    pub fn rows(&self) -> impl Iterator<Item = Result<PackedVote<'_>, StoreError>> {
        let [a, b] = self.models.each_ref().map(|models| self.split(models));
        self.split(&self.outcomes).zip(a.zip(b)).map(|(outcome, (a, b))| {
            let parse = || Outcome::parse(outcome).map_err(|_| self.inconsistent("outcome", outcome));
            let outcome = match outcome.strip_prefix(EXCLUDED_PREFIX) {
                Some(rule) => PackedOutcome::Excluded(rule),
                None => PackedOutcome::Rated(parse()?),
            };
            Ok(PackedVote { models: [a, b], outcome })
        })
    }

    /// Returns the requested columns in order, each with one value per vote.
    pub fn columns(&self) -> impl Iterator<Item = (VoteColumn, impl Iterator<Item = &str>)> {
        self.columns.iter().map(|(column, text)| (*column, self.split(text)))
    }

    /// Builds the error for a value that is invalid for its column.
    #[must_use]
    pub fn inconsistent(&self, column: &'static str, value: &str) -> StoreError {
        inconsistent(self.range, column, value)
    }

    fn split<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
        let ends = memchr::memchr_iter(RECORD_SEPARATOR as u8, text.as_bytes()).chain([text.len()]);
        let mut start = 0;
        ends.take(self.votes).map(move |end| {
            let value = &text[start..end];
            start = end + 1;
            value
        })
    }
}

fn inconsistent(range: VoteRange, column: &'static str, value: &str) -> StoreError {
    StoreError::Inconsistent {
        table: "votes",
        column,
        row: format!("one with seq from {} to {}", range.after + 1, range.upto),
        value: value.chars().take(80).collect(),
    }
}

impl Store {
    /// Reads the votes of a range, ideally a few thousand numbers wide. An excluded vote has its rule in place of its outcome.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn vote_page(&self, range: VoteRange, columns: &[VoteColumn]) -> Result<VotePage, StoreError> {
        let _time = store_time("vote_page");
        // Most pages have no exclusion: one check of the page saves one for each vote.
        let outcome = format!(
            "CASE WHEN {ANY_EXCLUDED_IN_PAGE} THEN COALESCE('{EXCLUDED_PREFIX}' || {EXCLUSION}, outcome) ELSE outcome END"
        );
        self.read_page(range, columns, outcome).await
    }

    /// Reads a page like [`Self::vote_page`], with the outcome of every vote, excluded or not.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn cast_vote_page(&self, range: VoteRange, columns: &[VoteColumn]) -> Result<VotePage, StoreError> {
        let _time = store_time("cast_vote_page");
        self.read_page(range, columns, "outcome".to_owned()).await
    }

    /// Reads a page like [`Self::cast_vote_page`], but votes on models chosen by the voter, which can never be rated, have their rule.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn ratable_vote_page(&self, range: VoteRange, columns: &[VoteColumn]) -> Result<VotePage, StoreError> {
        let _time = store_time("ratable_vote_page");
        let named_mode = ExclusionRule::NamedMode;
        // Whether the vote was cast on models chosen by the voter.
        let is_never_rated = format!(
            "EXISTS (SELECT 1 FROM vote_exclusions WHERE vote_seq = votes.seq AND withdrawn_at IS NULL \
             AND rule = '{named_mode}' AND with_vote)"
        );
        let outcome = format!(
            "CASE WHEN {ANY_EXCLUDED_IN_PAGE} AND {is_never_rated} THEN '{EXCLUDED_PREFIX}{named_mode}' ELSE outcome END"
        );
        self.read_page(range, columns, outcome).await
    }

    async fn read_page(
        &self,
        range: VoteRange,
        columns: &[VoteColumn],
        outcome: String,
    ) -> Result<VotePage, StoreError> {
        let query = self.select_page(columns, outcome);
        let (votes, texts) = on_reader!(self, |pool| {
            let row = sqlx::query(AssertSqlSafe(query.clone()))
                .bind(range.after)
                .bind(range.upto)
                .bind(range.since.0)
                .bind(range.until.0)
                .fetch_one(pool)
                .await?;
            let texts = (1..row.len()).map(|column| Ok(row.try_get::<Option<String>, _>(column)?.unwrap_or_default()));
            let texts = texts.collect::<Result<Vec<String>, sqlx::Error>>()?;
            Ok::<_, sqlx::Error>((row.try_get::<i64, _>(0)?, texts))
        })?;
        let votes = unsigned(votes, "votes", "seq", "a page")?;
        VotePage::new(range, usize::try_from(votes).unwrap_or(usize::MAX), columns, texts)
    }

    /// Counts all votes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn vote_count(&self) -> Result<i64, StoreError> {
        let _time = store_time("vote_count");
        on_reader!(self, |pool| sqlx::query_scalar(COUNT).fetch_one(pool).await)
    }

    /// Reads the number of the last vote; 0 without any. Numbers before it may be missing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn last_vote_seq(&self) -> Result<i64, StoreError> {
        let _time = store_time("last_vote_seq");
        on_reader!(self, |pool| sqlx::query_scalar(SELECT_LAST).fetch_one(pool).await)
    }

    /// Builds the query of a page. PostgreSQL needs the order in each aggregate. SQLite would sort the values again for it, and without it
    /// takes them in the order of the inner query: it never merges an ordered query into one that aggregates.
    fn select_page(&self, columns: &[VoteColumn], outcome: String) -> String {
        let sqlite = matches!(self.database, Database::Sqlite(_));
        let own = [outcome, "model_a".to_owned(), "model_b".to_owned()];
        let values = own.into_iter().chain(columns.iter().map(|column| column.sql(sqlite)));
        let order = if sqlite { "" } else { " ORDER BY seq" };
        let (mut joined, mut named) = (String::new(), String::new());
        for (number, value) in values.enumerate() {
            joined += &format!(", string_agg(c{number}, '{RECORD_SEPARATOR}'{order})");
            named += &format!(", {value} AS c{number}");
        }
        // SQLite would read the whole rows: it does not know their width.
        let index =
            if sqlite && columns.iter().all(|column| column.is_indexed()) { "INDEXED BY votes_for_fits" } else { "" };
        format!(
            "SELECT COUNT(*){joined} FROM (SELECT seq{named} FROM votes {index} WHERE seq > $1 AND seq <= $2 \
             AND created_at >= $3 AND created_at < $4 ORDER BY seq) AS page"
        )
    }
}

/// Whether any vote of the page is excluded.
const ANY_EXCLUDED_IN_PAGE: &str =
    "EXISTS (SELECT 1 FROM vote_exclusions WHERE vote_seq > $1 AND vote_seq <= $2 AND withdrawn_at IS NULL)";
const COUNT: &str = "SELECT COUNT(*) FROM votes";
const SELECT_LAST: &str = "SELECT COALESCE(MAX(seq), 0) FROM votes";

/// Columns of [`VoteColumn::Timings`].
const TIMINGS: [&str; 4] = ["first_token_ms_a", "duration_ms_a", "first_token_ms_b", "duration_ms_b"];

/// Formats a column as text; empty for NULL.
fn text_of(column: &str) -> String {
    format!("COALESCE(CAST({column} AS TEXT), '')")
}

impl VoteColumn {
    /// Returns the name of the stored column.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seq => "seq",
            Self::Battle => "battle_id",
            Self::Voter => "visitor",
            Self::Language => "language",
            Self::Category => "category",
            Self::Intent => "intent",
            Self::Turn => "turn",
            Self::CreatedAt => "created_at",
            Self::PairProbability => "pair_probability",
            Self::PairingPolicy => "pairing_policy",
            Self::TextCounts => "text_counts",
            Self::Satisfaction => "satisfaction",
            Self::ReasonsA => "reasons_a",
            Self::ReasonsB => "reasons_b",
            Self::Prompts | Self::FirstPrompt => "prompt",
            Self::Timings => "first_token_ms",
        }
    }

    /// Builds the SQL for the column as text. SQLite prints 15 digits of a number by default; PostgreSQL all of them.
    fn sql(self, sqlite: bool) -> String {
        match self {
            Self::PairProbability if sqlite => "printf('%!.17g', pair_probability)".to_owned(),
            Self::Prompts => format!(
                "COALESCE((SELECT REPLACE(string_agg(prompt, ' ' ORDER BY turns.turn), '{RECORD_SEPARATOR}', ' ') FROM turns \
                 WHERE turns.battle_id = votes.battle_id AND turns.turn <= votes.turn), '')"
            ),
            Self::FirstPrompt => format!(
                "COALESCE((SELECT REPLACE(prompt, '{RECORD_SEPARATOR}', ' ') FROM turns \
                 WHERE turns.battle_id = votes.battle_id AND turns.turn = 1), '')"
            ),
            Self::Timings => TIMINGS.map(text_of).join(" || ' ' || "),
            other => text_of(other.name()),
        }
    }

    /// Whether the index for fits contains the column, so that the rows themselves need not be read.
    fn is_indexed(self) -> bool {
        !matches!(
            self,
            Self::Battle
                | Self::PairingPolicy
                | Self::TextCounts
                | Self::Satisfaction
                | Self::ReasonsA
                | Self::ReasonsB
                | Self::Prompts
                | Self::FirstPrompt
                | Self::Timings
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(votes: usize, texts: [&str; 4]) -> Result<VotePage, StoreError> {
        VotePage::new(VoteRange::ALL, votes, &[VoteColumn::Voter], texts.map(str::to_owned).to_vec())
    }

    #[test]
    fn a_column_with_a_value_too_few_or_too_many_is_reported_by_name() {
        assert!(page(2, ["a\u{1e}b", "m\u{1e}n", "n\u{1e}m", "ann\u{1e}"]).is_ok());
        assert!(page(0, [""; 4]).is_ok());
        for voters in ["ann", "ann\u{1e}bob\u{1e}"] {
            let error = page(2, ["a\u{1e}b", "m\u{1e}n", "n\u{1e}m", voters]).unwrap_err().to_string();
            assert!(error.contains("visitor") && error.contains("values of 2 votes"), "{error}");
        }
    }
}
