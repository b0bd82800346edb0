//! `/metrics`, for the operator only.
//!
//! Counters of a model change with its battles, so readers could infer which models answered. They are served to allowed networks only, and
//! never through a proxy: behind one, every visitor has the proxy's address.

use std::net::IpAddr;

use actix_web::http::Version;
use actix_web::http::header::HeaderMap;
use actix_web::{HttpRequest, HttpResponse, web};
use ipnet::IpNet;

use super::probes::{Readiness, is_draining, takes_writes};
use super::request::hosts::is_by_public_name;
use crate::infra::events::BusState;
use crate::infra::metrics;
use crate::infra::storage::backup::LastBackup;
use crate::infra::time::clock::Clock as _;
use crate::pages::errors::not_found;
use crate::state::AppState;

/// Names or name prefixes of headers that proxies add.
const PROXY_HEADERS: [&str; 3] = ["forwarded", "via", "true-client-ip"];
const PROXY_HEADER_PREFIXES: [&str; 9] =
    ["x-forwarded", "x-real-", "x-client-", "x-envoy-", "x-original-", "cf-", "cdn-", "fastly-", "fly-"];

/// `GET /metrics`; 404 for other clients.
pub(super) async fn metrics(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    let peer = request.peer_addr().map(|address| address.ip());
    let settings = app.settings.now();
    let (headers, version, public_url) = (request.headers(), request.version(), &settings.server.public_url);
    if !is_allowed(peer, &settings.server.metrics_allow) || is_proxied(headers, version, public_url) {
        return not_found::not_found(&request);
    }
    update_gauges(&app).await;
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(metrics::render())
}

fn is_allowed(peer: Option<IpAddr>, networks: &[IpNet]) -> bool {
    let Some(peer) = peer.map(|peer| peer.to_canonical()) else { return false };
    networks.iter().any(|network| network.contains(&peer))
}

/// Whether a proxy forwarded the request: it adds a header, keeps the public host name, or speaks HTTP/1.0 as nginx does by default.
/// Prometheus does none of these. A proxy that does none either cannot be detected.
fn is_proxied(headers: &HeaderMap, version: Version, public_url: &str) -> bool {
    // Header names are lower case here.
    let written_by_proxies =
        |name: &str| PROXY_HEADERS.contains(&name) || PROXY_HEADER_PREFIXES.iter().any(|begin| name.starts_with(begin));
    headers.keys().any(|name| written_by_proxies(name.as_str()))
        || version < Version::HTTP_11
        || is_by_public_name(headers, public_url)
}

/// Updates the gauges that are read on request rather than counted.
async fn update_gauges(app: &AppState) {
    let roster = app.models.current();
    metrics::battles_live(app.battles.in_memory());
    metrics::models_drawable(roster.healthy().len());
    metrics::breakers(roster.all().iter().map(|model| (&model.card.id, model.state().phase.as_str())));
    let snapshot = app.leaderboard.latest();
    if let Some(fitted_at) = snapshot.fitted_at {
        metrics::leaderboard(snapshot.leaderboard.votes.rated, fitted_at.0);
    }
    metrics::public_log_lag(app.public_log.lag(app.clock.now()));
    match *app.events.state().borrow() {
        BusState::Alone => {}
        state => metrics::redis(state == BusState::Connected, takes_writes(app)),
    }
    let storage = app.settings.now().storage.clone();
    // A failed read keeps the last known time.
    if let Ok(Some(backup)) = web::block(move || LastBackup::read(&storage)).await {
        metrics::last_backup(backup.at.0);
    }
    metrics::readiness(Readiness::new(app).await.is_ready(), is_draining(app));
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    #[track_caller]
    fn check(peer: &str, header: Option<&'static str>, allowed: bool) {
        let networks = ["127.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
        let mut headers = HeaderMap::new();
        if let Some(name) = header {
            headers.insert(name.parse::<HeaderName>().unwrap(), HeaderValue::from_static("127.0.0.1"));
        }
        let peer_is_allowed = is_allowed(Some(peer.parse().unwrap()), &networks);
        let told = peer_is_allowed && !is_proxied(&headers, Version::HTTP_11, "");
        assert_eq!(told, allowed, "{peer} {header:?}");
    }

    #[test]
    fn a_proxy_that_adds_no_header_is_known_by_the_public_name_and_by_an_old_version() {
        let proxied = |host: &'static str, version, public_url| {
            let mut headers = HeaderMap::new();
            headers.insert(actix_web::http::header::HOST, HeaderValue::from_static(host));
            is_proxied(&headers, version, public_url)
        };
        let public = "https://arena.example.org";
        assert!(proxied("arena.example.org", Version::HTTP_11, public));
        assert!(proxied("arena.example.org:443", Version::HTTP_11, public));
        assert!(proxied("127.0.0.1:8717", Version::HTTP_10, public));
        assert!(!proxied("127.0.0.1:8717", Version::HTTP_11, public));
        // A port that visitors do not use belongs to the arena itself.
        assert!(!proxied("arena.example.org:8717", Version::HTTP_11, public));
        // Without TLS the name may be the arena's own.
        assert!(!proxied("arena.example.org", Version::HTTP_11, "http://arena.example.org"));
        assert!(!proxied("localhost:8717", Version::HTTP_11, "https://localhost"));
    }

    #[test]
    fn only_allowed_networks_and_never_through_a_proxy() {
        check("127.0.0.1", None, true);
        check("::1", None, true);
        check("::ffff:127.0.0.1", None, true);
        check("192.0.2.1", None, false);
        check("::ffff:192.0.2.1", None, false);
        for name in [
            "x-forwarded-for",
            "X-Forwarded-Host",
            "forwarded",
            "x-real-ip",
            "via",
            "true-client-ip",
            "x-client-ip",
            "x-envoy-external-address",
            "x-original-uri",
            "cf-ray",
            "cdn-loop",
            "fastly-client-ip",
            "fly-region",
        ] {
            check("127.0.0.1", Some(name), false);
        }
        check("127.0.0.1", Some("accept"), true);
    }
}
