//! The API of annotators, used by the page `/campaign/ID` and any other client. A link's token, or an API key with the scope `annotate`, is
//! sent as `Authorization: Bearer`; errors are JSON with a code and a message.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, RETRY_AFTER};
use actix_web::{Error, HttpRequest, HttpResponse, ResponseError, web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api_keys::{self, bearer};
use super::request::address::network_of;
use super::request::error::{PageError, key_status};
use crate::domain::admin::key_scope::{KEY_PREFIX, KeyScope};
use crate::domain::campaign::judgement::SentJudgement;
use crate::domain::campaign::plan::is_id;
use crate::domain::campaign::questions::CampaignQuestion;
use crate::domain::campaign::shown_assignment::ShownAssignment;
use crate::domain::text_diff::{DiffPart, text_diff};
use crate::infra::limits::{Caller, LimitedAction, RateLimited};
use crate::infra::storage::ValidJudgement;
use crate::infra::time::clock::Clock;
use crate::pages;
use crate::render::i18n::pages::MissingObject;
use crate::render::markdown;
use crate::services::admin::api_keys::KeyRefused;
use crate::services::campaign::annotating::{AnnotatingError, Annotator, JudgementContext};
use crate::services::campaign::joining::{self, JoinIdentity};
use crate::state::AppState;

/// Maximum size of a request in bytes: room for a few free texts.
pub(super) const MAX_BYTES: usize = 65_536;

/// Request body, or the error of reading it, so that this too is answered as JSON.
type CampaignBody = Result<web::Bytes, Error>;

/// Body of `…/next`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct NextRequest {
    /// `html` to include the texts as safe HTML; `differences` for answers as plain text, in which `mark` elements enclose what the other
    /// answer lacks, for comparisons of two.
    render: Option<String>,
}

/// Body of `…/judgements`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct JudgementRequest {
    /// The `assignment` from the response to `next`.
    assignment: String,
    #[serde(flatten)]
    judgement: SentJudgement,
}

/// The body of `…/undo`, which may be empty. Unknown fields are refused: with a misspelt name, the last judgement would be undone.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct UndoRequest {
    /// Id of the judgement to undo, from the response to `judgements`, so that a repeated request undoes no other one. By default the last
    /// one.
    judgement: Option<String>,
}

/// Error of an annotator's request.
#[derive(Debug, thiserror::Error)]
pub(super) enum CampaignApiError {
    /// The annotation was refused.
    #[error(transparent)]
    Annotating(#[from] AnnotatingError),
    /// The API key was refused.
    #[error(transparent)]
    Key(#[from] KeyRefused),
    /// Rate limit exceeded for votes, joins or rendered texts.
    #[error(transparent)]
    TooFast(#[from] RateLimited),
    /// The rendering thread ended early.
    #[error("the texts could not be rendered: try again")]
    Thread(#[from] tokio::task::JoinError),
    /// No token was sent.
    #[error("send the token of your link, or an API key, as \"Authorization: Bearer TOKEN\"")]
    NoToken,
    /// The request is malformed.
    #[error("invalid request body: {0}")]
    Syntax(String),
    /// The request is too large.
    #[error("the request is longer than {MAX_BYTES} bytes: shorten its texts")]
    TooLong,
}

/// Error response.
#[derive(Serialize, JsonSchema)]
pub(super) struct ErrorBody<'e> {
    /// Machine-readable error code.
    code: &'e str,
    /// Message with the problem and its remedy.
    message: String,
}

/// Response to `next`: an assignment, or the end.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum NextAnswer {
    /// No assignment is left.
    Finished(FinishedJson),
    /// Next assignment.
    Assignment(Box<ShownJson>),
}

/// End of the annotator's work.
#[derive(Serialize, JsonSchema)]
pub(super) struct FinishedJson {
    /// Always true.
    finished: bool,
    /// Reason: `nothing_left` or `quota` for this annotator, or `separated` or `max_judgements` for the whole campaign.
    because: &'static str,
    /// Progress of the annotator.
    progress: AnnotatorProgressJson,
}

/// Assignment as shown to the annotator.
#[derive(Serialize, JsonSchema)]
pub(super) struct ShownJson {
    /// Id to send with the judgement.
    assignment: String,
    /// Id of the item.
    item: String,
    #[serde(flatten)]
    texts: ShownTexts,
    /// Questions about this item beside the task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<CampaignQuestion>,
    /// Progress of the annotator.
    progress: AnnotatorProgressJson,
    /// Texts as safe HTML, for a request with `"render": "html"` or `"differences"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<ShownTexts>,
}

/// Texts of an assignment.
#[derive(Serialize, JsonSchema)]
struct ShownTexts {
    /// Prompt of the item.
    prompt: String,
    /// Reference answer, if the campaign shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(flatten)]
    answers: LetteredTexts,
}

/// Answers by letter: one for the task `score`, two for `pairwise`, up to five for `rank`.
#[derive(Serialize, JsonSchema)]
struct LetteredTexts {
    /// First answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<String>,
    /// Second answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<String>,
    /// Third to fifth answer, as `c`, `d` and `e`: client generators use a variable `d` of their own.
    #[serde(flatten)]
    others: BTreeMap<String, String>,
}

/// Progress of an annotator.
#[derive(Serialize, JsonSchema)]
struct AnnotatorProgressJson {
    /// Number of judgements so far.
    done: u32,
    /// Maximum number of judgements for this annotator.
    of: u32,
}

/// Body of `…/join`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct JoinRequest {
    /// Idempotency key: random text that is the same for every attempt of one person, so that a lost response takes no second place.
    request: Option<String>,
    /// Participant id on a recruitment platform.
    participant: Option<String>,
}

/// Place taken through a shared link.
#[derive(Serialize, JsonSchema)]
pub(super) struct JoinAnswer {
    /// Token of the annotator's own link, for all other requests.
    invite: String,
}

/// Response to a stored judgement.
#[derive(Serialize, JsonSchema)]
pub(super) struct JudgementAnswer {
    /// Id of the judgement; a repeated request gets the first one's.
    judgement: String,
    /// True if the stored first judgement differs; it is kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    differs: bool,
}

/// Response to an undone judgement.
#[derive(Serialize, JsonSchema)]
pub(super) struct UndoAnswer {
    /// Always true.
    undone: bool,
}

impl CampaignApiError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoToken => "no_token",
            Self::Key(error) => key_code(error),
            Self::TooFast(_) => "rate_limited",
            Self::Thread(_) => "unavailable",
            Self::Syntax(_) => "bad_request",
            Self::TooLong => "too_long",
            Self::Annotating(error) => match error {
                AnnotatingError::UnknownLink => "unknown_link",
                AnnotatingError::UnknownCampaign => "unknown_campaign",
                AnnotatingError::Revoked => "link_revoked",
                AnnotatingError::Expired => "link_expired",
                AnnotatingError::NotOpen(_) => "campaign_not_open",
                AnnotatingError::Full => "link_full",
                AnnotatingError::UnknownAssignment => "unknown_assignment",
                AnnotatingError::UnknownJudgement => "unknown_judgement",
                AnnotatingError::NotLast => "not_last",
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
            Self::Key(error) => key_status(error),
            Self::TooFast(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Thread(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Syntax(_) => StatusCode::BAD_REQUEST,
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Annotating(error) => match error {
                AnnotatingError::UnknownLink => StatusCode::UNAUTHORIZED,
                AnnotatingError::Revoked | AnnotatingError::Expired | AnnotatingError::Full => StatusCode::FORBIDDEN,
                AnnotatingError::NotOpen(_) | AnnotatingError::NothingJudged | AnnotatingError::NotLast => {
                    StatusCode::CONFLICT
                }
                AnnotatingError::UnknownAssignment
                | AnnotatingError::UnknownJudgement
                | AnnotatingError::UnknownCampaign => StatusCode::NOT_FOUND,
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
        let mut response = HttpResponse::build(status);
        if let Self::Key(KeyRefused::TooMany(limited)) | Self::TooFast(limited) = self {
            response.insert_header((RETRY_AFTER, limited.seconds().to_string()));
        }
        response.insert_header((CACHE_CONTROL, "no-store")).json(body)
    }
}

fn key_code(error: &KeyRefused) -> &'static str {
    match error {
        KeyRefused::Missing(_) => "no_token",
        KeyRefused::Unknown => "unknown_key",
        KeyRefused::Scope(_) => "key_scope",
        KeyRefused::TooMany(_) => "rate_limited",
        KeyRefused::Store(_) => "unavailable",
    }
}

/// `GET /campaign/{id}`: the page on which annotators judge. It is the same for everyone; its script sends the link's token.
///
/// # Errors
/// [`PageError::MissingObject`] for an unknown campaign.
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let id = request.match_info().query("id");
    let missing = || PageError::MissingObject(MissingObject::Campaign);
    let row = if is_id(id) { app.store.campaign(id).await? } else { None };
    let row = row.ok_or_else(missing)?;
    let plan =
        serde_json::from_str(&row.plan).map_err(|_| PageError::Missing("this campaign cannot be read".into()))?;
    Ok(pages::campaigns::campaign::campaign(&request, &row.id, plan))
}

/// `POST /api/v1/campaigns/{id}/next`
///
/// # Errors
/// [`CampaignApiError`].
pub(super) async fn next(
    request: HttpRequest,
    app: web::Data<AppState>,
    body: CampaignBody,
) -> Result<HttpResponse, CampaignApiError> {
    let wanted: NextRequest = parse_optional(body)?;
    let annotator = admit(&request, &app).await?;
    let render = renderer(wanted.render.as_deref());
    if render.is_some() {
        let caller = Caller { visitor: annotator.pseudonym().clone(), network: network(&request, &app) };
        app.limits.count_text_request(&caller)?;
    }
    let next = annotator.next(&app.store, &app.rng, &*app.clock).await?;
    let progress = AnnotatorProgressJson { done: next.done, of: next.of };
    let answer = match next.assignment {
        Err(why) => NextAnswer::Finished(FinishedJson { finished: true, because: why.as_str(), progress }),
        Ok(shown) => {
            let (shown, as_html) = rendered(shown, render).await?;
            let texts = texts(&shown, str::to_owned);
            let ShownAssignment { id: assignment, item, questions, .. } = shown;
            NextAnswer::Assignment(Box::new(ShownJson { assignment, item, texts, questions, progress, html: as_html }))
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
    body: CampaignBody,
) -> Result<HttpResponse, CampaignApiError> {
    let sent: JudgementRequest = parse(&read(body)?)?;
    let annotator = admit(&request, &app).await?;
    if let Some(visitor) = annotator.voter() {
        app.limits.take(LimitedAction::Vote, &Caller { visitor, network: network(&request, &app) }).await?;
    }
    let ValidJudgement { id, differs } =
        annotator.judge(&judgement_context(&app), &sent.assignment, &sent.judgement).await?;
    Ok(HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(JudgementAnswer { judgement: id, differs }))
}

/// `POST /api/v1/campaigns/{id}/join`: takes a place through the shared link whose token is sent.
///
/// # Errors
/// [`CampaignApiError`].
pub(super) async fn join(
    request: HttpRequest,
    app: web::Data<AppState>,
    body: CampaignBody,
) -> Result<HttpResponse, CampaignApiError> {
    let sent: JoinRequest = parse_optional(body)?;
    let id = request.match_info().query("id");
    if !is_id(id) {
        return Err(AnnotatingError::UnknownLink.into());
    }
    let token = bearer(&request).ok_or(CampaignApiError::NoToken)?;
    app.limits.count_campaign_place(network(&request, &app).as_deref()).await?;
    let joining = JoinIdentity { request: sent.request.as_deref(), participant: sent.participant.as_deref() };
    let invite = joining::join(&app.store, &app.rng, id, (token, joining), app.clock.now()).await?;
    Ok(HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(JoinAnswer { invite }))
}

/// `POST /api/v1/campaigns/{id}/undo`: undoes a judgement.
///
/// # Errors
/// [`CampaignApiError`].
pub(super) async fn undo(
    request: HttpRequest,
    app: web::Data<AppState>,
    body: CampaignBody,
) -> Result<HttpResponse, CampaignApiError> {
    let sent: UndoRequest = parse_optional(body)?;
    let annotator = admit(&request, &app).await?;
    annotator.undo(&judgement_context(&app), sent.judgement.as_deref()).await?;
    Ok(HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(UndoAnswer { undone: true }))
}

fn network(request: &HttpRequest, app: &AppState) -> Option<String> {
    network_of(request, &app.settings.now().server.trusted_proxies)
}

fn judgement_context(app: &AppState) -> JudgementContext<'_> {
    let voting = &app.voting;
    JudgementContext {
        store: &app.store,
        rng: &app.rng,
        clock: &*app.clock,
        rules: &voting.rules,
        events: &*voting.events,
    }
}

/// Parses a body, which may be empty for the default.
fn parse_optional<T: Default + for<'de> Deserialize<'de>>(body: CampaignBody) -> Result<T, CampaignApiError> {
    let body = read(body)?;
    if body.is_empty() { Ok(T::default()) } else { parse(&body) }
}

fn read(body: CampaignBody) -> Result<web::Bytes, CampaignApiError> {
    body.map_err(|error| match error.as_response_error().status_code() {
        StatusCode::PAYLOAD_TOO_LARGE => CampaignApiError::TooLong,
        _ => CampaignApiError::Syntax(error.to_string()),
    })
}

fn parse<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, CampaignApiError> {
    serde_json::from_slice(body).map_err(|error| CampaignApiError::Syntax(error.to_string()))
}

async fn admit(request: &HttpRequest, app: &AppState) -> Result<Annotator, CampaignApiError> {
    let id = request.match_info().query("id");
    if !is_id(id) {
        return Err(AnnotatingError::UnknownLink.into());
    }
    let token = bearer(request).ok_or(CampaignApiError::NoToken)?;
    if !token.starts_with(KEY_PREFIX) {
        return Ok(Annotator::admit((&app.store, &app.sessions), id, token, app.clock.now()).await?);
    }
    let key = api_keys::admit(request, app, Some(KeyScope::Annotate)).await?;
    Ok(Annotator::admit_key((&app.store, &app.sessions), id, &key.id, app.clock.now()).await?)
}

fn texts(shown: &ShownAssignment, written: fn(&str) -> String) -> ShownTexts {
    let mut answers = shown.answers.iter().map(|(letter, answer)| ((*letter).to_owned(), written(answer)));
    let mut next = || answers.next().map(|(_, answer)| answer);
    let (a, b) = (next(), next());
    let answers = LetteredTexts { a, b, others: answers.collect() };
    ShownTexts { prompt: written(&shown.prompt), reference: shown.reference.as_deref().map(written), answers }
}

/// Renders the texts of an assignment.
type TextRenderer = fn(&ShownAssignment) -> ShownTexts;

/// Returns the renderer that a request names; `None` for the texts alone.
fn renderer(wanted: Option<&str>) -> Option<TextRenderer> {
    match wanted {
        Some("html") => Some(|shown| texts(shown, html)),
        Some("differences") => Some(differences),
        _ => None,
    }
}

/// Renders an assignment's texts as requested, on a blocking thread because rendering and diffing long texts takes time.
async fn rendered(
    shown: ShownAssignment,
    render: Option<TextRenderer>,
) -> Result<(ShownAssignment, Option<ShownTexts>), CampaignApiError> {
    let Some(render) = render else { return Ok((shown, None)) };
    let rendering = move || {
        let as_html = render(&shown);
        (shown, Some(as_html))
    };
    Ok(tokio::task::spawn_blocking(rendering).await?)
}

/// Renders the texts as safe HTML; two compared answers as plain text with marked differences.
fn differences(shown: &ShownAssignment) -> ShownTexts {
    let mut as_html = texts(shown, html);
    if let [(_, one), (_, other)] = shown.answers.as_slice() {
        let [a, b] = marked(one, other);
        (as_html.answers.a, as_html.answers.b) = (Some(a), Some(b));
    }
    as_html
}

fn marked(one: &str, other: &str) -> [String; 2] {
    let whole = |text: &str| vec![DiffPart { text: text.to_owned(), differs: false }];
    let parts = text_diff(one, other).unwrap_or_else(|| [whole(one), whole(other)]);
    parts.map(|parts| markdown::marked(&parts))
}

/// Renders a text as safe HTML.
fn html(text: &str) -> String {
    markdown::render(text).concat()
}
