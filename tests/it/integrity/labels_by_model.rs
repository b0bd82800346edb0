//! A language model that labels prompts, beside the classifier: who is better, what it costs, and whose prompts it may label.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use langya::domain::labeling::LabelOrigin;
use langya::domain::labeling::scheme::Scheme;

use crate::bench::{Field, question, reply};
use crate::integrity::labels::stopped_arena;

/// The label of a seed goes by its number in a way that its digits hardly show, thirty for each; what is no seed is role playing.
fn label_of(text: &str) -> &'static str {
    let labels: Vec<&str> = Scheme::Superclue.labels().collect();
    let number = text.strip_prefix("question number ").and_then(|number| number.parse::<usize>().ok());
    number.map_or("role_playing", |number| labels[number * 137 % 300 / 30])
}

/// As many seeds as training takes.
pub(crate) fn seeds() -> String {
    (0..300).fold("text,label\n".to_owned(), |mut file, number| {
        let text = format!("question number {number}");
        writeln!(file, "{text},{}", label_of(&text)).unwrap();
        file
    })
}

/// An arena of five prompts, all answered by `one` and `two`, and a model `judge` that knows every label.
async fn field() -> Field {
    let field = Field::empty(&["one", "two"]).await;
    stopped_arena(field.path()).await;
    field.write("seeds.csv", seeds());
    for model in ["one", "judge"] {
        field.respond(model, |request, _| {
            let text: String = serde_json::from_str(question(request)).unwrap();
            reply(&format!("The label is {}.", label_of(&text)))
        });
    }
    field
}

fn train<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["label", "train", "--seed-file", "seeds.csv"], more].concat()
}

/// Who proposed a label, and which.
async fn proposed(field: &Field) -> BTreeSet<(String, String)> {
    let store = field.store().await;
    let labels = store.labels_between(Scheme::Superclue, "", "~").await.unwrap();
    store.close().await;
    assert!(labels.iter().all(|label| label.source == LabelOrigin::Model), "{labels:?}");
    labels.into_iter().map(|label| (label.labeled_by, label.label)).collect()
}

fn role_playing(by: &str) -> BTreeSet<(String, String)> {
    BTreeSet::from([(by.to_owned(), "role_playing".to_owned())])
}

#[actix_web::test]
async fn the_more_accurate_model_labels_and_is_paid_once_whatever_the_limits() {
    let field = field().await;
    let told = field.done(&train(&["--model", "judge", "--dry-run"])).await;
    assert!(told.contains("validation: 300 requests for about") && told.contains("; 0 replies are kept"), "{told}");
    assert!(told.contains("prompts, at most: 5 requests"), "{told}");
    assert_eq!((field.requests("judge"), proposed(&field).await), (0, BTreeSet::new()), "nothing is asked or changed");
    let stopped = field.run(&train(&["--model", "judge", "--max-calls", "10"])).await;
    assert_eq!((stopped.code, field.requests("judge")), (Some(1), 10), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("Its labels are kept: run the same command again"), "{}", stopped.stderr);
    assert_eq!(proposed(&field).await, BTreeSet::new(), "nobody is known to be better yet");
    let told = field.done(&train(&["--model", "judge", "--dry-run"])).await;
    assert!(told.contains("validation: 290 requests") && told.contains("; 10 replies are kept"), "{told}");
    let told = field.done(&train(&["--model", "judge"])).await;
    assert!(
        told.starts_with("classifier: 5-fold cross-validation of 300 seeds (shuffle 0): accuracy 0.")
            && told.contains("\njudge: 5-fold"),
        "{told}"
    );
    assert!(
        told.contains("(shuffle 0): accuracy 1.0000") && told.contains("judge is more accurate than the classifier"),
        "{told}"
    );
    assert_eq!((field.requests("judge"), field.repeated("judge")), (305, 0));
    assert_eq!(proposed(&field).await, role_playing("judge"));
    let again = field.done(&train(&["--model", "judge"])).await;
    assert!(again.contains("5 prompts labelled, 0 labels new or changed"), "{again}");
    assert_eq!(field.requests("judge"), 305, "a reply is paid for once");
    field.done(&train(&[])).await;
    let by: BTreeSet<String> = proposed(&field).await.into_iter().map(|(by, _)| by).collect();
    assert_eq!(by, BTreeSet::from([String::new()]), "the classifier's labels take the place of the model's");
}

#[actix_web::test]
async fn a_model_never_labels_the_prompts_that_it_answered_under_any_name() {
    let field = field().await;
    let told = field.done(&train(&["--model", "one"])).await;
    assert!(told.contains("one is more accurate than the classifier"), "{told}");
    assert_eq!(field.requests("one"), 300, "it answered all five prompts");
    assert!(proposed(&field).await.iter().all(|(by, _)| by.is_empty()), "the classifier labels them");
    // Another entry that is the same model of the same provider.
    field.edit("id = \"judge\"", "id = \"judge\"\nmodel = \"one\"");
    let before = field.requests("one");
    let told = field.done(&train(&["--model", "judge"])).await;
    assert!(told.contains("judge is more accurate than the classifier"), "{told}");
    assert_eq!(field.requests("one") - before, 300);
    assert!(proposed(&field).await.iter().all(|(by, _)| by.is_empty()), "the same model under another name");
}

#[actix_web::test]
async fn a_model_that_is_no_better_labels_nothing_and_one_that_fails_changes_nothing() {
    let field = field().await;
    field.respond("judge", |_, _| reply("I would rather not say."));
    let told = field.done(&train(&["--model", "judge"])).await;
    assert!(told.contains("judge: 5-fold cross-validation of 300 seeds (shuffle 0): accuracy 0.0000"), "{told}");
    assert!(told.contains("judge is not more accurate than the classifier"), "{told}");
    assert_eq!(field.requests("judge"), 300);
    let labels = proposed(&field).await;
    assert!(labels.iter().all(|(by, _)| by.is_empty()) && !labels.is_empty(), "{labels:?}");
    let unknown = field.refused(&train(&["--model", "nobody"])).await;
    assert!(unknown.contains("there is no model \"nobody\": the settings have one, two, judge"), "{unknown}");
    let alone = field.run(&train(&["--dry-run"])).await;
    assert!(alone.code == Some(2) && alone.stderr.contains("--model"), "{}", alone.stderr);
    let limits = field.refused(&train(&["--max-calls", "3"])).await;
    assert!(limits.contains("name one with --model"), "{limits}");
}
