//! Votes, flagged voters, and previews of exclusion decisions.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::MAX_REASON_CHARS;
use crate::domain::admin::role::Role;
use crate::domain::battle::Outcome;
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::exclusions::ChangeView;
use crate::frame::time::time_text;
use crate::render::i18n::fill;
use crate::render::i18n::pages::VoteAdminTexts;

/// Filter fields as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterFields {
    pub voter: String,
    pub model: String,
    pub rule: String,
    pub prompt_cluster: String,
    pub battle: String,
}

impl FilterFields {
    /// Returns name and value of each field, in page order.
    pub fn all(&self) -> [(&'static str, &str); 5] {
        let Self { voter, model, rule, prompt_cluster, battle } = self;
        [("voter", voter), ("model", model), ("rule", rule), ("prompt_cluster", prompt_cluster), ("battle", battle)]
    }

    fn is_empty(&self) -> bool {
        self.all().iter().all(|(_, value)| value.is_empty())
    }
}

/// Test result of a flagged voter.
pub struct Evidence {
    pub voter: String,
    pub votes: u64,
    /// Name of the model that the voter favours or disfavours.
    pub model: Option<String>,
    pub favours: bool,
    pub on_model: Option<u64>,
    pub wins: Option<u64>,
    pub expected: Option<f64>,
    /// Adjusted p value (q value): least false discovery rate at which the voter is flagged.
    pub q: f64,
    pub is_flagged: bool,
}

impl Evidence {
    fn q_text(&self) -> String {
        if self.q < 0.001 { format!("{:.0e}", self.q) } else { format!("{:.3}", self.q) }
    }

    fn sentence(&self, words: &VoteAdminTexts) -> String {
        let Some(model) = &self.model else { return words.no_model.to_owned() };
        let whole = |number: Option<u64>| number.map_or_else(|| "–".to_owned(), |number| number.to_string());
        let expected = self.expected.map_or_else(|| "–".to_owned(), |number| format!("{number:.1}"));
        let text = if self.favours { words.votes_for } else { words.votes_against };
        text.replace("{model}", model)
            .replace("{wins}", &whole(self.wins))
            .replace("{votes}", &whole(self.on_model))
            .replace("{expected}", &expected)
    }
}

/// Row of a vote.
pub struct VoteLine {
    pub seq: i64,
    pub cast_ms: i64,
    pub voter: String,
    pub models: [String; 2],
    pub outcome: Outcome,
    pub rules: Vec<String>,
    pub battle: Option<String>,
}

impl VoteLine {
    fn cast_at(&self) -> String {
        time_text(self.cast_ms)
    }

    fn outcome(&self, page: &Page) -> &'static str {
        let words = &page.t().battle;
        match self.outcome {
            Outcome::AWins => words.choose_a,
            Outcome::BWins => words.choose_b,
            Outcome::Tie => words.choose_tie,
            Outcome::BothBad => words.choose_both_bad,
        }
    }
}

/// Template of the flagged voters.
#[derive(Template)]
#[template(path = "admin/voters.html")]
pub struct VotersPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub flagged: Vec<Evidence>,
    pub tested: usize,
    pub voters: u64,
    /// Number of suspicious voters while flags are withheld.
    pub withheld: Option<u64>,
}

/// Template of the filtered votes.
#[derive(Template)]
#[template(path = "admin/votes.html")]
pub struct VotesPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub fields: FilterFields,
    pub matched: usize,
    /// Number of these votes that a rule excludes.
    pub excluded: usize,
    pub lines: Vec<VoteLine>,
    /// Test result of the filtered voter.
    pub evidence: Option<Evidence>,
    /// Ids and names of the models.
    pub models: Vec<(String, String)>,
}

impl VotesPage {
    fn may_export(&self) -> bool {
        self.frame.role.covers(Role::Operator)
    }

    fn may_decide(&self) -> bool {
        self.frame.role.covers(Role::Operator) && !self.fields.is_empty() && self.matched > 0
    }

    fn proposed(&self) -> ExclusionRule {
        let is_flagged = self.evidence.as_ref().is_some_and(|evidence| evidence.is_flagged);
        if is_flagged { ExclusionRule::AnomalousVoter } else { ExclusionRule::Admin }
    }

    fn count(&self) -> String {
        let words = &self.page.t().admin.votes;
        fill(words.count, &[("n", &self.matched.to_string()), ("excluded", &self.excluded.to_string())])
    }
}

/// Template of a decision's preview.
#[derive(Template)]
#[template(path = "admin/decision.html")]
pub struct DecisionPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub fields: FilterFields,
    pub excludes: bool,
    pub rule: String,
    pub reason: String,
    /// Sequence number of the last vote that the decision covers.
    pub upto: i64,
    pub concerned: usize,
    pub voters: usize,
    pub change: ChangeView,
}

impl DecisionPage {
    fn count(&self) -> String {
        let words = &self.page.t().admin.votes;
        let text = if self.excludes { words.would_exclude } else { words.would_include };
        fill(text, &[("votes", &self.concerned.to_string()), ("voters", &self.voters.to_string())])
    }
}
