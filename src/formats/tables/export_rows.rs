//! Rows of exports, built from stored records.

use serde::Serialize;

use super::conversation_metadata::ConversationMetadata;
use crate::domain::battle::message::Message;
use crate::domain::battle::record::{BattleLine, ReplyRow, TurnRow, VoteRow};
use crate::domain::battle::{BattleId, ModelId, Side, VisitorId};
use crate::domain::integrity::pseudonym::voter_pseudonym;
use crate::domain::labeling::final_labels::FinalLabels;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::preference_filter::PreferenceSupport;
use crate::domain::preference_pairs::{PreferencePair, winner_and_loser};
use crate::domain::time::Timestamp;

/// Row of the vote log.
#[derive(Serialize)]
pub struct VoteLogRow<'a> {
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
    reasons_a: Option<String>,
    reasons_b: Option<String>,
    pairing_policy: &'a str,
    pair_probability: f64,
    first_token_ms_a: Option<u64>,
    first_token_ms_b: Option<u64>,
    duration_ms_a: Option<u64>,
    duration_ms_b: Option<u64>,
    rated: bool,
    exclusion: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_a: Option<Vec<Message>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_b: Option<Vec<Message>>,
}

/// Builds the conversation of one side: prompts and replies.
#[must_use]
pub fn conversation(turns: &[TurnRow], replies: &[ReplyRow], side: Side) -> Vec<Message> {
    let mut said = Vec::with_capacity(2 * turns.len());
    for turn in turns {
        said.push(Message::user(&turn.prompt));
        let reply = replies.iter().find(|row| row.turn == turn.turn && row.reply.side == side);
        said.extend(reply.map(|row| Message::assistant(&row.reply.text)));
    }
    said
}

impl<'a> VoteLogRow<'a> {
    /// Creates the row of a vote with its final labels and, if exported, the conversations of both sides.
    #[must_use]
    pub fn new(
        vote: &'a VoteRow,
        labels: &'a FinalLabels,
        conversation_a: Option<Vec<Message>>,
        conversation_b: Option<Vec<Message>>,
    ) -> Self {
        // Imported votes without durations are stored with 0.
        let duration_ms = |side: usize| Some(vote.duration_ms[side]).filter(|milliseconds| *milliseconds > 0);
        Self {
            seq: vote.seq,
            battle_id: vote.battle.as_str(),
            model_a: vote.models[0].as_str(),
            model_b: vote.models[1].as_str(),
            winner: vote.outcome.winner(),
            judge: pseudonym(vote.visitor.as_ref()),
            turn: vote.turn,
            anony: vote.anonymous,
            language: &vote.language,
            tstamp: seconds(vote.created_at),
            conv_metadata: ConversationMetadata::new(&vote.text_counts),
            category: labels.of(Scheme::Superclue, vote.seq).or(vote.category.as_deref()),
            intent: labels.of(Scheme::Urs, vote.seq).or(vote.intent.as_deref()),
            satisfaction: vote.satisfaction,
            reasons_a: vote.reasons[0].stored(),
            reasons_b: vote.reasons[1].stored(),
            pairing_policy: &vote.pairing_policy,
            pair_probability: vote.pair_probability,
            first_token_ms_a: vote.first_token_ms[0],
            first_token_ms_b: vote.first_token_ms[1],
            duration_ms_a: duration_ms(0),
            duration_ms_b: duration_ms(1),
            rated: vote.exclusion.is_none(),
            exclusion: vote.exclusion.as_deref(),
            conversation_a,
            conversation_b,
        }
    }
}

/// Row of a battle, with or without a vote.
#[derive(Serialize)]
pub struct BattleExportRow<'a> {
    battle_id: &'a str,
    judge: String,
    mode: &'a str,
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
    conversation_a: Option<Vec<Message>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_b: Option<Vec<Message>>,
}

impl<'a> BattleExportRow<'a> {
    /// Creates the row of a battle with, if exported, the conversations of both sides.
    #[must_use]
    pub fn new(battle: &'a BattleLine, said: [Option<Vec<Message>>; 2]) -> Self {
        let [conversation_a, conversation_b] = said;
        Self {
            battle_id: battle.id.as_str(),
            judge: pseudonym(battle.visitor.as_ref()),
            mode: battle.mode.as_str(),
            stage: battle.stage.as_str(),
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

/// Row of one side's reply in one turn.
#[derive(Serialize)]
pub struct ReplyRecord<'a> {
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
    /// Creates the row of a reply to this prompt.
    #[must_use]
    pub fn new(battle: &'a BattleId, prompt: &'a str, row: &'a ReplyRow) -> Self {
        let reply = &row.reply;
        Self {
            battle_id: battle.as_str(),
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

/// Row of a preference data set. Trainers read the first three fields; `rating_margin` is in rating points and is not a loss margin.
#[derive(Serialize)]
pub struct PreferenceRow<'a> {
    #[serde(flatten)]
    pair: &'a PreferencePair,
    chosen_model: &'a ModelId,
    rejected_model: &'a ModelId,
    agreement: Option<f64>,
    rating_margin: Option<f64>,
    seq: i64,
    language: &'a str,
    category: Option<&'a str>,
    rated: bool,
}

impl<'a> PreferenceRow<'a> {
    /// Creates the row of a vote with its pair of replies.
    #[must_use]
    pub fn new(vote: &'a VoteRow, pair: &'a PreferencePair, support: PreferenceSupport) -> Self {
        let (chosen_model, rejected_model) =
            winner_and_loser(&vote.models, vote.outcome).unwrap_or((&vote.models[0], &vote.models[1]));
        Self {
            pair,
            chosen_model,
            rejected_model,
            agreement: support.agreement,
            rating_margin: support.margin,
            seq: vote.seq,
            language: &vote.language,
            category: vote.category.as_deref(),
            rated: vote.exclusion.is_none(),
        }
    }
}

/// Export pseudonym of the voter; empty for an imported vote without a voter.
fn pseudonym(visitor: Option<&VisitorId>) -> String {
    visitor.map(|visitor| voter_pseudonym(visitor.as_str())).unwrap_or_default()
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
    use crate::domain::battle::Outcome;
    use crate::domain::battle::text_counts::TextCounts;
    use crate::domain::battle::vote_reasons::ReasonSet;
    use crate::domain::sha256::sha256;
    use crate::tables::export_columns::VOTE_COLUMNS;

    fn vote(visitor: &str) -> VoteRow {
        VoteRow {
            seq: 7,
            id: "vote".to_owned(),
            battle: BattleId::new("battle"),
            visitor: (!visitor.is_empty()).then(|| VisitorId::new(visitor)),
            models: [ModelId::new("one"), ModelId::new("other")],
            anonymous: true,
            outcome: Outcome::BWins,
            turn: 2,
            language: "en".to_owned(),
            category: None,
            intent: None,
            satisfaction: None,
            reasons: [ReasonSet::default(), ReasonSet::parse("wrong").unwrap()],
            pairing_policy: "uniform".to_owned(),
            pair_probability: 0.25,
            first_token_ms: [Some(11), None],
            duration_ms: [21, 22],
            text_counts: [
                TextCounts { tokens: 31, ..TextCounts::default() },
                TextCounts { tokens: 32, ..TextCounts::default() },
            ],
            exclusion: None,
            receipt: String::new(),
            created_at: Timestamp(1500),
        }
    }

    fn row(visitor: &str) -> Value {
        serde_json::to_value(VoteLogRow::new(&vote(visitor), &FinalLabels::default(), None, None)).unwrap()
    }

    #[test]
    fn a_voter_has_one_pseudonym_that_is_not_the_session() {
        let judge = |visitor: &str| row(visitor)["judge"].as_str().unwrap().to_owned();
        assert_eq!(judge("session-of-ann"), judge("session-of-ann"));
        assert_ne!(judge("session-of-ann"), judge("session-of-bob"));
        assert!(!row("session-of-ann").to_string().contains("session-of-ann"));
        // The database stores the plain hash of a session; an export must not be linkable to it.
        assert_eq!(judge(""), "", "votes without a voter are not one person's");
        let plain = sha256(b"session-of-ann");
        assert!(!plain.starts_with(&judge("session-of-ann")));
    }

    #[test]
    fn what_is_not_known_of_an_imported_vote_is_not_zero() {
        let unknown = VoteRow { duration_ms: [0, 22], text_counts: [TextCounts::default(); 2], ..vote("ann") };
        let row = serde_json::to_value(VoteLogRow::new(&unknown, &FinalLabels::default(), None, None)).unwrap();
        assert_eq!((&row["duration_ms_a"], &row["duration_ms_b"]), (&Value::Null, &json!(22)));
        let counted = VOTE_COLUMNS.into_iter().filter(|column| column.root() == "conv_metadata");
        assert_eq!(counted.clone().count(), 22);
        counted.for_each(|column| assert!(column.of(&row).is_null() && column.optional, "{}", column.path));
        let one_empty = [TextCounts { tokens: 3, ..TextCounts::default() }, TextCounts::default()];
        let known = VoteRow { text_counts: one_empty, ..vote("ann") };
        let row = serde_json::to_value(VoteLogRow::new(&known, &FinalLabels::default(), None, None)).unwrap();
        assert_eq!(row["conv_metadata"]["sum_assistant_b_tokens"], 0, "an empty reply has no words");
    }

    #[test]
    fn each_side_keeps_its_own_values() {
        let row = row("ann");
        let values = |names: [&str; 2]| names.map(|name| row[name].clone());
        assert_eq!(values(["model_a", "model_b"]), [json!("one"), json!("other")]);
        assert_eq!(values(["first_token_ms_a", "first_token_ms_b"]), [json!(11), Value::Null]);
        assert_eq!(values(["reasons_a", "reasons_b"]), [Value::Null, json!("wrong")]);
        assert_eq!(values(["duration_ms_a", "duration_ms_b"]), [json!(21), json!(22)]);
        let tokens =
            ["sum_assistant_a_tokens", "sum_assistant_b_tokens"].map(|name| row["conv_metadata"][name].clone());
        assert_eq!(tokens, [json!(31), json!(32)]);
        assert_eq!(row["winner"], "model_b");
    }
}
