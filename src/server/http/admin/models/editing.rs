//! Edits of the settings file by an operator, applied at once.

use crate::domain::battle::ModelId;
use crate::domain::rating::value::prices::MAX_SOURCE_CHARS;
use crate::http::admin::signed_in_request::SignedInRequest;
use crate::http::request::error::PageError;
use crate::infra::config::edit::change::{Change, ModelValues, PriceValues};
use crate::render::i18n::fill;
use crate::render::i18n::pages::ModelAdminTexts;
use crate::services::model_settings::{AuditTrail, EditGoal, ModelEditor, ModelEntryError};
use crate::watched_settings_file::WatchedSettingsFile;

use super::settings_refusals::refused_entry;
use super::viewing::today;

/// Reason why nothing was changed.
pub(super) enum EditRefusal {
    /// The field with this label is not a valid number.
    Number(fn(&ModelAdminTexts) -> &'static str),
    /// Only one of the two prices is given.
    HalfAPrice,
    /// The price date is not a valid date.
    PriceDate,
    /// The price source is not a short line.
    PriceSource,
    /// The arena has no settings file.
    NoFile,
    /// No model was selected.
    NoneChosen,
    /// The key in this environment variable belongs to another server.
    ForeignKey(String),
    /// The edit was refused.
    Edit(ModelEntryError),
}

impl EditRefusal {
    /// Returns the message in the page's language.
    pub(super) fn text(&self, words: &ModelAdminTexts) -> String {
        match self {
            Self::Number(field) => words.invalid_number.replace("{field}", field(words)),
            Self::HalfAPrice => words.half_a_price.to_owned(),
            Self::NoFile => words.no_file.to_owned(),
            Self::NoneChosen => words.add.none_chosen.to_owned(),
            Self::ForeignKey(variable) => words.add.foreign_key.replace("{variable}", variable),
            Self::PriceDate => words.invalid_price_date.to_owned(),
            Self::PriceSource => fill(words.invalid_price_source, &[("n", &MAX_SOURCE_CHARS.to_string())]),
            Self::Edit(error) => refused_entry(error, words),
        }
    }
}

/// Returns an editor of the settings file that acts as the signed-in user.
pub(super) fn editor<'c>(call: &'c SignedInRequest, file: &'c WatchedSettingsFile) -> ModelEditor<'c> {
    let app = &call.app;
    let audit = AuditTrail { store: &app.store, rng: &app.rng, clock: app.clock.as_ref(), actor: call.actor() };
    ModelEditor { file: file.path.clone(), env: &file.env, goal: EditGoal::Runnable, audit: Some(audit) }
}

/// Changes one entry, unless its values differ from the version that the form has `shown`, and reloads the settings.
pub(super) async fn edit(
    call: &SignedInRequest,
    id: &ModelId,
    change: &Change,
    shown: Option<&str>,
) -> Result<Result<(), EditRefusal>, PageError> {
    let Some(file) = &call.app.settings_file else { return Ok(Err(EditRefusal::NoFile)) };
    match editor(call, file).change(id.as_str(), change, shown).await {
        Ok(_) => {
            file.read_now().await;
            Ok(Ok(()))
        }
        Err(ModelEntryError::Audit(error)) => Err(error.into()),
        Err(error) => Ok(Err(EditRefusal::Edit(error))),
    }
}

/// Parses the values of the form; missing fields keep their values, and empty prices are removed.
pub(super) fn values(call: &SignedInRequest) -> Result<ModelValues, EditRefusal> {
    let typed = |field: &str| call.fields.all(field).next().map(|text| text.trim().to_owned());
    Ok(ModelValues {
        name: typed("name"),
        organization: typed("organization"),
        weight: number(call, "weight", |words| words.weight)?,
        max_tokens: number(call, "max_tokens", |words| words.max_tokens)?,
        max_concurrent: number(call, "max_concurrent", |words| words.max_concurrent)?,
        reason: Some(call.fields.one("reason").trim().to_owned()),
        prices: Some(prices(call)?),
    })
}

fn prices(call: &SignedInRequest) -> Result<PriceValues, EditRefusal> {
    let input = number(call, "input_price", |words| words.input_price)?;
    let output = number(call, "output_price", |words| words.output_price)?;
    match (input, output) {
        (None, None) => Ok(PriceValues::Remove),
        (Some(input), Some(output)) => {
            let date = call.fields.given("price_date").map(str::parse).transpose();
            let source = call.fields.given("price_source").map(str::parse).transpose();
            Ok(PriceValues::Set {
                input,
                output,
                date: date.map_err(|_| EditRefusal::PriceDate)?.unwrap_or_else(|| today(&call.app)),
                source: source.map_err(|_| EditRefusal::PriceSource)?,
            })
        }
        _ => Err(EditRefusal::HalfAPrice),
    }
}

/// Parses the number in a field; `None` if empty.
pub(super) fn number<N: std::str::FromStr>(
    call: &SignedInRequest,
    field: &str,
    label: fn(&ModelAdminTexts) -> &'static str,
) -> Result<Option<N>, EditRefusal> {
    call.fields.given(field).map(str::parse).transpose().map_err(|_| EditRefusal::Number(label))
}
