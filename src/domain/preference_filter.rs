//! Selection of the votes that are exported as preferences, and reasons for skipping the others.

use std::collections::{BTreeMap, HashMap};

use crate::battle::ModelId;
use crate::battle::record::VoteRow;
use crate::preference_pairs::{PreferenceCounts, winner_and_loser};

/// Filter of the votes that are exported as preferences.
#[derive(Debug, Clone, Copy, Default)]
pub struct PreferenceFilter {
    /// Sequence number in the log after which votes are included.
    pub after: i64,
    /// Whether votes that a rule excludes from the ratings are included.
    pub unrated: bool,
    /// Minimum share of the other votes on the pair of models that chose the same model.
    pub min_agreement: Option<f64>,
    /// Minimum rating difference of the chosen model to the other, in points of the latest leaderboard.
    pub min_margin: Option<f64>,
}

/// Support for a vote by other votes and by the ratings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreferenceSupport {
    /// Share of the other votes on the pair of models that chose the same model; `None` without others.
    pub agreement: Option<f64>,
    /// Rating of the chosen model minus that of the other; `None` where one of them has no rating.
    pub margin: Option<f64>,
}

/// Reason for skipping a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkippedVote {
    /// A tie, or both were bad.
    NoChoice,
    /// A rule excludes the vote from the ratings.
    Unrated,
    /// A text is missing: it was deleted, archived or imported without, a side failed, or one model answered alone.
    NoText,
    /// The question had images, which the file does not include.
    Images,
    /// Too few other votes agree, or there are none.
    Agreement,
    /// The rating difference is too small, or one of the models has no rating.
    Margin,
}

/// Result of a preference export.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PreferenceReport {
    /// Number of preferences written.
    pub written: u64,
    /// Number of votes skipped, by reason.
    pub left_out: BTreeMap<SkippedVote, u64>,
    /// Sequence number of the last vote examined, where a later export continues.
    pub last_seq: i64,
}

impl PreferenceFilter {
    /// Whether a vote counts towards the agreement of others: it has two models, and is rated unless unrated votes are included.
    #[must_use]
    pub fn counts(&self, vote: &VoteRow) -> bool {
        vote.models[0] != vote.models[1] && self.takes_rating_of(vote)
    }

    /// Computes the support of a vote that becomes a preference if its texts exist.
    ///
    /// # Errors
    /// [`SkippedVote`] where the vote is skipped whatever its texts are.
    pub fn support(
        &self,
        vote: &VoteRow,
        wins: &PreferenceCounts,
        ratings: &HashMap<ModelId, f64>,
    ) -> Result<PreferenceSupport, SkippedVote> {
        let Some((winner, loser)) = winner_and_loser(&vote.models, vote.outcome) else {
            return Err(SkippedVote::NoChoice);
        };
        if !self.takes_rating_of(vote) {
            return Err(SkippedVote::Unrated);
        }
        if winner == loser {
            return Err(SkippedVote::NoText);
        }
        let agreement = wins.agreement_of_others(winner, loser);
        let margin = ratings.get(winner).zip(ratings.get(loser)).map(|(chosen, rejected)| chosen - rejected);
        if !is_at_least(self.min_agreement, agreement) {
            return Err(SkippedVote::Agreement);
        }
        if !is_at_least(self.min_margin, margin) {
            return Err(SkippedVote::Margin);
        }
        Ok(PreferenceSupport { agreement, margin })
    }

    fn takes_rating_of(&self, vote: &VoteRow) -> bool {
        self.unrated || vote.exclusion.is_none()
    }
}

fn is_at_least(least: Option<f64>, found: Option<f64>) -> bool {
    least.is_none_or(|least| found.is_some_and(|found| found >= least))
}

impl SkippedVote {
    /// Returns the text shown for the reason.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoChoice => "ties or both bad",
            Self::Unrated => "not rated (--unrated takes them)",
            Self::NoText => "without both texts",
            Self::Images => "asked with images, which the file does not hold",
            Self::Agreement => "below --min-agreement, or the only vote on their models",
            Self::Margin => "below --min-margin, or of a model without a rating",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::text_counts::TextCounts;
    use crate::battle::vote_reasons::ReasonSet;
    use crate::battle::{BattleId, Outcome};
    use crate::time::Timestamp;

    fn vote(models: [&str; 2], outcome: Outcome, exclusion: Option<&str>) -> VoteRow {
        VoteRow {
            seq: 1,
            id: "vote".to_owned(),
            battle: BattleId::new("battle"),
            visitor: None,
            models: models.map(ModelId::new),
            outcome,
            anonymous: true,
            turn: 1,
            language: "en".to_owned(),
            category: None,
            intent: None,
            satisfaction: None,
            reasons: [ReasonSet::default(), ReasonSet::default()],
            pairing_policy: "uniform".to_owned(),
            pair_probability: 0.5,
            first_token_ms: [None, None],
            duration_ms: [0, 0],
            text_counts: [TextCounts::default(), TextCounts::default()],
            exclusion: exclusion.map(str::to_owned),
            receipt: String::new(),
            created_at: Timestamp(0),
        }
    }

    /// Support of a vote where one vote of three chose "b", and "a" is rated 50 points above it.
    fn support(filter: PreferenceFilter, vote: &VoteRow) -> Result<PreferenceSupport, SkippedVote> {
        let mut wins = PreferenceCounts::default();
        let models = ["a", "b"].map(ModelId::new);
        [Outcome::AWins, Outcome::AWins, Outcome::BWins].into_iter().for_each(|outcome| wins.add(&models, outcome));
        let ratings =
            HashMap::from(models.map(|model| (model.clone(), if model.as_str() == "a" { 1050.0 } else { 1000.0 })));
        filter.support(vote, &wins, &ratings)
    }

    #[test]
    fn the_first_reason_to_leave_a_vote_out_is_its_reason() {
        let filter =
            PreferenceFilter { min_agreement: Some(0.5), min_margin: Some(60.0), ..PreferenceFilter::default() };
        let reason = |vote: VoteRow| support(filter, &vote).unwrap_err();
        assert_eq!(reason(vote(["a", "b"], Outcome::Tie, Some("rule"))), SkippedVote::NoChoice);
        assert_eq!(reason(vote(["a", "a"], Outcome::AWins, Some("rule"))), SkippedVote::Unrated);
        assert_eq!(reason(vote(["a", "a"], Outcome::AWins, None)), SkippedVote::NoText);
        assert_eq!(reason(vote(["a", "b"], Outcome::BWins, None)), SkippedVote::Agreement);
        assert_eq!(reason(vote(["a", "b"], Outcome::AWins, None)), SkippedVote::Margin);
    }

    #[test]
    fn without_limits_a_vote_is_taken_with_what_others_say() {
        let found = support(PreferenceFilter::default(), &vote(["b", "a"], Outcome::BWins, None));
        assert_eq!(found, Ok(PreferenceSupport { agreement: Some(0.5), margin: Some(50.0) }));
        let unknown = support(PreferenceFilter::default(), &vote(["a", "c"], Outcome::AWins, None));
        assert_eq!(unknown, Ok(PreferenceSupport { agreement: None, margin: None }));
    }

    #[test]
    fn excluded_votes_count_only_where_all_votes_are_taken() {
        let all = PreferenceFilter { unrated: true, ..PreferenceFilter::default() };
        let excluded = vote(["a", "b"], Outcome::AWins, Some("rule"));
        assert!(!PreferenceFilter::default().counts(&excluded) && all.counts(&excluded));
        assert!(!all.counts(&vote(["a", "a"], Outcome::AWins, None)), "one model beside itself");
        assert!(support(all, &excluded).is_ok());
    }
}
