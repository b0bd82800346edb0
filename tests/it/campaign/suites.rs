//! Campaigns on the answers that models gave to a suite.

use serde_json::json;

use crate::bench::{Field, question, reply};

const FILE: &str = "[campaign]\nid = \"pilot\"\ntitle = \"Which?\"\nanswers = \"bench:alignbench\"\ntask = \"pairwise\"\n\
     models = [\"one\", \"two\"]\n";

#[actix_web::test]
async fn the_items_of_a_suite_that_all_models_answered_are_those_of_a_campaign() {
    let field = Field::empty(&["one", "two"]).await;
    for model in ["one", "two"] {
        field.respond(model, move |request, _| reply(&format!("I say «{model} {}»", question(request))));
    }
    let line = |id: u32| json!({"question_id": id, "category": "专业能力", "subcategory": "物理", "question": format!("第{id}题？"), "reference": "三"});
    field.write("a.jsonl", (1..=5).map(|id| format!("{}\n", line(id))).collect::<String>());
    field.done(&["import", "suite", "alignbench", "a.jsonl"]).await;
    field.write("pilot.toml", FILE);
    let refused = field.refused(&["campaign", "create", "pilot.toml"]).await;
    assert!(refused.contains("run `langya bench answer alignbench --models one`"), "{refused}");
    field.done(&["bench", "answer", "alignbench", "--models", "one", "--budget", "5"]).await;
    field.done(&["bench", "answer", "alignbench", "--models", "two", "--max-calls", "4"]).await;
    let forecast = field.done(&["campaign", "create", "pilot.toml", "--dry-run", "--format", "json"]).await;
    assert!(forecast.contains("\"state\": \"not made\"") && forecast.contains("\"models\": 2"), "{forecast}");
    let created = field.run(&["campaign", "create", "pilot.toml"]).await;
    let note = "/benchmarks/alignbench shows these answers with their models' names";
    assert!(created.code == Some(0) && created.stderr.contains(note), "{}", created.stderr);
    let store = field.store().await;
    let suite = store.bench_suites().await.unwrap().remove(0);
    let items = store.bench_items(&suite.suite, &suite.version).await.unwrap();
    let row = store.campaign("pilot").await.unwrap().unwrap();
    assert_eq!((items.len(), row.items, row.units), (5, 4, 4), "one item has an answer of one model only");
    let texts = store.campaign_item("pilot", 0).await.unwrap();
    let models: Vec<&str> = texts.answers.iter().map(|(model, _)| model.as_str()).collect();
    assert!(
        texts.answers.iter().all(|(_, answer)| answer.starts_with("I say «")) && models == ["one", "two"],
        "{texts:?}"
    );
    assert_eq!((texts.name.as_str(), texts.prompt.is_empty()), (items[0].item.as_str(), false));
    store.close().await;
}
