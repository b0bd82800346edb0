//! Every address while the database is away.

use crate::support::postgres::OwnServer;
use crate::support::routes::addresses;
use crate::support::visitor::get_as;

use super::Place;

/// Addresses that cannot be answered without the database.
const NEEDS_DATABASE: [&str; 11] = [
    "/benchmarks",
    "/benchmarks/urs",
    "/benchmarks/urs/items",
    "/benchmarks/urs/items/1",
    "/api/v1/benchmarks",
    "/api/v1/benchmarks/urs",
    "/judges",
    "/api/v1/judges",
    "/leaderboard?turns=multi",
    "/leaderboard/charts",
    "/api/v1/leaderboard?turns=multi",
];

/// What programs get.
const MESSAGE: &str = "the database does not answer at the moment: try again in a minute";
/// Addresses that are asked at the same time.
const AT_ONCE: usize = 16;

#[actix_web::test]
async fn an_address_that_needs_the_database_answers_503_with_the_reason_while_it_is_away() {
    let Some(database) = OwnServer::start() else { return };
    let place = Place::with_replies(1).await;
    let server = place.serve(&["--database", &database.url("postgres")]);
    database.crash().await;
    server.logged("start its server").await;
    let addresses = addresses();
    let all = addresses.iter().map(String::as_str).chain(NEEDS_DATABASE.into_iter().filter(|path| path.contains('?')));
    let ask = async |path: &str| {
        let answer = get_as(&format!("{}{path}", server.url), "text/html").await;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        assert_ne!(status, 500, "{path}");
        assert!(status == 503 || !NEEDS_DATABASE.contains(&path), "{path}: {status}");
        if NEEDS_DATABASE.contains(&path) {
            assert_eq!(headers["retry-after"], "5", "{path}");
        }
        // Leaderboards of a part of the votes are fitted one at a time, so some of them wait in vain.
        if NEEDS_DATABASE.contains(&path) && !path.contains("leaderboard") {
            let said = answer.text().await.unwrap();
            let expected = if path.starts_with("/api/") { MESSAGE } else { "<h1>The database does not answer</h1>" };
            assert!(said.contains(expected), "{path}: {said}");
        }
    };
    // So few at once that no request is begun and then not sent for longer than the arena waits for it.
    for some in all.collect::<Vec<&str>>().chunks(AT_ONCE) {
        futures_util::future::join_all(some.iter().map(|path| ask(path))).await;
    }
    let told = get_as(&format!("{}/api/v1/benchmarks", server.url), "application/json").await;
    assert_eq!((told.status().as_u16(), &told.headers()["retry-after"]), (503, &"5".parse().unwrap()));
    assert_eq!(told.text().await.unwrap(), format!("{MESSAGE}\n"));
    let log = server.log_at_end().await;
    assert!(!log.contains("status 500"), "{log}");
}
