//! Websocket upgrades: from the arena's own pages only, and up to the limit of open sockets.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::{FromRequest, HttpRequest, HttpResponse, web};
use actix_ws::{MessageStream, Session};
use bytes::Bytes;
use futures_util::Stream;
use parking_lot::Mutex;
use tracing::{Instrument, Span};

use super::leaderboards::leaderboard_view::Frames;
use super::request::address::network_of;
use super::request::error::PageError;
use super::request::hosts;
use super::visitor::sign_in;
use crate::infra::limits::Caller;
use crate::infra::metrics::{self, OpenSocket};
use crate::pages::requested_language;
use crate::state::AppState;
use crate::ws::battle_socket::{self, Connection};
use crate::ws::frame_limit::FrameLimit;
use crate::ws::leaderboard;
use crate::ws::protocol::MAX_MESSAGE_BYTES;

/// Maximum size in bytes of a fragmented message that is read before it is refused.
const MAX_AGGREGATE_BYTES: usize = 4 * MAX_MESSAGE_BYTES;

/// Divisor of `server.max_sockets` that gives the limit of one network: a single machine must not keep all others out.
const NETWORK_SHARE_DIVISOR: usize = 4;

/// Counter of open sockets.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenSockets {
    all: Arc<AtomicUsize>,
    by_network: Arc<Mutex<HashMap<String, usize>>>,
}

struct SocketPermit {
    open: OpenSockets,
    network: Option<String>,
    /// Metrics guard, set unless the permit exceeded the limit.
    _measured: Option<OpenSocket>,
}

impl OpenSockets {
    /// Acquires a permit. `network` is that of the visitor; `None` for loopback addresses.
    fn take(&self, limit: usize, network: Option<String>, kind: &'static str) -> Result<SocketPermit, PageError> {
        let of_network = network.as_ref().map_or(0, |network| {
            let mut by_network = self.by_network.lock();
            let open = by_network.entry(network.clone()).or_default();
            *open += 1;
            *open
        });
        let before = self.all.fetch_add(1, Ordering::Relaxed);
        // Dropping the permit releases it, also if it exceeds the limit.
        let mut permit = SocketPermit { open: self.clone(), network, _measured: None };
        if before >= limit {
            metrics::socket_refused("arena");
            return Err(PageError::Full);
        }
        if of_network > limit.div_ceil(NETWORK_SHARE_DIVISOR) {
            metrics::socket_refused("network");
            return Err(PageError::NetworkFull);
        }
        permit._measured = Some(OpenSocket::count(kind));
        Ok(permit)
    }
}

impl Drop for SocketPermit {
    fn drop(&mut self) {
        self.open.all.fetch_sub(1, Ordering::Relaxed);
        let Some(network) = &self.network else { return };
        let mut by_network = self.open.by_network.lock();
        if let Some(open) = by_network.get_mut(network) {
            *open -= 1;
            if *open == 0 {
                by_network.remove(network);
            }
        }
    }
}

/// `GET /ws/battle`
///
/// # Errors
/// [`PageError`] before the upgrade.
pub(super) async fn battle(
    request: HttpRequest,
    payload: web::Payload,
    app: web::Data<AppState>,
    open: web::Data<OpenSockets>,
) -> Result<HttpResponse, PageError> {
    let permit = acquire_socket_permit(&request, &app, &open, "battle")?;
    let settings = app.settings.now();
    let (visitor, signed_in) = sign_in::admitted(&request, &app).await?;
    let network = network_of(&request, &settings.server.trusted_proxies);
    let (mut response, session, stream) = upgrade(&request, payload).await?;
    if let Some(cookie) = &visitor.new_cookie {
        response.add_cookie(cookie).map_err(|_| PageError::NotAWebsocket)?;
    }
    let inbox = stream.aggregate_continuations().max_continuation_size(MAX_AGGREGATE_BYTES);
    let connection = Connection {
        caller: Caller { visitor: visitor.session.visitor.clone(), network },
        session: visitor.session,
        limits: Arc::clone(&app.limits),
        proofs: Arc::clone(&app.proofs),
        consents: Arc::clone(&app.consents),
        battles: Arc::clone(&app.battles),
        voting: Arc::clone(&app.voting),
        tasks: app.tasks.clone(),
        signed_in,
    };
    let span = span("battle", &app);
    let life = async move {
        battle_socket::drive(connection, session, inbox).await;
        drop(permit);
    };
    actix_web::rt::spawn(app.tasks.track(life.instrument(span)));
    Ok(response)
}

/// `GET /ws/leaderboard`
///
/// # Errors
/// [`PageError`] before the upgrade.
pub(super) async fn leaderboard(
    request: HttpRequest,
    payload: web::Payload,
    app: web::Data<AppState>,
    open: web::Data<OpenSockets>,
    frames: web::Data<Frames>,
) -> Result<HttpResponse, PageError> {
    let permit = acquire_socket_permit(&request, &app, &open, "leaderboard")?;
    let (response, session, stream) = upgrade(&request, payload).await?;
    let language = requested_language(&request);
    let frame = move |app: &AppState| frames.frame(app, language);
    let app = app.into_inner();
    let (span, tracked) = (span("leaderboard", &app), app.tasks.clone());
    let life = async move {
        leaderboard::follow(app, frame, session, stream).await;
        drop(permit);
    };
    actix_web::rt::spawn(tracked.track(life.instrument(span)));
    Ok(response)
}

/// Creates the log span of a socket, beside the id of the request that opened it.
fn span(kind: &'static str, app: &AppState) -> Span {
    tracing::info_span!("socket", socket.kind = kind, socket.id = %app.rng.token())
}

/// Accepts the upgrade; frames over the limit are rejected as they arrive.
async fn upgrade(
    request: &HttpRequest,
    payload: web::Payload,
) -> Result<(HttpResponse, Session, MessageStream), PageError> {
    let limited: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> =
        Box::pin(FrameLimit::new(payload, MAX_MESSAGE_BYTES));
    let payload = web::Payload::from_request(request, &mut Payload::from(limited)).await;
    let payload = payload.map_err(|_| PageError::NotAWebsocket)?;
    let (response, session, stream) = actix_ws::handle(request, payload).map_err(|_| PageError::NotAWebsocket)?;
    Ok((response, session, stream.max_frame_size(MAX_MESSAGE_BYTES)))
}

fn acquire_socket_permit(
    request: &HttpRequest,
    app: &AppState,
    open: &OpenSockets,
    kind: &'static str,
) -> Result<SocketPermit, PageError> {
    if !hosts::is_own_page(request.headers(), &app.settings.now().server.public_url) {
        return Err(PageError::ForeignOrigin);
    }
    if app.tasks.is_draining() {
        return Err(PageError::Draining);
    }
    let settings = app.settings.now();
    let network = network_of(request, &settings.server.trusted_proxies);
    open.take(settings.server.max_sockets, network, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_takes_a_share_of_all_sockets_and_gives_it_back() {
        let open = OpenSockets::default();
        let take = |network: &str| open.take(8, Some(network.to_owned()), "battle");
        let first = [take("crowded"), take("crowded")];
        assert!(first.iter().all(Result::is_ok));
        let refused = |network: &str| take(network).err().map(|error| error.to_string());
        let too_many = Some(PageError::NetworkFull.to_string());
        assert!((0..20).all(|_| refused("crowded") == too_many), "a quarter is its share");
        let others = ["a", "b", "c", "d", "e"].map(take);
        assert!(others.iter().all(Result::is_ok), "who was refused holds nothing");
        let own = open.take(8, None, "battle");
        assert!(own.is_ok() && refused("f") == Some(PageError::Full.to_string()), "all eight are taken");
        drop(first);
        assert!(take("crowded").is_ok());
        drop((others, own));
        assert_eq!((open.all.load(Ordering::Relaxed), open.by_network.lock().len()), (0, 0));
    }
}
