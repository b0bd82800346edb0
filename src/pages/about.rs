//! The rules page: pairing, vote counting, rating, retention and limits.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::domain::battle::pacing::metrics::PacingKind;
use crate::domain::integrity::exclusions::exclusion_rule::ExclusionRule;
use crate::infra::config::{
    BattleSettings, FlaggedVoterPolicy, LeakPolicy, LimitSettings, PacingMode, PairingPolicySetting, PairingSettings,
    Settings, WindowLimits,
};
use crate::render::i18n::fill;
use crate::render::i18n::pages::{LimitTexts, ModelVerdicts, PacingInForce, PageTexts, PairingInForce, StorageInForce};

#[derive(Template)]
#[template(path = "about.html")]
struct AboutPage {
    page: Page,
    judging: ModelVerdicts,
    /// Descriptions of the rate limits in force; empty without limits.
    limits: Vec<String>,
    /// Reply pacing before the vote, which decides what response times reveal.
    pacing: PacingInForce,
    /// Rules in force on this arena.
    now: ArenaNow,
}

impl AboutPage {
    fn models_judge(&self) -> bool {
        self.judging == ModelVerdicts::ByModels
    }
}

/// Rules from the current settings and code.
struct ArenaNow {
    pairing: String,
    /// Pairs with the highest probability, at most [`MAX_LISTED_PAIRS`].
    pairs: Vec<MeetingChance>,
    all_pairs: usize,
    method: String,
    leaks: &'static str,
    flagged_voters: &'static str,
    /// Notice that a language model checks battles for identity leaks; `None` without one.
    leak_judge: Option<String>,
    /// Notice that prompts are sent to a moderation service; `None` without one.
    moderation: Option<String>,
    /// Key, name and meaning of each exclusion rule.
    rules: Vec<(&'static str, &'static str, &'static str)>,
    /// Stored data and retention period.
    kept: Vec<[String; 2]>,
}

/// Pair of models with the probability that pairing chooses it.
#[derive(Debug, Clone, PartialEq)]
pub struct MeetingChance {
    pub names: [String; 2],
    pub probability: f64,
}

impl MeetingChance {
    fn percent(&self) -> String {
        format!("{:.2} %", 100.0 * self.probability)
    }
}

/// Maximum number of pairs listed.
const MAX_LISTED_PAIRS: usize = 12;

/// Renders the rules from the settings, with a section on model judges if they judge battles.
pub fn rules(
    request: &HttpRequest,
    settings: &Settings,
    storage: StorageInForce,
    judging: ModelVerdicts,
    pairs: Vec<MeetingChance>,
) -> HttpResponse {
    let page = Page::new(request, Section::About);
    let limits = limits(&page.t().about.limits, &settings.limits);
    let now = now(page.t(), settings, storage, pairs);
    respond(
        request,
        StatusCode::OK,
        &AboutPage { page, judging, limits, pacing: pacing_in_force(&settings.battle), now },
    )
}

fn now(texts: &PageTexts, settings: &Settings, storage: StorageInForce, mut pairs: Vec<MeetingChance>) -> ArenaNow {
    let (words, pairing, rating) = (&texts.arena, &settings.pairing, &settings.rating);
    let all_pairs = pairs.len();
    pairs.sort_by(|one, other| other.probability.total_cmp(&one.probability));
    pairs.truncate(MAX_LISTED_PAIRS);
    let rules = ExclusionRule::ALL
        .map(|rule| (rule.name(), texts.exclusions.rule_name(rule.name()), texts.exclusions.rule(rule.name())));
    ArenaNow {
        pairing: words.pairing(pairing_in_force(pairing), pairing.new_model_votes, pairing.new_model_boost),
        pairs,
        all_pairs,
        method: words.method(rating.confidence, rating.interval, rating.min_votes),
        leaks: match settings.integrity.leaks {
            LeakPolicy::Exclude => words.leaks[0],
            LeakPolicy::Mark => words.leaks[1],
            LeakPolicy::Off => words.leaks[2],
        },
        leak_judge: Some(settings.integrity.leak_judge.as_str())
            .filter(|model| !model.is_empty())
            .map(|model| fill(words.leak_judge, &[("model", model)])),
        flagged_voters: match settings.integrity.flagged_voters {
            FlaggedVoterPolicy::List => words.flagged_voters[0],
            FlaggedVoterPolicy::Exclude => words.flagged_voters[1],
        },
        moderation: settings.moderation.host().map(|host| {
            let [questions, replies_too] = words.moderation;
            fill(if settings.moderation.replies { replies_too } else { questions }, &[("host", &host)])
        }),
        rules: rules.into(),
        kept: words.kept(storage),
    }
}

fn pairing_in_force(pairing: &PairingSettings) -> PairingInForce {
    let uniform_share = pairing.uniform_share;
    match pairing.policy {
        PairingPolicySetting::Uniform => PairingInForce::Uniform,
        PairingPolicySetting::Weighted => PairingInForce::Weighted,
        PairingPolicySetting::Elo => PairingInForce::Near { width: pairing.elo_width, uniform_share },
        PairingPolicySetting::Active => PairingInForce::Active { uniform_share },
    }
}

fn limits(words: &LimitTexts, limits: &LimitSettings) -> Vec<String> {
    let sentence = |text: &str, limit: WindowLimits| {
        let windows = words.windows.iter().zip([limit.minute, limit.hour, limit.day]);
        let said = windows.filter(|(_, number)| *number > 0);
        let said: Vec<String> = said.map(|(text, number)| fill(text, &[("n", &number.to_string())])).collect();
        (!said.is_empty()).then(|| fill(text, &[("limits", &said.join(words.comma))]))
    };
    let visitor = sentence(words.visitor, limits.votes);
    let network = sentence(words.network, limits.votes_per_address);
    let proof = (limits.proof_above < 1.0).then(|| words.proof.to_owned());
    let mut said: Vec<String> = [visitor, network, proof].into_iter().flatten().collect();
    if !said.is_empty() {
        said.insert(0, words.reason.to_owned());
    }
    said
}

fn pacing_in_force(battle: &BattleSettings) -> PacingInForce {
    let kind = match battle.pacing {
        PacingMode::Common => PacingKind::Common,
        PacingMode::Classes => PacingKind::Classes,
        PacingMode::Whole => PacingKind::Whole,
        PacingMode::Raw => PacingKind::Raw,
    };
    PacingInForce {
        kind,
        start_classes_ms: battle.start_classes_ms.clone(),
        tempo_classes: battle.tempo_classes.clone(),
        slow_class_share: battle.slow_class_share,
    }
}
