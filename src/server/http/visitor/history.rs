//! A visitor's own battles: the list, a page for each, a link to share one, an export, and the deletion of their texts.
//!
//! None of these pages sets a cookie: a visitor without one has no battles. They are private, so caches must not store them.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;

use super::super::form_token::{self, TokenForm, see_other, visitor};
use super::super::request::error::PageError;
use super::super::request::hosts::public_address;
use super::super::session::{Visitor, expired_cookie};
use crate::domain::battle::BattleId;
use crate::domain::battle::past_battle::PastBattle;
use crate::domain::labeling::final_labels::QuestionLabel;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::rating::leaderboards::own_leaderboard::OwnLeaderboard;
use crate::infra::config::AccessMode;
use crate::infra::time::clock::Clock as _;
use crate::pages;
use crate::pages::frame::query_string::escaped;
use crate::pages::visitor::history::{BattleReader, BattleView, HistoryView, OwnerView, RemovalView};
use crate::render::i18n::pages::{InvalidField, MissingObject};
use crate::services::arena::history;
use crate::services::deletion_requests::{self, DeletionRequestError};
use crate::services::labeling::visitor_labels;
use crate::state::AppState;

/// Maximum length of a search text in characters.
const MAX_SEARCH_CHARS: usize = 200;

/// Query parameters of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::http) struct HistoryQuery {
    /// Search text within questions.
    q: String,
    /// Cursor: id of the battle before which the page begins.
    before: String,
    /// Number of battles whose texts were just deleted.
    deleted: Option<u64>,
}

/// `GET /history`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn list(
    request: HttpRequest,
    app: web::Data<AppState>,
    query: web::Query<HistoryQuery>,
) -> Result<HttpResponse, PageError> {
    let visitor = owner(&request, &app).await?;
    let search: String = query.q.chars().filter(|c| !c.is_control()).take(MAX_SEARCH_CHARS).collect();
    let before = Some(query.before.as_str()).filter(|id| !id.is_empty()).and_then(BattleId::parse);
    let wanted = Some(search.trim().to_owned()).filter(|search| !search.is_empty());
    let found = match visitor.new_cookie {
        Some(_) => history::VisitorBattles::default(),
        None => history::list(&app.store, &app.models, &visitor.session.visitor, before.clone(), wanted).await?,
    };
    let is_whole = before.is_none() && search.trim().is_empty() && visitor.new_cookie.is_none();
    let own = match is_whole {
        true => history::own_leaderboard(&app.store, &app.leaderboard, &visitor.session.visitor).await?,
        false => OwnLeaderboard::default(),
    };
    let older = found.older.as_ref().map(|id| format!("/history?q={}&before={}", escaped(&search), id));
    let view = HistoryView {
        own: own_rows(&app, own),
        entries: found.battles,
        older,
        is_first: before.is_none(),
        search,
        deleted: query.deleted,
        token: owner_token(&app, &visitor),
        forgets_browser: forgets_browser(&app),
    };
    Ok(private(pages::visitor::history::history(&request, view)))
}

/// Returns the visitor's leaderboard with model names; `None` without a vote.
fn own_rows(app: &AppState, leaderboard: OwnLeaderboard) -> Option<(OwnLeaderboard, Vec<String>)> {
    let names = leaderboard.models.iter().map(|row| app.models.card(&row.model).name).collect();
    (leaderboard.votes > 0).then_some((leaderboard, names))
}

/// `GET /history/export`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn export(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let visitor = owner(&request, &app).await?;
    if visitor.new_cookie.is_some() {
        return Ok(see_other("/history"));
    }
    let body = history::export(&app.store, &visitor.session.visitor, app.clock.as_ref()).await?;
    Ok(private(
        HttpResponse::Ok()
            .content_type("application/json")
            .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"langya-my-data.json\""))
            .body(body),
    ))
}

/// `POST /history/delete`. In an open arena the session ends too and the browser forgets its cookie, so that nothing connects it with its
/// votes, and no other tab continues with battles that could no longer be deleted; in an arena with sign-in, that would lock visitors out.
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn delete(
    request: HttpRequest,
    app: web::Data<AppState>,
    form: web::Form<TokenForm>,
) -> Result<HttpResponse, PageError> {
    let visitor = owner(&request, &app).await?;
    form_token::check(&request, &app, &visitor, &form.token)?;
    let delete = async || app.store.delete_texts_of(&visitor.session.visitor, app.clock.now()).await;
    let mut deleted = delete().await?;
    let forgets_browser = forgets_browser(&app);
    if forgets_browser {
        app.access.end_session(&visitor.session.id).await?;
        // Also of battles that another tab began before the session ended: nobody could delete them later.
        deleted += delete().await?;
    }
    let mut response = see_other(&format!("/history?deleted={deleted}"));
    if forgets_browser {
        let gone = expired_cookie(&app.settings.now().server.public_url);
        response.add_cookie(&gone).map_err(|_| PageError::ForeignForm)?;
    }
    Ok(response)
}

/// `GET /battle/ID`: for the visitor of the battle. Other requests get the same response as for an unknown battle.
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn battle(
    request: HttpRequest,
    app: web::Data<AppState>,
    id: web::Path<String>,
) -> Result<HttpResponse, PageError> {
    let visitor = owner(&request, &app).await?;
    let battle = match (BattleId::parse(&id), &visitor.new_cookie) {
        (Some(id), None) => history::own_battle(&app.store, &visitor.session.visitor, &id).await?,
        _ => None,
    };
    let Some(battle) = battle else { return Ok(private(pages::errors::not_found::not_found(&request))) };
    let share =
        app.store.share_of(&battle.id).await?.map(|token| format!("{}/shared/{token}", public_address(&request, &app)));
    let labels = question_labels(&app, &battle).await?;
    let owner = OwnerView { token: form_token::token(&app, &visitor), share, labels };
    Ok(private(past_battle(&request, battle, BattleReader::Owner(owner)).await?))
}

/// Renders the page of a battle, on a blocking thread because Markdown of long replies takes time.
async fn past_battle(
    request: &HttpRequest,
    battle: PastBattle,
    reader: BattleReader,
) -> Result<HttpResponse, PageError> {
    let page = pages::Page::new(request, reader.section());
    let view = tokio::task::spawn_blocking(move || BattleView::new(page, &battle, reader));
    Ok(pages::visitor::history::battle(request, &view.await?))
}

/// `GET /shared/TOKEN`: for everyone with the link. Search engines are asked not to index it.
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn shared(
    request: HttpRequest,
    app: web::Data<AppState>,
    token: web::Path<String>,
) -> Result<HttpResponse, PageError> {
    let battle = if is_share_token(&token) { history::shared_battle(&app.store, &token).await? } else { None };
    let mut response = match battle {
        Some(battle) => {
            let removal = RemovalView {
                token: token.into_inner(),
                asked: request.query_string() == ASKED_QUERY,
                pictures: format!("{}/site/preview", public_address(&request, &app)),
            };
            past_battle(&request, battle, BattleReader::Anybody(removal)).await?
        }
        None => pages::errors::not_found::not_found(&request),
    };
    response.headers_mut().insert(header::HeaderName::from_static("x-robots-tag"), NO_INDEX);
    Ok(private(response))
}

/// `POST /shared/TOKEN/removal`: a reader with the link asks the operator to delete the texts. It uses no session, so the form has no
/// token; requests from other sites are refused before any route. Each battle has at most one open request.
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn ask_removal(
    app: web::Data<AppState>,
    token: web::Path<String>,
    form: web::Form<RemovalForm>,
) -> Result<HttpResponse, PageError> {
    let battle = if is_share_token(&token) { app.store.shared_battle(&token).await? } else { None };
    let battle = battle.ok_or_else(|| PageError::MissingObject(MissingObject::SharedBattle))?;
    match deletion_requests::ask(&app.store, &app.rng, app.clock.as_ref(), battle, &form.reason).await {
        Ok(()) => Ok(see_other(&format!("/shared/{token}?{ASKED_QUERY}#removal"))),
        Err(DeletionRequestError::Store(error)) => Err(error.into()),
        Err(_) => Err(PageError::InvalidField(InvalidField::Reason)),
    }
}

/// Query of the page after a removal request.
const ASKED_QUERY: &str = "asked=1";

/// Form of a removal request.
#[derive(Deserialize)]
pub(in crate::http) struct RemovalForm {
    reason: String,
}

pub(in crate::http) fn is_share_token(token: &str) -> bool {
    token.len() <= 64 && token.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// `POST /battle/ID/share`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn share(
    request: HttpRequest,
    app: web::Data<AppState>,
    id: web::Path<String>,
    form: web::Form<TokenForm>,
) -> Result<HttpResponse, PageError> {
    let (visitor, battle) = owned_battle(&request, &app, &id, &form).await?;
    app.store.share_battle(&battle, &visitor.session.visitor, &app.rng.token(), app.clock.now()).await?;
    Ok(see_other(&format!("/battle/{battle}#share")))
}

/// `POST /battle/ID/unshare`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn unshare(
    request: HttpRequest,
    app: web::Data<AppState>,
    id: web::Path<String>,
    form: web::Form<TokenForm>,
) -> Result<HttpResponse, PageError> {
    let (visitor, battle) = owned_battle(&request, &app, &id, &form).await?;
    app.store.withdraw_share(&battle, &visitor.session.visitor).await?;
    Ok(see_other(&format!("/battle/{battle}#share")))
}

/// Form with the label chosen by the visitor.
#[derive(Deserialize)]
pub(in crate::http) struct LabelForm {
    token: String,
    scheme: String,
    label: String,
}

/// `POST /battle/ID/label`: sets the visitor's label of the first question, after the vote.
pub(in crate::http) async fn label(
    request: HttpRequest,
    app: web::Data<AppState>,
    id: web::Path<String>,
    form: web::Form<LabelForm>,
) -> Result<HttpResponse, PageError> {
    let LabelForm { token, scheme, label } = form.into_inner();
    let (visitor, battle) = owned_battle(&request, &app, &id, &TokenForm { token }).await?;
    let known = history::own_battle(&app.store, &visitor.session.visitor, &battle).await?;
    if !known.is_some_and(|battle| may_label(&battle)) {
        return Err(PageError::MissingObject(MissingObject::BattleToLabel));
    }
    let scheme = Scheme::parse(&scheme)
        .ok_or_else(|| PageError::InvalidQuery(format!("the labels {scheme:?} are unknown: use superclue or urs")))?;
    let position = scheme.position(&label).map_err(|unknown| PageError::InvalidQuery(unknown.to_string()))?;
    if let Some(label) = scheme.label(position) {
        visitor_labels::correct(&app.store, scheme, &battle, label, app.clock.now()).await?;
    }
    Ok(see_other(&format!("/battle/{battle}#label")))
}

/// Whether the question can be labelled: after the vote, unless its text is deleted.
fn may_label(battle: &PastBattle) -> bool {
    battle.vote.is_some() && !battle.turns.is_empty()
}

/// Returns the category and intent in force for the first question; `None` if the visitor may not change them.
async fn question_labels(app: &AppState, battle: &PastBattle) -> Result<Option<[Option<QuestionLabel>; 2]>, PageError> {
    if !may_label(battle) {
        return Ok(None);
    }
    let of = |scheme, given| visitor_labels::label_of_question(&app.store, scheme, &battle.id, given);
    let category = of(Scheme::Superclue, battle.category.as_deref()).await?;
    let intent = of(Scheme::Urs, battle.intent.as_deref()).await?;
    Ok(Some([category, intent]))
}

const NO_INDEX: header::HeaderValue = header::HeaderValue::from_static("noindex, nofollow");

/// Returns the visitor of a form and the id of its battle; the database query checks the ownership.
async fn owned_battle(
    request: &HttpRequest,
    app: &AppState,
    id: &str,
    form: &TokenForm,
) -> Result<(Visitor, BattleId), PageError> {
    let visitor = owner(request, app).await?;
    form_token::check(request, app, &visitor, &form.token)?;
    // The id becomes part of a header.
    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let battle = BattleId::parse(id).filter(|_| is_plain);
    Ok((visitor, battle.ok_or_else(|| PageError::MissingObject(MissingObject::Battle))?))
}

/// Returns the visitor of a request, for private pages. A signed-out session is refused.
///
/// # Errors
/// [`PageError::SignInRequired`] for a signed-out session.
pub(in crate::http) async fn owner(request: &HttpRequest, app: &AppState) -> Result<Visitor, PageError> {
    let visitor = visitor(request, app);
    let acts = match visitor.session.has_account {
        true => app.access.acts_for_account(&visitor.session.id).await?,
        false => app.access.acts_for_itself(&visitor.session.id).await?,
    };
    if acts { Ok(visitor) } else { Err(PageError::SignInRequired) }
}

fn owner_token(app: &AppState, visitor: &Visitor) -> Option<String> {
    visitor.new_cookie.is_none().then(|| form_token::token(app, visitor))
}

fn forgets_browser(app: &AppState) -> bool {
    app.access.mode() == AccessMode::Open
}

fn private(mut response: HttpResponse) -> HttpResponse {
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    response
}
