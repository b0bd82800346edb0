//! How visitors of the arena voted on the question of an item.

use langya::domain::time::Timestamp;
use serde_json::json;

use super::{Field, reply};
use crate::support::program::Server;
use crate::support::until;
use crate::support::visitor::{Visitor, get};

/// A suite of one question, and an arena of two models beside a judge that takes part in no battle.
async fn field() -> Field {
    let field = Field::empty(&["one", "two"]).await;
    for model in ["one", "two"] {
        field.respond(model, |_, _| reply("The Nile."));
    }
    let settings = std::fs::read_to_string(field.path().join("langya.toml")).unwrap();
    let settings = settings.replace("id = \"judge\"\n", "id = \"judge\"\nweight = 0.0\n");
    field.write(
        "langya.toml",
        settings.replacen("[server]", "[battle]\npacing = \"raw\"\n[rating]\ngroup_votes = 1\n[server]", 1),
    );
    let item = json!({"question_id": 1, "category": "专业能力", "subcategory": "物理",
        "question": "Which river is the longest on Earth?", "reference": "The Nile."});
    field.write("a.jsonl", format!("{item}\n"));
    field.done(&["import", "suite", "alignbench", "a.jsonl"]).await;
    field
}

async fn vote(server: &Server, question: &str, outcome: &str) {
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask(question).await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote(outcome).await["type"], "revealed");
}

async fn item(server: &Server, query: &str) -> String {
    get(&format!("{}/benchmarks/alignbench/items/1{query}", server.url)).await.text().await.unwrap()
}

#[actix_web::test]
async fn votes_on_the_question_of_an_item_stand_at_it_until_their_texts_are_deleted() {
    let field = field().await;
    let server = Server::start(field.path(), &[]);
    assert!(!item(&server, "").await.contains("How visitors voted"));
    vote(&server, "which RIVER is the　longest on earth", "tie").await;
    vote(&server, "Which river is the longest on Earth？", "both_bad").await;
    vote(&server, "Which river is the longest in Asia?", "tie").await;
    let [one, two] = ["one", "two"].map(|name| format!("<bdi translate=\"no\">{name}</bdi>"));
    let counted = format!("{one} 0 · tie 1 · both bad 1 · {two} 0");
    until(async || item(&server, "").await.contains(&counted).then_some(())).await;
    let chinese = item(&server, "?lang=zh").await;
    assert!(chinese.contains("访客的投票") && chinese.contains("都不好 1"), "{chinese}");
    field.store().await.delete_texts_before(Timestamp(i64::MAX)).await.unwrap();
    assert!(!item(&server, "").await.contains("How visitors voted"));
    server.log_at_end().await;
}
