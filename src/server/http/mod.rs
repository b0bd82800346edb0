//! The HTTP server and its route table.

mod about;
pub mod admin;
mod api_keys;
mod api_parameters;
mod benchmarks;
mod branding;
mod campaign;
mod campaign_report;
mod cors;
pub(super) mod csrf;
mod docs;
pub(super) mod form_token;
mod images;
mod leaderboards;
mod log;
mod metrics;
mod oidc_callback;
pub mod openapi;
mod probes;
pub mod request;
mod running_server;
mod session;
mod static_files;
mod visitor;
mod websocket_upgrade;

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::middleware::{Compress, from_fn};
use actix_web::{App, FromRequest, Handler, HttpServer, Resource, Responder, web};

use crate::infra::oidc::CALLBACK_PATH;
use crate::state::AppState;
pub use branding::check_logo;
pub use running_server::RunningServer;
use websocket_upgrade::OpenSockets;

/// Registers all routes.
fn routes(config: &mut web::ServiceConfig) {
    config
        .configure(public_pages)
        .configure(visitor_pages)
        .configure(campaigns)
        .configure(admin::routes)
        .configure(files)
        .configure(api)
        .default_service(web::to(request::router_errors::no_such_address));
}

/// Registers the public pages and the battle page.
fn public_pages(config: &mut web::ServiceConfig) {
    config
        .service(readable("/", visitor::sign_in::battle_page))
        .service(readable("/leaderboard", leaderboards::leaderboard_page::page))
        .service(readable("/embed/leaderboard", leaderboards::embed::leaderboard))
        .service(readable("/leaderboard/charts", leaderboards::charts::charts))
        .service(readable("/leaderboard/value", leaderboards::value::page))
        .service(readable("/exclusions", log::exclusions::page))
        .service(readable("/benchmarks", benchmarks::suite_score_table::page))
        .service(readable("/benchmarks/{suite}", benchmarks::benchmark::suite))
        .service(readable("/benchmarks/{suite}/items", benchmarks::benchmark::items))
        .service(readable("/benchmarks/{suite}/compare", benchmarks::benchmark_comparison::page))
        .service(readable("/benchmarks/{suite}/items/{id:.+}", benchmarks::benchmark::item))
        .service(readable("/correlation", benchmarks::correlation::page))
        .service(readable("/correlation/papers", benchmarks::correlation::papers))
        .service(readable("/judges", benchmarks::judges::page))
        .service(readable("/models", leaderboards::models::page))
        .service(readable("/models/{id:.+}", leaderboards::model::page))
        .service(readable("/docs", docs::first))
        .service(readable("/docs/{page}", docs::page))
        .service(readable("/consent", visitor::consent::page))
        .service(readable("/about", about::page));
}

/// Registers the visitor's private routes: sockets, sign-in and past battles.
fn visitor_pages(config: &mut web::ServiceConfig) {
    config
        .service(
            web::resource("/sign-in")
                .app_data(web::FormConfig::default().limit(form_token::MAX_FORM_BYTES))
                .get(visitor::sign_in::page)
                .route(web::head().to(visitor::sign_in::page))
                .post(visitor::sign_in::sign_in),
        )
        .service(
            web::resource("/sign-out")
                .app_data(web::FormConfig::default().limit(form_token::MAX_FORM_BYTES))
                .post(visitor::sign_in::sign_out),
        )
        .service(web::resource("/sign-in/provider").get(visitor::sign_in::provider))
        .service(web::resource(CALLBACK_PATH).get(oidc_callback::callback))
        .service(readable("/history", visitor::history::list))
        .service(web::resource("/history/export").get(visitor::history::export))
        .service(
            web::resource("/history/delete")
                .app_data(web::FormConfig::default().limit(form_token::MAX_FORM_BYTES))
                .post(visitor::history::delete),
        )
        .service(readable("/battle/{id}", visitor::history::battle))
        .service(
            web::resource("/battle/{id}/share")
                .app_data(web::FormConfig::default().limit(form_token::MAX_FORM_BYTES))
                .post(visitor::history::share),
        )
        .service(
            web::resource("/battle/{id}/unshare")
                .app_data(web::FormConfig::default().limit(form_token::MAX_FORM_BYTES))
                .post(visitor::history::unshare),
        )
        .service(
            web::resource("/battle/{id}/label")
                .app_data(web::FormConfig::default().limit(form_token::MAX_FORM_BYTES))
                .post(visitor::history::label),
        )
        .service(readable("/shared/{token}", visitor::history::shared))
        .service(
            web::resource("/shared/{token}/removal")
                .app_data(web::FormConfig::default().limit(form_token::MAX_FORM_BYTES))
                .post(visitor::history::ask_removal),
        )
        .service(readable("/shared/{token}/images/{number}", images::shared))
        .route("/images", web::post().to(images::take))
        .route("/images/{id}", web::get().to(images::show))
        .route("/ws/battle", web::get().to(websocket_upgrade::battle))
        .route("/ws/leaderboard", web::get().to(websocket_upgrade::leaderboard));
}

/// Registers the routes of campaigns.
fn campaigns(config: &mut web::ServiceConfig) {
    config
        .service(readable("/campaign/{id}", campaign::page))
        .service(readable("/campaign/{id}/report", campaign_report::page))
        .service(
            web::scope("/api/v1/campaigns/{id}")
                .app_data(web::PayloadConfig::new(campaign::MAX_BYTES))
                .service(web::resource("/next").post(campaign::next))
                .service(web::resource("/judgements").post(campaign::judge))
                .service(web::resource("/undo").post(campaign::undo))
                .service(web::resource("/join").post(campaign::join)),
        );
}

/// Registers the public log and static files.
fn files(config: &mut web::ServiceConfig) {
    config
        .service(readable("/log", log::public_log::page))
        .service(readable("/log/checkpoint", log::public_log::checkpoint))
        .service(readable("/log/tile/{path:.+}", log::public_log::tile))
        .service(readable("/site/logo", branding::logo))
        .service(readable("/site/preview/{file}", branding::preview))
        .service(readable("/site/accent.css", branding::accent))
        .service(readable("/static/{path:.*}", static_files::serve));
}

/// Registers the API: JSON, CSV, SVG, health and metrics.
fn api(config: &mut web::ServiceConfig) {
    config
        // Without HEAD: its body is a stream of all votes.
        .service(web::resource("/api/v1/votes").get(log::vote_log_api::votes))
        .service(readable("/leaderboard.atom", leaderboards::feed::atom))
        .service(readable("/leaderboard.svg", leaderboards::leaderboard_files::svg))
        .service(readable("/api/v1/leaderboard.csv", leaderboards::leaderboard_files::csv))
        .service(readable("/api/v1/leaderboard", leaderboards::leaderboard_api::leaderboard))
        .service(readable("/api/v1/leaderboard/robustness", leaderboards::leaderboard_api::robustness))
        .service(readable("/api/v1/leaderboard/rigging", leaderboards::leaderboard_api::rigging))
        .service(readable("/api/v1/leaderboard/value", leaderboards::value::json))
        .service(readable("/api/v1/models", leaderboards::models::json))
        .service(readable("/api/v1/log", log::public_log::json))
        .service(readable("/api/v1/log/votes/{vote}", log::public_log::receipt))
        .service(readable("/api/v1/exclusions", log::exclusions::json))
        .service(readable("/api/v1/pairing", leaderboards::leaderboard_api::pairing))
        .service(readable("/api/v1/consent", visitor::consent::json))
        .service(readable("/benchmarks.svg", benchmarks::suite_score_table::svg))
        .service(readable("/api/v1/benchmarks.csv", benchmarks::suite_score_table::csv))
        .service(readable("/api/v1/benchmarks", benchmarks::suite_score_table::json))
        .service(readable("/api/v1/benchmarks/{suite}", benchmarks::benchmark::suite_json))
        .service(readable("/api/v1/benchmarks/{suite}/compare", benchmarks::benchmark_comparison::json))
        .service(readable("/api/v1/correlation", benchmarks::correlation::json))
        .service(readable("/api/v1/judges", benchmarks::judges::json))
        .service(readable("/api/v1/key", api_keys::key))
        .service(readable("/api/v1/audit", api_keys::audit))
        .service(readable("/api/v1/openapi.json", openapi::json))
        .service(readable("/healthz", probes::healthz))
        .service(readable("/readyz", probes::readyz))
        .service(readable("/metrics", metrics::metrics));
}

/// Creates a resource for GET, and for HEAD, which monitors and link checkers use.
fn readable<F, Args>(path: &str, handler: F) -> Resource
where
    F: Handler<Args, Output: Responder + 'static>,
    Args: FromRequest + 'static,
{
    web::resource(path).route(web::get().to(handler.clone())).route(web::head().to(handler))
}

/// Serves on a listening socket until it is stopped. `commands` generates the command reference at the first request of `/docs`.
///
/// # Errors
/// I/O error if the socket cannot be served.
pub fn serve(app: Arc<AppState>, listener: TcpListener, commands: fn() -> String) -> std::io::Result<RunningServer> {
    let workers = app.settings.now().server.workers;
    let door = listener.try_clone()?;
    let settings = app.settings.clone();
    let app = web::Data::from(app);
    let open = web::Data::new(OpenSockets::default());
    let frames = web::Data::new(leaderboards::leaderboard_view::Frames::default());
    let docs = web::Data::new(docs::Docs::new(commands));
    let leaderboards = web::Data::new(leaderboards::leaderboard_page::LeaderboardPages::default());
    let readers = web::Data::new(log::vote_log_api::VoteReaders::default());
    let mut server = HttpServer::new(move || {
        App::new()
            .app_data(app.clone())
            .app_data(open.clone())
            .app_data(frames.clone())
            .app_data(leaderboards.clone())
            .app_data(docs.clone())
            .app_data(readers.clone())
            .app_data(settings.clone())
            .wrap(from_fn(api_parameters::refuse_unknown_parameters))
            .wrap(from_fn(request::error_page::as_page))
            .wrap(from_fn(request::router_errors::with_text))
            .wrap(from_fn(request::entity_tags::tag_answers))
            .wrap(Compress::default())
            .wrap(from_fn(cors::allow_reading))
            .wrap(from_fn(request::draining::close_connections))
            .wrap(from_fn(csrf::refuse_cross_site))
            .wrap(from_fn(request::hosts::refuse_foreign_hosts))
            .wrap(from_fn(request::request_id::request_id))
            // Outermost, so that it applies to every response.
            .wrap(from_fn(request::headers::security_headers))
            .configure(routes)
    })
    .tcp_nodelay(true)
    .on_connect(request::connections::limit)
    .disable_signals()
    .shutdown_timeout(running_server::LAST_BYTES_TIMEOUT.as_secs());
    if workers > 0 {
        server = server.workers(workers);
    }
    Ok(RunningServer::new(server.listen(listener)?.run(), door))
}
