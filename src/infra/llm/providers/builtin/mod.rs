//! Practice models: small programs of clearly different quality, for an arena without any other model.
//!
//! Each model's reply is a pure function of the conversation and a seeded rng, in a file per model; for the prompt cards of the battle page
//! all but the echo use the texts of `prompt_card_answers.rs`. This file streams the reply word by word at the model's speed, like a real
//! one. All of them state that they are practice models.

mod arithmetic;
mod calculator;
mod dates;
mod echo;
mod prompt_card_answers;
mod retriever;
mod rules;
mod scholar;
mod units;
mod words;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep_until};

use super::super::{ChatModel, Message, ModelCard, ReplyPart, ReplyStream, Sampling};
use crate::domain::battle::ModelId;

/// Practice model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PracticeKind {
    /// Repeats the question.
    Echo,
    /// Answers by conversation rules.
    Rules,
    /// Solves arithmetic, units and dates, and refuses everything else.
    Calculator,
    /// Quotes the best passages of a small built-in text.
    Retriever,
    /// Combines passages, worked solutions and code under headings.
    Scholar,
}

/// Writing speed of a practice model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WritingSpeed {
    /// Minimum and maximum delay before the first word, in milliseconds.
    pub first_ms: (u64, u64),
    /// Minimum and maximum delay between two words, in milliseconds.
    pub word_ms: (u64, u64),
}

impl WritingSpeed {
    /// No delays.
    pub const INSTANT: WritingSpeed = WritingSpeed { first_ms: (0, 0), word_ms: (0, 0) };
}

impl PracticeKind {
    /// All practice models.
    pub const ALL: [PracticeKind; 5] = [
        PracticeKind::Echo,
        PracticeKind::Rules,
        PracticeKind::Calculator,
        PracticeKind::Retriever,
        PracticeKind::Scholar,
    ];

    /// Parses a model's id.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// Returns the id in settings, logs and exports.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            PracticeKind::Echo => "practice-echo",
            PracticeKind::Rules => "practice-rules",
            PracticeKind::Calculator => "practice-calculator",
            PracticeKind::Retriever => "practice-retriever",
            PracticeKind::Scholar => "practice-scholar",
        }
    }

    /// Returns the public model card.
    #[must_use]
    pub fn card(self) -> ModelCard {
        let name = match self {
            PracticeKind::Echo => "Echo (practice model)",
            PracticeKind::Rules => "Rules (practice model)",
            PracticeKind::Calculator => "Calculator (practice model)",
            PracticeKind::Retriever => "Retriever (practice model)",
            PracticeKind::Scholar => "Scholar (practice model)",
        };
        ModelCard {
            id: ModelId::new(self.id()),
            name: name.to_owned(),
            organization: "langya".to_owned(),
            license: "Apache-2.0".to_owned(),
            practice: true,
        }
    }

    /// Returns the default writing speed.
    #[must_use]
    pub fn pace(self) -> WritingSpeed {
        let (first_ms, word_ms) = match self {
            PracticeKind::Echo => ((80, 160), (20, 30)),
            PracticeKind::Rules => ((150, 350), (30, 50)),
            PracticeKind::Calculator => ((250, 500), (25, 45)),
            PracticeKind::Retriever => ((300, 600), (25, 40)),
            PracticeKind::Scholar => ((450, 900), (30, 60)),
        };
        WritingSpeed { first_ms, word_ms }
    }

    /// Generates the reply to a conversation that ends with a question.
    pub fn answer(self, conversation: &[Message], rng: &mut impl Rng) -> String {
        match (self, prompt_card_answers::prepared(conversation)) {
            (PracticeKind::Echo, _) | (_, None) => self.generate_answer(conversation, rng),
            (PracticeKind::Rules, Some(prepared)) => prepared.answer_with_question(),
            (PracticeKind::Calculator, Some(prepared)) => prepared.short_answer(),
            (PracticeKind::Retriever, Some(prepared)) => prepared.long_answer(),
            (PracticeKind::Scholar, Some(prepared)) => prepared.as_article(),
        }
    }

    fn generate_answer(self, conversation: &[Message], rng: &mut impl Rng) -> String {
        match self {
            PracticeKind::Echo => echo::answer(conversation, rng),
            PracticeKind::Rules => rules::answer(conversation, rng),
            PracticeKind::Calculator => calculator::answer(conversation),
            PracticeKind::Retriever => retriever::answer(conversation),
            PracticeKind::Scholar => scholar::answer(conversation),
        }
    }
}

/// Practice model as a [`ChatModel`].
#[derive(Debug)]
pub struct PracticeModel {
    kind: PracticeKind,
    pace: WritingSpeed,
    rng: Mutex<ChaCha8Rng>,
}

impl PracticeModel {
    /// Creates a model with a writing speed and the rng for its wording and timing.
    #[must_use]
    pub fn new(kind: PracticeKind, pace: WritingSpeed, rng: ChaCha8Rng) -> Self {
        Self { kind, pace, rng: Mutex::new(rng) }
    }
}

impl ChatModel for PracticeModel {
    /// Ignores temperature and length; a seed determines the wording.
    fn ask(&self, messages: &[Message], sampling: &Sampling) -> ReplyStream {
        let mut rng = sampling.seed.map_or_else(|| self.rng_of_one_reply(), ChaCha8Rng::seed_from_u64);
        let text = self.kind.answer(messages, &mut rng);
        let pieces: Vec<String> = words::pieces(&text).map(str::to_owned).collect();
        // It writes on its own clock, like a model on a server, regardless of the reader.
        let (pace, mut at) = (self.pace, Instant::now());
        let waits = move |(index, piece)| {
            let (shortest, longest) = if index == 0 { pace.first_ms } else { pace.word_ms };
            at += Duration::from_millis(rng.random_range(shortest..=longest));
            async move {
                if at > Instant::now() {
                    sleep_until(at).await;
                }
                Ok(ReplyPart::Text(piece))
            }
        };
        stream::iter(pieces.into_iter().enumerate()).then(waits).boxed()
    }
}

impl PracticeModel {
    /// Returns a separate rng, so that concurrent replies do not wait for each other.
    fn rng_of_one_reply(&self) -> ChaCha8Rng {
        let mut seed = [0; 32];
        self.rng.lock().fill_bytes(&mut seed);
        ChaCha8Rng::from_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::MessageRole;

    /// Creates a conversation of these questions with a fixed answer between them.
    pub(in crate::llm) fn asked(questions: &[&str]) -> Vec<Message> {
        let said = |role, content: &str| Message::of(role, content);
        let turns = questions
            .iter()
            .flat_map(|question| [said(MessageRole::User, question), said(MessageRole::Assistant, "…")]);
        turns.take((questions.len() * 2).saturating_sub(1)).collect()
    }

    #[test]
    fn every_model_answers_every_question() {
        let long = "why (".repeat(5_000);
        let questions = [
            "",
            " ",
            "\0",
            "Hello",
            "你好",
            "2+2",
            "What is the capital of France?",
            "((((",
            "-".repeat(9_000).leak(),
            &long,
        ];
        for kind in PracticeKind::ALL {
            for question in questions {
                let answer = kind.answer(&asked(&[question, question]), &mut ChaCha8Rng::seed_from_u64(1));
                assert!(!answer.trim().is_empty(), "{kind:?} to {:?}", words::excerpt(question, 20));
            }
        }
    }

    #[test]
    fn every_name_says_that_it_is_a_practice_model() {
        for kind in PracticeKind::ALL {
            let card = kind.card();
            assert!(card.practice && card.name.contains("practice") && card.id.as_str().starts_with("practice-"));
            assert_eq!(PracticeKind::parse(kind.id()), Some(kind));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_reply_is_streamed_word_by_word_at_the_models_own_speed() {
        let model = PracticeModel::new(PracticeKind::Echo, PracticeKind::Echo.pace(), ChaCha8Rng::seed_from_u64(3));
        let begun = Instant::now();
        let parts: Vec<_> = model.reply(&asked(&["one two three four"])).collect().await;
        assert!(parts.len() > 8, "{parts:?}");
        let words = u32::try_from(parts.len()).unwrap() - 1;
        let (shortest, longest) = (Duration::from_millis(20) * words, Duration::from_millis(32) * words);
        assert!(begun.elapsed() > shortest && begun.elapsed() < longest + Duration::from_millis(170), "{begun:?}");
    }

    #[tokio::test]
    async fn the_same_seed_gives_the_same_replies() {
        let replies = async || {
            let model = PracticeModel::new(PracticeKind::Echo, WritingSpeed::INSTANT, ChaCha8Rng::seed_from_u64(5));
            let mut replies = Vec::new();
            for _ in 0..5 {
                replies.push(model.reply(&asked(&["Hi"])).collect::<Vec<_>>().await);
            }
            replies
        };
        assert_eq!(replies().await, replies().await);
    }
}
