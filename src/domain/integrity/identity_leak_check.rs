//! Leak check by a language model: builds the question about the texts of a battle and parses the reply.
//!
//! [`super::identity_leak`] finds literal statements by rules; a language model also understands descriptions. The texts of visitors and
//! models are inserted once, delimited by a [mark](prompt_delimiter) that no text contains; only the names of the listed texts are stored
//! or shown from the reply.

use std::fmt::{self, Write as _};
use std::sync::LazyLock;

use regex::Regex;

use super::identity_leak::{Leak, LeakPlace, TurnTexts};
use crate::battle::{ModelId, Side};
use crate::benchmark::item::ItemSampling;
use crate::benchmark::scores::judgement::JudgeRequest;
use crate::judging::judge_prompt::{JudgePrompt, JudgePromptError, JudgePromptFields, prompt_sha256};
use crate::judging::prompt_delimiter::prompt_delimiter;
use crate::judging::prompt_file::PromptFile;
use crate::judging::reasoning::SplitReply;

/// Reminder after a reply that cannot be parsed.
pub const REMINDER: &str = "End with one line: \"leaks: none\", or \"leaks: \" and the names of the texts that give a model away, such as \
     \"leaks: reply B 1\".";

const PROMPT: &str = include_str!("identity_leak_check/prompt.toml");
const FIELDS: JudgePromptFields = JudgePromptFields { required: &["texts"], optional: &["mark"] };
/// Maximum number of tokens of a reply, including the model's reasoning.
const MAX_REPLY_TOKENS: u32 = 4_096;

/// Matches the line that lists the leaks.
static LEAKS_LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?im)^[^\p{L}\n]*leaks?[^\p{L}\n:：]*[:：](.*)$").expect("the pattern is valid"));
/// Matches the name of a text.
static TEXT_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(prompt|reply|reasoning)\s*([ab]?)\s*(\d{1,9})$").expect("the pattern is valid")
});

/// Error of parsing a reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeakReplyError {
    /// The requested last line is missing.
    #[error("the reply has no line \"leaks: …\"")]
    NoLine,
    /// The line names an unknown text.
    #[error("the reply names a text that does not exist")]
    UnknownText,
}

/// Instructions to a model that checks for leaks.
#[derive(Debug, Clone)]
pub struct LeakCheckPrompt {
    judge_prompt: JudgePrompt,
    sha256: String,
}

impl LeakCheckPrompt {
    /// Loads the built-in instructions.
    ///
    /// # Errors
    /// [`JudgePromptError`]; a test ensures that they are valid.
    pub fn new() -> Result<Self, JudgePromptError> {
        let judge_prompt = JudgePrompt::new("leak", &PromptFile::parse(PROMPT).variant("leak"), FIELDS)?;
        let unfilled = [("texts", "{texts}"), ("mark", "{mark}")];
        Ok(Self { sha256: prompt_sha256(&judge_prompt.messages(&unfilled)), judge_prompt })
    }

    /// Returns the SHA-256 of the instructions before texts are inserted.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Builds the request about a battle.
    #[must_use]
    pub fn request(&self, turns: &[TurnTexts<'_>]) -> JudgeRequest {
        let named = named_texts(turns);
        let mark = prompt_delimiter(named.iter().map(|(_, text)| *text));
        let mut texts = String::new();
        for (leak, text) in &named {
            writeln!(texts, "{mark} {}\n{text}", TextName(*leak)).expect("writing to a String cannot fail");
        }
        write!(texts, "{mark} end of the texts").expect("writing to a String cannot fail");
        let sampling =
            ItemSampling { temperature: Some(0.0), max_tokens: Some(MAX_REPLY_TOKENS), seed: None, logprobs: false };
        JudgeRequest { messages: self.judge_prompt.messages(&[("texts", &texts), ("mark", &mark)]), sampling }
    }
}

/// Parses a reply about these texts: the leaks that its last line names, in the order of the battle.
///
/// # Errors
/// [`LeakReplyError`].
pub fn read_reply(reply: &str, turns: &[TurnTexts<'_>]) -> Result<Vec<Leak>, LeakReplyError> {
    let line = LEAKS_LINE.captures_iter(SplitReply::split(reply).reply).last().ok_or(LeakReplyError::NoLine)?;
    let said = line[1].trim_matches(|c: char| !c.is_alphanumeric());
    if said.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    let texts: Vec<Leak> = named_texts(turns).into_iter().map(|(leak, _)| leak).collect();
    let mut said: Vec<Leak> = said.split([',', ';', '，', '；', '、']).map(leak_of).collect::<Result<_, _>>()?;
    if said.iter().any(|leak| !texts.contains(leak)) {
        return Err(LeakReplyError::UnknownText);
    }
    said.sort_by_key(|leak| texts.iter().position(|text| text == leak));
    said.dedup();
    Ok(said)
}

fn leak_of(name: &str) -> Result<Leak, LeakReplyError> {
    let name = name.trim_matches(|c: char| !c.is_alphanumeric());
    let found = TEXT_NAME.captures(name).ok_or(LeakReplyError::UnknownText)?;
    let side = if found[2].eq_ignore_ascii_case("a") { Side::A } else { Side::B };
    let place = match (found[1].to_ascii_lowercase().as_str(), found[2].is_empty()) {
        ("prompt", true) => LeakPlace::Prompt,
        ("reply", false) => LeakPlace::Reply(side),
        ("reasoning", false) => LeakPlace::Reasoning(side),
        _ => return Err(LeakReplyError::UnknownText),
    };
    let turn = found[3].parse().map_err(|_| LeakReplyError::UnknownText)?;
    Ok(Leak { turn, place })
}

/// Lists the texts that are not empty, each with the leak that it would be.
fn named_texts<'t>(turns: &[TurnTexts<'t>]) -> Vec<(Leak, &'t str)> {
    let of_turn = |texts: &TurnTexts<'t>| {
        let of_side = |side: Side| {
            let (reply, reasoning) = (texts.replies[side.index()], texts.reasoning[side.index()]);
            [(LeakPlace::Reasoning(side), reasoning), (LeakPlace::Reply(side), reply)]
        };
        let [a, b] = Side::BOTH.map(of_side);
        let places = [(LeakPlace::Prompt, texts.prompt)].into_iter().chain(a).chain(b);
        let turn = texts.turn;
        places.map(move |(place, text)| (Leak { turn, place }, text)).collect::<Vec<_>>()
    };
    turns.iter().flat_map(of_turn).filter(|(_, text)| !text.trim().is_empty()).collect()
}

/// Name of a text in the question and in the reply.
#[derive(Debug, Clone, Copy)]
pub struct TextName(pub Leak);

impl fmt::Display for TextName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turn = self.0.turn;
        match self.0.place {
            LeakPlace::Prompt => write!(f, "prompt {turn}"),
            LeakPlace::Reply(side) => write!(f, "reply {} {turn}", side.letter()),
            LeakPlace::Reasoning(side) => write!(f, "reasoning {} {turn}", side.letter()),
        }
    }
}

/// Formats the published reason of an exclusion for the leaks that a language model found.
#[must_use]
pub fn exclusion_reason(leaks: &[Leak], judge: &ModelId) -> String {
    let leaks: Vec<String> = leaks.iter().map(Leak::to_string).collect();
    format!("{}, as {judge} reads it", leaks.join("; "))
}

#[cfg(test)]
mod judged_replies;
#[cfg(test)]
mod tests;
