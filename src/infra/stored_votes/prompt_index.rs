//! Reads the first prompts of all votes into a [`PromptIndex`].

use crate::domain::integrity::prompts::prompt_cluster::PromptSketch;
use crate::domain::integrity::prompts::prompt_index::{PromptIndex, SketchedVote};
use crate::storage::{Store, StoreError, VoteColumn, VotePage, VoteRange};

/// Sequence numbers in one page: a prompt may have thousands of characters.
const PAGE_SIZE: i64 = 1_000;
/// Columns read of each vote.
const COLUMNS: [VoteColumn; 3] = [VoteColumn::Seq, VoteColumn::Voter, VoteColumn::FirstPrompt];

/// Reads the index of all votes. Calls `progress` with the last number read and the last of all.
///
/// # Errors
/// [`StoreError`].
pub async fn read_prompt_index(store: &Store, progress: impl Fn(i64, i64)) -> Result<PromptIndex, StoreError> {
    let last = store.last_vote_seq().await?;
    let (mut index, mut after) = (PromptIndex::default(), 0);
    while after < last {
        let upto = after.saturating_add(PAGE_SIZE).min(last);
        let page = store.cast_vote_page(VoteRange { after, upto, ..VoteRange::ALL }, &COLUMNS).await?;
        // A task on a runtime thread must not compute for long.
        let added = tokio::task::spawn_blocking(move || with_page(index, &page)).await;
        index = added.unwrap_or_else(|panicked| std::panic::resume_unwind(panicked.into_panic()))?;
        after = upto;
        progress(after, last);
    }
    Ok(index)
}

fn with_page(mut index: PromptIndex, page: &VotePage) -> Result<PromptIndex, StoreError> {
    let mut columns = page.columns().map(|(_, values)| values);
    let [seqs, voters, prompts] = std::array::from_fn(|_| columns.next().into_iter().flatten());
    let prompts: Vec<&str> = prompts.collect();
    let sketches = PromptSketch::of_prompts(&prompts);
    for (((seq, voter), prompt), sketch) in seqs.zip(voters).zip(prompts).zip(sketches) {
        let seq = seq.parse().map_err(|_| page.inconsistent("seq", seq))?;
        index.push(SketchedVote { seq, voter, prompt, sketch });
    }
    Ok(index)
}
