//! What another pairing would change.

use askama::Template;

use super::AdminFrame;
use super::models::percent;
use crate::Page;
use crate::domain::battle::pairing::preview::ChanceChange;
use crate::infra::config::PairingPolicySetting;

/// A model with its chances.
pub struct ModelChance {
    pub id: String,
    pub name: String,
    /// What was typed, or its weight.
    pub weight: String,
    pub chance: ChanceChange,
}

/// A pair with its chances.
pub struct PairChance {
    pub names: [String; 2],
    pub chance: ChanceChange,
    /// Votes to expect of those to come.
    pub votes: f64,
}

/// What the fields hold, as it was typed or as it is in force.
pub struct PairingFields {
    pub policy: PairingPolicySetting,
    pub uniform_share: String,
    pub elo_width: String,
    pub new_model_votes: String,
    pub new_model_boost: String,
    pub votes: String,
}

/// Chances as the page writes them.
trait ShowChance {
    fn today(&self) -> String;
    fn then(&self) -> String;
}

impl ShowChance for ChanceChange {
    fn today(&self) -> String {
        percent(Some(self.today))
    }

    fn then(&self) -> String {
        percent(Some(self.then))
    }
}

impl PairChance {
    fn votes(&self) -> String {
        format!("{:.1}", self.votes)
    }
}

/// The page.
#[derive(Template)]
#[template(path = "admin/pairing.html")]
pub struct PairingPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub fields: PairingFields,
    /// Votes to come.
    pub votes: u32,
    pub models: Vec<ModelChance>,
    /// The likeliest pairs.
    pub pairs: Vec<PairChance>,
    pub all_pairs: usize,
}

impl PairingPage {
    fn policy_name(&self, policy: &PairingPolicySetting) -> &'static str {
        let at = PairingPolicySetting::ALL.iter().position(|other| other == policy).unwrap_or_default();
        self.page.t().admin.models.pairing.policies[at]
    }

    fn pairs_lead(&self) -> String {
        let text = self.page.t().admin.models.pairing.pairs_lead;
        text.replace("{n}", &self.pairs.len().to_string()).replace("{all}", &self.all_pairs.to_string())
    }

    fn expected(&self) -> String {
        self.page.t().admin.models.pairing.expected.replace("{n}", &self.votes.to_string())
    }
}
