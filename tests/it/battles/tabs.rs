//! One visitor in several tabs: each has a connection of its own.

use serde_json::json;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;
use crate::support::visitor::Visitor;
use crate::support::wire::Wire;

#[actix_web::test]
async fn a_tab_that_asks_for_a_turn_of_a_battle_that_it_does_not_show_is_sent_this_turn() {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut first = arena.visitor().await;
    first.ask("Which?").await;
    first.until_ready().await;
    let battle = first.battle();
    let regenerate = json!({"type": "regenerate", "battle": battle});
    let message = json!({"type": "message", "battle": battle, "prompt": "And then?"});
    let (mut blank, mut elsewhere) = (first.reconnect().await, first.reconnect().await);
    elsewhere.ask("Something else?").await;
    elsewhere.until_ready().await;
    for (tab, words, turn, prompt) in [(&mut blank, regenerate, 1, "Which?"), (&mut elsewhere, message, 2, "And then?")]
    {
        tab.send(words).await;
        let begun = tab.next().await;
        assert_eq!((&begun["type"], &begun["battle"]), (&json!("battle"), &json!(battle)), "{begun}");
        assert_eq!(begun["turn"], turn);
        assert_eq!(begun["prompt"], prompt, "the tab may not have it");
        assert_eq!(tab.until_ready().await, first.until_ready().await);
        assert_eq!(tab.battle(), battle);
    }
    assert_eq!(elsewhere.vote("a").await["battle"], json!(battle), "it is the latest battle of this tab");
    arena.end().await;
}

#[actix_web::test]
async fn a_turn_that_another_tab_has_asked_for_comes_with_its_question() {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut first = arena.visitor().await;
    first.ask("Which?").await;
    first.until_ready().await;
    let battle = first.battle();
    let mut second = first.reconnect().await;
    second.send(json!({"type": "resume", "battle": battle})).await;
    second.until_ready().await;
    let message = json!({"type": "message", "battle": battle, "prompt": "And then?"});
    let regenerate = json!({"type": "regenerate", "battle": battle, "prompt": "And in other words?"});
    for (words, prompt, by_first) in [
        (message, "And then?", false),
        (regenerate.clone(), "And in other words?", true),
        (regenerate, "And in other words?", false),
    ] {
        let (asking, watching) = if by_first { (&mut first, &mut second) } else { (&mut second, &mut first) };
        asking.send(words).await;
        let (own, others) = (asking.next_of(&["battle"]).await, watching.next_of(&["battle"]).await);
        assert_eq!(own.get("prompt"), None, "it has just been sent: {own}");
        assert_eq!(others["prompt"], prompt, "{others}");
        assert_eq!((&own["turn"], &own["seq"], own["turn"].as_u64()), (&others["turn"], &others["seq"], Some(2)));
        assert_eq!(asking.until_ready().await, watching.until_ready().await);
    }
    arena.end().await;
}

#[actix_web::test]
async fn the_end_of_a_session_ends_its_sockets_at_every_instance_of_an_open_arena() {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let (models, wire) = ([("one", &one), ("two", &two)], Wire::new());
    let here = TestArena::start_on(&models, wire.bus("here"), None, |_| {}).await;
    let there = TestArena::start_on(&models, wire.bus("there"), Some(&here), |_| {}).await;
    let mut near = here.visitor().await;
    let cookie = ("cookie", near.cookie().to_owned());
    let mut far = Visitor::connect_with(&there.url, Some(cookie.clone())).await.unwrap();
    let token = cookie.1.split_once('=').unwrap().1;
    let session = here.app.sessions.find(token).unwrap();
    here.app.access.end_session(&session.id).await.unwrap();
    for tab in [&mut near, &mut far] {
        assert_eq!(tab.try_next().await, Err(Some(CloseCode::Restart)));
    }
    let back = Visitor::connect_with(&there.url, Some(cookie)).await.unwrap();
    assert_ne!(back.cookie(), near.cookie(), "another visitor's session");
    there.end().await;
    here.end().await;
}
