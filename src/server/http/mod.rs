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
        .configure(reading)
        .configure(own)
        .configure(campaigns)
        .configure(admin::routes)
        .configure(files)
        .configure(programs)
        .default_service(web::to(request::router_errors::no_such_address));
}

/// Registers the public pages and the battle page.
fn reading(config: &mut web::ServiceConfig) {
    config
        .service(
            web::resource("/").get(visitor::sign_in::battle_page).route(web::head().to(visitor::sign_in::battle_page)),
        )
        .service(
            web::resource("/leaderboard")
                .get(leaderboards::leaderboard_page::page)
                .route(web::head().to(leaderboards::leaderboard_page::page)),
        )
        .service(
            web::resource("/embed/leaderboard")
                .get(leaderboards::embed::leaderboard)
                .route(web::head().to(leaderboards::embed::leaderboard)),
        )
        .service(
            web::resource("/leaderboard/charts")
                .get(leaderboards::charts::charts)
                .route(web::head().to(leaderboards::charts::charts)),
        )
        .service(
            web::resource("/leaderboard/value")
                .get(leaderboards::value::page)
                .route(web::head().to(leaderboards::value::page)),
        )
        .service(web::resource("/exclusions").get(log::exclusions::page).route(web::head().to(log::exclusions::page)))
        .service(
            web::resource("/benchmarks")
                .get(benchmarks::suite_score_table::page)
                .route(web::head().to(benchmarks::suite_score_table::page)),
        )
        .service(
            web::resource("/benchmarks/{suite}")
                .get(benchmarks::benchmark::suite)
                .route(web::head().to(benchmarks::benchmark::suite)),
        )
        .service(
            web::resource("/benchmarks/{suite}/items")
                .get(benchmarks::benchmark::items)
                .route(web::head().to(benchmarks::benchmark::items)),
        )
        .service(
            web::resource("/benchmarks/{suite}/compare")
                .get(benchmarks::benchmark_comparison::page)
                .route(web::head().to(benchmarks::benchmark_comparison::page)),
        )
        .service(
            web::resource("/benchmarks/{suite}/items/{id:.+}")
                .get(benchmarks::benchmark::item)
                .route(web::head().to(benchmarks::benchmark::item)),
        )
        .service(
            web::resource("/correlation")
                .get(benchmarks::correlation::page)
                .route(web::head().to(benchmarks::correlation::page)),
        )
        .service(
            web::resource("/correlation/papers")
                .get(benchmarks::correlation::papers)
                .route(web::head().to(benchmarks::correlation::papers)),
        )
        .service(web::resource("/judges").get(benchmarks::judges::page).route(web::head().to(benchmarks::judges::page)))
        .service(
            web::resource("/models").get(leaderboards::models::page).route(web::head().to(leaderboards::models::page)),
        )
        .service(
            web::resource("/models/{id:.+}")
                .get(leaderboards::model::page)
                .route(web::head().to(leaderboards::model::page)),
        )
        .service(web::resource("/docs").get(docs::first).route(web::head().to(docs::first)))
        .service(web::resource("/docs/{page}").get(docs::page).route(web::head().to(docs::page)))
        .service(web::resource("/consent").get(visitor::consent::page).route(web::head().to(visitor::consent::page)))
        .service(web::resource("/about").get(about::page).route(web::head().to(about::page)));
}

/// Registers the visitor's private routes: sockets, sign-in and past battles.
fn own(config: &mut web::ServiceConfig) {
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
        .service(web::resource("/history").get(visitor::history::list).route(web::head().to(visitor::history::list)))
        .service(web::resource("/history/export").get(visitor::history::export))
        .service(
            web::resource("/history/delete")
                .app_data(web::FormConfig::default().limit(form_token::MAX_FORM_BYTES))
                .post(visitor::history::delete),
        )
        .service(
            web::resource("/battle/{id}").get(visitor::history::battle).route(web::head().to(visitor::history::battle)),
        )
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
        .service(
            web::resource("/shared/{token}")
                .get(visitor::history::shared)
                .route(web::head().to(visitor::history::shared)),
        )
        .service(
            web::resource("/shared/{token}/removal")
                .app_data(web::FormConfig::default().limit(form_token::MAX_FORM_BYTES))
                .post(visitor::history::ask_removal),
        )
        .service(
            web::resource("/shared/{token}/images/{number}").get(images::shared).route(web::head().to(images::shared)),
        )
        .route("/images", web::post().to(images::take))
        .route("/images/{id}", web::get().to(images::show))
        .route("/ws/battle", web::get().to(websocket_upgrade::battle))
        .route("/ws/leaderboard", web::get().to(websocket_upgrade::leaderboard));
}

/// Registers the routes of campaigns.
fn campaigns(config: &mut web::ServiceConfig) {
    config
        .service(web::resource("/campaign/{id}").get(campaign::page).route(web::head().to(campaign::page)))
        .service(
            web::resource("/campaign/{id}/report")
                .get(campaign_report::page)
                .route(web::head().to(campaign_report::page)),
        )
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
        .service(web::resource("/log").get(log::public_log::page).route(web::head().to(log::public_log::page)))
        .service(
            web::resource("/log/checkpoint")
                .get(log::public_log::checkpoint)
                .route(web::head().to(log::public_log::checkpoint)),
        )
        .service(
            web::resource("/log/tile/{path:.+}")
                .get(log::public_log::tile)
                .route(web::head().to(log::public_log::tile)),
        )
        .service(web::resource("/site/logo").get(branding::logo).route(web::head().to(branding::logo)))
        .service(web::resource("/site/preview/{file}").get(branding::preview).route(web::head().to(branding::preview)))
        .service(web::resource("/site/accent.css").get(branding::accent).route(web::head().to(branding::accent)))
        .service(
            web::resource("/static/{path:.*}").get(static_files::serve).route(web::head().to(static_files::serve)),
        );
}

/// Registers the API: JSON, CSV, SVG, health and metrics.
fn programs(config: &mut web::ServiceConfig) {
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
