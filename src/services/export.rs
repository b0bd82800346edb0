//! The vote log for other programs: one JSON object a line, in log order, under LMArena's names where it has them.

use std::io::{self, Write};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::battle::text_counts::TextCounts;
use crate::battle::{Outcome, Side};
use crate::chance::hex;
use crate::clock::Timestamp;
use crate::storage::{Store, StoreError, VoteRow};

/// Votes read at a time, so that memory stays flat.
const PAGE: u32 = 1_000;

/// What to export.
#[derive(Debug, Clone, Copy)]
pub struct VoteSelection {
    /// Votes cast at this time or later.
    pub since: Timestamp,
    /// Votes cast before this time.
    pub until: Timestamp,
    /// With the conversations.
    pub with_text: bool,
}

/// Why an export stopped.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The votes could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file could not be written.
    #[error("the export could not be written: {0}")]
    Write(#[from] io::Error),
}

/// Writes the selected votes and returns how many there were.
///
/// # Errors
/// [`ExportError`]; what was written so far is a valid prefix.
pub async fn votes(store: &Store, selection: VoteSelection, out: &mut impl Write) -> Result<u64, ExportError> {
    let (mut seq, mut written) = (0, 0);
    loop {
        let page = store.votes_after(seq, selection.since, selection.until, PAGE).await?;
        for vote in &page {
            let conversations =
                if selection.with_text { Some(conversations(store, &vote.battle).await?) } else { None };
            let [a, b] = conversations.map_or([None, None], |[a, b]| [Some(a), Some(b)]);
            serde_json::to_writer(&mut *out, &LogRow::of(vote, a, b)).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
            seq = vote.seq;
            written += 1;
        }
        if page.len() < PAGE as usize {
            out.flush()?;
            return Ok(written);
        }
    }
}

/// One row of the log.
#[derive(Serialize)]
struct LogRow<'a> {
    seq: i64,
    battle_id: &'a str,
    model_a: &'a str,
    model_b: &'a str,
    winner: &'static str,
    judge: String,
    turn: u64,
    anony: bool,
    language: &'a str,
    tstamp: f64,
    conv_metadata: ConversationMetadata,
    category: Option<&'a str>,
    intent: Option<&'a str>,
    satisfaction: Option<u64>,
    pairing_policy: &'a str,
    pair_probability: f64,
    first_token_ms_a: Option<u64>,
    first_token_ms_b: Option<u64>,
    duration_ms_a: u64,
    duration_ms_b: u64,
    rated: bool,
    exclusion: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_a: Option<Vec<Utterance>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_b: Option<Vec<Utterance>>,
}

#[derive(Serialize)]
struct Utterance {
    role: &'static str,
    content: String,
}

impl<'a> LogRow<'a> {
    fn of(vote: &'a VoteRow, conversation_a: Option<Vec<Utterance>>, conversation_b: Option<Vec<Utterance>>) -> Self {
        Self {
            seq: vote.seq,
            battle_id: &vote.battle,
            model_a: vote.models[0].as_str(),
            model_b: vote.models[1].as_str(),
            winner: winner(vote.outcome),
            judge: pseudonym(&vote.visitor),
            turn: vote.turn,
            anony: true,
            language: &vote.language,
            tstamp: seconds(vote.created_at),
            conv_metadata: ConversationMetadata::of(&vote.text_counts),
            category: vote.category.as_deref(),
            intent: vote.intent.as_deref(),
            satisfaction: vote.satisfaction,
            pairing_policy: &vote.pairing_policy,
            pair_probability: vote.pair_probability,
            first_token_ms_a: vote.first_token_ms[0],
            first_token_ms_b: vote.first_token_ms[1],
            duration_ms_a: vote.duration_ms[0],
            duration_ms_b: vote.duration_ms[1],
            rated: vote.rated,
            exclusion: vote.exclusion.as_deref(),
            conversation_a,
            conversation_b,
        }
    }
}

/// Text counts under LMArena's names.
#[derive(Serialize)]
struct ConversationMetadata {
    sum_assistant_a_tokens: u64,
    sum_assistant_b_tokens: u64,
    header_count_a: HeaderCount,
    header_count_b: HeaderCount,
    list_count_a: ListCount,
    list_count_b: ListCount,
    bold_count_a: BoldCount,
    bold_count_b: BoldCount,
}

#[derive(Serialize)]
struct HeaderCount {
    h1: u64,
    h2: u64,
    h3: u64,
    h4: u64,
    h5: u64,
    h6: u64,
}

#[derive(Serialize)]
struct ListCount {
    ordered: u64,
    unordered: u64,
}

#[derive(Serialize)]
struct BoldCount {
    #[serde(rename = "**")]
    stars: u64,
    #[serde(rename = "__")]
    underscores: u64,
}

impl ConversationMetadata {
    fn of([a, b]: &[TextCounts; 2]) -> Self {
        Self {
            sum_assistant_a_tokens: a.tokens,
            sum_assistant_b_tokens: b.tokens,
            header_count_a: a.into(),
            header_count_b: b.into(),
            list_count_a: ListCount { ordered: a.ordered, unordered: a.unordered },
            list_count_b: ListCount { ordered: b.ordered, unordered: b.unordered },
            bold_count_a: BoldCount { stars: a.bold_stars, underscores: a.bold_underscores },
            bold_count_b: BoldCount { stars: b.bold_stars, underscores: b.bold_underscores },
        }
    }
}

impl From<&TextCounts> for HeaderCount {
    fn from(counts: &TextCounts) -> Self {
        let [h1, h2, h3, h4, h5, h6] = counts.headings;
        Self { h1, h2, h3, h4, h5, h6 }
    }
}

async fn conversations(store: &Store, battle: &str) -> Result<[Vec<Utterance>; 2], StoreError> {
    let turns = store.turns(battle).await?;
    let replies = store.replies(battle).await?;
    Ok(Side::BOTH.map(|side| {
        let mut said = Vec::with_capacity(2 * turns.len());
        for turn in &turns {
            said.push(Utterance { role: "user", content: turn.prompt.clone() });
            let reply = replies.iter().find(|row| row.turn == turn.turn && row.reply.side == side);
            said.extend(reply.map(|row| Utterance { role: "assistant", content: row.reply.text.clone() }));
        }
        said
    }))
}

fn winner(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::AWins => "model_a",
        Outcome::BWins => "model_b",
        Outcome::Tie => "tie",
        Outcome::BothBad => "both_bad",
    }
}

/// A voter's name in exports: the same for all votes of one session, and no way back to it.
fn pseudonym(visitor: &str) -> String {
    hex(&Sha256::digest(format!("langya judge {visitor}"))[..8])
}

fn seconds(time: Timestamp) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of a date fit in 53 bits for 285,000 years")]
    let millis = time.0 as f64;
    millis / 1000.0
}
