//! Votes as preference pairs with their texts, as lines of JSON.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use serde::Serialize;

use super::{ExportError, ExportSelection, PAGE, conversations};
use crate::domain::battle::record::VoteRow;
use crate::domain::battle::{ModelId, Side};
use crate::domain::preference_pairs::{PreferenceCounts, PreferencePair, winner_and_loser};
use crate::domain::rating::leaderboard::Leaderboard;
use crate::formats::tables::{Format, TableWriter};
use crate::infra::storage::Store;

/// Which votes become preferences.
#[derive(Debug, Clone, Copy, Default)]
pub struct PreferenceFilter {
    /// Only votes after this one in the log.
    pub after: i64,
    /// Also votes that a rule excludes from the ratings.
    pub unrated: bool,
    /// Least share of the other votes on the pair of models that chose the same model.
    pub min_agreement: Option<f64>,
    /// Least rating of the chosen model above that of the other, in points of the latest leaderboard.
    pub min_margin: Option<f64>,
}

/// Why a vote is no preference of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkippedVote {
    /// A tie, or both were bad.
    NoChoice,
    /// A rule excludes it.
    Unrated,
    /// A text is missing: it was deleted, archived or imported without, a side failed, or one model answered alone.
    NoText,
    /// The question had images, which the file does not hold.
    Images,
    /// Fewer of the others agree, or there are no others.
    Agreement,
    /// The chosen model is not rated so far above the other, or one of them has no rating.
    Margin,
}

impl SkippedVote {
    /// What it says to people.
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

/// What was written.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PreferenceReport {
    /// Preferences in the file.
    pub written: u64,
    /// Votes that are not in it, by reason.
    pub left_out: BTreeMap<SkippedVote, u64>,
    /// The last vote of the log that was looked at: where a later export goes on.
    pub last_seq: i64,
}

/// A line of the file. A trainer reads the first three fields; `rating_margin` is in points and no loss margin.
#[derive(Serialize)]
struct PreferenceRow<'r> {
    #[serde(flatten)]
    pair: &'r PreferencePair,
    chosen_model: &'r ModelId,
    rejected_model: &'r ModelId,
    agreement: Option<f64>,
    rating_margin: Option<f64>,
    seq: i64,
    language: &'r str,
    category: Option<&'r str>,
    rated: bool,
}

/// Writes the preferences of the selected votes.
///
/// # Errors
/// [`ExportError`].
pub async fn preferences(
    store: &Store,
    filter: PreferenceFilter,
    selection: ExportSelection,
    out: impl Write + Send,
    mut progress: impl FnMut(i64, i64),
) -> Result<PreferenceReport, ExportError> {
    let wins = pair_wins(store, filter).await?;
    let ratings = ratings(store).await?;
    let last = store.last_vote_seq().await?;
    let mut table = TableWriter::begin(Format::Jsonl, Vec::new(), out)?;
    let mut report = PreferenceReport { last_seq: filter.after, ..PreferenceReport::default() };
    loop {
        let page = store.votes_after(report.last_seq, selection.since, selection.until, PAGE).await?;
        for vote in &page {
            report.last_seq = vote.seq;
            match preference(store, vote, filter, &wins, &ratings).await? {
                Ok((pair, judged)) => table.write(&row(vote, &pair, judged))?,
                Err(reason) => *report.left_out.entry(reason).or_default() += 1,
            }
        }
        progress(report.last_seq, last);
        if page.len() < PAGE as usize {
            report.written = table.finish()?;
            return Ok(report);
        }
    }
}

/// What others say of a choice.
#[derive(Debug, Clone, Copy)]
struct OtherOpinions {
    agreement: Option<f64>,
    margin: Option<f64>,
}

/// Reads the texts last: they are most of the work.
async fn preference(
    store: &Store,
    vote: &VoteRow,
    filter: PreferenceFilter,
    wins: &PreferenceCounts,
    ratings: &HashMap<ModelId, f64>,
) -> Result<Result<(PreferencePair, OtherOpinions), SkippedVote>, ExportError> {
    let Some((winner, loser)) = winner_and_loser(&vote.models, vote.outcome) else {
        return Ok(Err(SkippedVote::NoChoice));
    };
    if vote.exclusion.is_some() && !filter.unrated {
        return Ok(Err(SkippedVote::Unrated));
    }
    if winner == loser {
        return Ok(Err(SkippedVote::NoText));
    }
    let agreement = wins.agreement_of_others(winner, loser);
    let margin = ratings.get(winner).zip(ratings.get(loser)).map(|(chosen, rejected)| chosen - rejected);
    let reaches =
        |least: Option<f64>, found: Option<f64>| least.is_none_or(|least| found.is_some_and(|found| found >= least));
    if !reaches(filter.min_agreement, agreement) {
        return Ok(Err(SkippedVote::Agreement));
    }
    if !reaches(filter.min_margin, margin) {
        return Ok(Err(SkippedVote::Margin));
    }
    if !store.images_of(&vote.battle).await?.is_empty() {
        return Ok(Err(SkippedVote::Images));
    }
    let [a, b] = conversations(store, &vote.battle).await?;
    let pair = match chosen_side(vote, winner) {
        Side::A => PreferencePair::new(&a, &b),
        Side::B => PreferencePair::new(&b, &a),
    };
    Ok(pair.map(|pair| (pair, OtherOpinions { agreement, margin })).ok_or(SkippedVote::NoText))
}

fn chosen_side(vote: &VoteRow, winner: &ModelId) -> Side {
    if vote.models[0] == *winner { Side::A } else { Side::B }
}

fn row<'r>(vote: &'r VoteRow, pair: &'r PreferencePair, judged: OtherOpinions) -> PreferenceRow<'r> {
    let (chosen_model, rejected_model) =
        winner_and_loser(&vote.models, vote.outcome).unwrap_or((&vote.models[0], &vote.models[1]));
    PreferenceRow {
        pair,
        chosen_model,
        rejected_model,
        agreement: judged.agreement,
        rating_margin: judged.margin,
        seq: vote.seq,
        language: &vote.language,
        category: vote.category.as_deref(),
        rated: vote.exclusion.is_none(),
    }
}

/// Counts all votes that may be taken, also those before the selected ones.
async fn pair_wins(store: &Store, filter: PreferenceFilter) -> Result<PreferenceCounts, ExportError> {
    let (mut wins, mut seq, all) = (PreferenceCounts::default(), 0, ExportSelection::ALL);
    loop {
        let page = store.votes_after(seq, all.since, all.until, PAGE).await?;
        for vote in &page {
            seq = vote.seq;
            let is_pair = vote.models[0] != vote.models[1];
            if is_pair && (filter.unrated || vote.exclusion.is_none()) {
                wins.add(&vote.models, vote.outcome);
            }
        }
        if page.len() < PAGE as usize {
            return Ok(wins);
        }
    }
}

/// The ratings of the latest leaderboard.
async fn ratings(store: &Store) -> Result<HashMap<ModelId, f64>, ExportError> {
    let stored = store.latest_leaderboard().await?;
    let board: Option<Leaderboard> = stored.map(|stored| serde_json::from_str(&stored.body)).transpose()?;
    let models = board.map(|board| board.models).unwrap_or_default();
    Ok(models.into_iter().filter_map(|model| Some((ModelId::new(&model.model), model.rating?))).collect())
}
