//! Images beside a prompt: `POST` stores one, and the returned address shows it to its visitor only.

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, RETRY_AFTER};
use actix_web::{HttpRequest, HttpResponse, ResponseError, web};
use serde::Serialize;

use super::request::address::network_of;
use super::request::error::PageError;
use super::visitor::history::{is_share_token, owner};
use super::visitor::sign_in::admitted;
use crate::domain::battle::ImageId;
use crate::domain::battle::message::PromptImage;
use crate::formats::prompt_images::UnusableImage;
use crate::infra::limits::{Caller, LimitedAction, RateLimited};
use crate::pages;
use crate::services::arena::prompt_images::ImageError;
use crate::state::AppState;
use crate::ws::error_codes::ErrorCode;

/// Path of uploads.
pub(super) const UPLOAD_PATH: &str = "/images";

/// Stored image.
#[derive(Serialize)]
pub(super) struct ImageJson {
    /// Id, for `images` of a `start`.
    image: ImageId,
    /// Width in pixels, as stored.
    width: u32,
    /// Height in pixels, as stored.
    height: u32,
}

/// Error response of an upload.
#[derive(Serialize)]
pub(super) struct RefusalJson {
    /// Machine-readable error code.
    code: &'static str,
    /// Message with the problem and its remedy.
    message: String,
}

/// Error of an image upload.
#[derive(Debug, thiserror::Error)]
pub(super) enum ImageApiError {
    /// The image was refused.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The upload rate limit is exceeded.
    #[error(transparent)]
    TooFast(#[from] RateLimited),
    /// The body is incomplete.
    #[error("the image upload was incomplete: send it again")]
    Broken,
    /// The visitor may not take part, or the check failed.
    #[error(transparent)]
    Page(#[from] PageError),
}

impl ResponseError for ImageApiError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::TooFast(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Page(error) => error.status_code(),
            Self::Image(error) => match error {
                ImageError::Off | ImageError::TooMany { .. } => StatusCode::CONFLICT,
                ImageError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                ImageError::Unknown => StatusCode::NOT_FOUND,
                ImageError::Unusable(UnusableImage::UnknownFormat) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ImageError::Unusable(_) | ImageError::Broke => StatusCode::UNPROCESSABLE_ENTITY,
                ImageError::Busy | ImageError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            },
        }
    }

    fn error_response(&self) -> HttpResponse {
        let code = match self {
            Self::Image(error) => error.code(),
            Self::TooFast(error) => error.code(),
            Self::Broken => "invalid_message",
            Self::Page(error) => return error.error_response(),
        };
        if let Self::Image(ImageError::Store(error)) = self {
            tracing::warn!(error = ?error, "an image could not be kept");
        }
        let mut response = HttpResponse::build(self.status_code());
        if let Self::TooFast(limited) = self {
            response.insert_header((RETRY_AFTER, limited.seconds().to_string()));
        }
        response.json(RefusalJson { code, message: self.to_string() })
    }
}

/// `POST /images`: the body is the file. A visitor's first upload sets the session cookie, which its battle needs.
///
/// # Errors
/// [`ImageApiError`]; nothing is stored then.
pub(super) async fn take(
    request: HttpRequest,
    app: web::Data<AppState>,
    body: web::Payload,
) -> Result<HttpResponse, ImageApiError> {
    let (visitor, _) = admitted(&request, &app).await?;
    if !app.matchmaker.takes_images() {
        return Err(ImageError::Off.into());
    }
    let network = network_of(&request, &app.settings.now().server.trusted_proxies);
    let caller = Caller { visitor: visitor.session.visitor, network };
    app.limits.take(LimitedAction::Image, &caller).await?;
    let max = app.images.max_bytes();
    let file = body.to_bytes_limited(max).await.map_err(|_| ImageError::TooLarge { max })?;
    let file = file.map_err(|_| ImageApiError::Broken)?;
    let taken = app.images.take(&caller.visitor, file.into()).await?;
    let mut response = HttpResponse::Created();
    if let Some(cookie) = visitor.new_cookie {
        response.cookie(cookie);
    }
    Ok(response.json(ImageJson { image: taken.id, width: taken.width, height: taken.height }))
}

/// `GET /images/ID`: for the visitor who sent it. Other requests get the same response as for an unknown image.
///
/// # Errors
/// [`PageError`].
pub(super) async fn show(
    request: HttpRequest,
    app: web::Data<AppState>,
    id: web::Path<String>,
) -> Result<HttpResponse, PageError> {
    let visitor = owner(&request, &app).await?;
    let image = match (ImageId::parse(&id), &visitor.new_cookie) {
        (Some(id), None) => app.store.own_image(&visitor.session.visitor, &id).await?,
        _ => None,
    };
    Ok(answer(request, image).await)
}

/// `GET /shared/TOKEN/images/NUMBER`: an image beside the first question of a shared battle, counted from 1.
///
/// # Errors
/// [`PageError`].
pub(super) async fn shared(
    request: HttpRequest,
    app: web::Data<AppState>,
    path: web::Path<(String, usize)>,
) -> Result<HttpResponse, PageError> {
    let (token, number) = path.into_inner();
    let battle = if is_share_token(&token) { app.store.shared_battle(&token).await? } else { None };
    let images = match battle {
        Some(battle) => app.store.battle_images(&battle).await?,
        None => Vec::new(),
    };
    Ok(answer(request, number.checked_sub(1).and_then(|at| images.into_iter().nth(at))).await)
}

async fn answer(request: HttpRequest, image: Option<PromptImage>) -> HttpResponse {
    let Some(PromptImage { media_type, bytes }) = image else { return pages::errors::not_found::not_found(&request) };
    HttpResponse::Ok().content_type(media_type.as_str()).insert_header((CACHE_CONTROL, "no-store")).body(bytes.to_vec())
}
