//! JSON export of a visitor's own data: battles with prompts and replies, votes, and consents.

use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::past_battle::{PastBattle, PastTurn, PastVote};
use crate::domain::battle::vote_receipt::Receipt;
use crate::domain::battle::{BattleId, ModelId, Side, VisitorId};
use crate::domain::time::Timestamp;

/// Data of a battle that an export has in addition to its page.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnBattleFacts {
    /// Start time.
    pub began_at: Timestamp,
    /// The models of sides A and B that the visitor may know.
    pub models: [Option<ModelId>; 2],
    /// Whether it is shared by a link.
    pub is_shared: bool,
}

/// Consent text that the visitor agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreedText<'t> {
    /// Version of the text.
    pub version: &'t str,
    /// Time of the consent.
    pub agreed_at: Timestamp,
    /// The text in every language, as JSON.
    pub body: &'t str,
}

/// Export of a visitor's battles.
#[derive(Default)]
pub struct OwnBattlesExport(Vec<ExportedBattle>);

/// One battle in an export.
#[derive(Serialize)]
struct ExportedBattle {
    battle: BattleId,
    began_at: String,
    mode: BattleMode,
    /// The models that the visitor chose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    chosen: Vec<ModelId>,
    stage: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<String>,
    turns: Vec<PastTurn>,
    /// Paths of the first prompt's images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<String>,
    texts_deleted: bool,
    shared: bool,
    vote: Option<ExportedVote>,
}

#[derive(Serialize)]
struct ExportedVote {
    cast_at: String,
    satisfaction: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons_a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons_b: Option<String>,
    #[serde(flatten)]
    receipt: Receipt,
}

impl From<PastVote> for ExportedVote {
    fn from(vote: PastVote) -> Self {
        Self {
            cast_at: vote.cast_at.to_string(),
            satisfaction: vote.satisfaction,
            reasons_a: vote.reasons[0].stored(),
            reasons_b: vote.reasons[1].stored(),
            receipt: vote.receipt,
        }
    }
}

impl OwnBattlesExport {
    /// Adds a battle.
    pub fn add(&mut self, facts: OwnBattleFacts, past: PastBattle) {
        let OwnBattleFacts { began_at, mut models, is_shared } = facts;
        let chosen = Side::BOTH.into_iter().filter(|side| past.mode.names(*side));
        self.0.push(ExportedBattle {
            battle: past.id,
            began_at: began_at.to_string(),
            mode: past.mode,
            chosen: chosen.filter_map(|side| models[side.index()].take()).collect(),
            stage: past.stage.as_str(),
            category: past.category,
            intent: past.intent,
            texts_deleted: past.turns.is_empty(),
            turns: past.turns,
            images: past.images.iter().map(|image| format!("/images/{image}")).collect(),
            shared: is_shared,
            vote: past.vote.map(ExportedVote::from),
        });
    }

    /// Renders the file: the battles and the consents of a visitor.
    #[must_use]
    pub fn to_json<'t>(
        &self,
        visitor: &VisitorId,
        agreed: impl Iterator<Item = AgreedText<'t>>,
        exported_at: Timestamp,
    ) -> String {
        let consent = |AgreedText { version, agreed_at, body }: AgreedText<'t>| {
            let texts: Value = serde_json::from_str(body).unwrap_or_default();
            json!({ "version": version, "agreed_at": agreed_at.to_string(), "texts": texts })
        };
        let whole = json!({
            "exported_at": exported_at.to_string(),
            "visitor": visitor,
            "consents": agreed.map(consent).collect::<Vec<_>>(),
            "battles": self.0,
        });
        serde_json::to_string_pretty(&whole).expect("texts and finite numbers")
    }
}
