//! Leaderboards of a part of the votes, or as of a past moment, fitted when somebody asks.
//!
//! Each is an exact fit of the votes in the log. One at a time is fitted (`gate`), and what was fitted is kept for a
//! while (`shelf`), so that visitors cannot make the arena fit all day: the cost is bounded however many ask, and
//! whatever for.

mod gate;
mod shelf;

use std::sync::Arc;

use gate::Gate;
use shelf::Shelf;

use super::leaderboard::leaderboard_options;
use super::vote_log::{ReadLogError, Reading, read_log};
use crate::chart::pairs::Pairs;
use crate::clock::Timestamp;
use crate::config::CurrentSettings;
use crate::rating::FitError;
use crate::rating::history::{Moment, history};
use crate::rating::leaderboard::{Leaderboard, LeaderboardOptions, rank_log};
use crate::rating::scoring::{BothBadRule, TieRule};
use crate::rating::slice::{Slice, SliceError, Turns};
use crate::rating::tally::Tally;
use crate::rating::vote_log::{VoteLog, Wanted};
use crate::storage::{Store, VoteRange};

/// Moments of the history.
const MOMENTS: usize = 40;

/// Which votes a leaderboard is asked of; by default all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Question {
    /// Of this language.
    pub language: Option<String>,
    /// Of this category.
    pub category: Option<String>,
    /// Of this intent.
    pub intent: Option<String>,
    /// After one turn, or after several.
    pub turns: Option<Turns>,
    /// Only where the visitor asked [`crate::rating::slice::LONG_PROMPT_TOKENS`] or more.
    pub long_prompts: bool,
    /// Without ties and "both bad".
    pub without_ties: bool,
    /// With the looks of the replies held equal.
    pub style: bool,
    /// Cast before this moment.
    pub until: Option<Timestamp>,
}

/// What came of a question.
#[derive(Debug, Clone)]
pub struct Study {
    /// The latest vote that was there.
    pub last_vote_seq: i64,
    /// When a label that it may rest on last changed.
    pub labelled_at: Timestamp,
    /// The leaderboard.
    pub board: Leaderboard,
    /// The figures of every pair.
    pub pairs: Pairs,
    /// Ratings at past moments; none where style is held equal.
    pub history: Vec<Moment>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// Others have asked for too much.
    #[error("too many leaderboards are being fitted: try again in a moment")]
    Busy,
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// No vote has what was asked for.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The fit's thread died.
    #[error("the thread of the fit ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl StudyError {
    /// Whether the database is in trouble, of which the log has a line already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Votes(error) if error.is_outage())
    }
}

/// Answers questions.
#[derive(Debug)]
pub struct Studies {
    store: Store,
    settings: CurrentSettings,
    shelf: Shelf,
    gate: Gate,
}

impl Studies {
    /// Nothing has been asked yet.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings) -> Self {
        Self { store, settings, shelf: Shelf::default(), gate: Gate::new() }
    }

    /// The leaderboard of a question: as it is with the vote `last_seq`, or a little older.
    ///
    /// # Errors
    /// [`StudyError`].
    pub async fn answer(&self, question: &Question, last_seq: i64) -> Result<Arc<Study>, StudyError> {
        let options = self.options(question)?;
        let labelled_at = self.labelled_at(question).await?;
        let find = || self.shelf.find(question, &options, last_seq).filter(|study| study.labelled_at == labelled_at);
        if let Some(study) = find() {
            return Ok(study);
        }
        let turn = self.gate.enter().await.ok_or(StudyError::Busy)?;
        // Somebody may have asked the same meanwhile.
        if let Some(study) = find() {
            return Ok(study);
        }
        let (study, cost) = turn.work(self.fit(question, options.clone())).await;
        let study = Arc::new(Study { labelled_at, ..study? });
        self.shelf.keep(question.clone(), options, &study, cost);
        Ok(study)
    }

    /// When labels last changed, for who asks what votes are about; otherwise always the same.
    async fn labelled_at(&self, question: &Question) -> Result<Timestamp, ReadLogError> {
        if question.category.is_none() && question.intent.is_none() {
            return Ok(Timestamp(0));
        }
        Ok(self.store.labels_changed_at().await?)
    }

    fn options(&self, question: &Question) -> Result<LeaderboardOptions, FitError> {
        let mut options = leaderboard_options(&self.settings.now().rating)?;
        if question.without_ties {
            options.scoring.ties = TieRule::Drop;
            options.scoring.both_bad = BothBadRule::Drop;
        }
        options.style = question.style;
        Ok(options)
    }

    async fn fit(&self, question: &Question, options: LeaderboardOptions) -> Result<Study, StudyError> {
        let last_vote_seq = self.store.last_vote_seq().await.map_err(ReadLogError::from)?;
        let range =
            VoteRange { upto: last_vote_seq, until: question.until.unwrap_or(VoteRange::ALL.until), ..VoteRange::ALL };
        let slice = question.slice();
        // Times for the history.
        let mut wanted = Wanted { seconds: true, style: question.style, ..Wanted::default() };
        slice.want(&mut wanted);
        let log = read_log(&self.store, Reading { wanted, range, at_once: 1 }, |_, _| {}).await?;
        tokio::task::spawn_blocking(move || fit(&slice, log, &options, last_vote_seq)).await?
    }
}

impl Question {
    /// The part of the votes; the time is left to the database.
    fn slice(&self) -> Slice {
        Slice {
            language: self.language.clone(),
            category: self.category.clone(),
            intent: self.intent.clone(),
            turns: self.turns,
            long_prompts: self.long_prompts,
            ..Slice::default()
        }
    }

    /// Whether all votes are asked for, as they are now.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

fn fit(slice: &Slice, log: VoteLog, options: &LeaderboardOptions, last: i64) -> Result<Study, StudyError> {
    let log = slice.take(log)?;
    let board = rank_log(&log, options)?;
    let pairs = Pairs::of(&board.models, &Tally::of_log(&log, options.scoring));
    let history = history(&log, MOMENTS, options)?;
    Ok(Study { last_vote_seq: last, labelled_at: Timestamp(0), board, pairs, history })
}
