//! Flags that select votes of the database.

use clap::Args;

use crate::domain::battle::BattleId;
use crate::domain::integrity::prompts::prompt_cluster::ClusterId;
use crate::domain::integrity::vote_filter::VoteFilter;
use crate::domain::time::Timestamp;
use crate::error::{BadInput, CommandResult};
use crate::infra::storage::{Store, VoteRange};
use crate::infra::stored_votes::prompt_index::read_prompt_index;
use crate::output::times::parse_time;

/// Filters of votes; a vote has to match all of them.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct FilterFlags {
    /// Only votes of this voter, by the pseudonym in the column judge of exports; repeatable
    #[arg(long, value_name = "PSEUDONYM")]
    voter: Vec<String>,
    /// Only votes on this model; may be repeated
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,
    /// Only the vote on this battle
    #[arg(long, value_name = "ID", value_parser = parse_battle)]
    battle: Option<BattleId>,
    /// Only votes with these numbers in the log: 17, 17..40, 17.. or ..40
    #[arg(long, value_name = "A..B", value_parser = parse_numbers)]
    seq: Option<Numbers>,
    /// Only votes on the prompts of this cluster, as `langya votes prompts` prints it
    #[arg(long, value_name = "ID", value_parser = parse_cluster)]
    prompt_cluster: Option<ClusterId>,
    /// Only votes at this time or later: 2026-11-21, or 2026-11-21T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only votes before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,
}

/// Numbers in the log, the first and the last included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbers {
    first: i64,
    last: i64,
}

impl FilterFlags {
    /// Returns the filter of the selected votes, excluded by `rule` if given.
    pub(super) fn filter(&self, rule: Option<&str>) -> VoteFilter {
        let all = VoteRange::ALL;
        let numbers = self.seq.unwrap_or(Numbers { first: 1, last: all.upto });
        let range = VoteRange {
            after: numbers.first - 1,
            upto: numbers.last,
            since: self.since.unwrap_or(all.since),
            until: self.until.unwrap_or(all.until),
        };
        VoteFilter {
            range,
            voters: self.voter.clone(),
            models: self.model.clone(),
            battle: self.battle.clone(),
            rule: rule.map(str::to_owned),
            prompt_cluster: self.prompt_cluster,
        }
    }

    /// Whether no filter is given.
    pub(super) fn is_empty(&self) -> bool {
        self.filter(None) == VoteFilter::default() && self.seq.is_none()
    }

    /// Whether voters or models are named, whose misspelling would select nothing.
    pub(super) fn has_names(&self) -> bool {
        !self.voter.is_empty() || !self.model.is_empty()
    }

    /// Rejects an unknown prompt cluster, since a misspelled one would silently select nothing.
    pub(super) async fn check(&self, store: &Store) -> CommandResult<()> {
        let Some(cluster) = self.prompt_cluster else { return Ok(()) };
        if read_prompt_index(store, |_, _| {}).await?.has(cluster) {
            return Ok(());
        }
        Err(BadInput(format!("no prompt cluster is called {cluster}: `langya votes prompts` lists them")).into())
    }
}

fn parse_cluster(text: &str) -> Result<ClusterId, String> {
    ClusterId::parse(text).ok_or_else(|| "give the 16 hexadecimal digits that `langya votes prompts` prints".to_owned())
}

fn parse_battle(text: &str) -> Result<BattleId, &'static str> {
    BattleId::parse(text).ok_or("this is not the id of a battle: copy the id from an export")
}

fn parse_numbers(text: &str) -> Result<Numbers, String> {
    let number = |text: &str, open: i64| if text.is_empty() { Some(open) } else { text.parse().ok() };
    let found = match text.split_once("..") {
        Some((first, last)) => number(first, 1).zip(number(last.trim_start_matches('='), i64::MAX)),
        None => text.parse().ok().map(|number| (number, number)),
    };
    let numbers = found.filter(|&(first, last)| 1 <= first && first <= last && text != "..");
    numbers
        .map(|(first, last)| Numbers { first, last })
        .ok_or_else(|| "write a number from 1, such as 17, or a range such as 17..40, 17.. or ..40".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(i64, i64)>) {
        assert_eq!(parse_numbers(text).ok().map(|numbers| (numbers.first, numbers.last)), expected, "{text:?}");
    }

    #[test]
    fn numbers_are_one_or_a_range_that_is_not_empty() {
        check("17", Some((17, 17)));
        check("17..40", Some((17, 40)));
        check("17..=40", Some((17, 40)));
        check("17..", Some((17, i64::MAX)));
        check("..40", Some((1, 40)));
        for text in ["", "..", "0", "0..3", "9..8", "-3..5", "a..b", "17...40", "1.5"] {
            check(text, None);
        }
    }
}
