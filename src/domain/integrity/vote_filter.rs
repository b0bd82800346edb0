//! Filter of votes by voter, model, rule, battle, prompt, number or time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::exclusions::exclusion_decision::SelectedVote;
use super::exclusions::exclusions_in_force::ExclusionsInForce;
use super::prompts::prompt_cluster::ClusterId;
use super::pseudonym::voter_pseudonym;
use crate::battle::{BattleId, Outcome};
use crate::rating::votes::vote_range::VoteRange;
use crate::time::Timestamp;

/// Filter of votes; an empty list or `None` does not filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteFilter {
    /// Range of sequence numbers and times.
    pub range: VoteRange,
    /// Pseudonyms of voters.
    pub voters: Vec<String>,
    /// Model ids, on either side.
    pub models: Vec<String>,
    /// Battle id.
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
    /// Formats the filter for the audit log.
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

/// Selection in progress: it receives the votes of the filter's range and battle.
#[derive(Debug)]
pub struct OngoingSelection<'f> {
    filter: &'f VoteFilter,
    of_cluster: Option<HashSet<i64>>,
    in_force: ExclusionsInForce,
    /// Cached names of models.
    models: HashMap<String, Arc<str>>,
    /// Cached pseudonyms of voters.
    voters: HashMap<String, Arc<str>>,
    votes: Vec<SelectedVote>,
}

impl<'f> OngoingSelection<'f> {
    /// Starts an empty selection. `of_cluster` are the votes of the prompt cluster, if the filter names one.
    #[must_use]
    pub fn new(filter: &'f VoteFilter, of_cluster: Option<HashSet<i64>>, in_force: ExclusionsInForce) -> Self {
        let (models, voters, votes) = (HashMap::new(), HashMap::new(), Vec::new());
        Self { filter, of_cluster, in_force, models, voters, votes }
    }

    /// Returns whether the filter matches a vote.
    pub fn takes(&mut self, seq: i64, voter: &str, models: [&str; 2]) -> bool {
        let VoteFilter { voters, models: wanted, rule, .. } = self.filter;
        (wanted.is_empty() || wanted.iter().any(|model| models.contains(&model.as_str())))
            && self.of_cluster.as_ref().is_none_or(|votes| votes.contains(&seq))
            && rule.as_ref().is_none_or(|rule| self.in_force.rules_of(seq).any(|other| **other == **rule))
            && (voters.is_empty() || {
                let pseudonym = displayed_text(&mut self.voters, voter, voter_pseudonym);
                voters.iter().any(|wanted| **wanted == *pseudonym)
            })
    }

    /// Adds a vote with its outcome and time.
    pub fn add(&mut self, seq: i64, voter: &str, models: [&str; 2], (outcome, cast_at): (Outcome, Timestamp)) {
        let vote = SelectedVote {
            seq,
            voter: displayed_text(&mut self.voters, voter, voter_pseudonym),
            models: models.map(|model| displayed_text(&mut self.models, model, str::to_owned)),
            outcome,
            cast_at,
            rules: self.in_force.rules_of(seq).cloned().collect(),
        };
        self.votes.push(vote);
    }

    /// Returns the selected votes in the order in which they were added.
    #[must_use]
    pub fn into_votes(self) -> Vec<SelectedVote> {
        self.votes
    }
}

/// Returns the displayed form of a stored text, computed once.
fn displayed_text(known: &mut HashMap<String, Arc<str>>, stored: &str, shown: fn(&str) -> String) -> Arc<str> {
    if let Some(known) = known.get(stored) {
        return Arc::clone(known);
    }
    let new: Arc<str> = shown(stored).into();
    known.insert(stored.to_owned(), Arc::clone(&new));
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of the votes that a filter selects from two: vote 1 of "ann" on a and b, and vote 2 of "bob" on b and c, which
    /// "rule" excludes.
    fn selected(filter: &VoteFilter, of_cluster: Option<HashSet<i64>>) -> Vec<i64> {
        let mut in_force = ExclusionsInForce::default();
        in_force.exclude(2, &"rule".into());
        let mut selection = OngoingSelection::new(filter, of_cluster, in_force);
        for (seq, voter, models) in [(1, "ann", ["a", "b"]), (2, "bob", ["b", "c"])] {
            if selection.takes(seq, voter, models) {
                selection.add(seq, voter, models, (Outcome::Tie, Timestamp(seq)));
            }
        }
        selection.into_votes().iter().map(|vote| vote.seq).collect()
    }

    #[test]
    fn a_vote_is_taken_if_it_is_all_that_the_filter_asks_for() {
        let all = VoteFilter::default();
        assert_eq!(selected(&all, None), [1, 2]);
        assert_eq!(selected(&all, Some([2].into())), [2], "those of the prompt cluster");
        let of_model = |model: &str| VoteFilter { models: vec![model.to_owned()], ..VoteFilter::default() };
        assert_eq!((selected(&of_model("b"), None), selected(&of_model("c"), None)), (vec![1, 2], vec![2]));
        let of_rule = VoteFilter { rule: Some("rule".to_owned()), ..VoteFilter::default() };
        assert_eq!(selected(&of_rule, None), [2]);
        let of_ann = VoteFilter { voters: vec![voter_pseudonym("ann")], ..VoteFilter::default() };
        assert_eq!(selected(&of_ann, None), [1]);
        let of_neither = VoteFilter { rule: Some("rule".to_owned()), ..of_ann };
        assert_eq!(selected(&of_neither, None), Vec::<i64>::new());
    }

    #[test]
    fn the_audit_log_says_what_was_asked_for() {
        let range = VoteRange { after: 3, until: Timestamp(9), ..VoteRange::ALL };
        let filter = VoteFilter { range, models: vec!["a".to_owned(), "b".to_owned()], ..VoteFilter::default() };
        assert_eq!(filter.summary(), "model a, model b, votes after 3, until 9");
        assert_eq!(VoteFilter::default().summary(), "");
    }
}
