//! What another pairing would change.

use askama::Template;

use super::AdminFrame;
use super::models::percent;
use crate::domain::battle::pairing::preview::ChanceChange;
use crate::http::pages::Page;
use crate::infra::config::{PairingPolicySetting, PairingSettings};

/// A model with its chances.
pub(crate) struct ModelChance {
    pub(crate) id: String,
    pub(crate) name: String,
    /// What was typed, or its weight.
    pub(crate) weight: String,
    pub(crate) chance: ChanceChange,
}

/// A pair with its chances.
pub(crate) struct PairChance {
    pub(crate) names: [String; 2],
    pub(crate) chance: ChanceChange,
    /// Votes to expect of those to come.
    pub(crate) votes: f64,
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
pub(crate) struct PairingPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) settings: PairingSettings,
    /// Votes to come.
    pub(crate) votes: u32,
    pub(crate) models: Vec<ModelChance>,
    /// The likeliest pairs.
    pub(crate) pairs: Vec<PairChance>,
    pub(crate) all_pairs: usize,
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
