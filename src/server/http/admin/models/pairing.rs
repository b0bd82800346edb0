//! `GET /admin/models/pairing`: preview of other pairing settings. Nothing is changed.

use std::collections::BTreeMap;
use std::str::FromStr;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::settings_refusals::refused_settings;
use crate::domain::battle::ModelId;
use crate::domain::battle::pairing::PairingError;
use crate::domain::battle::pairing::preview::PairingPreview;
use crate::http::admin::signed_in_request::SignedInRequest;
use crate::http::request::error::PageError;
use crate::infra::config::PairingSettings;
use crate::infra::llm::roster::Roster;
use crate::pages::admin::pairing::{ModelChance, PairChance, PairingFields, PairingPage};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::respond;
use crate::render::i18n::fill;

/// Maximum number of pairs listed.
const MAX_LISTED_PAIRS: usize = 30;
/// Default number of future votes.
const DEFAULT_VOTES: u32 = 1_000;

/// Pairing settings to preview.
struct PairingTrial {
    settings: PairingSettings,
    /// Number of future votes.
    votes: u32,
    weights: BTreeMap<ModelId, f64>,
}

/// Parameters: `policy` and the other keys of `[pairing]`, `votes` to come, and `weight:ID` for each model; omitted ones keep the current
/// value. After an invalid value the page shows the reason above the current settings.
pub(in crate::http::admin) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let roster = call.app.models.current();
    let now = PairingTrial {
        settings: call.app.settings.now().pairing.clone(),
        votes: DEFAULT_VOTES,
        weights: roster.all().iter().map(|model| (model.card.id.clone(), model.weight)).collect(),
    };
    match parse_trial(&call, &now) {
        Ok((trial, preview)) => {
            Ok(show(&call, StatusCode::OK, call.frame(AdminTab::Models), &roster, &now, &preview, trial.votes))
        }
        Err(reason) => {
            let problem = fill(call.page().t().admin.models.pairing.refused, &[("reason", &reason)]);
            let frame = call.frame_with(AdminTab::Models, &problem);
            let preview = preview(&call, &now).unwrap_or_default();
            Ok(show(&call, StatusCode::BAD_REQUEST, frame, &roster, &now, &preview, now.votes))
        }
    }
}

/// Parses the fields and computes their effect, or returns the reason why that fails.
fn parse_trial(call: &SignedInRequest, now: &PairingTrial) -> Result<(PairingTrial, PairingPreview), String> {
    let words = &call.page().t().admin.models;
    let settings = PairingSettings {
        policy: value(call, "policy", now.settings.policy)?,
        uniform_share: value(call, "uniform_share", now.settings.uniform_share)?,
        elo_width: value(call, "elo_width", now.settings.elo_width)?,
        new_model_votes: value(call, "new_model_votes", now.settings.new_model_votes)?,
        new_model_boost: value(call, "new_model_boost", now.settings.new_model_boost)?,
    };
    settings.check().map_err(|error| refused_settings(&error, words.refusals))?;
    let votes = value(call, "votes", now.votes)?;
    let mut weights = BTreeMap::new();
    for (id, weight) in &now.weights {
        let weight = value(call, &weight_field(id), *weight)?;
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(words.pairing.invalid_weight.to_owned());
        }
        weights.insert(id.clone(), weight);
    }
    let trial = PairingTrial { settings, votes, weights };
    let preview = preview(call, &trial).map_err(|error| match error {
        PairingError::TooFewModels(left) => fill(words.pairing.too_few, &[("n", &left.to_string())]),
        PairingError::BadNumber { .. } | PairingError::NotInPool(_) => words.pairing.invalid_weight.to_owned(),
    })?;
    Ok((trial, preview))
}

fn preview(call: &SignedInRequest, trial: &PairingTrial) -> Result<PairingPreview, PairingError> {
    call.app.matchmaker.preview(&trial.settings.rules(), &trial.weights)
}

fn show(
    call: &SignedInRequest,
    status: StatusCode,
    frame: AdminFrame,
    roster: &Roster,
    now: &PairingTrial,
    preview: &PairingPreview,
    votes: u32,
) -> HttpResponse {
    let name = |id: &ModelId| call.app.models.card(id).name;
    let models = roster.all().iter().map(|model| ModelChance {
        id: model.card.id.to_string(),
        name: model.card.name.clone(),
        weight: typed(call, &weight_field(&model.card.id), &model.weight),
        chance: preview.models.get(&model.card.id).copied().unwrap_or_default(),
    });
    let pairs = preview.pairs.iter().take(MAX_LISTED_PAIRS).map(|pair| PairChance {
        names: pair.models.each_ref().map(name),
        chance: pair.chance,
        votes: pair.chance.then * f64::from(votes),
    });
    let view = PairingPage {
        page: call.page(),
        frame,
        fields: fields(call, now),
        models: models.collect(),
        pairs: pairs.collect(),
        all_pairs: preview.pairs.len(),
        votes,
    };
    respond(&call.request, status, &view)
}

/// Returns the fields as typed, or else as in force.
fn fields(call: &SignedInRequest, now: &PairingTrial) -> PairingFields {
    PairingFields {
        policy: call.fields.one("policy").parse().unwrap_or(now.settings.policy),
        uniform_share: typed(call, "uniform_share", &now.settings.uniform_share),
        elo_width: typed(call, "elo_width", &now.settings.elo_width),
        new_model_votes: typed(call, "new_model_votes", &now.settings.new_model_votes),
        new_model_boost: typed(call, "new_model_boost", &now.settings.new_model_boost),
        votes: typed(call, "votes", &now.votes),
    }
}

fn typed(call: &SignedInRequest, field: &str, now: &impl ToString) -> String {
    call.fields.given(field).map_or_else(|| now.to_string(), str::to_owned)
}

fn weight_field(id: &ModelId) -> String {
    format!("weight:{id}")
}

fn value<T: FromStr>(call: &SignedInRequest, field: &str, now: T) -> Result<T, String> {
    let given = call.fields.given(field).map(str::parse).transpose();
    let unreadable = |_| fill(call.page().t().admin.models.pairing.unreadable, &[("field", field)]);
    given.map(|value| value.unwrap_or(now)).map_err(unreadable)
}
