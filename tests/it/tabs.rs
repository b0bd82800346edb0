//! One visitor in several tabs: each has a connection of its own.

use serde_json::json;

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;

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
