//! Mapping from errors to HTTP statuses. Internal details are logged, never shown.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};

use crate::domain::admin::role::Role;
use crate::infra::single_flight::FlightError;
use crate::infra::storage::StoreError;
use crate::pages::frame::invalid_query::InvalidQuery;
use crate::render::i18n::pages::{InvalidField, MissingObject};
use crate::services::admin::api_keys::KeyRefused;
use crate::services::arena::voting::VoteError;
use crate::services::battle_judging::reports::BattleJudgingError;
use crate::services::benchmark::error::BenchError;
use crate::services::campaign::reports::CampaignReportError;
use crate::services::correlation::snapshot::CorrelationError;
use crate::services::exclusions::flagged_voters::FlaggedError;
use crate::services::leaderboard::filtered::FilteredLeaderboardError;
use crate::services::model_register::RegisterError;
use crate::services::public_log::PublicLogError;

/// Text of a request that fails because of a database outage.
const OUTAGE_TEXT: &str = "the database does not answer at the moment: try again in a minute";

/// Error of a page request.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The host name does not belong to the arena.
    #[error(
        "the arena does not answer under this name: use its IP address, or set server.public_url to the address that \
         visitors use"
    )]
    ForeignHost,
    /// A websocket is opened by another site's page.
    #[error(
        "this socket is for the arena's own pages: set server.public_url to the address that visitors use; a program that sends a cookie must send the arena's address as Origin"
    )]
    ForeignOrigin,
    /// The request is not a websocket handshake.
    #[error("this address is a websocket: connect with ws:// or wss://")]
    NotAWebsocket,
    /// The limit of open sockets is reached.
    #[error("the arena is full at the moment: try again in a minute")]
    Full,
    /// The limit of open sockets of the visitor's network is reached.
    #[error("too many connections are open from your network: close pages of the arena, or try again in a minute")]
    NetworkFull,
    /// The process is shutting down.
    #[error("the arena restarts: come back in a moment")]
    Draining,
    /// A query parameter is invalid.
    #[error("{0}")]
    InvalidQuery(String),
    /// A form field is invalid.
    #[error("{}", .0.in_english())]
    InvalidField(InvalidField),
    /// The filtered leaderboard could not be computed.
    #[error("{}", if .0.is_outage() { OUTAGE_TEXT.to_owned() } else if .0.is_missing() || matches!(.0, FilteredLeaderboardError::Shared(FlightError::Busy)) { .0.to_string() } else { "the leaderboard could not be computed: try again".to_owned() })]
    FilteredLeaderboard(#[from] FilteredLeaderboardError),
    /// The benchmark is unknown, or could not be read.
    #[error("{}", if .0.is_outage() { OUTAGE_TEXT.to_owned() } else if .0.is_missing() || matches!(.0, BenchError::Shared(FlightError::Busy)) { .0.to_string() } else { "the benchmark could not be read: try again".to_owned() })]
    Bench(#[from] BenchError),
    /// The correlations could not be computed.
    #[error("{}", if .0.is_input() || matches!(.0, CorrelationError::Shared(FlightError::Busy)) { .0.to_string() } else { "the correlations could not be computed: try again".to_owned() })]
    Correlation(#[from] CorrelationError),
    /// The database could not be read or written.
    #[error("{}", if .0.is_outage() { OUTAGE_TEXT } else { "the database could not be used: try again" })]
    Store(#[from] StoreError),
    /// The first computation is not finished.
    #[error("the correlations are being computed: try again in a moment")]
    Early,
    /// The report on judges of battles could not be computed.
    #[error("{}", if .0.is_outage() { OUTAGE_TEXT } else { "judge verdicts could not be read: try again" })]
    BattleJudging(#[from] BattleJudgingError),
    /// The campaign report could not be computed.
    #[error("{}", if .0.is_outage() { OUTAGE_TEXT.to_owned() } else if .0.is_busy() { .0.to_string() } else { "the report could not be made: try again".to_owned() })]
    CampaignReport(#[from] CampaignReportError),
    /// The model register could not be read.
    #[error("{}", if .0.is_outage() { OUTAGE_TEXT } else { "the register of models could not be read: try again" })]
    Register(#[from] RegisterError),
    /// The past battle could not be read.
    #[error("{}", if matches!(.0, VoteError::Store(error) if error.is_outage()) { OUTAGE_TEXT } else { "the battle could not be read: try again" })]
    PastBattle(#[from] VoteError),
    /// The public log could not be read.
    #[error("{}", if .0.is_outage() { OUTAGE_TEXT } else { "the public log could not be read: try again" })]
    PublicLog(#[from] PublicLogError),
    /// The visitor is not signed in.
    #[error("this arena asks people to sign in first: open /sign-in")]
    SignInRequired,
    /// The voter test failed.
    #[error("{}", if .0.cause().is_some_and(FlaggedError::is_outage) { OUTAGE_TEXT.to_owned() } else if matches!(.0, FlightError::Busy) { .0.to_string() } else { "voters could not be tested: try again".to_owned() })]
    FlaggedVoters(#[from] FlightError<FlaggedError>),
    /// The preview of a decision failed.
    #[error("the preview could not be computed: try again")]
    Preview,
    /// An admin change was requested without signing in.
    #[error("sign in first: open /admin/sign-in")]
    AdminSignInRequired,
    /// The user lacks this role.
    #[error("this requires the role {} or a higher one", .0.as_str())]
    AdminRole(Role),
    /// The API key was refused.
    #[error(transparent)]
    Key(#[from] KeyRefused),
    /// The form does not come from the arena's own page.
    #[error(
        "this form does not come from the arena's own page, or has expired: go back, reload the page and try again"
    )]
    ForeignForm,
    /// An unsafe request comes from another site's page.
    #[error(
        "this request comes from another site's page: only the arena's own pages and programs may change something; set \
         server.public_url to the address that visitors use"
    )]
    ForeignPage,
    /// The content type can be sent by any site's page.
    #[error("unsupported content type: send JSON as \"Content-Type: application/json\"")]
    PlainText,
    /// The body is compressed.
    #[error("compressed request bodies are not read: send the body without Content-Encoding")]
    CompressedBody,
    /// The body did not arrive in time.
    #[error("the request body did not arrive in time: send it again")]
    BodyTimeout,
    /// The addressed resource does not exist.
    #[error("{0}")]
    Missing(String),
    /// A link of a visitor or of the admin leads to something that does not exist.
    #[error("{}", .0.in_english())]
    MissingObject(MissingObject),
    /// The rendering thread ended early.
    #[error("the page could not be rendered: try again")]
    Thread(#[from] tokio::task::JoinError),
    /// The template failed to render.
    #[error("the page could not be rendered: try again")]
    Template(#[from] askama::Error),
}

impl From<InvalidQuery> for PageError {
    fn from(InvalidQuery(said): InvalidQuery) -> Self {
        Self::InvalidQuery(said)
    }
}

impl PageError {
    /// Whether the error is a database outage, which is logged already.
    pub(in crate::http) fn is_outage(&self) -> bool {
        match self {
            Self::FilteredLeaderboard(error) => error.is_outage(),
            Self::Bench(error) => error.is_outage(),
            Self::BattleJudging(error) => error.is_outage(),
            Self::CampaignReport(error) => error.is_outage(),
            Self::Register(error) => error.is_outage(),
            Self::Store(error) | Self::PastBattle(VoteError::Store(error)) | Self::Key(KeyRefused::Store(error)) => {
                error.is_outage()
            }
            Self::PublicLog(error) => error.is_outage(),
            Self::FlaggedVoters(error) => error.cause().is_some_and(FlaggedError::is_outage),
            _ => false,
        }
    }

    /// Returns the seconds after which the same request may succeed.
    fn retry_after(&self) -> u64 {
        match self {
            Self::Full | Self::NetworkFull => 60,
            Self::Key(KeyRefused::TooMany(limited)) => limited.seconds(),
            _ => 5,
        }
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::ForeignHost => StatusCode::MISDIRECTED_REQUEST,
            error if error.is_outage() => StatusCode::SERVICE_UNAVAILABLE,
            Self::Key(error) => key_status(error),
            Self::PlainText | Self::CompressedBody => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::AdminSignInRequired => StatusCode::UNAUTHORIZED,
            Self::ForeignOrigin | Self::ForeignPage | Self::SignInRequired | Self::ForeignForm | Self::AdminRole(_) => {
                StatusCode::FORBIDDEN
            }
            Self::NotAWebsocket | Self::InvalidQuery(_) | Self::InvalidField(_) => StatusCode::BAD_REQUEST,
            Self::Missing(_) | Self::MissingObject(_) => StatusCode::NOT_FOUND,
            Self::FilteredLeaderboard(error) if error.is_missing() => StatusCode::NOT_FOUND,
            Self::Bench(error) if error.is_missing() => StatusCode::NOT_FOUND,
            Self::Correlation(error) if error.is_input() => StatusCode::BAD_REQUEST,
            Self::CampaignReport(error) if error.is_busy() => StatusCode::SERVICE_UNAVAILABLE,
            Self::Full
            | Self::NetworkFull
            | Self::Draining
            | Self::Early
            | Self::FilteredLeaderboard(FilteredLeaderboardError::Shared(FlightError::Busy))
            | Self::Bench(BenchError::Shared(FlightError::Busy))
            | Self::BattleJudging(BattleJudgingError::Shared(FlightError::Busy))
            | Self::FlaggedVoters(FlightError::Busy)
            | Self::Correlation(CorrelationError::Shared(FlightError::Busy)) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Template(_)
            | Self::Thread(_)
            | Self::FilteredLeaderboard(_)
            | Self::Bench(_)
            | Self::Correlation(_)
            | Self::BattleJudging(_)
            | Self::CampaignReport(_)
            | Self::Register(_)
            | Self::PastBattle(_)
            | Self::PublicLog(_)
            | Self::FlaggedVoters(_)
            | Self::Preview
            | Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn error_response(&self) -> HttpResponse {
        if self.status_code() == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = ?self, "a request failed");
        }
        let mut response = HttpResponse::build(self.status_code());
        if [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS].contains(&self.status_code()) {
            response.insert_header((header::RETRY_AFTER, self.retry_after().to_string()));
        }
        if let Self::Key(_) = self {
            response.insert_header((header::CACHE_CONTROL, "no-store"));
        }
        if let Self::Key(KeyRefused::Missing(_) | KeyRefused::Unknown) = self {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        response.content_type("text/plain; charset=utf-8").body(format!("{self}\n"))
    }
}

/// Returns the status for a refused API key.
pub(in crate::http) fn key_status(error: &KeyRefused) -> StatusCode {
    match error {
        KeyRefused::Missing(_) | KeyRefused::Unknown => StatusCode::UNAUTHORIZED,
        KeyRefused::Scope(_) => StatusCode::FORBIDDEN,
        KeyRefused::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
        KeyRefused::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}
