//! What annotators of a campaign send and get, as the page `/campaign/ID` and any other client do. A link's token stands in
//! `Authorization: Bearer`; errors are JSON with a code and a sentence.

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, CACHE_CONTROL};
use actix_web::{HttpRequest, HttpResponse, ResponseError, web};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::error::PageError;
use super::pages;
use crate::domain::campaign::judgement::SentJudgement;
use crate::domain::campaign::plan::is_id;
use crate::infra::clock::Clock;
use crate::render::markup;
use crate::server::state::AppState;
use crate::services::campaign::annotating::{AnnotatingError, Annotator, ShownAssignment};

/// Bytes of a request at the most.
pub(super) const MAX_BYTES: usize = 16_384;

/// What `…/next` may be sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NextRequest {
    /// `html` for answers as safe HTML beside their texts.
    render: Option<String>,
}

/// What `…/judgements` is sent.
#[derive(Debug, Deserialize)]
struct JudgementRequest {
    assignment: String,
    #[serde(flatten)]
    judgement: SentJudgement,
}

/// A refusal of an annotator's request.
#[derive(Debug, thiserror::Error)]
pub(super) enum CampaignApiError {
    /// The annotator may not do it.
    #[error(transparent)]
    Annotating(#[from] AnnotatingError),
    /// No token was sent.
    #[error("send the token of your link as \"Authorization: Bearer TOKEN\"")]
    NoToken,
    /// The request cannot be read.
    #[error("the request is no JSON of this kind: {0}")]
    Syntax(String),
}

#[derive(Serialize)]
struct ErrorBody<'e> {
    code: &'e str,
    message: String,
}

impl CampaignApiError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoToken => "no_token",
            Self::Syntax(_) => "bad_request",
            Self::Annotating(error) => match error {
                AnnotatingError::UnknownLink => "unknown_link",
                AnnotatingError::Revoked => "link_revoked",
                AnnotatingError::Expired => "link_expired",
                AnnotatingError::NotOpen(_) => "campaign_not_open",
                AnnotatingError::UnknownAssignment => "unknown_assignment",
                AnnotatingError::NothingJudged => "nothing_judged",
                AnnotatingError::Invalid(_) => "invalid_judgement",
                AnnotatingError::Unreadable(_) | AnnotatingError::Store(_) => "unavailable",
            },
        }
    }
}

impl ResponseError for CampaignApiError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::Syntax(_) => StatusCode::BAD_REQUEST,
            Self::Annotating(error) => match error {
                AnnotatingError::UnknownLink => StatusCode::UNAUTHORIZED,
                AnnotatingError::Revoked | AnnotatingError::Expired => StatusCode::FORBIDDEN,
                AnnotatingError::NotOpen(_) | AnnotatingError::NothingJudged => StatusCode::CONFLICT,
                AnnotatingError::UnknownAssignment => StatusCode::NOT_FOUND,
                AnnotatingError::Invalid(_) => StatusCode::BAD_REQUEST,
                AnnotatingError::Unreadable(_) => StatusCode::INTERNAL_SERVER_ERROR,
                AnnotatingError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            },
        }
    }

    fn error_response(&self) -> HttpResponse {
        let status = self.status_code();
        let message = match self {
            Self::Annotating(AnnotatingError::Unreadable(_) | AnnotatingError::Store(_)) => {
                tracing::error!(error = ?self, "an annotator's request failed");
                "the database does not answer at the moment: nothing was lost, so try again in a minute".to_owned()
            }
            error => error.to_string(),
        };
        let body = ErrorBody { code: self.code(), message };
        HttpResponse::build(status).insert_header((CACHE_CONTROL, "no-store")).json(body)
    }
}

/// `GET /campaign/{id}`: the page on which annotators judge. It is the same for everybody; its script sends the link's token.
///
/// # Errors
/// [`PageError::Missing`] for what can be no id.
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let id = request.match_info().query("id");
    let missing = || PageError::Missing("there is no such campaign".into());
    let row = if is_id(id) { app.store.campaign(id).await? } else { None };
    pages::campaign::campaign(&request, &row.ok_or_else(missing)?)
}

/// `POST /api/v1/campaigns/{id}/next`
///
/// # Errors
/// [`CampaignApiError`].
pub(super) async fn next(
    request: HttpRequest,
    app: web::Data<AppState>,
    body: web::Bytes,
) -> Result<HttpResponse, CampaignApiError> {
    let wanted: NextRequest = if body.is_empty() { NextRequest::default() } else { parse(&body)? };
    let annotator = admit(&request, &app).await?;
    let next = annotator.next(&app.store, &app.rng, &*app.clock).await?;
    let progress = json!({"done": next.done, "of": next.of});
    let answer = match next.assignment {
        None => json!({"finished": true, "progress": progress}),
        Some(shown) => {
            let html = (wanted.render.as_deref() == Some("html")).then(|| html_of(&shown));
            let mut fields = fields_of(shown);
            fields.insert("progress".into(), progress);
            fields.extend(html.map(|html| ("html".to_owned(), html)));
            Value::Object(fields)
        }
    };
    Ok(HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(answer))
}

/// `POST /api/v1/campaigns/{id}/judgements`
///
/// # Errors
/// [`CampaignApiError`].
pub(super) async fn judge(
    request: HttpRequest,
    app: web::Data<AppState>,
    body: web::Bytes,
) -> Result<HttpResponse, CampaignApiError> {
    let sent: JudgementRequest = parse(&body)?;
    let annotator = admit(&request, &app).await?;
    let judged = (sent.assignment.as_str(), &sent.judgement);
    let id = annotator.judge(&app.store, judged, &app.rng, &*app.clock).await?;
    Ok(HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(json!({"judgement": id})))
}

/// `POST /api/v1/campaigns/{id}/undo`: takes the last judgement back.
///
/// # Errors
/// [`CampaignApiError`].
pub(super) async fn undo(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, CampaignApiError> {
    let annotator = admit(&request, &app).await?;
    annotator.undo(&app.store, &*app.clock).await?;
    Ok(HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(json!({"undone": true})))
}

fn parse<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, CampaignApiError> {
    serde_json::from_slice(body).map_err(|error| CampaignApiError::Syntax(error.to_string()))
}

async fn admit(request: &HttpRequest, app: &AppState) -> Result<Annotator, CampaignApiError> {
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = header.and_then(|value| value.strip_prefix("Bearer ")).map(str::trim).filter(|token| !token.is_empty());
    let id = request.match_info().query("id");
    if !is_id(id) {
        return Err(AnnotatingError::UnknownLink.into());
    }
    Ok(Annotator::admit(&app.store, id, token.ok_or(CampaignApiError::NoToken)?, app.clock.now()).await?)
}

fn fields_of(shown: ShownAssignment) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("assignment".into(), shown.id.into());
    fields.insert("item".into(), shown.item.into());
    fields.insert("prompt".into(), shown.prompt.into());
    fields.extend(shown.reference.map(|text| ("reference".to_owned(), text.into())));
    fields.extend(shown.answers.into_iter().map(|(letter, answer)| (letter.to_owned(), answer.into())));
    fields
}

/// Prompt, reference and answers as safe HTML.
fn html_of(shown: &ShownAssignment) -> Value {
    let html = |text: &str| Value::from(markup::render(text).concat());
    let mut fields = Map::new();
    fields.insert("prompt".into(), html(&shown.prompt));
    fields.extend(shown.reference.as_deref().map(|text| ("reference".to_owned(), html(text))));
    fields.extend(shown.answers.iter().map(|(letter, answer)| ((*letter).to_owned(), html(answer))));
    Value::Object(fields)
}
