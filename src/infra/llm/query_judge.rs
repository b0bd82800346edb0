//! Asks a judge, and again, at most twice, if the reply cannot be parsed.

use std::time::Duration;

use crate::domain::benchmark::judgement::{JudgeRequest, Status};
use crate::domain::benchmark::run_report::Effort;
use crate::domain::judging::budget::Tokens;
use crate::domain::judging::judge_prompt::with_reminder;
use crate::domain::judging::reasoning::Thought;
use crate::domain::judging::token_probabilities::{NumberToken, expected_verdict};
use crate::domain::judging::verdict::{Verdict, VerdictError};
use crate::llm::model_client::{AskError, ModelClient, RunLimits, WholeReply};
use crate::llm::{Message, Usage};

/// Further questions after a reply that cannot be read.
const FURTHER: usize = 2;
/// Estimated length of a judge's reply in tokens.
const USUAL_VERDICT: u64 = 300;

/// How often a judge is asked at most.
#[must_use]
pub fn effort(judge: &ModelClient) -> Effort {
    Effort { replies: 1 + FURTHER as u64, tries: judge.tries(), usual_reply: USUAL_VERDICT }
}

/// The form that a reply is to have.
pub struct ReplyFormat<'f> {
    /// Reads it.
    pub parse: &'f (dyn Fn(&str) -> Result<Verdict, VerdictError> + Sync),
    /// Asks for it once more.
    pub reminder: &'f str,
}

/// Result of a judge query.
#[derive(Debug, Default)]
pub struct JudgeReply {
    /// The last reply as it came; empty where there was none.
    pub raw_text: String,
    /// The reasoning that the provider sent apart from it.
    pub reasoning: String,
    /// Its last numbers with what could have stood in their place, where the provider returns it.
    pub numbers: Vec<NumberToken>,
    /// Replies before it, which could not be read.
    pub earlier: Vec<String>,
    /// What was read in it.
    pub verdict: Option<Verdict>,
    /// Why nothing was read.
    pub status: Option<Status>,
    /// Requests that it took.
    pub attempts: u32,
    /// From the first request to the end of the last reply.
    pub latency: Duration,
    /// What the provider counted, over all replies.
    pub usage: Usage,
    /// Tokens of requests that failed and may be billed.
    pub lost: Tokens,
}

/// What was heard of a judge before, and where what is heard now is kept.
pub struct Attempts<'n, K> {
    /// Names what is asked for, for [`ModelClient::ask_for`].
    pub name: &'n str,
    /// Replies of an earlier run, which settled nothing then.
    pub earlier: Vec<WholeReply>,
    /// Keeps a reply that settles nothing, before the judge is asked again; `false` where it cannot be kept.
    pub keep: K,
}

/// Asks the judge, and asks again if the reply cannot be parsed; replies of an earlier run count as the first ones. Returns no
/// reply if the run ends before the next request is sent. An error is returned beside the reply, unless it is a refusal, which is a reply of its own.
pub async fn query_judge<F: Future<Output = bool>>(
    judge: &ModelClient,
    request: &JudgeRequest,
    form: &ReplyFormat<'_>,
    attempts: Attempts<'_, impl Fn(WholeReply) -> F>,
    limits: &RunLimits,
) -> (Option<JudgeReply>, Option<AskError>) {
    let mut heard = JudgeReply::default();
    let mut earlier = attempts.earlier.into_iter();
    for further in 0..=FURTHER {
        let (reply, is_new) = match earlier.next() {
            Some(reply) => (reply, false),
            None => {
                let (name, messages) = (format!("{} {further}", attempts.name), messages(request, form, further));
                match judge.ask_for(&name, &messages, request.sampling.into(), limits).await {
                    Ok(reply) => (reply, true),
                    Err(error) => {
                        let told = Some(error.clone()).filter(|error| !matches!(error, AskError::Refused { .. }));
                        return (heard.broken_off(error), told);
                    }
                }
            }
        };
        heard.hear(&reply, form);
        if heard.is_settled() {
            break;
        }
        if is_new && further < FURTHER && !(attempts.keep)(reply).await {
            return (None, None);
        }
    }
    (Some(heard), None)
}

/// At temperature 0 the same question would get the same reply.
fn messages(request: &JudgeRequest, form: &ReplyFormat<'_>, further: usize) -> Vec<Message> {
    match further {
        1.. if request.sampling.temperature == Some(0.0) => with_reminder(&request.messages, form.reminder),
        _ => request.messages.clone(),
    }
}

impl JudgeReply {
    /// What needs no judge.
    pub fn read(verdict: Verdict) -> Self {
        Self { verdict: Some(verdict), ..Self::default() }
    }

    /// Cases that need no judge.
    pub fn failed(status: Status) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Takes the next reply; the one before it is an earlier one then.
    fn hear(&mut self, reply: &WholeReply, form: &ReplyFormat<'_>) {
        if self.attempts > 0 {
            self.earlier.push(std::mem::take(&mut self.raw_text));
        }
        self.add(reply.attempts, reply.latency, reply.usage);
        self.lost = self.lost.plus(reply.lost);
        self.raw_text.clone_from(&reply.text);
        self.reasoning.clone_from(&reply.reasoning);
        self.numbers.clone_from(&reply.numbers);
        self.read_as(form.parse);
    }

    /// Whether nobody asks again.
    fn is_settled(&self) -> bool {
        !matches!(self.status, Some(Status::ParseFailed | Status::OutOfRange))
    }

    fn add(&mut self, attempts: u32, latency: Duration, usage: Usage) {
        self.attempts += attempts;
        self.latency += latency;
        let sum = |before: Option<u64>, more: Option<u64>| before.map_or(more, |before| Some(before + more?));
        self.usage = match self.usage {
            none if none == Usage::default() => usage,
            before => Usage { input: sum(before.input, usage.input), output: sum(before.output, usage.output) },
        };
    }

    /// Reads the last reply. What the judge thought before it is no verdict; its score is the expected one where that is known.
    pub fn read_as(&mut self, parse: impl Fn(&str) -> Result<Verdict, VerdictError>) {
        let parse = |reply: &str| parse(Thought::split(reply).reply);
        (self.verdict, self.status) = match parse(&self.raw_text) {
            Ok(verdict) => (Some(expected_verdict(verdict, &self.raw_text, &self.numbers, parse)), None),
            Err(error) => (None, Some(Status::from(error))),
        };
    }

    /// What is kept where a request did not come through; nothing where the run ended before a request was sent. Where it ended after
    /// requests that failed, they are kept, since they may be billed.
    fn broken_off(mut self, error: AskError) -> Option<Self> {
        let (attempts, latency, lost, status) = match error {
            AskError::Ended { attempts: 0, .. } => return None,
            AskError::Ended { attempts, latency, lost, .. } | AskError::Failed { attempts, latency, lost, .. } => {
                (attempts, latency, lost, Status::TransportFailed)
            }
            AskError::Refused { attempts, latency, lost, .. } => (attempts, latency, lost, Status::Refused),
        };
        self.add(attempts, latency, Usage::default());
        self.lost = self.lost.plus(lost);
        self.status = Some(status);
        self.verdict = None;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::Arc;

    use futures_util::{StreamExt, stream};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::config::BenchSettings;
    use crate::domain::battle::ModelId;
    use crate::domain::benchmark::item::ItemSampling;
    use crate::domain::judging::budget::Budget;
    use crate::domain::judging::verdict::pair::Levels;
    use crate::llm::{ChatError, ChatModel, ReplyStream, Sampling};

    /// Never answers in time.
    struct Late;

    impl ChatModel for Late {
        fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
            let late = ChatError::Timeout { awaited: "first token", after: Duration::from_secs(1) };
            stream::iter([Err(late)]).boxed()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_be_billed_is_kept_where_the_run_ends_before_the_next_try() {
        let rng = ChaCha8Rng::seed_from_u64(7);
        let judge = ModelClient::new(ModelId::new("j"), Arc::new(Late), BenchSettings::default(), rng);
        let request = JudgeRequest { messages: vec![Message::user("twelve signs")], sampling: ItemSampling::default() };
        let form = ReplyFormat { parse: &|reply| Levels::Three.parse(reply), reminder: "" };
        let ask = async |max_calls| {
            let limits =
                RunLimits::new(CancellationToken::new(), Budget { max_calls: Some(max_calls), max_cost: None });
            let attempts = Attempts { name: "", earlier: Vec::new(), keep: |_: WholeReply| ready(true) };
            query_judge(&judge, &request, &form, attempts, &limits).await
        };
        let (kept, error) = ask(1).await;
        let kept = kept.expect("a request that was sent");
        assert_eq!((kept.status, kept.attempts), (Some(Status::TransportFailed), 1));
        assert_eq!(kept.lost, Tokens { input: 7, output: 0 });
        assert!(matches!(error, Some(AskError::Ended { attempts: 1, .. })), "{error:?}");
        assert!(ask(0).await.0.is_none(), "nothing was sent");
    }
}
