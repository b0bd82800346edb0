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
        .service(get_and_head("/", visitor::sign_in::battle_page))
        .service(get_and_head("/leaderboard", leaderboards::leaderboard_page::page))
        .service(get_and_head("/embed/leaderboard", leaderboards::embed::leaderboard))
        .service(get_and_head("/leaderboard/charts", leaderboards::charts::charts))
        .service(get_and_head("/leaderboard/value", leaderboards::value::page))
        .service(get_and_head("/exclusions", log::exclusions::page))
        .service(get_and_head("/benchmarks", benchmarks::suite_score_table::page))
        .service(get_and_head("/benchmarks/{suite}", benchmarks::benchmark::suite))
        .service(get_and_head("/benchmarks/{suite}/items", benchmarks::benchmark::items))
        .service(get_and_head("/benchmarks/{suite}/compare", benchmarks::benchmark_comparison::page))
        .service(get_and_head("/benchmarks/{suite}/items/{id:.+}", benchmarks::benchmark::item))
        .service(get_and_head("/correlation", benchmarks::correlation::page))
        .service(get_and_head("/correlation/papers", benchmarks::correlation::papers))
        .service(get_and_head("/judges", benchmarks::judges::page))
        .service(get_and_head("/models", leaderboards::models::page))
        .service(get_and_head("/models/{id:.+}", leaderboards::model::page))
        .service(get_and_head("/docs", docs::first))
        .service(get_and_head("/docs/{page}", docs::page))
        .service(get_and_head("/consent", visitor::consent::page))
        .service(get_and_head("/about", about::page));
}

/// Registers the visitor's private routes: sockets, sign-in and past battles.
fn visitor_pages(config: &mut web::ServiceConfig) {
    config
        .service(
            web::resource("/sign-in")
                .app_data(form_limit())
                .get(visitor::sign_in::page)
                .route(web::head().to(visitor::sign_in::page))
                .post(visitor::sign_in::sign_in),
        )
        .service(web::resource("/sign-out").app_data(form_limit()).post(visitor::sign_in::sign_out))
        .service(web::resource("/sign-in/provider").get(visitor::sign_in::provider))
        .service(web::resource(CALLBACK_PATH).get(oidc_callback::callback))
        .service(get_and_head("/history", visitor::history::list))
        .service(web::resource("/history/export").get(visitor::history::export))
        .service(web::resource("/history/delete").app_data(form_limit()).post(visitor::history::delete))
        .service(get_and_head("/battle/{id}", visitor::history::battle))
        .service(web::resource("/battle/{id}/share").app_data(form_limit()).post(visitor::history::share))
        .service(web::resource("/battle/{id}/unshare").app_data(form_limit()).post(visitor::history::unshare))
        .service(web::resource("/battle/{id}/label").app_data(form_limit()).post(visitor::history::label))
        .service(get_and_head("/shared/{token}", visitor::history::shared))
        .service(web::resource("/shared/{token}/removal").app_data(form_limit()).post(visitor::history::ask_removal))
        .service(get_and_head("/shared/{token}/images/{number}", images::shared))
        .route("/images", web::post().to(images::take))
        .route("/images/{id}", web::get().to(images::show))
        .route("/ws/battle", web::get().to(websocket_upgrade::battle))
        .route("/ws/leaderboard", web::get().to(websocket_upgrade::leaderboard));
}

/// Registers the routes of campaigns.
fn campaigns(config: &mut web::ServiceConfig) {
    config
        .service(get_and_head("/campaign/{id}", campaign::page))
        .service(get_and_head("/campaign/{id}/report", campaign_report::page))
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
        .service(get_and_head("/log", log::public_log::page))
        .service(get_and_head("/log/checkpoint", log::public_log::checkpoint))
        .service(get_and_head("/log/tile/{path:.+}", log::public_log::tile))
        .service(get_and_head("/site/logo", branding::logo))
        .service(get_and_head("/site/preview/{file}", branding::preview))
        .service(get_and_head("/site/accent.css", branding::accent))
        .service(get_and_head("/static/{path:.*}", static_files::serve));
}

/// Registers the API: JSON, CSV, SVG, health and metrics.
fn api(config: &mut web::ServiceConfig) {
    config
        // Without HEAD: its body is a stream of all votes.
        .service(web::resource("/api/v1/votes").get(log::vote_log_api::votes))
        .service(get_and_head("/leaderboard.atom", leaderboards::feed::atom))
        .service(get_and_head("/leaderboard.svg", leaderboards::leaderboard_files::svg))
        .service(get_and_head("/api/v1/leaderboard.csv", leaderboards::leaderboard_files::csv))
        .service(get_and_head("/api/v1/leaderboard", leaderboards::leaderboard_api::leaderboard))
        .service(get_and_head("/api/v1/leaderboard/robustness", leaderboards::leaderboard_api::robustness))
        .service(get_and_head("/api/v1/leaderboard/rigging", leaderboards::leaderboard_api::rigging))
        .service(get_and_head("/api/v1/leaderboard/value", leaderboards::value::json))
        .service(get_and_head("/api/v1/models", leaderboards::models::json))
        .service(get_and_head("/api/v1/log", log::public_log::json))
        .service(get_and_head("/api/v1/log/votes/{vote}", log::public_log::receipt))
        .service(get_and_head("/api/v1/exclusions", log::exclusions::json))
        .service(get_and_head("/api/v1/pairing", leaderboards::leaderboard_api::pairing))
        .service(get_and_head("/api/v1/consent", visitor::consent::json))
        .service(get_and_head("/benchmarks.svg", benchmarks::suite_score_table::svg))
        .service(get_and_head("/api/v1/benchmarks.csv", benchmarks::suite_score_table::csv))
        .service(get_and_head("/api/v1/benchmarks", benchmarks::suite_score_table::json))
        .service(get_and_head("/api/v1/benchmarks/{suite}", benchmarks::benchmark::suite_json))
        .service(get_and_head("/api/v1/benchmarks/{suite}/compare", benchmarks::benchmark_comparison::json))
        .service(get_and_head("/api/v1/correlation", benchmarks::correlation::json))
        .service(get_and_head("/api/v1/judges", benchmarks::judges::json))
        .service(get_and_head("/api/v1/key", api_keys::key))
        .service(get_and_head("/api/v1/audit", api_keys::audit))
        .service(get_and_head("/api/v1/openapi.json", openapi::json))
        .service(get_and_head("/healthz", probes::healthz))
        .service(get_and_head("/readyz", probes::readyz))
        .service(get_and_head("/metrics", metrics::metrics));
}

/// Returns the size limit of a visitor's form.
fn form_limit() -> web::FormConfig {
    web::FormConfig::default().limit(form_token::MAX_FORM_BYTES)
}

/// Creates a resource for GET, and for HEAD, which monitors and link checkers use.
fn get_and_head<F, Args>(path: &str, handler: F) -> Resource
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
