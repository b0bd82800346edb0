//! Requests to delete the texts of battles: sent on a battle's page or entered by an operator, and decided by an operator. Votes and the
//! public log's commitments stay: only texts and the salts that could prove them are deleted.

use serde_json::json;

use crate::admin::actor::{Actor, audit_json};
use crate::domain::admin::MAX_REASON_CHARS;
use crate::domain::admin::action::AdminAction;
use crate::domain::admin::deletion_request::{BattleReference, DeletionRequestState, DeletionScope};
use crate::domain::battle::BattleId;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{
    DeletionDecision, DeletionPreview, DeletionRequestRow, DeletionTarget, NewDeletionRequest, Store, StoreError,
    is_storable,
};
use crate::infra::time::clock::Clock;

/// Error of submitting or deciding a deletion request.
#[derive(Debug, thiserror::Error)]
pub enum DeletionRequestError {
    /// No stored battle has this id.
    #[error("there is no battle {0}")]
    UnknownBattle(BattleId),
    /// The reference is neither a battle id nor a link.
    #[error("not a battle id or link: give its id, as exports have it, or a link, /battle/ID or /shared/TOKEN")]
    NoReference,
    /// The share link was withdrawn or never existed.
    #[error("no battle is shared by this link any more: give its id as an export has it")]
    UnknownLink,
    /// The battle's visitor is unknown, so the visitor's other battles cannot be found.
    #[error("battle {0} was imported without its visitor: limit the request to the texts of this battle")]
    UnknownVisitor(BattleId),
    /// No deletion request has this id.
    #[error("there is no request {0:?}: `langya requests list` shows them")]
    UnknownRequest(String),
    /// An open request covers the same texts.
    #[error("a request for the same texts is already open")]
    IsOpen,
    /// The request is decided already.
    #[error("this request has already been decided")]
    IsDecided,
    /// The reason is empty, too long or not plain text.
    #[error("give a reason of 1 to {MAX_REASON_CHARS} characters of plain text")]
    Reason,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Stores a request sent on the page of a battle. A duplicate of an open request succeeds and stores nothing.
///
/// # Errors
/// [`DeletionRequestError::Reason`] and [`DeletionRequestError::Store`].
pub async fn ask(
    store: &Store,
    rng: &SharedRng,
    clock: &dyn Clock,
    battle: BattleId,
    reason: &str,
) -> Result<(), DeletionRequestError> {
    let new = NewDeletionRequest {
        id: rng.id(clock),
        battle,
        scope: DeletionScope::Battle,
        reason: check_reason(reason)?,
        entered_by: String::new(),
        created_at: clock.now(),
    };
    store.insert_deletion_request(&new, None).await?;
    Ok(())
}

/// Admin operations on deletion requests.
pub struct DeletionRequests<'r> {
    /// The database.
    pub store: &'r Store,
    /// Source of ids of requests and entries.
    pub rng: &'r SharedRng,
    /// Clock of the decisions.
    pub clock: &'r dyn Clock,
    /// Actor that enters or decides requests, for the audit log.
    pub actor: Actor,
}

impl DeletionRequests<'_> {
    /// Stores a request entered by an operator, and returns its id. `battle` is an id or a link, as parsed by [`BattleReference`].
    ///
    /// # Errors
    /// [`DeletionRequestError`].
    pub async fn add(&self, battle: &str, scope: DeletionScope, reason: &str) -> Result<String, DeletionRequestError> {
        let battle = match BattleReference::parse(battle).ok_or(DeletionRequestError::NoReference)? {
            BattleReference::Id(id) => id,
            BattleReference::Share(token) => {
                self.store.shared_battle(&token).await?.ok_or(DeletionRequestError::UnknownLink)?
            }
        };
        let reason = check_reason(reason)?;
        self.target(&battle, scope).await?;
        let id = self.rng.id(self.clock);
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::EnterRequest, &audit_subject(&id));
        // Without the reason, which may identify the requester: audit log entries are never deleted.
        entry.latter = audit_json(&json!({ "battle": battle, "scope": scope.as_str() }));
        let (entered_by, created_at) = (self.actor.name.clone(), self.clock.now());
        let new = NewDeletionRequest { id: id.clone(), battle, scope, reason, entered_by, created_at };
        let is_new = self.store.insert_deletion_request(&new, Some(&entry)).await?;
        is_new.then_some(id).ok_or(DeletionRequestError::IsOpen)
    }

    /// Returns what a request would delete. Read-only.
    ///
    /// # Errors
    /// [`DeletionRequestError`].
    pub async fn preview(&self, id: &str) -> Result<DeletionPreview, DeletionRequestError> {
        let row = self.find(id).await?;
        let record = self.store.battle_record(&row.request.battle).await?;
        let battles = match self.target(&row.request.battle, row.request.scope).await {
            Ok(target) => self.store.battles_with_texts(&target).await?,
            Err(DeletionRequestError::Store(error)) => return Err(error.into()),
            Err(_) => 0,
        };
        Ok(DeletionPreview { row, record, battles })
    }

    /// Deletes the texts covered by a request, and returns the number of battles. If it fails half-way, the request stays open, and the
    /// next call deletes the rest.
    ///
    /// # Errors
    /// [`DeletionRequestError`].
    pub async fn delete_texts(&self, id: &str, answer: &str) -> Result<u64, DeletionRequestError> {
        let (answer, row) = (check_reason(answer)?, self.find_open(id).await?);
        let (battle, scope) = (&row.request.battle, row.request.scope);
        let target = self.target(battle, scope).await?;
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::DeleteTexts, &audit_subject(id));
        let battles = self.store.battles_with_texts(&target).await?;
        entry.former = audit_json(&json!({ "battle": battle, "scope": scope.as_str(), "battles": battles }));
        entry.latter = audit_json(&json!({ "reason": answer }));
        self.store.begin_deletion(&target, self.clock.now(), &entry).await?;
        let battles = self.store.delete_texts_of_target(&target).await?;
        self.decide(id, DeletionRequestState::Done, answer, battles, None).await?;
        Ok(battles)
    }

    /// Refuses a request.
    ///
    /// # Errors
    /// [`DeletionRequestError`].
    pub async fn refuse(&self, id: &str, answer: &str) -> Result<(), DeletionRequestError> {
        let (answer, _) = (check_reason(answer)?, self.find_open(id).await?);
        let mut entry = self.actor.entry(self.rng, self.clock, AdminAction::RefuseRequest, &audit_subject(id));
        entry.latter = audit_json(&json!({ "reason": answer }));
        self.decide(id, DeletionRequestState::Refused, answer, 0, Some(&entry)).await
    }

    async fn decide(
        &self,
        id: &str,
        state: DeletionRequestState,
        answer: String,
        battles: u64,
        audit: Option<&crate::infra::storage::NewAuditEntry>,
    ) -> Result<(), DeletionRequestError> {
        let decision = DeletionDecision { state, answer, by: self.actor.name.clone(), at: self.clock.now(), battles };
        let was_open = self.store.decide_deletion_request(id, &decision, audit).await?;
        was_open.then_some(()).ok_or(DeletionRequestError::IsDecided)
    }

    async fn find(&self, id: &str) -> Result<DeletionRequestRow, DeletionRequestError> {
        let unknown = || DeletionRequestError::UnknownRequest(id.to_owned());
        if !is_storable(id) {
            return Err(unknown());
        }
        self.store.deletion_request(id).await?.ok_or_else(unknown)
    }

    async fn find_open(&self, id: &str) -> Result<DeletionRequestRow, DeletionRequestError> {
        let row = self.find(id).await?;
        if row.state == DeletionRequestState::Open { Ok(row) } else { Err(DeletionRequestError::IsDecided) }
    }

    async fn target(&self, battle: &BattleId, scope: DeletionScope) -> Result<DeletionTarget, DeletionRequestError> {
        let record = self.store.battle_record(battle).await?;
        let record = record.ok_or_else(|| DeletionRequestError::UnknownBattle(battle.clone()))?;
        let visitor = match scope {
            DeletionScope::Battle => None,
            DeletionScope::Visitor if record.battle.visitor.as_str().is_empty() => {
                return Err(DeletionRequestError::UnknownVisitor(battle.clone()));
            }
            DeletionScope::Visitor => Some(record.battle.visitor),
        };
        Ok(DeletionTarget { battle: battle.clone(), visitor })
    }
}

fn audit_subject(id: &str) -> String {
    format!("request {id}")
}

fn check_reason(reason: &str) -> Result<String, DeletionRequestError> {
    let reason = reason.trim();
    let is_usable = (1..=MAX_REASON_CHARS).contains(&reason.chars().count()) && is_storable(reason);
    is_usable.then(|| reason.to_owned()).ok_or(DeletionRequestError::Reason)
}
