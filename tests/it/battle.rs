//! Battles as a visitor plays them, over real sockets.

use serde_json::json;

use crate::support::arena::TestArena;
use crate::support::scripted::{Scripted, Step};

const WORDS: &str = "The Lancang river rises on the plateau and runs south for a long way to the sea.";

#[actix_web::test]
async fn a_visitor_asks_votes_and_learns_the_names() {
    let (one, two) = (Scripted::saying(WORDS), Scripted::saying("It rises in Tibet."));
    let arena = TestArena::start(&[("river-one", &one), ("river-two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Where does the Mekong rise?").await;
    let accepted = visitor.next().await;
    assert_eq!((&accepted["type"], &accepted["turn"], &accepted["seq"]), (&json!("battle"), &json!(1), &json!(1)));
    let mut texts = visitor.until_ready().await;
    let revealed = visitor.vote("a").await;
    assert_eq!(revealed["type"], "revealed");
    let sides = [&revealed["a"], &revealed["b"]];
    assert_ne!(sides[0]["id"], sides[1]["id"]);
    assert_eq!(sides[0]["rating_change"], json!(2.0), "an even pairing moves Elo by half of K");
    for (side, text) in sides.into_iter().zip(&mut texts) {
        let expected = if side["id"] == "river-one" { WORDS } else { "It rises in Tibet." };
        assert_eq!(text, expected);
        assert_eq!(side["name"], format!("Name-of-{}", side["id"].as_str().unwrap()));
    }
    arena.end().await;
}

#[actix_web::test]
async fn stop_ends_both_replies_where_they_are_seen() {
    let endless = || Scripted::new(|_| vec![Step::Say("x".repeat(30_000)), Step::Hang]);
    let (one, two) = (endless(), endless());
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Go on and on").await;
    visitor.next_of(&["delta"]).await;
    visitor.send(json!({"type": "stop"})).await;
    let [a, b] = visitor.until_ready().await;
    assert_eq!(a, b, "what is held back does not show how fast a model is");
    one.active_becomes(0).await;
    two.active_becomes(0).await;
    assert_eq!(visitor.vote("tie").await["type"], "revealed");
}
