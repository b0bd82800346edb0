//! Finds votes by voter, model, rule, battle, prompt, number or time.
//!
//! The log is read once and filtered here: a voter's pseudonym cannot be turned back into what the database knows, and an index for
//! each question that an operator asks now and then would cost every vote.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::domain::battle::BattleId;
use crate::domain::integrity::exclusion_decision::SelectedVote;
use crate::domain::integrity::exclusions_in_force::ExclusionsInForce;
use crate::domain::integrity::prompt_cluster::ClusterId;
use crate::domain::integrity::pseudonym::voter_pseudonym;
use crate::domain::time::Timestamp;
use crate::infra::storage::{PackedOutcome, PackedVote, Store, StoreError, VoteColumn, VotePage, VoteRange};
use crate::services::prompt_index_reading::read_prompt_index;

/// Sequence numbers in one page.
const PAGE: i64 = 10_000;
/// What is read of each vote.
const COLUMNS: [VoteColumn; 3] = [VoteColumn::Seq, VoteColumn::Voter, VoteColumn::CreatedAt];

/// Which votes; an empty list or `None` asks for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteFilter {
    /// Numbers in the log and times.
    pub range: VoteRange,
    /// Pseudonyms of voters.
    pub voters: Vec<String>,
    /// Models, on either side.
    pub models: Vec<String>,
    /// The battle.
    pub battle: Option<BattleId>,
    /// Name of a rule that excludes the vote.
    pub rule: Option<String>,
    /// Cluster of the first prompt.
    pub prompt_cluster: Option<ClusterId>,
}

impl Default for VoteFilter {
    fn default() -> Self {
        Self {
            range: VoteRange::ALL,
            voters: Vec::new(),
            models: Vec::new(),
            battle: None,
            rule: None,
            prompt_cluster: None,
        }
    }
}

impl VoteFilter {
    /// What it asks for, as the audit log tells it.
    #[must_use]
    pub fn summary(&self) -> String {
        let list =
            |name: &str, values: &[String]| values.iter().map(|value| format!("{name} {value}")).collect::<Vec<_>>();
        let one = |name: &str, value: Option<String>| list(name, value.as_slice());
        let VoteRange { after, upto, since, until } = self.range;
        let bound = |name: &str, value: i64, open: i64| one(name, (value != open).then(|| value.to_string()));
        let all = VoteRange::ALL;
        let parts = [
            list("voter", &self.voters),
            list("model", &self.models),
            one("battle", self.battle.as_ref().map(ToString::to_string)),
            one("rule", self.rule.clone()),
            one("prompt cluster", self.prompt_cluster.map(|cluster| cluster.to_string())),
            bound("votes after", after, all.after),
            bound("votes up to", upto, all.upto),
            bound("since", since.0, all.since.0),
            bound("until", until.0, all.until.0),
        ];
        parts.concat().join(", ")
    }
}

/// The votes of a filter, in log order. `progress` hears of the last number read, and of the last of all.
///
/// # Errors
/// [`StoreError`].
pub async fn select(
    store: &Store,
    filter: &VoteFilter,
    progress: impl Fn(i64, i64),
) -> Result<Vec<SelectedVote>, StoreError> {
    let Some(range) = numbers(store, filter).await? else { return Ok(Vec::new()) };
    let of_cluster = match filter.prompt_cluster {
        Some(cluster) => Some(read_prompt_index(store, &progress).await?.votes_of(cluster)),
        None => None,
    };
    let last = store.last_vote_seq().await?.min(range.upto);
    let in_force = store.exclusions_in_force(range).await?;
    let mut selection = OngoingSelection {
        filter,
        of_cluster,
        in_force,
        models: HashMap::new(),
        voters: HashMap::new(),
        votes: Vec::new(),
    };
    let mut after = range.after;
    while after < last {
        let upto = after.saturating_add(PAGE).min(last);
        selection.add_page(&store.cast_vote_page(VoteRange { after, upto, ..range }, &COLUMNS).await?)?;
        after = upto;
        progress(after, last);
    }
    Ok(selection.votes)
}

/// The numbers to read: those of the filter, only the vote on its battle if it names one, and `None` for a battle without a vote.
async fn numbers(store: &Store, filter: &VoteFilter) -> Result<Option<VoteRange>, StoreError> {
    let Some(battle) = &filter.battle else { return Ok(Some(filter.range)) };
    let range = filter.range;
    Ok(store.vote_on(battle).await?.map(|vote| VoteRange {
        after: range.after.max(vote.seq - 1),
        upto: range.upto.min(vote.seq),
        ..range
    }))
}

/// A selection under way.
struct OngoingSelection<'f> {
    filter: &'f VoteFilter,
    /// The votes of the prompt cluster, if the filter names one.
    of_cluster: Option<HashSet<i64>>,
    in_force: ExclusionsInForce,
    /// Names of models.
    models: HashMap<String, Arc<str>>,
    /// Pseudonyms of voters.
    voters: HashMap<String, Arc<str>>,
    votes: Vec<SelectedVote>,
}

impl OngoingSelection<'_> {
    fn add_page(&mut self, page: &VotePage) -> Result<(), StoreError> {
        let mut columns = page.columns().map(|(_, values)| values);
        let [seqs, voters, times] = std::array::from_fn(|_| columns.next().into_iter().flatten());
        for (((row, seq), voter), time) in page.rows().zip(seqs).zip(voters).zip(times) {
            let PackedVote { models, outcome } = row?;
            let number =
                |text: &str, column: &'static str| text.parse::<i64>().map_err(|_| page.inconsistent(column, text));
            let seq = number(seq, "seq")?;
            let outcome = match outcome {
                PackedOutcome::Rated(outcome) => outcome,
                PackedOutcome::Excluded(rule) => return Err(page.inconsistent("outcome", rule)),
            };
            if self.is_selected(seq, voter, models) {
                let vote = SelectedVote {
                    seq,
                    voter: shared(&mut self.voters, voter, voter_pseudonym),
                    models: models.map(|model| shared(&mut self.models, model, str::to_owned)),
                    outcome,
                    cast_at: Timestamp(number(time, "created_at")?),
                    rules: self.in_force.rules_of(seq).cloned().collect(),
                };
                self.votes.push(vote);
            }
        }
        Ok(())
    }

    fn is_selected(&mut self, seq: i64, voter: &str, models: [&str; 2]) -> bool {
        let VoteFilter { voters, models: wanted, rule, .. } = self.filter;
        (wanted.is_empty() || wanted.iter().any(|model| models.contains(&model.as_str())))
            && self.of_cluster.as_ref().is_none_or(|votes| votes.contains(&seq))
            && rule.as_ref().is_none_or(|rule| self.in_force.rules_of(seq).any(|other| **other == **rule))
            && (voters.is_empty() || {
                let pseudonym = shared(&mut self.voters, voter, voter_pseudonym);
                voters.iter().any(|wanted| **wanted == *pseudonym)
            })
    }
}

/// What is shown for a stored text, computed once.
fn shared(known: &mut HashMap<String, Arc<str>>, stored: &str, shown: fn(&str) -> String) -> Arc<str> {
    if let Some(known) = known.get(stored) {
        return Arc::clone(known);
    }
    let new: Arc<str> = shown(stored).into();
    known.insert(stored.to_owned(), Arc::clone(&new));
    new
}
