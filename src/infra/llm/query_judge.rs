//! Queries a judge, and again, at most twice, if the reply cannot be parsed.

use std::time::Duration;

use crate::domain::benchmark::runs::run_report::RequestPlanOptions;
use crate::domain::benchmark::scores::judgement::{JudgeRequest, Status};
use crate::domain::judging::budget::Tokens;
use crate::domain::judging::judge_prompt::with_reminder;
use crate::domain::judging::reasoning::SplitReply;
use crate::domain::judging::token_probabilities::{NumberToken, expected_verdict};
use crate::domain::judging::verdict::{Verdict, VerdictError};
use crate::llm::model_client::{AskError, ModelClient, RunLimits, WholeReply};
use crate::llm::{Message, Usage};

/// Maximum number of further queries after an unparseable reply.
const MAX_REPEATED_QUERIES: usize = 2;
/// Estimated length of a judge's reply in tokens.
const TYPICAL_VERDICT_TOKENS: u64 = 300;

/// Returns the maximum effort of a judge query.
#[must_use]
pub fn effort(judge: &ModelClient) -> RequestPlanOptions {
    RequestPlanOptions {
        replies: 1 + MAX_REPEATED_QUERIES as u64,
        tries: judge.tries(),
        usual_reply: TYPICAL_VERDICT_TOKENS,
    }
}

/// Expected format of a judge's reply.
pub struct ReplyFormat<'f> {
    /// Parses the reply.
    pub parse: &'f (dyn Fn(&str) -> Result<Verdict, VerdictError> + Sync),
    /// Instruction that requests the format again.
    pub reminder: &'f str,
}

/// Result of a judge query.
#[derive(Debug, Default)]
pub struct JudgeReply {
    /// Last reply verbatim; empty if there was none.
    pub raw_text: String,
    /// Reasoning that the provider sent separately.
    pub reasoning: String,
    /// Its last numbers with their alternatives, if the provider returns them.
    pub numbers: Vec<NumberToken>,
    /// Earlier replies, which could not be parsed.
    pub earlier: Vec<String>,
    /// Parsed verdict.
    pub verdict: Option<Verdict>,
    /// Reason why there is no verdict.
    pub status: Option<Status>,
    /// Number of requests sent.
    pub attempts: u32,
    /// Time from the first request to the end of the last reply.
    pub latency: Duration,
    /// Token counts of the provider, over all replies.
    pub usage: Usage,
    /// Tokens of failed requests that may be billed.
    pub lost: Tokens,
}

/// Earlier attempts to query a judge, and the store for new ones.
pub struct Attempts<'n, K> {
    /// Name of the query, for [`ModelClient::ask_for`].
    pub name: &'n str,
    /// Unsettled replies of an earlier run.
    pub earlier: Vec<WholeReply>,
    /// Stores an unsettled reply before the judge is queried again; `false` if it cannot be stored.
    pub keep: K,
}

/// Queries the judge, and again if the reply cannot be parsed; replies of an earlier run count as the first ones. Returns no reply if the
/// run ends before the next request is sent. An error is returned beside the reply, except for a rejected request, which counts as a reply.
pub async fn query_judge<F: Future<Output = bool>>(
    judge: &ModelClient,
    request: &JudgeRequest,
    form: &ReplyFormat<'_>,
    attempts: Attempts<'_, impl Fn(WholeReply) -> F>,
    limits: &RunLimits,
) -> (Option<JudgeReply>, Option<AskError>) {
    let mut heard = JudgeReply::default();
    let mut earlier = attempts.earlier.into_iter();
    for further in 0..=MAX_REPEATED_QUERIES {
        let (reply, is_new) = match earlier.next() {
            Some(reply) => (reply, false),
            None => {
                let (name, messages) = (format!("{} {further}", attempts.name), messages(request, form, further));
                match judge.ask_for(&name, &messages, request.sampling.into(), limits).await {
                    Ok(reply) => (reply, true),
                    Err(error) => {
                        let told = Some(error.clone()).filter(|error| !matches!(error, AskError::Refused { .. }));
                        return (heard.into_failed_reply(error), told);
                    }
                }
            }
        };
        heard.add_reply(&reply, form, judge.max_tokens(request.sampling.max_tokens));
        if heard.is_settled() {
            break;
        }
        if is_new && further < MAX_REPEATED_QUERIES && !(attempts.keep)(reply).await {
            return (None, None);
        }
    }
    (Some(heard), None)
}

/// Builds the messages. A repeated query differs, since at temperature 0 the same one would get the same reply.
fn messages(request: &JudgeRequest, form: &ReplyFormat<'_>, further: usize) -> Vec<Message> {
    match further {
        1.. if request.sampling.temperature == Some(0.0) => with_reminder(&request.messages, form.reminder),
        _ => request.messages.clone(),
    }
}

impl JudgeReply {
    /// Creates the reply of a case that needs no judge.
    pub fn read(verdict: Verdict) -> Self {
        Self { verdict: Some(verdict), ..Self::default() }
    }

    /// Creates the failure of a case that needs no judge.
    pub fn failed(status: Status) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Adds the next reply; the previous one becomes an earlier one. A reply of as many tokens as the limit allows was cut.
    fn add_reply(&mut self, reply: &WholeReply, form: &ReplyFormat<'_>, limit: Option<u32>) {
        if self.attempts > 0 {
            self.earlier.push(std::mem::take(&mut self.raw_text));
        }
        self.add(reply.attempts, reply.latency, reply.usage);
        self.lost = self.lost.plus(reply.lost);
        self.raw_text.clone_from(&reply.text);
        self.reasoning.clone_from(&reply.reasoning);
        self.numbers.clone_from(&reply.numbers);
        self.read_as(form.parse);
        if limit.zip(reply.usage.output).is_some_and(|(limit, output)| output >= u64::from(limit)) {
            self.reject_open_end(form.parse);
        }
    }

    /// Whether no further query is needed.
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

    /// Parses the last reply. Reasoning before it is ignored; the score is the expected one if that is known.
    pub fn read_as(&mut self, parse: impl Fn(&str) -> Result<Verdict, VerdictError>) {
        let parse = |reply: &str| parse(SplitReply::split(reply).reply);
        (self.verdict, self.status) = match parse(&self.raw_text) {
            Ok(verdict) => (Some(expected_verdict(verdict, &self.raw_text, &self.numbers, parse)), None),
            Err(error) => (None, Some(Status::from(error))),
        };
    }

    /// Makes the last reply unreadable if more digits at its end would change the verdict: of a reply that was cut, `Rating: 1` may be the
    /// beginning of 10.
    pub fn reject_open_end(&mut self, parse: impl Fn(&str) -> Result<Verdict, VerdictError>) {
        let parse = |reply: &str| parse(SplitReply::split(reply).reply);
        if self.status.is_none() && parse(&self.raw_text) != parse(&format!("{}0", self.raw_text)) {
            (self.verdict, self.status) = (None, Some(Status::ParseFailed));
        }
    }

    /// Returns the reply to store after a request error; `None` if the run ended before a request was sent. If it ended after failed
    /// requests, these are stored, since they may be billed.
    fn into_failed_reply(mut self, error: AskError) -> Option<Self> {
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
    use crate::domain::judging::verdict::bracketed_score;
    use crate::domain::judging::verdict::pairwise::VerdictScale;
    use crate::llm::{ChatError, ChatModel, ReplyStream, Sampling};

    /// Model that never answers in time.
    struct Late;

    impl ChatModel for Late {
        fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
            let late = ChatError::Timeout { awaited: "first token", after: Duration::from_secs(1) };
            stream::iter([Err(late)]).boxed()
        }
    }

    #[test]
    fn a_number_at_the_end_of_a_reply_of_as_many_tokens_as_allowed_is_no_score() {
        let parse = |reply: &str| bracketed_score::parse(reply).map(Verdict::Rating);
        let form = ReplyFormat { parse: &parse, reminder: "" };
        let status = |text: &str, output: u64, limit: Option<u32>| {
            let reply = WholeReply {
                text: text.to_owned(),
                reasoning: String::new(),
                attempts: 1,
                latency: Duration::ZERO,
                usage: Usage { input: None, output: Some(output) },
                numbers: Vec::new(),
                lost: Tokens::default(),
            };
            let mut heard = JudgeReply::default();
            heard.add_reply(&reply, &form, limit);
            heard.status
        };
        assert_eq!(status("Rating: 1", 16, Some(16)), Some(Status::ParseFailed), "it may be the beginning of 10");
        assert_eq!(status("Rating: 1", 15, Some(16)), None);
        assert_eq!(status("Rating: 1", 16, None), None);
        assert_eq!(status("Rating: [[1]]", 16, Some(16)), None, "nothing can follow within the brackets");
        assert_eq!(status("Rating: 7, since 2", 16, Some(16)), None, "the score is complete");
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_be_billed_is_kept_where_the_run_ends_before_the_next_try() {
        let rng = ChaCha8Rng::seed_from_u64(7);
        let judge = ModelClient::new(ModelId::new("j"), Arc::new(Late), BenchSettings::default(), rng);
        let request = JudgeRequest { messages: vec![Message::user("twelve signs")], sampling: ItemSampling::default() };
        let form = ReplyFormat { parse: &|reply| VerdictScale::Three.parse(reply), reminder: "" };
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
