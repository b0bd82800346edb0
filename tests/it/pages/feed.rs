//! The Atom feed of the leaderboard: days on which ranks changed.

use langya::domain::rating::leaderboards::leaderboard_json;
use langya::domain::time::{Timestamp, day_of};
use langya::infra::storage::StoredLeaderboard;
use reqwest::StatusCode;

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;
use crate::support::visitor::{get, http};

const DAY: i64 = 24 * 60 * 60 * 1_000;

async fn arena() -> TestArena {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.site.name = "Lab & <Sons>\u{202e}".into()
    })
    .await
}

async fn read(arena: &TestArena, language: &str) -> String {
    let response = get(&format!("{}/leaderboard.atom?lang={language}", arena.url)).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "application/atom+xml; charset=utf-8");
    response.text().await.unwrap()
}

/// What stands in each element of a name.
fn all<'f>(feed: &'f str, element: &str) -> Vec<&'f str> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    feed.split(&open).skip(1).map(|rest| rest.split(&close).next().unwrap()).collect()
}

/// Puts today's leaderboard among those of earlier days, as often as there are days.
async fn copy_to_days(arena: &TestArena, days: std::ops::RangeInclusive<i64>) {
    let latest = arena.app.leaderboard.latest();
    let body = leaderboard_json::to_json(&latest.leaderboard);
    for ago in days {
        let fitted_at = Timestamp(latest.fitted_at.unwrap().0 - ago * DAY);
        let stored = StoredLeaderboard { fit: 0, fitted_at, last_vote_seq: -ago, body: body.clone() };
        arena.app.store.put_leaderboard(&stored).await.unwrap().unwrap();
    }
}

#[actix_web::test]
async fn a_reader_learns_of_each_day_once_and_by_the_same_id() {
    let arena = arena().await;
    let empty = read(&arena, "en").await;
    assert_eq!((all(&empty, "entry").len(), all(&empty, "updated")), (0, vec!["1970-01-01T00:00:00Z"]));
    let mut visitor = arena.visitor().await;
    visitor.ask("Which one?").await;
    visitor.until_ready().await;
    visitor.vote("tie").await;
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == 1).await.unwrap();
    let feed = read(&arena, "en").await;
    assert!(feed.contains("Name-of-one: new, rank ") && feed.contains("Name-of-two: new, rank "), "{feed}");
    assert!(feed.contains("<name>Lab &#38; &#60;Sons&#62;⟨U+202E⟩</name>"), "{feed}");
    assert!(
        feed.contains(&format!("rel=\"self\" type=\"application/atom+xml\" href=\"{}/leaderboard.atom", arena.url))
    );
    let ids = all(&feed, "id");
    assert_eq!((ids.len(), ids[0] == ids[1]), (2, false));
    assert!(ids.iter().all(|id| id.len() == 45 && id.starts_with("urn:uuid:")), "{ids:?}");
    assert_eq!(all(&read(&arena, "en").await, "id"), ids);
    let chinese = read(&arena, "zh").await;
    assert!(chinese.contains("Name-of-one：新上榜") && all(&chinese, "id")[0] != ids[0], "{chinese}");
    arena.end().await;
}

#[actix_web::test]
async fn days_without_a_change_are_no_news() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which one?").await;
    visitor.until_ready().await;
    visitor.vote("tie").await;
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == 1).await.unwrap();
    copy_to_days(&arena, 1..=3).await;
    let feed = read(&arena, "en").await;
    let first = arena.app.leaderboard.latest().fitted_at.unwrap().0 - 3 * DAY;
    let date = jiff::Timestamp::from_millisecond(day_of(Timestamp(first)).0).unwrap().strftime("%Y-%m-%d").to_string();
    assert_eq!(all(&feed, "entry").len(), 1, "the first day only: {feed}");
    assert!(feed.contains(&format!("<title>Ranks on {date}, after 1 vote</title>")), "{feed}");
    arena.end().await;
}

#[actix_web::test]
async fn a_reader_that_has_the_feed_gets_not_modified() {
    let arena = arena().await;
    let address = format!("{}/leaderboard.atom", arena.url);
    let first = get(&address).await;
    let tag = first.headers()["etag"].to_str().unwrap().to_owned();
    let request = http().get(&address).header("if-none-match", &tag);
    let again = request.send().await.unwrap();
    assert_eq!((again.status(), again.headers()["etag"].to_str().unwrap()), (StatusCode::NOT_MODIFIED, tag.as_str()));
    let page = get(&format!("{}/leaderboard", arena.url)).await.text().await.unwrap();
    assert!(page.contains("<link rel=\"alternate\" type=\"application/atom+xml\""), "{page}");
    arena.end().await;
}
