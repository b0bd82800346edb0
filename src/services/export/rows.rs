//! The rows of an export, under LMArena's names where it has them, and their columns.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::metadata::ConversationMetadata;
use super::table::Column;
use super::table::Kind::{Flag, Json, Number, Real, Text};
use crate::annotation::scheme::Scheme;
use crate::battle::Outcome;
use crate::chance::hex;
use crate::clock::Timestamp;
use crate::services::final_labels::FinalLabels;
use crate::storage::{BattleLine, ReplyRow, VoteRow};

/// The columns of benchmark scores.
pub(super) const SCORE_COLUMNS: [Column; 15] = [
    Column::needed("suite", Text),
    Column::needed("suite_version", Text),
    Column::needed("variant", Text),
    Column::needed("sample", Number),
    Column::needed("model", Text),
    Column::needed("judge", Text),
    Column::needed("baseline", Text),
    Column::needed("part", Text),
    Column::optional("score", Real),
    Column::optional("deviation", Real),
    Column::needed("judged", Number),
    Column::needed("total", Number),
    Column::needed("flagged", Flag),
    Column::needed("judge_is_contestant", Flag),
    Column::needed("judged_at", Number),
];

/// The columns of the vote log, without the conversations.
pub(in crate::services) const VOTE_COLUMNS: [Column; 42] = [
    Column::needed("seq", Number),
    Column::needed("battle_id", Text),
    Column::needed("model_a", Text),
    Column::needed("model_b", Text),
    Column::needed("winner", Text),
    Column::needed("judge", Text),
    Column::needed("turn", Number),
    Column::needed("anony", Flag),
    Column::needed("language", Text),
    Column::needed("tstamp", Real),
    Column::needed("conv_metadata.sum_assistant_a_tokens", Number),
    Column::needed("conv_metadata.sum_assistant_b_tokens", Number),
    Column::needed("conv_metadata.header_count_a.h1", Number),
    Column::needed("conv_metadata.header_count_a.h2", Number),
    Column::needed("conv_metadata.header_count_a.h3", Number),
    Column::needed("conv_metadata.header_count_a.h4", Number),
    Column::needed("conv_metadata.header_count_a.h5", Number),
    Column::needed("conv_metadata.header_count_a.h6", Number),
    Column::needed("conv_metadata.header_count_b.h1", Number),
    Column::needed("conv_metadata.header_count_b.h2", Number),
    Column::needed("conv_metadata.header_count_b.h3", Number),
    Column::needed("conv_metadata.header_count_b.h4", Number),
    Column::needed("conv_metadata.header_count_b.h5", Number),
    Column::needed("conv_metadata.header_count_b.h6", Number),
    Column::needed("conv_metadata.list_count_a.ordered", Number),
    Column::needed("conv_metadata.list_count_a.unordered", Number),
    Column::needed("conv_metadata.list_count_b.ordered", Number),
    Column::needed("conv_metadata.list_count_b.unordered", Number),
    Column::needed("conv_metadata.bold_count_a.**", Number),
    Column::needed("conv_metadata.bold_count_a.__", Number),
    Column::needed("conv_metadata.bold_count_b.**", Number),
    Column::needed("conv_metadata.bold_count_b.__", Number),
    Column::optional("category", Text),
    Column::optional("intent", Text),
    Column::optional("satisfaction", Number),
    Column::needed("pairing_policy", Text),
    Column::needed("pair_probability", Real),
    Column::optional("first_token_ms_a", Number),
    Column::optional("first_token_ms_b", Number),
    Column::needed("duration_ms_a", Number),
    Column::needed("duration_ms_b", Number),
    Column::needed("rated", Flag),
];
/// The last column of the vote log and of a battle: why it is not rated, and what was said.
pub(super) const EXCLUSION: Column = Column::optional("exclusion", Text);
pub(super) const CONVERSATIONS: [Column; 2] =
    [Column::needed("conversation_a", Json), Column::needed("conversation_b", Json)];

/// The columns of a battle.
pub(super) const BATTLE_COLUMNS: [Column; 12] = [
    Column::needed("battle_id", Text),
    Column::needed("judge", Text),
    Column::needed("stage", Text),
    Column::needed("model_a", Text),
    Column::needed("model_b", Text),
    Column::needed("turn", Number),
    Column::needed("language", Text),
    Column::optional("category", Text),
    Column::optional("intent", Text),
    Column::needed("pairing_policy", Text),
    Column::needed("pair_probability", Real),
    Column::needed("tstamp", Real),
];

/// The columns of a reply.
pub(super) const REPLY_COLUMNS: [Column; 10] = [
    Column::needed("battle_id", Text),
    Column::needed("turn", Number),
    Column::needed("side", Text),
    Column::needed("model", Text),
    Column::needed("prompt", Text),
    Column::needed("text", Text),
    Column::needed("reasoning", Text),
    Column::needed("ending", Text),
    Column::optional("first_token_ms", Number),
    Column::needed("duration_ms", Number),
];

/// The columns of a leaderboard, as `langya fit --format csv` has them.
pub(super) const LEADERBOARD_COLUMNS: [Column; 18] = [
    Column::needed("model", Text),
    Column::needed("rank", Number),
    Column::needed("rating", Real),
    Column::optional("lower", Real),
    Column::optional("upper", Real),
    Column::needed("elo", Real),
    Column::needed("battles", Number),
    Column::needed("wins", Number),
    Column::needed("losses", Number),
    Column::needed("ties", Number),
    Column::needed("both_bad", Number),
    Column::needed("win_tie_rate", Real),
    Column::optional("average_win_rate", Real),
    Column::needed("component", Number),
    Column::needed("provisional", Flag),
    Column::optional("unbounded", Text),
    Column::optional("standard_error", Real),
    Column::optional("empirical_win_rate", Real),
];

/// One row of the log.
#[derive(Serialize)]
pub(super) struct LogRow<'a> {
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
pub(super) struct Utterance {
    pub(super) role: &'static str,
    pub(super) content: String,
}

impl<'a> LogRow<'a> {
    pub(super) fn of(
        vote: &'a VoteRow,
        labels: &'a FinalLabels,
        conversation_a: Option<Vec<Utterance>>,
        conversation_b: Option<Vec<Utterance>>,
    ) -> Self {
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
            category: labels.of(Scheme::Superclue, vote.seq).or(vote.category.as_deref()),
            intent: labels.of(Scheme::Urs, vote.seq).or(vote.intent.as_deref()),
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

/// One battle, voted on or not.
#[derive(Serialize)]
pub(super) struct BattleRecord<'a> {
    battle_id: &'a str,
    judge: String,
    stage: &'a str,
    model_a: &'a str,
    model_b: &'a str,
    turn: u64,
    language: &'a str,
    category: Option<&'a str>,
    intent: Option<&'a str>,
    pairing_policy: &'a str,
    pair_probability: f64,
    tstamp: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_a: Option<Vec<Utterance>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_b: Option<Vec<Utterance>>,
}

impl<'a> BattleRecord<'a> {
    pub(super) fn of(battle: &'a BattleLine, said: [Option<Vec<Utterance>>; 2]) -> Self {
        let [conversation_a, conversation_b] = said;
        Self {
            battle_id: &battle.id,
            judge: pseudonym(&battle.visitor),
            stage: &battle.stage,
            model_a: &battle.models[0],
            model_b: &battle.models[1],
            turn: battle.turn,
            language: &battle.language,
            category: battle.category.as_deref(),
            intent: battle.intent.as_deref(),
            pairing_policy: &battle.pairing_policy,
            pair_probability: battle.pair_probability,
            tstamp: seconds(battle.created_at),
            conversation_a,
            conversation_b,
        }
    }
}

/// One side's reply in one turn.
#[derive(Serialize)]
pub(super) struct ReplyRecord<'a> {
    battle_id: &'a str,
    turn: u32,
    side: &'static str,
    model: &'a str,
    prompt: &'a str,
    text: &'a str,
    reasoning: &'a str,
    ending: &'static str,
    first_token_ms: Option<u64>,
    duration_ms: u64,
}

impl<'a> ReplyRecord<'a> {
    pub(super) fn of(battle_id: &'a str, prompt: &'a str, row: &'a ReplyRow) -> Self {
        let reply = &row.reply;
        Self {
            battle_id,
            turn: row.turn,
            side: reply.side.as_str(),
            model: reply.model.as_str(),
            prompt,
            text: &reply.text,
            reasoning: &reply.reasoning,
            ending: reply.ending.as_str(),
            first_token_ms: reply.first_token_ms,
            duration_ms: reply.duration_ms,
        }
    }
}

/// The word for an outcome in LMArena's logs.
pub(in crate::services) fn winner(outcome: Outcome) -> &'static str {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::battle::ModelId;
    use crate::battle::text_counts::TextCounts;

    fn vote(visitor: &str) -> VoteRow {
        VoteRow {
            seq: 7,
            id: "vote".to_owned(),
            battle: "battle".to_owned(),
            visitor: visitor.to_owned(),
            models: [ModelId::new("one"), ModelId::new("other")],
            outcome: Outcome::BWins,
            turn: 2,
            language: "en".to_owned(),
            category: None,
            intent: None,
            satisfaction: None,
            pairing_policy: "uniform".to_owned(),
            pair_probability: 0.25,
            first_token_ms: [Some(11), None],
            duration_ms: [21, 22],
            text_counts: [
                TextCounts { tokens: 31, ..TextCounts::default() },
                TextCounts { tokens: 32, ..TextCounts::default() },
            ],
            rated: true,
            exclusion: None,
            receipt: String::new(),
            created_at: Timestamp(1500),
        }
    }

    fn row(visitor: &str) -> Value {
        serde_json::to_value(LogRow::of(&vote(visitor), &FinalLabels::default(), None, None)).unwrap()
    }

    #[test]
    fn a_voter_has_one_pseudonym_that_is_not_the_session() {
        let judge = |visitor: &str| row(visitor)["judge"].as_str().unwrap().to_owned();
        assert_eq!(judge("session-of-ann"), judge("session-of-ann"));
        assert_ne!(judge("session-of-ann"), judge("session-of-bob"));
        assert!(!row("session-of-ann").to_string().contains("session-of-ann"));
        // The plain hash of a session stands in the database; an export must not be looked up there.
        let plain = hex(&Sha256::digest("session-of-ann"));
        assert!(!plain.starts_with(&judge("session-of-ann")));
    }

    #[test]
    fn each_side_keeps_its_own_figures() {
        let row = row("ann");
        let figures = |names: [&str; 2]| names.map(|name| row[name].clone());
        assert_eq!(figures(["model_a", "model_b"]), [json!("one"), json!("other")]);
        assert_eq!(figures(["first_token_ms_a", "first_token_ms_b"]), [json!(11), Value::Null]);
        assert_eq!(figures(["duration_ms_a", "duration_ms_b"]), [json!(21), json!(22)]);
        let tokens =
            ["sum_assistant_a_tokens", "sum_assistant_b_tokens"].map(|name| row["conv_metadata"][name].clone());
        assert_eq!(tokens, [json!(31), json!(32)]);
        assert_eq!(row["winner"], "model_b");
    }
}
