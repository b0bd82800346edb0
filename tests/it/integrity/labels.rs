//! What prompts are about: the classifier on real data, the review of what it says, and the slices that follow.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use langya::domain::labeling::LabelOrigin;
use langya::domain::labeling::classifier::Classifier;
use langya::domain::labeling::final_labels::LabelOrigins;
use langya::domain::labeling::scheme::Scheme;
use langya::domain::labeling::seed_labels;
use langya::domain::labeling::validation::{ValidationOptions, cross_validate};
use langya::domain::time::Timestamp;
use langya::formats::tables::Format;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, LabelSource, NewLabel, Store};
use langya::services::import_export::export::{self, ExportSelection};
use langya::services::labeling::{import_review, label_all, read_seeds, report, train, write_queue};
use serde_json::Value;

use crate::support::arena::TestArena;
use crate::support::program::{Server, langya};
use crate::support::ratings::shared;
use crate::support::scripted::Scripted;
use crate::support::visitor::get;

// ------------------------------------------------------------------------------------------------- classifier

#[test]
fn urs_own_labels_are_learned_well_above_chance() {
    let Some(shared) = shared() else { return };
    let file = std::fs::File::open(shared.join("data/urs.csv")).unwrap();
    let seeds = seed_labels::read(file, Scheme::Urs).unwrap();
    assert_eq!(seeds.len(), 1846);
    let options = ValidationOptions { folds: 3, seed: 20_261_121 };
    println!("seed {}", options.seed);
    let found = cross_validate(&seeds, Scheme::Urs, options).unwrap();
    // Always saying "factual_qa" would get 0.310 and 0.079.
    assert!(found.accuracy > 0.53 && found.macro_f1 > 0.45, "{found:?}");
    assert_eq!(found.labels.iter().map(|label| label.texts).collect::<Vec<_>>(), [573, 528, 124, 269, 193, 159]);
}

/// Thirty made-up queries of each category, told apart by words of its own.
fn superclue_seeds() -> String {
    let words = [
        "extract the names",
        "hello how are you",
        "as I said before",
        "write a poem on",
        "who discovered",
        "write a function",
        "if all men are",
        "how much is",
        "pretend to be a",
        "is it dangerous to",
    ];
    let mut file = "text,label\n".to_owned();
    for (label, words) in Scheme::Superclue.labels().zip(words) {
        for number in 0..30 {
            writeln!(file, "\"{words} {}, please\",{label}", ["river", "train", "garden", "violin"][number * 7 % 4])
                .unwrap();
        }
    }
    file
}

#[test]
fn the_same_seeds_give_the_same_classifier_to_the_last_bit() {
    let seeds = seed_labels::read(superclue_seeds().as_bytes(), Scheme::Superclue).unwrap();
    let classifier = || Classifier::train(&seeds, 10).unwrap();
    let (one, other) = (classifier(), classifier());
    for text in ["Is it dangerous to swim?", "Who discovered the violin?", "", "与众不同的问题"] {
        let (x, y) = (one.predict(text), other.predict(text));
        assert_eq!((x.label, x.confidence.to_bits()), (y.label, y.confidence.to_bits()), "{text}");
    }
    assert_eq!(Scheme::Superclue.label(one.predict("Is it dangerous to swim?").label), Some("safety"));
    let validated = || cross_validate(&seeds, Scheme::Superclue, ValidationOptions::default()).unwrap();
    let found = validated();
    assert_eq!(found, validated());
    assert!(found.accuracy > 0.95, "{found:?}");
}

// ----------------------------------------------------------------------------------------------------- review

const PROMPTS: [(&str, &str); 5] = [
    ("How much is seven times eight, please?", "a"),
    ("=HYPERLINK(\"x\") hello how are you?", "b"),
    ("Is it dangerous to eat snow, please?", "a"),
    ("Write a function, please.", "tie"),
    ("Who discovered the river, please?", "b"),
];

/// An arena with votes on these prompts; the visitor calls the first one maths.
async fn arena() -> TestArena {
    let models = ["one", "two"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    let arena = TestArena::start(&models).await;
    let mut visitor = arena.visitor().await;
    for (number, (prompt, outcome)) in PROMPTS.into_iter().enumerate() {
        let mut start = serde_json::json!({"type": "start", "prompt": prompt});
        if number == 0 {
            start["category"] = "maths".into();
        }
        visitor.send(start).await;
        visitor.until_ready().await;
        assert_eq!(visitor.vote(outcome).await["type"], "revealed");
    }
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|standing| standing.last_vote_seq == 5).await.unwrap();
    arena
}

/// The prompts' ids, in the order of [`PROMPTS`].
async fn ids(store: &Store) -> Vec<String> {
    let queries = store.queries_after("", 10).await.unwrap();
    let id = |prompt: &str| queries.iter().find(|query| query.prompt == prompt).unwrap().id.clone();
    PROMPTS.map(|(prompt, _)| id(prompt)).into()
}

async fn trained(store: &Store, folder: &Path) {
    let file = folder.join("seeds.csv");
    std::fs::write(&file, superclue_seeds()).unwrap();
    let seeds = read_seeds(&file, Scheme::Superclue, 5).unwrap();
    let trained = train(seeds, Scheme::Superclue, ValidationOptions::default()).await.unwrap();
    let labelled =
        label_all(store, Scheme::Superclue, &trained.classifier, None, Timestamp(1_000), |_| {}).await.unwrap();
    assert_eq!((labelled.queries, labelled.changed), (5, 5));
    let again = label_all(store, Scheme::Superclue, &trained.classifier, None, Timestamp(2_000), |_| {}).await.unwrap();
    assert_eq!((again.queries, again.changed), (5, 0), "the same labels change nothing");
    assert_eq!(store.labels_changed_at().await.unwrap(), Timestamp(1_000));
}

/// Fills in a queue: `said` has the label of each id.
fn fill(queue: &Path, said: &[(&str, &str)]) {
    let mut reader = csv::Reader::from_path(queue).unwrap();
    let header = reader.headers().unwrap().clone();
    let mut rows: Vec<Vec<String>> =
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
    for row in &mut rows {
        let label = said.iter().find(|(id, _)| *id == row[0]).map_or("", |(_, label)| label);
        row.last_mut().unwrap().push_str(label);
    }
    let mut writer = csv::Writer::from_path(queue).unwrap();
    writer.write_record(&header).unwrap();
    rows.iter().for_each(|row| writer.write_record(row).unwrap());
    writer.flush().unwrap();
}

async fn review(store: &Store, folder: &Path, reviewer: &str, said: &[(&str, &str)]) {
    let queue = folder.join(format!("{reviewer}.csv"));
    write_queue(store, Scheme::Superclue, reviewer, 100, &queue).await.unwrap();
    fill(&queue, said);
    let done = import_review(store, Scheme::Superclue, reviewer, &queue, Timestamp(3_000)).await.unwrap();
    assert_eq!((done.decisions, done.changed), (said.len(), said.len() as u64), "{reviewer}");
    let again = import_review(store, Scheme::Superclue, reviewer, &queue, Timestamp(4_000)).await.unwrap();
    assert_eq!((again.decisions, again.changed), (said.len(), 0), "the same file changes nothing");
}

#[actix_web::test]
async fn the_queue_begins_with_what_is_least_sure_and_hides_other_reviewers() {
    let (arena, folder) = (arena().await, tempfile::tempdir().unwrap());
    let store = &arena.app.store;
    trained(store, folder.path()).await;
    let ids = ids(store).await;
    let queue = store.review_queue(Scheme::Superclue, "ann", 100).await.unwrap();
    assert_eq!(queue.len(), 5);
    assert!(queue.is_sorted_by(|one, other| one.confidence <= other.confidence), "{queue:?}");
    assert!(queue.iter().all(|query| query.confidence > 0.1 && query.confidence < 1.0));
    assert_eq!(store.review_queue(Scheme::Superclue, "ann", 2).await.unwrap(), queue[..2]);
    review(store, folder.path(), "ann", &[(&ids[0], "safety"), (&ids[1], "small_talk")]).await;
    let left: Vec<String> = store
        .review_queue(Scheme::Superclue, "ann", 9)
        .await
        .unwrap()
        .into_iter()
        .map(|query| query.query_id)
        .collect();
    assert!(left.len() == 3 && !left.contains(&ids[0]) && !left.contains(&ids[1]), "{left:?}");
    let file = folder.path().join("ben.csv");
    assert_eq!(write_queue(store, Scheme::Superclue, "ben", 9, &file).await.unwrap(), 5, "ben sees all of them");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("ann") && text.contains("\"'=HYPERLINK(\"\"x\"\") hello"), "{text}");
    let suggested = |row: &str| row.contains("calculation") && !row.contains("safety");
    assert!(text.lines().any(|row| row.starts_with(&ids[0]) && suggested(row)), "as the classifier says: {text}");
    assert!(write_queue(store, Scheme::Superclue, " ", 9, &file).await.is_err(), "a reviewer has a name");
    fill(&file, &[(&ids[0], "safety")]);
    let filled = std::fs::read_to_string(&file).unwrap();
    let refused = write_queue(store, Scheme::Superclue, "ben", 9, &file).await.unwrap_err();
    assert!(refused.is_input() && refused.to_string().contains("exists already"), "{refused}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), filled, "a reviewer's work stays");
    arena.end().await;
}

#[actix_web::test]
async fn a_bad_row_is_named_and_nothing_of_its_file_is_taken() {
    let (arena, folder) = (arena().await, tempfile::tempdir().unwrap());
    let store = &arena.app.store;
    trained(store, folder.path()).await;
    let ids = ids(store).await;
    let file = folder.path().join("queue.csv");
    for (row, said) in [
        (format!("{},superclue,fun", ids[1]), "queue.csv: line 3: the label \"fun\" is unknown"),
        ("nobody,superclue,safety".to_owned(), "line 3: no prompt of this arena has the id \"nobody\""),
        (format!("{},superclue,safety", ids[0]), "line 3: the query"),
    ] {
        std::fs::write(&file, format!("query_id,scheme,label\n{},superclue,safety\n{row}\n", ids[0])).unwrap();
        let error = import_review(store, Scheme::Superclue, "ann", &file, Timestamp(3_000)).await.unwrap_err();
        assert!(error.is_input() && error.to_string().contains(said), "{error}");
        assert_eq!(report(store, Scheme::Superclue).await.unwrap().reviewers, BTreeMap::new());
    }
    arena.end().await;
}

#[actix_web::test]
async fn the_agreement_of_two_reviewers_is_that_done_by_hand() {
    let (arena, folder) = (arena().await, tempfile::tempdir().unwrap());
    let store = &arena.app.store;
    trained(store, folder.path()).await;
    let ids = ids(store).await;
    let labels = ["calculation", "small_talk", "safety", "code_generation"];
    let said = |labels: [&'static str; 4]| ids.iter().map(String::as_str).zip(labels).collect::<Vec<_>>();
    review(store, folder.path(), "ann", &said(labels)).await;
    review(store, folder.path(), "ben", &said(["calculation", "small_talk", "small_talk", "code_generation"])).await;
    let found = report(store, Scheme::Superclue).await.unwrap();
    // Three of four alike; of eight reviews 2 calculation, 3 small talk, 1 safety, 2 code: Pe = (4 + 9 + 1 + 4)/64.
    let (observed, expected) = (0.75, 18.0 / 64.0);
    let kappa = found.fleiss.unwrap();
    assert!((kappa.kappa - (observed - expected) / (1.0 - expected)).abs() < 1e-12, "{kappa:?}");
    // α = 1 − D_o/D_e with D_o = 2/8 and D_e = (64 − 18)/(8·7).
    assert!((found.alpha.unwrap() - (1.0 - 0.25 / (46.0 / 56.0))).abs() < 1e-12, "{found:?}");
    assert_eq!((found.queries, found.labelled, found.undecided), (5, 5, 1));
    assert_eq!(found.by_source, BTreeMap::from([("model", 5), ("review", 4), ("seed", 0), ("visitor", 0)]));
    // The reviewers of the third are of two minds, so that it stays out; the classifier is right on the others.
    assert_eq!((found.model_agrees.of, found.model_agrees.total), (3, 3));
    assert_eq!(found.reviewers, BTreeMap::from([("ann".to_owned(), 4), ("ben".to_owned(), 4)]));
    arena.end().await;
}

// ----------------------------------------------------------------------------------------------------- slices

/// Asks again while the arena is busy: a fit on a machine with much else to do is followed by a cool-down of many seconds,
/// and a request waits for ten.
async fn rated(arena: &TestArena, query: &str) -> (u16, Option<u64>) {
    let address = format!("{}/api/v1/leaderboard{query}", arena.url);
    let mut response = get(&address).await;
    for _ in 0..6 {
        if response.status().as_u16() != 503 {
            break;
        }
        response = get(&address).await;
    }
    let status = response.status().as_u16();
    let leaderboard: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap_or(Value::Null);
    (status, leaderboard["votes"]["rated"].as_u64())
}

async fn exported(store: &Store, votes: bool) -> BTreeMap<String, Value> {
    let mut out = Vec::new();
    let all = ExportSelection { since: Timestamp(i64::MIN), until: Timestamp(i64::MAX), with_text: false };
    match votes {
        true => export::votes(store, all, Format::Jsonl, &mut out, |_, _| {}).await.unwrap(),
        false => export::battles(store, all, Format::Jsonl, &mut out, |_| {}).await.unwrap(),
    };
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["battle_id"].as_str().unwrap().to_owned(), row["category"].clone())
    };
    String::from_utf8(out).unwrap().lines().map(row).collect()
}

#[actix_web::test]
async fn slices_exports_and_the_page_follow_a_review() {
    let (arena, folder) = (arena().await, tempfile::tempdir().unwrap());
    let store = &arena.app.store;
    assert_eq!(rated(&arena, "?category=maths").await, (200, Some(1)), "what the visitor said, without labels");
    assert_eq!(rated(&arena, "?category=calculation").await.0, 404);
    trained(store, folder.path()).await;
    assert_eq!(rated(&arena, "?category=maths").await.0, 404, "the label stands in place of what the visitor said");
    assert_eq!(rated(&arena, "?category=calculation").await, (200, Some(1)));
    assert_eq!(rated(&arena, "?category=safety").await, (200, Some(1)));
    let ids = ids(store).await;
    review(store, folder.path(), "ann", &[(&ids[0], "safety")]).await;
    assert_eq!(rated(&arena, "?category=safety").await, (200, Some(2)));
    assert_eq!(rated(&arena, "?category=calculation").await.0, 404);
    for votes in [true, false] {
        let categories = exported(store, votes).await;
        assert_eq!((&categories[&ids[0]], &categories[&ids[3]]), (&"safety".into(), &"code_generation".into()));
    }
    assert_eq!(exported(store, true).await.len(), 5);
    let by = LabelSource { scheme: Scheme::Superclue, source: LabelOrigin::Seed, name: "" };
    let seed = NewLabel { query_id: &ids[2], label: "role_playing", confidence: None };
    store.put_labels(by, &[seed], Timestamp(5_000)).await.unwrap();
    assert_eq!(rated(&arena, "?category=role_playing").await, (200, Some(1)), "a seed goes before the classifier");
    let mut visitor = arena.visitor().await;
    visitor.ask("What happens with a new vote?").await;
    visitor.until_ready().await;
    visitor.vote("a").await;
    let mut changes = arena.app.leaderboard.changes();
    changes.wait_for(|standing| standing.last_vote_seq == 6).await.unwrap();
    let votes = arena.app.leaderboard.slice_votes();
    let expected = ["code_generation", "knowledge_and_encyclopedia", "role_playing", "safety", "small_talk"];
    assert_eq!(votes.counts.categories, expected.map(|label| (label.to_owned(), 1)).into());
    let origins = LabelOrigins { reviewers: 1, examples: 1, visitors: 0, model: 3 };
    assert_eq!(votes.categories, origins, "whose labels count");
    let page = get(&format!("{}/leaderboard", arena.url)).await.text().await.unwrap();
    assert!(
        page.contains("Category labels: 3 by the classifier, 1 by reviewers, 1 from the examples it learned from."),
        "{page}"
    );
    a_label_from_before_its_vote_counts(&arena).await;
    arena.end().await;
}

/// The label is looked at with another battle's vote, and again when its own comes.
async fn a_label_from_before_its_vote_counts(arena: &TestArena) {
    let store = &arena.app.store;
    let mut changes = arena.app.leaderboard.changes();
    let mut early = arena.visitor().await;
    early.ask("How much is 3 + 4?").await;
    early.until_ready().await;
    let queries = store.queries_after("", 10).await.unwrap();
    let query_id = &queries.iter().find(|query| query.prompt == "How much is 3 + 4?").unwrap().id;
    let by = LabelSource { scheme: Scheme::Superclue, source: LabelOrigin::Seed, name: "" };
    let seed = NewLabel { query_id, label: "calculation", confidence: None };
    store.put_labels(by, &[seed], Timestamp(6_000)).await.unwrap();
    let mut other = arena.visitor().await;
    other.ask("Who else is there?").await;
    other.until_ready().await;
    other.vote("a").await;
    changes.wait_for(|standing| standing.last_vote_seq == 7).await.unwrap();
    assert_eq!(arena.app.leaderboard.slice_votes().counts.categories.get("calculation"), None);
    early.vote("b").await;
    changes.wait_for(|standing| standing.last_vote_seq == 8).await.unwrap();
    assert_eq!(arena.app.leaderboard.slice_votes().counts.categories.get("calculation"), Some(&1));
}

// ----------------------------------------------------------------------------------------------- command line

/// A folder with an arena's database of five battles, nobody serving it.
pub(crate) async fn stopped_arena(folder: &Path) -> Vec<String> {
    let models = ["one", "two"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    let data = folder.join("data");
    let arena = TestArena::start_with(&models, |settings| settings.storage.data_dir.clone_from(&data)).await;
    let mut visitor = arena.visitor().await;
    for (prompt, outcome) in PROMPTS {
        visitor.ask(prompt).await;
        visitor.until_ready().await;
        visitor.vote(outcome).await;
    }
    let ids = ids(&arena.app.store).await;
    arena.app.store.close().await;
    arena.end().await;
    ids
}

#[actix_web::test]
async fn an_operator_trains_reviews_and_reports_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let ids = stopped_arena(folder.path()).await;
    let run = |arguments: &[&str]| langya(folder.path(), [arguments, &["--data-dir", "data"]].concat());
    let seeds = folder.path().join("seeds.csv");
    let short = superclue_seeds().replacen(",calculation", ",safety", 1);
    std::fs::write(&seeds, short).unwrap();
    let refused = run(&["label", "train", "--scheme", "superclue", "--seed-file", "seeds.csv"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("29 calculation") && refused.stderr.contains("31 safety"), "{}", refused.stderr);
    let own = superclue_seeds().replacen("label\n", "label,query_id\n", 1);
    let own: String = own.lines().enumerate().fold(String::new(), |mut file, (number, line)| {
        let id = if number == 1 { ids[4].as_str() } else { "" };
        let end = if number == 0 { String::new() } else { format!(",{id}") };
        writeln!(file, "{line}{end}").unwrap();
        file
    });
    std::fs::write(&seeds, own).unwrap();
    let serving = Server::start(folder.path(), &[]);
    let trained = run(&["label", "train", "--scheme", "superclue", "--seed-file", "seeds.csv"]);
    assert_eq!(trained.code, Some(0), "beside an arena that serves: {}", trained.stderr);
    serving.kill();
    assert!(
        trained.stdout.starts_with(
            "classifier: 5-fold cross-validation of 300 seeds (shuffle 0): accuracy 1.0000, macro-F1 1.0000\n"
        ),
        "{}",
        trained.stdout
    );
    assert!(
        trained.stdout.contains("5 prompts labelled, 6 labels new or changed, 1 of them seeds"),
        "{}",
        trained.stdout
    );
    let queued = run(&["label", "queue", "--reviewer", "ann", "--out", "queue.csv"]);
    assert!(queued.stdout.starts_with("4 prompts to review"), "{} {}", queued.stdout, queued.stderr);
    fill(&folder.path().join("queue.csv"), &[(&ids[0], "Role Playing")]);
    let reviewed = run(&["label", "review", "queue.csv", "--reviewer", "ann"]);
    assert!(reviewed.stdout.contains("1 decision, 1 new or changed"), "{} {}", reviewed.stdout, reviewed.stderr);
    let other = run(&["label", "review", "queue.csv", "--reviewer", "ann", "--scheme", "urs"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("queue.csv: line ") && other.stderr.contains("superclue"), "{}", other.stderr);
    let told = run(&["label", "report", "--format", "json"]);
    let report: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&report["queries"], &report["sources"]["seed"]), (&5.into(), &1.into()), "{report}");
    assert_eq!(report["model_agreement"]["rate"], 0.0);
    assert!(report["fleiss_kappa"]["undefined"].is_string() && report["fleiss_kappa"]["kappa"].is_null(), "{report}");
    let told = run(&["label", "report"]).stdout;
    assert!(told.contains("reviews by ann") && told.contains("prompts with a label"), "{told}");
    let fitted = run(&["fit", "--category", "role_playing", "--format", "json"]);
    let leaderboard: Value = serde_json::from_str(&fitted.stdout).unwrap();
    assert_eq!(leaderboard["votes"]["rated"], 1, "{}", fitted.stderr);
    let settings = StorageSettings { data_dir: folder.path().join("data"), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Fail).await.unwrap();
    assert_eq!(store.labels_between(Scheme::Superclue, "", "~").await.unwrap().len(), 7);
    store.close().await;
}
