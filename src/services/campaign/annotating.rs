//! Annotator requests: get the next assignment, judge it, undo the last judgement.

use sha2::{Digest, Sha256};

use super::ending::end_if_rule_met;
use crate::arena::exclusion_rules::ExclusionRules;
use crate::domain::battle::VisitorId;
use crate::domain::battle::text_counts::TextCounts;
use crate::domain::campaign::assignment::{AssignmentKind, CampaignShape, repeats_of};
use crate::domain::campaign::ending::EndReason;
use crate::domain::campaign::judgement::{InvalidJudgement, SentJudgement, UnitJudgement};
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::questions::QuestionContext;
use crate::domain::campaign::shown_assignment::{Finished, ShownAssignment};
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::infra::events::{Event, EventBus};
use crate::infra::rng::SharedRng;
use crate::infra::sessions::Sessions;
use crate::infra::storage::{
    AnnotatorRow, AssignmentLimit, AssignmentRequest, AssignmentRow, CampaignRow, CampaignState, CampaignVote,
    JudgementWithdrawal, NewCampaignJudgement, NextAssignment, NoAssignmentReason, Store, StoreError, ValidJudgement,
    is_storable,
};
use crate::infra::time::clock::Clock;

/// Error of an annotator's request.
#[derive(Debug, thiserror::Error)]
pub enum AnnotatingError {
    /// The campaign does not exist, or the token is not of one of its links.
    #[error("this link is not valid: ask the person who invited you for a new one")]
    UnknownLink,
    /// There is no such campaign.
    #[error("there is no such campaign")]
    UnknownCampaign,
    /// The link was revoked.
    #[error("this link was revoked: ask the person who invited you")]
    Revoked,
    /// The link has expired.
    #[error("this link has expired: ask the person who invited you for a new one")]
    Expired,
    /// The campaign is not open for judgements.
    #[error("{}", match .0 {
        CampaignState::Draft => "this campaign has not begun: come back when it is open",
        CampaignState::Paused => "this campaign is paused: what you judged is kept, so come back later",
        CampaignState::Closed | CampaignState::Open => "this campaign is over: thank you",
    })]
    NotOpen(CampaignState),
    /// The assignment is not this annotator's.
    #[error("there is no such assignment of yours: ask for the next one")]
    UnknownAssignment,
    /// The shared link has no place left.
    #[error("all places of this link are taken: ask the person who invited you for another one")]
    Full,
    /// The judgement is not this annotator's.
    #[error("there is no such judgement of yours")]
    UnknownJudgement,
    /// Another judgement came after it.
    #[error("you have judged something else since: only the last judgement can be taken back")]
    NotLast,
    /// There is no judgement to undo.
    #[error("you have judged nothing that could be taken back")]
    NothingJudged,
    /// The judgement is invalid.
    #[error(transparent)]
    Invalid(#[from] InvalidJudgement),
    /// Stored data of the campaign cannot be parsed.
    #[error("the campaign cannot be read")]
    Unreadable(#[from] serde_json::Error),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Annotator with access to an open campaign.
#[derive(Debug)]
pub struct Annotator {
    id: String,
    voter: VisitorId,
    campaign: CampaignRow,
    plan: CampaignPlan,
}

/// Dependencies of recording judgements.
#[derive(Clone, Copy)]
pub struct JudgementContext<'j> {
    /// The database.
    pub store: &'j Store,
    /// Source of ids of judgements.
    pub rng: &'j SharedRng,
    /// Clock of the judgements.
    pub clock: &'j dyn Clock,
    /// Rules that exclude a vote when it is cast.
    pub rules: &'j ExclusionRules,
    /// Event bus that announces votes of rated campaigns.
    pub events: &'j dyn EventBus,
}

/// Next assignment, with the annotator's progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// Next assignment, or the reason why none is left.
    pub assignment: Result<ShownAssignment, Finished>,
    /// Judgements so far.
    pub done: u32,
    /// Maximum number of judgements of this annotator; others may make some of them first.
    pub of: u32,
}

/// Computes the hash under which a link's token is stored.
#[must_use]
pub fn token_hash(token: &str) -> String {
    hex(&Sha256::digest(format!("langya campaign {token}")))
}

/// Derives the voter pseudonym of an annotator. It is keyed by the secret of the arena's sessions, since annotator ids are guessable and
/// could be looked up among published votes, and links may be known to others.
fn campaign_voter(sessions: &Sessions, link_hash: &str) -> VisitorId {
    VisitorId::new(&sessions.signature("campaign voter", link_hash)[..32])
}

/// Returns the stand-in for a link's hash for the annotator of an API key. It cannot collide with a link, since it is the hash of no token.
fn key_annotator_hash(key_id: &str) -> String {
    hex(&Sha256::digest(format!("langya annotator of key {key_id}")))
}

impl Annotator {
    /// Returns the annotator of an open campaign whose link has this token.
    ///
    /// # Errors
    /// [`AnnotatingError`] with the reason why the link is unusable.
    pub async fn admit(
        (store, sessions): (&Store, &Sessions),
        campaign: &str,
        token: &str,
        now: Timestamp,
    ) -> Result<Self, AnnotatingError> {
        let hash = token_hash(token);
        let row = store.annotator(campaign, &hash).await?.ok_or(AnnotatingError::UnknownLink)?;
        let campaign = store.campaign(campaign).await?.ok_or(AnnotatingError::UnknownLink)?;
        Self::check(row, campaign_voter(sessions, &hash), campaign, now)
    }

    /// Returns the annotator of an API key in an open campaign. The first request creates it, without a quota.
    ///
    /// # Errors
    /// [`AnnotatingError`].
    pub async fn admit_key(
        (store, sessions): (&Store, &Sessions),
        campaign: &str,
        key_id: &str,
        now: Timestamp,
    ) -> Result<Self, AnnotatingError> {
        let row = store.campaign(campaign).await?.ok_or(AnnotatingError::UnknownCampaign)?;
        let hash = key_annotator_hash(key_id);
        if row.state == CampaignState::Open && store.annotator(campaign, &hash).await?.is_none() {
            let id = format!("{campaign}-{}", key_id.rsplit('-').next().unwrap_or(key_id));
            store.insert_key_annotator(campaign, &id, &hash, now).await?;
        }
        match store.annotator(campaign, &hash).await? {
            Some(annotator) => Self::check(annotator, campaign_voter(sessions, &hash), row, now),
            None => Err(AnnotatingError::NotOpen(row.state)),
        }
    }

    fn check(
        row: AnnotatorRow,
        voter: VisitorId,
        campaign: CampaignRow,
        now: Timestamp,
    ) -> Result<Self, AnnotatingError> {
        if row.revoked_at.is_some() || row.left_out_at.is_some() {
            return Err(AnnotatingError::Revoked);
        }
        if row.expires_at.is_some_and(|at| at <= now) {
            return Err(AnnotatingError::Expired);
        }
        if campaign.state != CampaignState::Open {
            return Err(AnnotatingError::NotOpen(campaign.state));
        }
        let plan = serde_json::from_str(&campaign.plan)?;
        Ok(Self { id: row.id, voter, campaign, plan })
    }

    /// Returns the voter pseudonym; `None` if the campaign is not rated.
    #[must_use]
    pub fn voter(&self) -> Option<VisitorId> {
        self.plan.rated.then(|| self.voter.clone())
    }

    /// Returns the pseudonym under which the annotator's requests are counted.
    #[must_use]
    pub fn pseudonym(&self) -> &VisitorId {
        &self.voter
    }

    /// Returns the pending assignment, or a new one.
    ///
    /// # Errors
    /// [`AnnotatingError::Store`].
    pub async fn next(&self, store: &Store, rng: &SharedRng, clock: &dyn Clock) -> Result<Next, AnnotatingError> {
        let id = rng.id(clock);
        let request = AssignmentRequest {
            campaign: &self.campaign.id,
            annotator: &self.id,
            id: &id,
            shape: self.shape(),
            needed: self.plan.judgements_per_item,
            seed: self.plan.seed,
            room: self.room(),
            now: clock.now(),
        };
        let NextAssignment { assignment, judged, quota } = store.next_assignment(request).await?;
        let items = count(self.campaign.items);
        let all = items + repeats_of(items, self.plan.repeat_share);
        let of = quota.map_or(all, |quota| quota.min(all)).max(judged);
        let assignment = match assignment {
            Err(nothing) => Err(self.finished(nothing)),
            Ok(row) => {
                let texts = store.campaign_item(&self.campaign.id, row.item).await?;
                Ok(ShownAssignment::new(row.id, &row.shown, texts, &self.plan))
            }
        };
        let of = if assignment.is_err() { judged } else { of.max(judged + 1) };
        Ok(Next { assignment, done: judged, of })
    }

    /// Stores a judgement and returns the one that counts: for a repeated request, the first one.
    ///
    /// # Errors
    /// [`AnnotatingError`] if the assignment is not this annotator's, or the judgement does not fit its task.
    pub async fn judge(
        &self,
        context: &JudgementContext<'_>,
        assignment: &str,
        sent: &SentJudgement,
    ) -> Result<ValidJudgement, AnnotatingError> {
        let JudgementContext { store, rng, clock, .. } = *context;
        let row = if is_storable(assignment) { store.assignment(assignment, &self.id).await? } else { None };
        let row = row.ok_or(AnnotatingError::UnknownAssignment)?;
        let said = self.plan.judgement(sent, row.shown.len())?;
        let category = self.category(store, &row).await?;
        let about = QuestionContext { category: &category, answers: row.shown.len() };
        let answered = self.plan.question_answers(sent, about)?;
        let judgement = serde_json::to_string(&said)?;
        let answers = if answered.is_empty() { String::new() } else { serde_json::to_string(&answered)? };
        let vote = self.vote(context, &row, &said).await?;
        let (id, now, annotator) = (rng.id(clock), clock.now(), &self.id);
        let vote = vote.as_ref();
        let new = NewCampaignJudgement {
            id: &id,
            annotator,
            assignment,
            judgement: &judgement,
            answers: &answers,
            vote,
            now,
        };
        let kept = store.insert_campaign_judgement(new).await?;
        if vote.is_some() && kept.id == id {
            context.events.publish(Event::VoteRecorded);
        }
        if let Err(error) = end_if_rule_met(store, &self.campaign, &self.plan, now).await {
            // The judgement is stored, and the next one repeats the check.
            tracing::warn!(campaign = %self.campaign.id, error = %error, "it could not be checked whether a campaign has enough judgements");
        }
        Ok(kept)
    }

    /// Reads the category of an item, if questions depend on it.
    async fn category(&self, store: &Store, row: &AssignmentRow) -> Result<String, StoreError> {
        if self.plan.asks_by_category() {
            return Ok(store.campaign_item(&self.campaign.id, row.item).await?.category);
        }
        Ok(String::new())
    }

    /// Converts a judgement of a rated campaign to a vote; a repeated unit gives no second vote.
    async fn vote(
        &self,
        context: &JudgementContext<'_>,
        row: &AssignmentRow,
        said: &UnitJudgement,
    ) -> Result<Option<CampaignVote>, AnnotatingError> {
        let (Some(outcome), [a, b], true) = (said.outcome(), row.shown.as_slice(), self.plan.rated) else {
            return Ok(None);
        };
        if row.kind == AssignmentKind::Repeat {
            return Ok(None);
        }
        let texts = context.store.campaign_item(&self.campaign.id, row.item).await?;
        let answers = [a, b].map(|model| texts.answer(model).to_owned());
        let counts = answers.each_ref().map(|answer| TextCounts::count(answer));
        let rules = context.rules.apply_to_answers([a.clone(), b.clone()], texts.prompt, answers).await;
        Ok(Some(CampaignVote {
            voter: self.voter.clone(),
            models: [a.clone(), b.clone()],
            outcome,
            language: texts.language,
            category: Some(texts.category).filter(|category| !category.is_empty()),
            text_counts: serde_json::to_string(&counts)?,
            exclusions: rules.exclusions,
        }))
    }

    /// Undoes the last judgement; its assignment comes next, and its vote no longer counts. A request that names the judgement is
    /// idempotent: it undoes no other one.
    ///
    /// # Errors
    /// [`AnnotatingError::NothingJudged`]; for a named judgement [`AnnotatingError::UnknownJudgement`] or [`AnnotatingError::NotLast`].
    pub async fn undo(&self, context: &JudgementContext<'_>, judgement: Option<&str>) -> Result<(), AnnotatingError> {
        let last = match judgement {
            Some(named) if is_storable(named) => named.to_owned(),
            Some(_) => return Err(AnnotatingError::UnknownJudgement),
            None => context.store.last_judgement(&self.id).await?.ok_or(AnnotatingError::NothingJudged)?,
        };
        match context.store.withdraw_judgement(&self.id, &last, context.clock.now()).await? {
            JudgementWithdrawal::Withdrawn => {}
            JudgementWithdrawal::NotLast => return Err(AnnotatingError::NotLast),
            JudgementWithdrawal::Unknown => return Err(AnnotatingError::UnknownJudgement),
        }
        if self.plan.rated {
            context.events.publish(Event::VoteRecorded);
        }
        Ok(())
    }

    fn room(&self) -> AssignmentLimit {
        match (self.campaign.ended, self.plan.max_judgements) {
            (Some(_), _) => AssignmentLimit::Ended,
            (None, Some(most)) => AssignmentLimit::UpTo(most),
            (None, None) => AssignmentLimit::ForAll,
        }
    }

    fn finished(&self, nothing: NoAssignmentReason) -> Finished {
        match nothing {
            NoAssignmentReason::Units => Finished::NothingLeft,
            NoAssignmentReason::Quota => Finished::Quota,
            NoAssignmentReason::Room => {
                Finished::Ended(self.campaign.ended.map_or(EndReason::MaxJudgements, |end| end.because))
            }
        }
    }

    fn shape(&self) -> CampaignShape {
        CampaignShape {
            items: count(self.campaign.items),
            shared_units: count(self.campaign.shared_units),
            repeat_share: self.plan.repeat_share,
        }
    }
}

fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
