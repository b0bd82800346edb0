//! Gives first questions their digests, a few at a time: new ones, and those of an arena that is older than digests.

use crate::domain::integrity::question_digest::question_digest;
use crate::infra::storage::{FirstQuestion, Store, StoreError};

/// Questions of one commit at most.
const AT_ONCE: u32 = 200;

/// Whether there may be more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filled {
    /// Every question had its digest.
    All,
    /// Some got theirs, and there may be more.
    Some,
}

/// Gives a few questions their digests.
///
/// # Errors
/// [`StoreError`].
pub async fn fill_question_digests(store: &Store) -> Result<Filled, StoreError> {
    let questions = store.questions_without_digest(AT_ONCE).await?;
    if questions.is_empty() {
        return Ok(Filled::All);
    }
    let digest = |question: FirstQuestion| (question_digest(&question.prompt), question);
    let digests: Vec<_> = questions.into_iter().map(digest).map(|(digest, question)| (question, digest)).collect();
    store.set_question_digests(&digests).await?;
    Ok(Filled::Some)
}
