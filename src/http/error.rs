//! The one map from errors to HTTP statuses. What went wrong inside is logged, never shown.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};

/// Why a request gets no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A websocket from another site's page.
    #[error("this socket is for the arena's own pages")]
    ForeignOrigin,
    /// Not a websocket request.
    #[error("this address is a websocket: connect with ws:// or wss://")]
    NotAWebsocket,
    /// Too many sockets.
    #[error("the arena is full at the moment: try again in a minute")]
    Full,
    /// The process is about to end.
    #[error("the arena restarts: come back in a moment")]
    Draining,
    /// A page could not be written.
    #[error("the page could not be written: try again")]
    Template(#[from] askama::Error),
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::ForeignOrigin => StatusCode::FORBIDDEN,
            Self::NotAWebsocket => StatusCode::BAD_REQUEST,
            Self::Full | Self::Draining => StatusCode::SERVICE_UNAVAILABLE,
            Self::Template(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn error_response(&self) -> HttpResponse {
        if let Self::Template(_) = self {
            tracing::error!(error = ?self, "a request failed");
        }
        HttpResponse::build(self.status_code()).content_type("text/plain; charset=utf-8").body(format!("{self}\n"))
    }
}
