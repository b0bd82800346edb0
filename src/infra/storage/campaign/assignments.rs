//! Assignments of a campaign's annotators and their judgements: each assignment is handed out once, and judged once.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::campaign::assignment::{
    AnnotatorProgress, AssignmentKind, CampaignShape, REPEAT_DISTANCE, SideBalance, arrange, count_sides, kinds_to_try,
    rng_of,
};
use crate::domain::campaign::shown_assignment::ItemTexts;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::campaign::votes::insert_vote;
use crate::storage::{CampaignVote, Store, StoreError, on_reader, on_writer};

/// Time after which an unjudged assignment is released to others.
const RELEASE_AFTER_MS: i64 = 30 * 60_000;

/// Reads an annotator and locks the row until the end of the transaction, so that two tabs get the same assignment.
pub(in crate::storage) const LOCK_ANNOTATOR: &str = "UPDATE campaign_annotators SET seen_at = $2 WHERE id = $1 \
     AND left_out_at IS NULL RETURNING quota, first_time, repeats, shared, judged, side_balance";
/// An assignment that was released, judged all the same and then withdrawn still belongs to the annotator.
const SELECT_WAITING: &str = "SELECT id, item, kind, shown FROM campaign_assignments a WHERE campaign = $1 AND annotator = $2 \
     AND judged_at IS NULL AND (released_at IS NULL OR EXISTS (SELECT 1 FROM campaign_judgements j WHERE j.assignment = a.id)) \
     ORDER BY number LIMIT 1";
const SELECT_FRESH: &str = "SELECT u.unit, u.item, u.models FROM campaign_units u WHERE u.campaign = $1 AND u.shared = FALSE \
     AND u.given < $3 AND NOT EXISTS (SELECT 1 FROM campaign_assignments a WHERE a.annotator = $2 AND a.item = u.item) \
     ORDER BY u.given, u.unit LIMIT 1";
const SELECT_SHARED: &str = "SELECT u.unit, u.item, u.models FROM campaign_units u WHERE u.campaign = $1 AND u.shared = TRUE \
     AND NOT EXISTS (SELECT 1 FROM campaign_assignments a WHERE a.annotator = $2 AND a.item = u.item) \
     ORDER BY u.unit LIMIT 1";
const SELECT_REPEAT: &str = "SELECT a.unit, a.item, u.models FROM campaign_assignments a \
     JOIN campaign_units u ON u.campaign = a.campaign AND u.unit = a.unit WHERE a.campaign = $1 AND a.annotator = $2 \
     AND a.kind <> 'repeat' AND a.judged_at IS NOT NULL AND a.number <= $3 AND NOT EXISTS (SELECT 1 FROM \
     campaign_assignments b WHERE b.annotator = $2 AND b.item = a.item AND b.unit = a.unit AND b.kind = 'repeat') \
     ORDER BY a.number LIMIT 1";
/// Another annotator may have taken the last judgement of the unit in the meantime.
const TAKE_UNIT: &str = "UPDATE campaign_units SET given = given + 1 WHERE campaign = $1 AND unit = $2 \
     AND (shared OR given < $3)";
/// An annotator who has just withdrawn a judgement is working on its assignment again.
const RELEASE: &str = "UPDATE campaign_assignments SET released_at = $2 WHERE campaign = $1 AND judged_at IS NULL \
     AND released_at IS NULL AND given_at <= $3 AND annotator <> $4 AND NOT EXISTS (SELECT 1 FROM campaign_judgements j \
     WHERE j.assignment = campaign_assignments.id AND j.withdrawn_at > $3) RETURNING unit, kind, annotator";
/// The units of an excluded annotator were given back with the exclusion.
const GIVE_BACK: &str = "UPDATE campaign_units SET given = given - 1 WHERE campaign = $1 AND unit = $2 AND given > 0 \
     AND NOT EXISTS (SELECT 1 FROM campaign_annotators x WHERE x.id = $3 AND x.left_out_at IS NOT NULL)";
/// Locks the campaign until the end of the transaction, so that two annotators cannot both take the last assignment.
const INCREMENT_HANDED_OUT: &str = "UPDATE campaigns SET handed_out = handed_out + 1 WHERE id = $1 AND handed_out < $2";
const DECREMENT_HANDED_OUT: &str = "UPDATE campaigns SET handed_out = handed_out - $2 WHERE id = $1";
const INSERT_ASSIGNMENT: &str = "INSERT INTO campaign_assignments (id, campaign, annotator, number, unit, item, kind, shown, \
     given_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const COUNT_ASSIGNMENT: &str = "UPDATE campaign_annotators SET first_time = first_time + $2, repeats = repeats + $3, \
     shared = shared + $4, side_balance = $5 WHERE id = $1";
const SELECT_ITEM: &str =
    "SELECT name, prompt, reference, category, language FROM campaign_items WHERE campaign = $1 AND item = $2";
const SELECT_ANSWERS: &str = "SELECT model, answer FROM campaign_answers WHERE campaign = $1 AND item = $2";
const SELECT_SHOWN: &str = "SELECT item, kind, shown FROM campaign_assignments WHERE id = $1 AND annotator = $2";
const SELECT_STANDING: &str = "SELECT id, judgement <> $2 OR answers <> $3 FROM campaign_judgements WHERE assignment = $1 AND withdrawn_at IS NULL";
const INSERT_JUDGEMENT: &str = "INSERT INTO campaign_judgements (id, assignment, revision, judgement, judged_at, answers) \
     SELECT $1, $2, COUNT(*) + 1, $3, $4, $5 FROM campaign_judgements WHERE assignment = $2";
const MARK_JUDGED: &str = "UPDATE campaign_assignments SET judged_at = $2 WHERE id = $1";
pub(in crate::storage) const COUNT_JUDGEMENT: &str =
    "UPDATE campaign_annotators SET judged = judged + $2 WHERE id = $1";
const SELECT_JUDGED: &str = "SELECT j.id, a.annotator, a.unit, i.name AS item, a.shown, a.kind, j.judgement, j.answers, \
     a.given_at, j.judged_at FROM campaign_judgements j JOIN campaign_assignments a ON a.id = j.assignment \
     JOIN campaign_items i ON i.campaign = a.campaign AND i.item = a.item \
     WHERE a.campaign = $1 AND j.withdrawn_at IS NULL ORDER BY j.judged_at, j.id";
const SELECT_GOLD: &str =
    "SELECT unit, gold FROM campaign_units WHERE campaign = $1 AND gold IS NOT NULL ORDER BY unit";

/// Request of an annotator for the next assignment.
#[derive(Debug, Clone, Copy)]
pub struct AssignmentRequest<'r> {
    /// Id of the campaign.
    pub campaign: &'r str,
    /// Pseudonym of the annotator.
    pub annotator: &'r str,
    /// Id for a new assignment.
    pub id: &'r str,
    /// Shape of the campaign.
    pub shape: CampaignShape,
    /// Number of judgements that a unit needs.
    pub needed: u32,
    /// Seed of the campaign.
    pub seed: u64,
    /// Limit of the campaign's assignments.
    pub room: AssignmentLimit,
    /// Current time.
    pub now: Timestamp,
}

/// Maximum number of a campaign's assignments, over all annotators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignmentLimit {
    /// The number that its units need.
    ForAll,
    /// At most this many.
    UpTo(u64),
    /// None: the campaign has ended.
    Ended,
}

/// Reason why there is no assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAssignmentReason {
    /// Every unit open to this annotator has its judgements, or is being judged.
    Units,
    /// The annotator has reached the link's maximum number of judgements.
    Quota,
    /// The campaign creates no more assignments.
    Room,
}

/// An assignment to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignmentRow {
    /// Id of the assignment.
    pub id: String,
    /// Position of the item.
    pub item: i64,
    /// Kind of the assignment.
    pub kind: AssignmentKind,
    /// Models in display order.
    pub shown: Vec<String>,
}

impl AssignmentRow {
    fn new(id: String, item: i64, kind: &str, shown: &str) -> Result<Self, StoreError> {
        let unknown = || sqlx::Error::Decode(format!("an assignment of the kind {kind:?}").into());
        Ok(Self { id, item, kind: AssignmentKind::parse(kind).ok_or_else(unknown)?, shown: models_of(shown)? })
    }
}

/// The next assignment, and the annotator's progress.
#[derive(Debug, Clone, PartialEq)]
pub struct NextAssignment {
    /// The assignment, or the reason why there is none.
    pub assignment: Result<AssignmentRow, NoAssignmentReason>,
    /// Number of judgements so far.
    pub judged: u32,
    /// Maximum number of judgements, if the link has one.
    pub quota: Option<u32>,
}

/// A valid judgement with its assignment.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct CampaignJudgementRow {
    /// Id of the judgement.
    pub id: String,
    /// Pseudonym of the annotator.
    pub annotator: String,
    /// Position of the unit.
    pub unit: i64,
    /// Id of the item.
    pub item: String,
    /// Models in display order, as JSON.
    pub shown: String,
    /// Kind of the assignment.
    pub kind: String,
    /// The judgement, as JSON.
    pub judgement: String,
    /// Answers to the questions, as JSON; may be empty.
    pub answers: String,
    /// Time at which it was shown.
    pub given_at: i64,
    /// Time at which it was judged.
    pub judged_at: i64,
}

/// Judgement to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewCampaignJudgement<'j> {
    /// Id of the judgement.
    pub id: &'j str,
    /// Pseudonym of the annotator.
    pub annotator: &'j str,
    /// Id of the assignment.
    pub assignment: &'j str,
    /// The judgement, as JSON.
    pub judgement: &'j str,
    /// Answers to the questions, as JSON; may be empty.
    pub answers: &'j str,
    /// Corresponding vote in a rated campaign.
    pub vote: Option<&'j CampaignVote>,
    /// Current time.
    pub now: Timestamp,
}

/// The valid judgement of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidJudgement {
    /// Id of the judgement.
    pub id: String,
    /// Whether it differs from the judgement to insert: it was stored first, as from another device.
    pub differs: bool,
}

#[derive(FromRow)]
struct RawAnnotator {
    quota: Option<i64>,
    first_time: i64,
    repeats: i64,
    shared: i64,
    judged: i64,
    side_balance: String,
}

impl RawAnnotator {
    fn progress(&self) -> AnnotatorProgress {
        AnnotatorProgress {
            first_time: count(self.first_time),
            repeats: count(self.repeats),
            shared: count(self.shared),
        }
    }

    fn next(&self, assignment: Result<AssignmentRow, NoAssignmentReason>) -> NextAssignment {
        NextAssignment { assignment, judged: count(self.judged), quota: self.quota.map(count) }
    }
}

#[derive(FromRow)]
struct RawUnit {
    unit: i64,
    item: i64,
    models: String,
}

/// Takes the next unit of one of these kinds for this annotator, in an open transaction of either database.
macro_rules! take_unit {
    ($tx:expr, $request:expr, $kinds:expr, $progress:expr) => {{
        let mut taken: Option<(AssignmentKind, RawUnit)> = None;
        for &kind in $kinds {
            // If another annotator took the last judgement of a unit, the next one is tried.
            loop {
                let (text, limit) = match kind {
                    AssignmentKind::Fresh => (SELECT_FRESH, Some(i64::from($request.needed))),
                    AssignmentKind::Shared => (SELECT_SHARED, None),
                    AssignmentKind::Repeat => {
                        let shown = i64::from($progress.first_time) + i64::from($progress.repeats);
                        (SELECT_REPEAT, Some(shown - i64::from(REPEAT_DISTANCE)))
                    }
                };
                let query = sqlx::query_as(text).bind($request.campaign).bind($request.annotator);
                let query = match limit {
                    Some(limit) => query.bind(limit),
                    None => query,
                };
                let found: Option<RawUnit> = query.fetch_optional(&mut *$tx).await?;
                let Some(unit) = found else { break };
                if kind == AssignmentKind::Repeat {
                    taken = Some((kind, unit));
                    break;
                }
                let query = sqlx::query(TAKE_UNIT).bind($request.campaign).bind(unit.unit);
                let query = query.bind(i64::from($request.needed)).execute(&mut *$tx).await?;
                if query.rows_affected() > 0 {
                    taken = Some((kind, unit));
                    break;
                }
            }
            if taken.is_some() {
                break;
            }
        }
        taken
    }};
}

/// Takes a unit like [`take_unit`], if the campaign may create another assignment.
macro_rules! take_unit_in_room {
    ($tx:expr, $request:expr, $kinds:expr, $progress:expr) => {{
        let has_room = match $request.room {
            AssignmentLimit::ForAll => true,
            AssignmentLimit::Ended => false,
            AssignmentLimit::UpTo(most) => {
                let query = sqlx::query(INCREMENT_HANDED_OUT).bind($request.campaign);
                let query = query.bind(i64::try_from(most).unwrap_or(i64::MAX)).execute(&mut *$tx);
                query.await?.rows_affected() > 0
            }
        };
        if has_room {
            let taken: Option<(AssignmentKind, RawUnit)> = take_unit!($tx, $request, $kinds, $progress);
            if taken.is_none() && $request.room != AssignmentLimit::ForAll {
                sqlx::query(DECREMENT_HANDED_OUT).bind($request.campaign).bind(1_i64).execute(&mut *$tx).await?;
            }
            taken.ok_or(NoAssignmentReason::Units)
        } else {
            Err(NoAssignmentReason::Room)
        }
    }};
}

impl Store {
    /// Reads the annotator's unjudged assignment, or creates a new one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn next_assignment(&self, request: AssignmentRequest<'_>) -> Result<NextAssignment, StoreError> {
        let _time = store_time("next_assignment");
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query_as(LOCK_ANNOTATOR).bind(request.annotator).bind(request.now.0);
            let annotator: RawAnnotator = query.fetch_one(&mut *tx).await?;
            let query = sqlx::query_as(SELECT_WAITING).bind(request.campaign).bind(request.annotator);
            let waiting: Option<(String, i64, String, String)> = query.fetch_optional(&mut *tx).await?;
            if let Some((id, item, kind, shown)) = waiting {
                tx.commit().await?;
                return Ok(annotator.next(Ok(AssignmentRow::new(id, item, &kind, &shown)?)));
            }
            if annotator.quota.is_some_and(|quota| annotator.judged >= quota) {
                tx.commit().await?;
                return Ok(annotator.next(Err(NoAssignmentReason::Quota)));
            }
            let progress = annotator.progress();
            let kinds = kinds_to_try(progress, request.shape);
            let mut taken = take_unit_in_room!(tx, request, &kinds, progress);
            if taken.is_err() && request.room != AssignmentLimit::Ended {
                let query = sqlx::query_as(RELEASE).bind(request.campaign).bind(request.now.0);
                let query = query.bind(request.now.0 - RELEASE_AFTER_MS).bind(request.annotator);
                let released: Vec<(i64, String, String)> = query.fetch_all(&mut *tx).await?;
                if matches!(request.room, AssignmentLimit::UpTo(_)) {
                    let query = sqlx::query(DECREMENT_HANDED_OUT).bind(request.campaign);
                    query.bind(i64::try_from(released.len()).unwrap_or(i64::MAX)).execute(&mut *tx).await?;
                }
                let counted = released.iter().filter(|(_, kind, _)| kind != AssignmentKind::Repeat.as_str());
                for (unit, _, holder) in counted {
                    let query = sqlx::query(GIVE_BACK).bind(request.campaign).bind(unit).bind(holder);
                    query.execute(&mut *tx).await?;
                }
                if !released.is_empty() {
                    taken = take_unit_in_room!(tx, request, &kinds, progress);
                }
            }
            let (kind, unit) = match taken {
                Ok(taken) => taken,
                Err(nothing) => {
                    tx.commit().await?;
                    return Ok(annotator.next(Err(nothing)));
                }
            };
            let number = annotator.first_time + annotator.repeats + 1;
            let mut balance: SideBalance = serde_json::from_str(&annotator.side_balance).unwrap_or_default();
            let mut rng = rng_of(request.seed, request.annotator, number.unsigned_abs());
            let shown = arrange(&models_of(&unit.models)?, &balance, &mut rng);
            count_sides(&mut balance, &shown);
            let (shown_text, balance) = (json(&shown), json(&balance));
            let query = sqlx::query(INSERT_ASSIGNMENT).bind(request.id).bind(request.campaign).bind(request.annotator);
            let query = query.bind(number).bind(unit.unit).bind(unit.item).bind(kind.as_str()).bind(shown_text);
            query.bind(request.now.0).execute(&mut *tx).await?;
            let is = |wanted| i64::from(kind == wanted);
            let query = sqlx::query(COUNT_ASSIGNMENT).bind(request.annotator).bind(1 - is(AssignmentKind::Repeat));
            let query = query.bind(is(AssignmentKind::Repeat)).bind(is(AssignmentKind::Shared)).bind(balance);
            query.execute(&mut *tx).await?;
            let assignment = AssignmentRow { id: request.id.to_owned(), item: unit.item, kind, shown };
            tx.commit().await.map(|()| annotator.next(Ok(assignment)))
        })
    }

    /// Reads prompt, reference and answers of an item.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign_item(&self, campaign: &str, item: i64) -> Result<ItemTexts, StoreError> {
        let _time = store_time("campaign_item");
        let (name, prompt, reference, category, language): (String, String, String, String, String) =
            on_reader!(self, |pool| sqlx::query_as(SELECT_ITEM).bind(campaign).bind(item).fetch_one(pool).await)?;
        let answers: Vec<(String, String)> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_ANSWERS).bind(campaign).bind(item).fetch_all(pool).await)?;
        Ok(ItemTexts { name, prompt, reference, category, language, answers })
    }

    /// Reads an assignment; `None` if it is not this annotator's.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn assignment(&self, assignment: &str, annotator: &str) -> Result<Option<AssignmentRow>, StoreError> {
        let _time = store_time("assignment");
        let row: Option<(i64, String, String)> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_SHOWN).bind(assignment).bind(annotator).fetch_optional(pool).await
        })?;
        row.map(|(item, kind, shown)| AssignmentRow::new(assignment.to_owned(), item, &kind, &shown)).transpose()
    }

    /// Inserts a judgement of an assignment, and its vote; if there is a valid one already, inserts nothing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_campaign_judgement(&self, new: NewCampaignJudgement<'_>) -> Result<ValidJudgement, StoreError> {
        let _time = store_time("insert_campaign_judgement");
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(LOCK_ANNOTATOR).bind(new.annotator).bind(new.now.0).fetch_one(&mut *tx).await?;
            let query = sqlx::query_as(SELECT_STANDING).bind(new.assignment).bind(new.judgement).bind(new.answers);
            let standing: Option<(String, bool)> = query.fetch_optional(&mut *tx).await?;
            if let Some((id, differs)) = standing {
                tx.commit().await?;
                return Ok(ValidJudgement { id, differs });
            }
            let query = sqlx::query(INSERT_JUDGEMENT).bind(new.id).bind(new.assignment).bind(new.judgement);
            query.bind(new.now.0).bind(new.answers).execute(&mut *tx).await?;
            sqlx::query(MARK_JUDGED).bind(new.assignment).bind(new.now.0).execute(&mut *tx).await?;
            sqlx::query(COUNT_JUDGEMENT).bind(new.annotator).bind(1_i64).execute(&mut *tx).await?;
            if let Some(vote) = new.vote {
                insert_vote!(tx, new, vote);
            }
            tx.commit().await.map(|()| ValidJudgement { id: new.id.to_owned(), differs: false })
        })
    }

    /// Reads all valid judgements of a campaign in the order in which they were made.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign_judgements(&self, campaign: &str) -> Result<Vec<CampaignJudgementRow>, StoreError> {
        let _time = store_time("campaign_judgements");
        on_reader!(self, |pool| sqlx::query_as(SELECT_JUDGED).bind(campaign).fetch_all(pool).await)
    }

    /// Reads the known outcomes by unit.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign_gold(&self, campaign: &str) -> Result<Vec<(i64, String)>, StoreError> {
        let _time = store_time("campaign_gold");
        on_reader!(self, |pool| sqlx::query_as(SELECT_GOLD).bind(campaign).fetch_all(pool).await)
    }
}

fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

fn models_of(text: &str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()).into())
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers are JSON")
}
