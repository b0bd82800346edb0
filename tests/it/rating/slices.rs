//! Filtered leaderboards as pages and as JSON.

use std::sync::Arc;

use futures_util::FutureExt;
use langya::domain::rating::leaderboards::leaderboard_filter::LeaderboardFilter;
use langya::domain::time::Timestamp;
use serde_json::Value;

use crate::support::arena::TestArena;
use crate::support::scripted::{Scripted, Step};
use crate::support::visitor::get;

/// An arena with three votes in English and two in Chinese, all in the leaderboard.
async fn arena() -> TestArena {
    let models = ["one", "two"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    let arena = TestArena::start(&models).await;
    let mut visitor = arena.visitor().await;
    for (prompt, outcome) in [
        ("Which river is the longest on earth, and how do we measure it?", "a"),
        ("请问这两个回答里面哪一个更好一些，为什么呢？", "tie"),
        ("Which river is the longest on earth, and how do we measure it?", "b"),
        ("请给我的邻居写一封关于花园的短信，谢谢。", "a"),
        ("Which river is the longest on earth, and how do we measure it?", "both_bad"),
    ] {
        visitor.ask(prompt).await;
        visitor.until_ready().await;
        assert_eq!(visitor.vote(outcome).await["type"], "revealed");
    }
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == 5).await.unwrap();
    arena
}

async fn leaderboard(arena: &TestArena, query: &str) -> (u16, Value, String) {
    let response = get(&format!("{}/api/v1/leaderboard{query}", arena.url)).await;
    let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or(Value::Null), text)
}

#[actix_web::test]
async fn a_slice_of_the_votes_has_its_own_leaderboard() {
    let arena = arena().await;
    for (query, rated) in [
        ("", 5),
        ("?language=Chinese", 2),
        ("?language=English&turns=first", 3),
        ("?language=Chinese&ties=drop", 1),
        ("?until=2001-01-01", 0),
        ("?until=2999-01-01T00:00:00Z", 5),
        ("?prompts=long", 0),
        ("?turns=multi", 0),
        ("?source=campaign", 0),
        ("?style=control", 5),
        ("?style=control&language=Chinese", 2),
        ("?style=control&until=2001-01-01", 0),
        ("?side=control", 5),
        ("?side=control&style=control&language=Chinese", 2),
        ("?level=show", 5),
    ] {
        let (status, leaderboard, text) = leaderboard(&arena, query).await;
        assert_eq!((status, leaderboard["votes"]["rated"].as_u64()), (200, Some(rated)), "{query}: {text}");
    }
    let question =
        LeaderboardFilter { style: true, until: Some(Timestamp(4_000_000_000_000)), ..LeaderboardFilter::default() };
    let ask = || arena.app.filtered.get(&question, 5);
    for _ in 0..20 {
        // A request that is given up makes no fit of its own.
        assert!(ask().now_or_never().is_none());
    }
    let (one, same) = futures_util::join!(ask(), ask());
    let (one, same) = (one.unwrap(), same.unwrap());
    assert!(Arc::ptr_eq(&one, &same), "two who ask at the same moment get one fit");
    assert!(Arc::ptr_eq(&one, &ask().await.unwrap()), "and so does who asks later");
    let (_, whole, _) = leaderboard(&arena, "").await;
    let (_, same, _) = leaderboard(&arena, "?until=2999-01-01").await;
    assert_eq!(whole["models"], same["models"], "an exact fit of the same votes");
    let (_, pooled, text) = leaderboard(&arena, "?pool_by=language").await;
    assert_eq!(pooled["models"], whole["models"], "the leaderboard itself stays the same");
    let slices = pooled["pooled"]["slices"].as_array().expect(&text);
    let slices: Vec<_> =
        slices.iter().map(|slice| (slice["slice"].as_str().unwrap(), slice["votes"].as_u64())).collect();
    assert_eq!(slices, [("English", Some(3)), ("Chinese", Some(2))]);
    let (_, levels, text) = leaderboard(&arena, "?level=show").await;
    assert!(levels["models"].as_array().unwrap().iter().all(|model| model["good_enough"].is_number()), "{text}");
    for (query, status, said) in [
        ("?pool_by=language&style=control", 400, "exclude each other"),
        ("?language=xx", 404, "\"xx\""),
        ("?turns=7", 400, "first or multi"),
        ("?until=soon", 400, "2026-11-21"),
        ("?style=yes", 400, "write style=control, or leave it out"),
        ("?ties=drop&ties=drop", 400, "once"),
    ] {
        let (refused, _, text) = leaderboard(&arena, query).await;
        assert_eq!(refused, status, "{query}: {text}");
        assert!(text.contains(said), "{query}: {text}");
    }
    arena.end().await;
}

#[actix_web::test]
async fn the_page_offers_known_values_and_shows_the_chosen_ones() {
    let arena = arena().await;
    let page = async |path: &str| get(&format!("{}{path}", arena.url)).await.text().await.unwrap();
    let whole = page("/leaderboard").await;
    assert!(
        whole.contains("<option value=\"Chinese\">Chinese (2)</option>") && whole.contains("English (3)"),
        "{whole}"
    );
    assert!(whole.contains("leaderboard.js") && !whole.contains("name=\"category\""), "{whole}");
    assert!(
        whole.contains("<option value=\"language\">Language</option>") && !whole.contains("class=\"pooled\""),
        "{whole}"
    );
    let pooled = page("/leaderboard?pool_by=language").await;
    assert!(
        pooled.contains("<option value=\"language\" selected>") && pooled.contains("English · 3 rated votes"),
        "{pooled}"
    );
    assert!(!whole.contains("Good enough, of 100 questions"), "{whole}");
    let levels = page("/leaderboard?level=show&lang=en").await;
    assert!(
        levels.contains("Good enough, of 100 questions") && levels.contains("<option value=\"show\" selected>"),
        "{levels}"
    );
    // Whether five votes distinguish the side from the models depends on the coin.
    let sided = page("/leaderboard?side=control").await;
    assert!(
        sided.contains("<option value=\"control\" selected>") && !sided.contains("class=\"chart-frame\""),
        "{sided}"
    );
    let part = page("/leaderboard?language=Chinese&ties=&until=").await;
    assert!(
        part.contains("<option value=\"Chinese\" selected>") && part.contains("<b data-part=\"votes\">2</b>"),
        "{part}"
    );
    assert!(!part.contains("leaderboard.js"), "a part does not move: {part}");
    let link = "/leaderboard/charts?language=Chinese";
    assert!(part.contains(link), "{part}");
    let charts = page(&format!("{link}&lang=zh")).await;
    assert_eq!(charts.matches("role=\"img\"").count(), 5, "{charts}");
    assert!(charts.contains("两两胜率") && charts.contains("href=\"/leaderboard?language=Chinese\""), "{charts}");
    assert!(!charts.contains("<style") && !charts.contains("http://") && !charts.contains(" style="), "{charts}");
    arena.end().await;
}

#[actix_web::test]
async fn style_control_shows_its_effects() {
    let long = "# Rivers\n\n- **Nile**\n- Amazon\n\nBoth are long, and how long depends on who measures.";
    // Each is long where the other is short, so that length is no matter of the model.
    let model = move |long_about: &'static str| {
        Scripted::new(move |messages| {
            let is_long = messages[0].content.contains(long_about);
            vec![Step::Say(if is_long { long } else { "The Nile." }.to_owned())]
        })
    };
    let (one, two) = (model("river"), model("stream"));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    let winners = [Some("#"), Some("#"), None, Some("The"), Some("The"), Some("#"), Some("#")];
    for (winner, what) in winners.into_iter().zip(["river", "stream"].into_iter().cycle()) {
        visitor.ask(&format!("Which {what} is the longest on earth, and how do we measure it?")).await;
        let [first, _] = visitor.until_ready().await;
        let outcome = winner.map_or("tie", |winner| if first.starts_with(winner) { "a" } else { "b" });
        assert_eq!(visitor.vote(outcome).await["type"], "revealed");
    }
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == 7).await.unwrap();
    let (status, held, text) = leaderboard(&arena, "?style=control").await;
    assert_eq!((status, held["votes"]["rated"].as_u64()), (200, Some(7)), "{text}");
    let effects = held["style"].as_array().unwrap();
    assert!(!effects.is_empty() && effects[0]["lower"].is_f64() && effects[0]["feature"].is_string(), "{text}");
    let (_, plain, text) = leaderboard(&arena, "").await;
    assert!(plain["style"].as_array().is_none_or(Vec::is_empty), "{text}");

    let page = async |path: &str| get(&format!("{}{path}", arena.url)).await.text().await.unwrap();
    let held = page("/leaderboard?style=control").await;
    let chart = "aria-labelledby=\"style-title";
    assert!(held.contains("<option value=\"control\" selected>") && held.contains(chart), "{held}");
    let plain = page("/leaderboard").await;
    assert!(plain.contains("<option value=\"control\">") && !plain.contains(chart), "{plain}");
    let charts = page("/leaderboard/charts?style=control").await;
    assert!(charts.contains(chart) && !charts.contains("history-title"), "{charts}");
    arena.end().await;
}
