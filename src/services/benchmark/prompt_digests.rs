//! Computes missing digests of first prompts in batches: of new ones, and of those in arenas older than digests.

use crate::domain::integrity::prompts::prompt_digest::prompt_digest;
use crate::infra::storage::{FirstQuestion, Store, StoreError};

/// Maximum number of prompts per commit.
const BATCH_SIZE: u32 = 200;

/// Result of one batch of digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestProgress {
    /// No prompt lacked its digest.
    All,
    /// Some digests were stored, and more may be missing.
    Some,
}

/// Stores one batch of missing digests.
///
/// # Errors
/// [`StoreError`].
pub async fn fill_prompt_digests(store: &Store) -> Result<DigestProgress, StoreError> {
    let questions = store.questions_without_digest(BATCH_SIZE).await?;
    if questions.is_empty() {
        return Ok(DigestProgress::All);
    }
    let digest = |question: FirstQuestion| (prompt_digest(&question.prompt), question);
    let digests: Vec<_> = questions.into_iter().map(digest).map(|(digest, question)| (question, digest)).collect();
    store.set_prompt_digests(&digests).await?;
    Ok(DigestProgress::Some)
}
