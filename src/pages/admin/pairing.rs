//! Preview of changed pairing settings.

use askama::Template;

use super::AdminFrame;
use super::models::percent;
use crate::Page;
use crate::domain::battle::pairing::preview::ChanceChange;
use crate::infra::config::PairingPolicySetting;

/// Model with its pairing probabilities.
pub struct ModelChance {
    pub id: String,
    pub name: String,
    /// Pairing weight, as typed or in force.
    pub weight: String,
    pub chance: ChanceChange,
}

/// Pair with its probabilities.
pub struct PairChance {
    pub names: [String; 2],
    pub chance: ChanceChange,
    /// Expected number of votes among those to come.
    pub votes: f64,
}

/// Pairing fields, as typed or in force.
pub struct PairingFields {
    pub policy: PairingPolicySetting,
    pub uniform_share: String,
    pub elo_width: String,
    pub new_model_votes: String,
    pub new_model_boost: String,
    pub votes: String,
}

/// Formats probabilities for the page.
trait FormatProbability {
    fn today(&self) -> String;
    fn then(&self) -> String;
}

impl FormatProbability for ChanceChange {
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

/// Template of the pairing preview.
#[derive(Template)]
#[template(path = "admin/pairing.html")]
pub struct PairingPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub fields: PairingFields,
    /// Number of future votes in the projection.
    pub votes: u32,
    pub models: Vec<ModelChance>,
    /// Most likely pairs.
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
