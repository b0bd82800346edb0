//! Labels texts by a language model, and stores each reply so that no request is paid for twice.

use futures_util::{StreamExt, stream};
use parking_lot::Mutex;

use super::LabelingError;
use crate::domain::benchmark::item::{ItemSampling, request_sha256};
use crate::domain::judging::budget::{Tokens, estimate_all};
use crate::domain::labeling::few_shot::{FewShotPrompt, FoldPrompts, read_label};
use crate::domain::labeling::scheme::Scheme;
use crate::domain::labeling::seed_labels::Seed;
use crate::domain::labeling::validation::{Validation, ValidationOptions, score};
use crate::infra::llm::model_client::{AskError, ModelClient, RunLimits};
use crate::infra::storage::Store;
use crate::infra::time::clock::Clock;

/// Number of examples per label in the prompt.
pub const EXAMPLES_PER_LABEL: usize = 3;
/// Sampling for the likeliest label. A label has few tokens, but a reasoning model needs room before it.
const SAMPLING: ItemSampling =
    ItemSampling { temperature: Some(0.0), max_tokens: Some(2_000), seed: None, logprobs: false };
/// Estimated length of a reply in tokens.
const TYPICAL_REPLY_TOKENS: u64 = 10;

/// Language model that labels texts.
#[derive(Clone, Copy)]
pub struct ModelLabeler<'l> {
    /// Database, for replies.
    pub store: &'l Store,
    /// Clock of the stored replies.
    pub clock: &'l dyn Clock,
    /// Labelling scheme.
    pub scheme: Scheme,
    /// The model.
    pub client: &'l ModelClient,
    /// Limits of the run.
    pub limits: &'l RunLimits,
}

/// Estimated effort of labelling.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LabelingEstimate {
    /// Number of requests without a stored reply.
    pub requests: u64,
    /// Number of requests with a stored reply.
    pub kept: u64,
    /// Expected cost of the pending requests; `None` if the model has no prices.
    pub cost: Option<f64>,
}

impl ModelLabeler<'_> {
    /// Cross-validates: labels each seed with examples from the other folds only, and scores the labels.
    ///
    /// # Errors
    /// [`LabelingError::Unanswered`] if a text got no reply; [`LabelingError::Store`].
    pub async fn validate(
        self,
        seeds: &[Seed],
        options: ValidationOptions,
        progress: impl Fn(u64),
    ) -> Result<Validation, LabelingError> {
        let prompts = FoldPrompts::new(seeds, self.scheme, EXAMPLES_PER_LABEL, options);
        let found = self.labels(&prompts.of(seeds), progress).await?;
        let pairs: Vec<_> = seeds.iter().map(|seed| seed.label).zip(found).collect();
        Ok(score(&pairs, self.scheme, options))
    }

    /// Requests the label of each text, by its instructions; `None` if the reply names none. After a text without a reply no further
    /// requests are sent, and those in flight are still stored.
    ///
    /// # Errors
    /// [`LabelingError::Unanswered`], [`LabelingError::Store`].
    pub async fn labels(
        self,
        texts: &[(&FewShotPrompt, &str)],
        progress: impl Fn(u64),
    ) -> Result<Vec<Option<usize>>, LabelingError> {
        let asked = texts.iter().map(|(prompt, text)| self.label(prompt, text));
        until_failure(asked, self.client.max_concurrent.max(1), progress).await
    }

    async fn label(self, prompt: &FewShotPrompt, text: &str) -> Result<Option<usize>, LabelingError> {
        let messages = prompt.messages(text);
        let request = request_sha256(&messages, &SAMPLING);
        if let Some(kept) = self.store.label_reply(&self.client.id, &request).await? {
            return Ok(kept.and_then(|label| self.scheme.position(&label).ok()));
        }
        let found = match self.client.ask(&messages, SAMPLING.into(), self.limits).await {
            Ok(reply) => read_label(&reply.text, self.scheme),
            // The provider refuses this text permanently.
            Err(AskError::Refused { .. }) => None,
            Err(error) => return Err(LabelingError::Unanswered { model: self.client.id.clone(), error }),
        };
        let label = found.and_then(|position| self.scheme.label(position));
        self.store.put_label_reply(&self.client.id, &request, label, self.clock.now()).await?;
        Ok(found)
    }

    /// Estimates the requests for these texts.
    ///
    /// # Errors
    /// [`LabelingError::Store`].
    pub async fn estimate(self, texts: &[(&FewShotPrompt, &str)]) -> Result<LabelingEstimate, LabelingError> {
        let mut estimate = LabelingEstimate { cost: self.client.prices.map(|_| 0.0), ..LabelingEstimate::default() };
        for (prompt, text) in texts {
            let messages = prompt.messages(text);
            let request = request_sha256(&messages, &SAMPLING);
            if self.store.label_reply(&self.client.id, &request).await?.is_some() {
                estimate.kept += 1;
                continue;
            }
            estimate.requests += 1;
            let tokens = Tokens { input: estimate_all(&messages), output: TYPICAL_REPLY_TOKENS };
            estimate.cost = estimate.cost.zip(self.client.prices).map(|(cost, prices)| cost + prices.cost(tokens));
        }
        Ok(estimate)
    }
}

/// Runs futures with up to `at_once` in flight and returns their results in order. After a failure no other is started, and those in flight
/// complete, since their replies are paid for. `progress` gets the number of successes.
async fn until_failure<T, E>(
    asked: impl Iterator<Item = impl Future<Output = Result<T, E>>>,
    at_once: usize,
    progress: impl Fn(u64),
) -> Result<Vec<T>, E> {
    let failure = Mutex::new(None);
    let asked = asked.map(|asked| async {
        if failure.lock().is_some() {
            return None;
        }
        asked.await.map_err(|error| _ = failure.lock().get_or_insert(error)).ok()
    });
    let mut answers = Vec::new();
    let mut ended = stream::iter(asked).buffered(at_once);
    while let Some(answer) = ended.next().await {
        answers.extend(answer);
        progress(answers.len() as u64);
    }
    drop(ended);
    failure.into_inner().map_or(Ok(answers), Err)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::pin::pin;

    use futures_util::poll;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_is_under_way_ends_after_a_failure_and_nothing_else_begins() {
        let (answer, answered) = oneshot::channel();
        let (answered, begun) = (RefCell::new(Some(answered)), RefCell::new(Vec::new()));
        let ask = async |number| {
            begun.borrow_mut().push(number);
            if number == 0 {
                tokio::task::yield_now().await;
                return Err("failed");
            }
            let answered = answered.borrow_mut().take().expect("only the second is asked");
            answered.await.map_err(|_| "gone")
        };
        let kept = RefCell::new(0);
        let asked = [0, 1, 2].into_iter().map(ask);
        let mut all = pin!(until_failure(asked, 2, |done| *kept.borrow_mut() = done));
        for _ in 0..3 {
            assert!(poll!(&mut all).is_pending(), "the second is under way");
            tokio::task::yield_now().await;
        }
        answer.send(()).unwrap();
        assert_eq!((all.await, *kept.borrow(), begun.take()), (Err("failed"), 1, vec![0, 1]));
    }

    #[tokio::test]
    async fn answers_come_in_the_order_of_the_questions() {
        let asked = [3, 1, 2].into_iter().map(async |number| {
            for _ in 0..number {
                tokio::task::yield_now().await;
            }
            Ok::<_, ()>(number)
        });
        assert_eq!(until_failure(asked, 3, |_| ()).await, Ok(vec![3, 1, 2]));
    }
}
