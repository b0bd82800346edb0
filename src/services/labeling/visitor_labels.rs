//! Labels of visitors' prompts: the final label, and the visitor's correction after the vote.

use crate::domain::battle::BattleId;
use crate::domain::labeling::final_labels::QuestionLabel;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::labeling::{LabelOrigin, final_label};
use crate::domain::time::Timestamp;
use crate::infra::storage::{LabelSource, NewLabel, Store, StoreError};

/// Returns the final label of a battle's first prompt. `given` is the visitor's label at the start, used if there is no other.
///
/// # Errors
/// [`StoreError`].
pub async fn label_of_question(
    store: &Store,
    scheme: Scheme,
    battle: &BattleId,
    given: Option<&str>,
) -> Result<Option<QuestionLabel>, StoreError> {
    let labels = store.labels_of_prompt(scheme, battle.as_str()).await?;
    let said: Vec<_> = labels.iter().map(|label| (label.source, label.label.as_str())).collect();
    let found = final_label(&said).map(|found| QuestionLabel { label: found.label.to_owned(), source: found.source });
    let given = || given.map(|label| QuestionLabel { label: label.to_owned(), source: LabelOrigin::Visitor });
    Ok(found.or_else(given))
}

/// Stores the visitor's label, replacing an earlier one. Labels of reviewers and seeds take precedence over it.
///
/// # Errors
/// [`StoreError`]; nothing was stored then.
pub async fn correct(
    store: &Store,
    scheme: Scheme,
    battle: &BattleId,
    label: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let by = LabelSource { scheme, source: LabelOrigin::Visitor, name: "" };
    let label = NewLabel { query_id: battle.as_str(), label, confidence: None };
    store.put_labels(by, &[label], now).await.map(drop)
}
