//! `GET /admin/models/pairing`: what another pairing would change. Nothing is changed.

use std::collections::BTreeMap;
use std::str::FromStr;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use crate::domain::battle::ModelId;
use crate::http::admin::signed_in_request::SignedInRequest;
use crate::http::error::PageError;
use crate::infra::config::PairingSettings;
use crate::pages::admin::AdminTab;
use crate::pages::admin::pairing::{ModelChance, PairChance, PairingPage};
use crate::pages::respond;

/// Pairs that are listed.
const PAIRS: usize = 30;
/// Votes to come, where nobody says how many.
const VOTES: u32 = 1_000;

/// `policy` and the other keys of `[pairing]`, `votes` to come, and `weight:ID` for each model; what is left out is as it is.
pub(in crate::http::admin) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let settings = pairing(&call, &call.app.settings.now().pairing)?;
    let votes = value(&call, "votes", VOTES)?;
    let roster = call.app.models.current();
    let mut weights = BTreeMap::new();
    for model in roster.all() {
        let weight = value(&call, &weight_field(&model.card.id), model.weight)?;
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(invalid("a weight is 0 or more"));
        }
        weights.insert(model.card.id.clone(), weight);
    }
    let preview = call.app.matchmaker.preview(&settings.rules(), &weights);
    let preview = preview.map_err(|error| PageError::InvalidQuery(error.to_string()))?;
    let name = |id: &ModelId| call.app.models.card(id).name;
    let models = roster.all().iter().map(|model| ModelChance {
        id: model.card.id.to_string(),
        name: model.card.name.clone(),
        weight: weights[&model.card.id].to_string(),
        chance: preview.models.get(&model.card.id).copied().unwrap_or_default(),
    });
    let pairs = preview.pairs.iter().take(PAIRS).map(|pair| PairChance {
        names: pair.models.each_ref().map(name),
        chance: pair.chance,
        votes: pair.chance.then * f64::from(votes),
    });
    let view = PairingPage {
        page: call.page(),
        frame: call.frame(AdminTab::Models),
        models: models.collect(),
        pairs: pairs.collect(),
        all_pairs: preview.pairs.len(),
        settings,
        votes,
    };
    Ok(respond(&call.request, StatusCode::OK, &view))
}

fn weight_field(id: &ModelId) -> String {
    format!("weight:{id}")
}

fn pairing(call: &SignedInRequest, now: &PairingSettings) -> Result<PairingSettings, PageError> {
    let settings = PairingSettings {
        policy: value(call, "policy", now.policy)?,
        uniform_share: value(call, "uniform_share", now.uniform_share)?,
        elo_width: value(call, "elo_width", now.elo_width)?,
        new_model_votes: value(call, "new_model_votes", now.new_model_votes)?,
        new_model_boost: value(call, "new_model_boost", now.new_model_boost)?,
    };
    settings.check().map_err(|error| PageError::InvalidQuery(error.to_string()))?;
    Ok(settings)
}

fn value<T: FromStr>(call: &SignedInRequest, field: &str, now: T) -> Result<T, PageError> {
    let given = call.fields.given(field).map(str::parse).transpose();
    given.map(|value| value.unwrap_or(now)).map_err(|_| invalid(&format!("{field} cannot be read")))
}

fn invalid(text: &str) -> PageError {
    PageError::InvalidQuery(text.to_owned())
}
