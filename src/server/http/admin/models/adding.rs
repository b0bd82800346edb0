//! `/admin/models/add`: model list of a provider, preview and addition.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::editing::{EditRefusal, editor, number};
use super::viewing::today;
use crate::http::admin::signed_in_request::SignedInRequest;
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::infra::config::is_variable_name;
use crate::infra::config::key_destination::belongs_to;
use crate::infra::llm::model_list::check_address;
use crate::pages::admin::model_list::{AddFields, AddModelsPage, Listed, Listing};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::respond;
use crate::services::model_settings::{AddModelsResult, AddRequest, EditGoal, ModelEditor, ModelEntryError, Warning};

/// Step that the form requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddingStep {
    List,
    Preview,
    Add,
}

/// `GET /admin/models/add`
pub(in crate::http::admin) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Models);
    show(&call, StatusCode::OK, frame, AddFields::default(), None)
}

/// `POST /admin/models/add`: `from`, `key_env` and `filter`, the chosen models as `only` with their `weight`, and the `step` `list`, `preview`
/// or `add`.
pub(in crate::http::admin) async fn add(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let step = match call.fields.one("step") {
        "list" => AddingStep::List,
        "preview" => AddingStep::Preview,
        "add" => AddingStep::Add,
        _ => return Err(PageError::InvalidQuery("step is list, preview or add".to_owned())),
    };
    let field = |name: &str| call.fields.one(name).trim().to_owned();
    let only = call.fields.all("only").map(str::to_owned).collect();
    let (from, key_env) = (field("from"), field("key_env"));
    let fields = AddFields { from, key_env, filter: field("filter"), weight: field("weight"), only };
    match take_step(&call, &fields, step).await {
        Ok(_) if step == AddingStep::Add => Ok(see_other("/admin/models?done=1")),
        Ok(additions) => {
            let listed = if step == AddingStep::Preview { Listed::Preview } else { Listed::Available };
            let listing = listing(additions, listed);
            show(&call, StatusCode::OK, call.frame(AdminTab::Models), fields, Some(listing))
        }
        Err(EditRefusal::Edit(ModelEntryError::Audit(error))) => Err(error.into()),
        Err(refusal) => {
            let frame = call.frame_with(AdminTab::Models, &refusal.text(&call.page().t().admin.models));
            // After an invalid selection the same list is shown again.
            let listed = match step != AddingStep::List && concerns_choice(&refusal) {
                true => take_step(&call, &fields, AddingStep::List).await.ok(),
                false => None,
            };
            let listing = listed.map(|additions| listing(additions, Listed::Available));
            show(&call, StatusCode::CONFLICT, frame, fields, listing)
        }
    }
}

/// Whether a refusal is about the selection from the list. Otherwise the list is not fetched again: its server may have failed, and the key
/// would be sent twice.
fn concerns_choice(refusal: &EditRefusal) -> bool {
    match refusal {
        EditRefusal::Edit(error) => matches!(
            error,
            ModelEntryError::Duplicates(_)
                | ModelEntryError::NoMatch(_)
                | ModelEntryError::Change(_)
                | ModelEntryError::Config(_)
        ),
        EditRefusal::Number(_) | EditRefusal::NoneChosen => true,
        EditRefusal::HalfAPrice
        | EditRefusal::PriceDate
        | EditRefusal::PriceSource
        | EditRefusal::NoFile
        | EditRefusal::ForeignKey(_) => false,
    }
}

fn listing(additions: AddModelsResult, listed: Listed) -> Listing {
    let currency = additions.warnings.iter().find_map(|warning| match warning {
        Warning::OtherCurrency(currency) => Some(currency.clone()),
        _ => None,
    });
    Listing::new(additions.models, additions.others, currency, listed)
}

async fn take_step(
    call: &SignedInRequest,
    fields: &AddFields,
    step: AddingStep,
) -> Result<AddModelsResult, EditRefusal> {
    let file = call.app.settings_file.as_deref().ok_or(EditRefusal::NoFile)?;
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let weight = match step {
        AddingStep::List => None,
        AddingStep::Preview | AddingStep::Add if fields.only.is_empty() => return Err(EditRefusal::NoneChosen),
        AddingStep::Preview | AddingStep::Add => number(call, "weight", |words| words.weight)?,
    };
    let request = AddRequest {
        from: fields.from.clone(),
        key_env: given(&fields.key_env),
        filter: given(&fields.filter),
        only: Some(fields.only.clone()).filter(|_| step != AddingStep::List),
        weight: weight.unwrap_or(1.0),
        dry_run: step != AddingStep::Add,
    };
    if let Some(variable) = &request.key_env {
        if !is_variable_name(variable) {
            return Err(EditRefusal::Edit(ModelEntryError::NotAVariable));
        }
        check_address(&request.from).map_err(|error| EditRefusal::Edit(error.into()))?;
        if !belongs_to(variable, &request.from, &call.app.settings.now()) {
            return Err(EditRefusal::ForeignKey(variable.clone()));
        }
    }
    let goal = if step == AddingStep::List { EditGoal::Readable } else { EditGoal::Runnable };
    let editor = ModelEditor { goal, ..editor(call, file) };
    let additions = editor.add(&request, today(&call.app)).await.map_err(EditRefusal::Edit)?;
    if step == AddingStep::Add {
        file.read_now().await;
    }
    Ok(additions)
}

fn show(
    call: &SignedInRequest,
    status: StatusCode,
    frame: AdminFrame,
    fields: AddFields,
    listing: Option<Listing>,
) -> Result<HttpResponse, PageError> {
    let currency = call.app.settings.now().prices.currency.to_string();
    Ok(respond(&call.request, status, &AddModelsPage { page: call.page(), frame, fields, listing, currency }))
}
