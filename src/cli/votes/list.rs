//! `langya votes list`: votes with their voters and the rules that exclude them.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::filters::FilterFlags;
use crate::Location;
use crate::databases;
use crate::domain::integrity::exclusions::exclusion_decision::SelectedVote;
use crate::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::storage::{IfMissing, Store, StoreError};
use crate::infra::stored_votes::selection::select;
use crate::output::output_format::OutputFormat;
use crate::output::table::{TableRow, or_dash, render, value_or_dash};
use crate::output::times::show_time;
use crate::output::{progress, standard_output};

/// Flags of `langya votes list`.
#[derive(Debug, Clone, Args)]
pub(super) struct ListVotesOptions {
    #[command(flatten)]
    location: Location,
    #[command(flatten)]
    filters: FilterFlags,
    /// Only votes that this rule excludes
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Only the latest N votes of these; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

impl ListVotesOptions {
    /// Returns a note for an empty result; `None` without filters.
    fn no_match_note(&self) -> Option<&'static str> {
        if self.filters.has_names() || self.rule.is_some() {
            return Some("note: no vote matches; write voters, models and rules as `langya votes list` prints them");
        }
        (!self.filters.is_empty()).then_some("note: no vote matches")
    }
}

/// Output row of a vote.
#[derive(Serialize)]
pub(super) struct ListedVote<'v> {
    seq: i64,
    cast_at: String,
    battle: Option<String>,
    voter: &'v str,
    model_a: &'v str,
    model_b: &'v str,
    winner: &'static str,
    /// Rules that exclude it, joined by spaces; empty for a rated vote.
    excluded_by: String,
}

impl<'v> ListedVote<'v> {
    /// Creates the rows of votes with their battles.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) async fn all(store: &Store, votes: &'v [SelectedVote]) -> Result<Vec<Self>, StoreError> {
        let numbers: Vec<i64> = votes.iter().map(|vote| vote.seq).collect();
        let battles = store.battles_of_votes(&numbers).await?;
        let battle = |vote: &SelectedVote| battles.get(&vote.seq).map(ToString::to_string);
        Ok(votes.iter().map(|vote| Self::new(vote, battle(vote))).collect())
    }

    fn new(vote: &'v SelectedVote, battle: Option<String>) -> Self {
        let rules: Vec<&str> = vote.rules.iter().map(|rule| &**rule).collect();
        Self {
            seq: vote.seq,
            cast_at: show_time(vote.cast_at),
            battle,
            voter: &vote.voter,
            model_a: &vote.models[0],
            model_b: &vote.models[1],
            winner: vote.outcome.winner(),
            excluded_by: rules.join(" "),
        }
    }
}

impl TableRow for ListedVote<'_> {
    const HEADS: &'static [&'static str] =
        &["seq", "cast at", "battle", "voter", "model a", "model b", "winner", "excluded by"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.seq.to_string(),
            self.cast_at.clone(),
            value_or_dash(self.battle.as_ref()),
            or_dash(self.voter),
            self.model_a.to_owned(),
            self.model_b.to_owned(),
            self.winner.to_owned(),
            or_dash(&self.excluded_by),
        ]
    }
}

/// Prints the selected votes.
///
/// # Errors
/// A database that is missing or unavailable.
pub(super) async fn run(options: &ListVotesOptions, env: &Environment) -> CommandResult<ExitCode> {
    let settings = options.location.settings(env)?;
    let store = databases::open(&settings.storage, IfMissing::Fail).await?;
    let bar = progress::bar("reading votes");
    options.filters.check(&store).await?;
    let filter = options.filters.filter(options.rule.as_deref());
    let votes = select(&store, &filter, |seq, last| progress::show(&bar, seq, last)).await?;
    bar.finish_and_clear();
    let shown = match options.limit {
        0 => votes.as_slice(),
        limit => &votes[votes.len().saturating_sub(limit)..],
    };
    standard_output::print(&render(&ListedVote::all(&store, shown).await?, options.format)?)?;
    if let Some(note) = options.no_match_note().filter(|_| votes.is_empty()) {
        eprintln!("{note}");
    }
    if shown.len() < votes.len() {
        eprintln!("note: the latest {} of {} votes; --limit 0 lists all", shown.len(), votes.len());
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct ListArguments {
        #[command(flatten)]
        options: ListVotesOptions,
    }

    #[test]
    fn the_spelling_of_names_is_explained_only_where_a_name_selects_no_vote() {
        let note = |flags: &[&str]| {
            ListArguments::try_parse_from([&["list"], flags].concat()).unwrap().options.no_match_note()
        };
        let explained =
            Some("note: no vote matches; write voters, models and rules as `langya votes list` prints them");
        for flags in [["--voter", "a"], ["--model", "a"], ["--rule", "a"]] {
            assert_eq!(note(&flags), explained, "{flags:?}");
            assert_eq!(note(&[&flags[..], &["--seq", "1.."]].concat()), explained, "{flags:?}");
        }
        for flags in [["--since", "2026-11-21"], ["--until", "2026-11-21"], ["--seq", "7"]] {
            assert_eq!(note(&flags), Some("note: no vote matches"), "{flags:?}");
        }
        assert_eq!((note(&[]), note(&["--limit", "1"])), (None, None));
    }
}
