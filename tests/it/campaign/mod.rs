//! Campaigns as an operator and annotators use them: by command, and over HTTP beside an arena that serves.

mod answer_diffs;
mod asking;
mod ending;
mod interruptions;
mod judges;
mod kill;
mod opinions;
mod questions;
mod rated;
mod report;
mod rubrics;
mod series;
mod shared;
mod suites;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use langya::domain::stats::agreement::choices::majority;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::arena::TestArena;
use crate::support::program::{Run, langya_beside};
use crate::support::ratings::shared;
use crate::support::scripted::Scripted;
use crate::support::visitor::{get, http_client};

/// An arena with a folder in which commands run beside it.
pub(crate) struct CampaignFixture {
    folder: TempDir,
    pub(crate) arena: TestArena,
    client: reqwest::Client,
}

/// What `langya campaign create` is given.
pub(crate) struct CampaignText<'t> {
    keys: &'t str,
    answers: String,
    gold: String,
}

impl CampaignFixture {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let models = ["one", "two"].map(|name| (name, Scripted::saying(name)));
        let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
        let data = folder.path().join("data");
        let arena = TestArena::start_with(&models, |settings| settings.storage.data_dir = data).await;
        Self { folder, arena, client: http_client().build().unwrap() }
    }

    async fn campaign(&self, arguments: &[&str]) -> Run {
        langya_beside(self.folder.path(), &[&["campaign"], arguments, &["--data-dir", "data"]].concat()).await
    }

    /// The result of a command as JSON.
    async fn json(&self, arguments: &[&str]) -> Value {
        let run = self.campaign(&[arguments, &["--format", "json"]].concat()).await;
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    }

    async fn done(&self, arguments: &[&str]) {
        let run = self.campaign(arguments).await;
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
    }

    /// A campaign `pilot` of these files.
    async fn create(&self, text: &CampaignText<'_>) -> Run {
        let file =
            format!("[campaign]\nid = \"pilot\"\ntitle = \"Which?\"\nanswers = \"answers.jsonl\"\n{}", text.keys);
        for (name, text) in [("pilot.toml", &file), ("answers.jsonl", &text.answers), ("gold.jsonl", &text.gold)] {
            std::fs::write(self.folder.path().join(name), text).unwrap();
        }
        self.campaign(&["create", "pilot.toml"]).await
    }

    /// A campaign `pilot` that is open, and the tokens of so many annotators.
    pub(crate) async fn open(&self, text: &CampaignText<'_>, annotators: usize) -> Vec<String> {
        let created = self.create(text).await;
        assert_eq!(created.code, Some(0), "{}", created.stderr);
        let invites = self.json(&["invite", "pilot", "--count", &annotators.to_string()]).await;
        self.done(&["open", "pilot"]).await;
        let tokens = invites["invites"].as_array().unwrap().iter();
        tokens.map(|token| token.as_str().unwrap().to_owned()).collect()
    }

    async fn post(&self, token: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let url = format!("{}/api/v1/campaigns/pilot/{path}", self.arena.url);
        let response = self.client.post(url).bearer_auth(token).json(&body).send().await.unwrap();
        (response.status(), response.json().await.unwrap())
    }

    async fn next(&self, token: &str) -> Value {
        let (status, answer) = self.post(token, "next", json!({})).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer
    }

    async fn judge(&self, token: &str, shown: &Value, outcome: &str) -> String {
        let said = json!({"assignment": shown["assignment"], "outcome": outcome});
        let (status, answer) = self.post(token, "judgements", said).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer["judgement"].as_str().unwrap().to_owned()
    }

    /// Every judgement of the campaign, from its export.
    async fn exported(&self) -> Vec<Value> {
        self.done(&["export", "pilot", "--out", "out.jsonl", "--force"]).await;
        let text = std::fs::read_to_string(self.folder.path().join("out.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// One answer of each model to each of so many items; the answer names its model, so that a test can choose.
fn answers(items: usize, models: &[&str]) -> String {
    let lines = (0..items).flat_map(|item| models.iter().map(move |model| (item, *model)));
    let line = |(item, model): (usize, &str)| json!({"item": format!("q{item}"), "prompt": format!("Question {item}?"), "model": model, "answer": format!("{model} says.")});
    lines.map(|place| format!("{}\n", line(place))).collect()
}

pub(crate) fn pairwise<'t>(keys: &'t str, items: usize, models: &[&str]) -> CampaignText<'t> {
    CampaignText { keys, answers: answers(items, models), gold: String::new() }
}

pub(crate) const SHORT: &str = "task = \"pairwise\"\njudgements_per_item = 2\nseed = 7\n";

#[actix_web::test]
async fn a_campaign_goes_from_its_file_to_its_report() {
    let fixture = CampaignFixture::start().await;
    let created = fixture.create(&pairwise(SHORT, 4, &["bad", "good"])).await;
    assert!(created.stdout.contains("4, answers of 2 models, 4 to judge"), "{}", created.stdout);
    let tokens = fixture.json(&["invite", "pilot", "--count", "3"]).await;
    let tokens: Vec<&str> = tokens["invites"].as_array().unwrap().iter().map(|token| token.as_str().unwrap()).collect();
    assert!(tokens.iter().all(|token| token.len() == 32), "128 bits: {tokens:?}");

    let (status, refused) = fixture.post(tokens[0], "next", json!({})).await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("campaign_not_open")), "{refused}");
    fixture.done(&["open", "pilot"]).await;
    for token in &tokens[..2] {
        for done in 0..4 {
            let shown = fixture.next(token).await;
            assert_eq!(shown["progress"], json!({"done": done, "of": 4}));
            assert!(shown["prompt"].as_str().unwrap().starts_with("Question"), "{shown}");
            let outcome = if shown["a"] == "good says." { "a" } else { "b" };
            fixture.judge(token, &shown, outcome).await;
        }
        assert_eq!(fixture.next(token).await["finished"], true);
    }
    assert_eq!(fixture.next(tokens[2]).await["finished"], true, "every unit has its two judgements");

    let report = fixture.json(&["report", "pilot"]).await;
    assert_eq!(
        (&report["campaign"], &report["judgements"], &report["complete"]),
        (&json!("pilot"), &json!(8), &json!(true))
    );
    assert_eq!((&report["models"][0]["model"], &report["models"][0]["wins"]), (&json!("good"), &json!(8)));
    assert_eq!(
        (&report["agreement"]["fleiss"], &report["agreement"]["krippendorff"]),
        (&Value::Null, &Value::Null),
        "{report}"
    );
    let annotator = &report["annotators"][0];
    assert_eq!((&annotator["annotator"], &annotator["judgements"]), (&json!("pilot-1"), &json!(4)));
    assert_eq!((&annotator["gold_accuracy"], &annotator["flags"]), (&Value::Null, &json!([])));
    let table = fixture.campaign(&["report", "pilot"]).await.stdout;
    assert!(table.contains("8 judgements, 0 of them repetitions; 4 of 4 units done, complete"), "{table}");

    let lines = fixture.exported().await;
    assert_eq!(lines.len(), 8);
    let fitted = langya_beside(fixture.folder.path(), &["fit", "--votes", "out.jsonl", "--format", "json"]).await;
    let fitted: Value = serde_json::from_str(&fitted.stdout).unwrap();
    assert_eq!(fitted["models"][0]["wins"], 8, "the export reads as votes");
    assert!(fixture.campaign(&["list"]).await.stdout.contains("pilot"), "it is listed");
    let refused = fixture.campaign(&["delete", "pilot"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("has 8 judgements"), "{}", refused.stderr);
    fixture.done(&["delete", "pilot", "--with-judgements"]).await;
    assert_eq!(fixture.json(&["list"]).await, json!([]));
    fixture.arena.end().await;
}

#[actix_web::test]
async fn a_judgement_counts_once_and_only_for_whom_it_was_given() {
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&pairwise(SHORT, 3, &["m", "n"]), 2).await;
    let shown = fixture.next(&tokens[0]).await;
    assert_eq!(fixture.next(&tokens[0]).await, shown, "a reload shows the same");
    let first = fixture.judge(&tokens[0], &shown, "a").await;
    assert_eq!(fixture.judge(&tokens[0], &shown, "b").await, first, "a repeated judgement is the first one");
    let said = json!({"assignment": shown["assignment"], "outcome": "a"});
    let (status, refused) = fixture.post(&tokens[1], "judgements", said).await;
    assert_eq!((status, &refused["code"]), (StatusCode::NOT_FOUND, &json!("unknown_assignment")));
    let next = fixture.next(&tokens[0]).await;
    for (body, words) in [
        (json!({"assignment": next["assignment"]}), "send \"outcome\""),
        (json!({"assignment": next["assignment"], "outcome": "left"}), "unknown outcome"),
        (json!({"assignment": next["assignment"], "score": 3}), "send \"outcome\""),
        (json!({"outcome": "a"}), "assignment"),
    ] {
        let (status, refused) = fixture.post(&tokens[0], "judgements", body).await;
        assert!(status == StatusCode::BAD_REQUEST && refused["message"].as_str().unwrap().contains(words), "{refused}");
    }
    let (status, _) = fixture.post("00000000000000000000000000000000", "next", json!({})).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let report = fixture.json(&["report", "pilot"]).await;
    assert_eq!(report["judgements"], 1);

    // Undoing shows the same assignment again; the judgement that is taken back counts no more.
    let (status, _) = fixture.post(&tokens[0], "undo", json!({})).await;
    assert_eq!(status, StatusCode::OK);
    let again = fixture.next(&tokens[0]).await;
    assert_eq!(again["assignment"], shown["assignment"]);
    let second = fixture.judge(&tokens[0], &again, "b").await;
    assert_ne!(second, first);
    let (status, _) = fixture.post(&tokens[0], "undo", json!({"judgement": first})).await;
    assert_eq!(status, StatusCode::OK, "a repeated request takes no other judgement back");
    for unknown in ["none", "\0"] {
        let (status, refused) = fixture.post(&tokens[0], "undo", json!({"judgement": unknown})).await;
        assert_eq!((status, &refused["code"]), (StatusCode::NOT_FOUND, &json!("unknown_judgement")));
    }
    let (status, refused) = fixture.post(&tokens[0], "undo", json!({"judgment": second})).await;
    assert_eq!((status, &refused["code"]), (StatusCode::BAD_REQUEST, &json!("bad_request")), "a misspelt name");
    let lines = fixture.exported().await;
    assert_eq!((lines.len(), &lines[0]["winner"]), (1, &json!("model_b")));
    let next = fixture.next(&tokens[0]).await;
    fixture.judge(&tokens[0], &next, "a").await;
    let (status, refused) = fixture.post(&tokens[0], "undo", json!({"judgement": second})).await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("not_last")));

    fixture.done(&["pause", "pilot"]).await;
    let (status, refused) = fixture.post(&tokens[0], "next", json!({})).await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("campaign_not_open")));
    fixture.done(&["open", "pilot"]).await;
    fixture.done(&["revoke", "pilot", "pilot-1"]).await;
    let (status, refused) = fixture.post(&tokens[0], "next", json!({})).await;
    assert_eq!((status, &refused["code"]), (StatusCode::FORBIDDEN, &json!("link_revoked")));
    let page = get(&format!("{}/campaign/pilot?invite={}", fixture.arena.url, tokens[1])).await;
    assert!(page.headers()["cache-control"] == "no-store" && page.text().await.unwrap().contains("Which?"));
    assert_eq!(get(&format!("{}/campaign/other", fixture.arena.url)).await.status(), StatusCode::NOT_FOUND);
    fixture.arena.end().await;
}

#[actix_web::test]
async fn files_that_cannot_be_used_make_nothing() {
    let fixture = CampaignFixture::start().await;
    let one = pairwise(SHORT, 2, &["only"]);
    let refused = fixture.create(&one).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("only \"only\" answers it"), "{}", refused.stderr);
    assert_eq!(fixture.json(&["list"]).await, json!([]));
    let good = pairwise(SHORT, 2, &["m", "n"]);
    assert_eq!(fixture.create(&good).await.code, Some(0));
    let again = fixture.create(&good).await;
    assert!(
        again.code == Some(2) && again.stderr.contains("there is a campaign \"pilot\" already"),
        "{}",
        again.stderr
    );
    let unknown = fixture.campaign(&["open", "other"]).await;
    assert!(unknown.code == Some(2) && unknown.stderr.contains("no campaign \"other\""), "{}", unknown.stderr);
    let forecast =
        langya_beside(fixture.folder.path(), &["campaign", "create", "pilot.toml", "--dry-run", "--format", "json"])
            .await;
    let forecast: Value = serde_json::from_str(&forecast.stdout).unwrap();
    assert_eq!((&forecast["judgements"], &forecast["state"]), (&json!(4), &json!("not made")));
    fixture.arena.end().await;
}

#[actix_web::test]
async fn many_annotators_at_once_judge_each_unit_as_often_as_planned() {
    let fixture = CampaignFixture::start().await;
    let keys = "task = \"pairwise\"\njudgements_per_item = 3\nrepeat_share = 0.1\nseed = 3\n";
    let models = ["m1", "m2", "m3"];
    let tokens = fixture.open(&pairwise(keys, 20, &models), 12).await;
    let work = tokens.iter().map(async |token| {
        let mut items = BTreeSet::new();
        let mut repeats = 0;
        loop {
            // Two tabs at once get the same.
            let (one, other) = futures_util::join!(fixture.next(token), fixture.next(token));
            assert_eq!(one, other);
            if one["finished"] == true {
                break;
            }
            repeats += usize::from(!items.insert(one["item"].to_string()));
            futures_util::join!(fixture.judge(token, &one, "a"), fixture.judge(token, &one, "tie"));
        }
        (items.len(), repeats)
    });
    let done = futures_util::future::join_all(work).await;
    let lines = fixture.exported().await;
    let fresh: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "fresh").collect();
    let mut units: BTreeMap<(String, String, String), BTreeSet<String>> = BTreeMap::new();
    for line in &fresh {
        let text = |key: &str| line[key].as_str().unwrap().to_owned();
        let (a, b) = (text("model_a"), text("model_b"));
        let key = (text("item"), a.clone().min(b.clone()), a.max(b));
        assert!(units.entry(key).or_default().insert(text("annotator")), "nobody judges a unit twice: {line}");
    }
    assert_eq!(fresh.len(), done.iter().map(|(items, _)| items).sum::<usize>());
    assert!(units.values().all(|annotators| annotators.len() <= 3), "{units:?}");
    // 12 people see each item once: 180 judgements need 9 of them at least.
    assert_eq!((units.len(), fresh.len()), (60, 180));
    let repeats: usize = done.iter().map(|(_, repeats)| repeats).sum();
    assert_eq!(lines.len(), 180 + repeats);
    let expected: usize = done.iter().map(|(items, _)| items / 10).sum();
    assert!(repeats.abs_diff(expected) <= 12, "{repeats} repetitions of {expected}");
    let mut sides: BTreeMap<(String, String), i64> = BTreeMap::new();
    for line in &lines {
        *sides.entry((line["annotator"].to_string(), line["model_a"].to_string())).or_default() += 1;
        *sides.entry((line["annotator"].to_string(), line["model_b"].to_string())).or_default() -= 1;
    }
    assert!(sides.values().all(|surplus| surplus.abs() <= 3), "sides are balanced within each annotator: {sides:?}");
    assert_eq!(fixture.json(&["report", "pilot"]).await["complete"], true);
    fixture.arena.end().await;
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn the_careless_the_sided_and_the_copier_are_named() {
    let seed = 20_261_124;
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let fixture = CampaignFixture::start().await;
    let keys = "task = \"pairwise\"\njudgements_per_item = 10\ngold = \"gold.jsonl\"\nseed = 5\n";
    let gold =
        (0..20).map(|item| json!({"item": format!("q{item}"), "model_a": "good", "model_b": "bad", "outcome": "a"}));
    let gold = gold.map(|line| format!("{line}\n")).collect();
    let text = CampaignText { keys, answers: answers(100, &["bad", "good"]), gold };
    let tokens = fixture.open(&text, 10).await;
    let mut said: BTreeMap<String, bool> = BTreeMap::new();
    // The copied one judges all items before the copier.
    for (at, token) in tokens.iter().enumerate() {
        loop {
            let shown = fixture.next(token).await;
            if shown["finished"] == true {
                break;
            }
            let item = shown["item"].as_str().unwrap().to_owned();
            let good_is_a = shown["a"] == "good says.";
            let outcome = match at {
                6 | 7 => ["a", "b", "tie", "both_bad"][rng.random_range(0..4)],
                8 => {
                    if rng.random_bool(0.9) {
                        "a"
                    } else {
                        "b"
                    }
                }
                9 => {
                    if said[&item] == good_is_a {
                        "a"
                    } else {
                        "b"
                    }
                }
                _ => {
                    if rng.random_bool(0.8) == good_is_a {
                        "a"
                    } else {
                        "b"
                    }
                }
            };
            if at == 0 {
                said.insert(item, (outcome == "a") == good_is_a);
            }
            fixture.judge(token, &shown, outcome).await;
        }
    }
    let report = fixture.json(&["report", "pilot"]).await;
    let flags: BTreeMap<&str, &Value> = report["annotators"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["annotator"].as_str().unwrap(), &one["flags"]))
        .collect();
    let has = |annotator: &str, flag: &str| flags[annotator].as_array().unwrap().contains(&json!(flag));
    assert!(has("pilot-7", "careless") && has("pilot-8", "careless"), "seed {seed}: {flags:?}");
    assert!(has("pilot-9", "side_bias") && has("pilot-10", "copying"), "seed {seed}: {flags:?}");
    for honest in 1..=6 {
        assert_eq!(flags[format!("pilot-{honest}").as_str()], &json!([]), "seed {seed}: {flags:?}");
    }
    assert_eq!(report["annotators"][0]["gold_judgements"], 20);
    fixture.arena.end().await;
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn the_labels_of_real_annotators_come_out_as_they_went_in() {
    let Some(shared) = shared() else { return };
    replay(&shared.join("data/llmfao.csv")).await;
}

/// The comparisons of a published data set as judgements: its annotators' labels of each item, given by the annotator who is shown the item.
async fn replay(file: &Path) {
    let rows: Vec<BTreeMap<String, String>> =
        csv::Reader::from_path(file).unwrap().deserialize().map(|row| row.unwrap()).collect();
    let mut items: BTreeMap<String, (String, String, Vec<String>)> = BTreeMap::new();
    for row in &rows {
        let (left, right) = (row["left"].clone(), row["right"].clone());
        let winner = match row["winner"].as_str() {
            "left" => left.clone(),
            "right" => right.clone(),
            other => other.to_owned(),
        };
        // A prompt and its two models are one item.
        let key = format!("{}:{}:{}", row["prompt"], row["model_x"], row["model_y"]);
        items.entry(key).or_insert_with(|| (left, right, Vec::new())).2.push(winner);
    }
    // Each item has its own number of labels, so each number has a campaign of its own: the most common one is replayed.
    let sizes: Vec<usize> = items.values().map(|(_, _, labels)| labels.len()).collect();
    let size = majority(&sizes).unwrap();
    items.retain(|_, (_, _, labels)| labels.len() == size);
    let items: BTreeMap<_, _> = items.into_iter().take(crate::support::size(200, usize::MAX)).collect();
    let line = |item: &str, model: &str| {
        json!({"item": item, "prompt": item, "model": model, "answer": format!("{model} says.")}).to_string() + "\n"
    };
    let answers = items.iter().map(|(item, (left, right, _))| line(item, left) + &line(item, right)).collect();
    let keys = format!("task = \"pairwise\"\njudgements_per_item = {size}\nseed = 1\n");
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&CampaignText { keys: &keys, answers, gold: String::new() }, size).await;
    let mut expected: Vec<(String, String)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        loop {
            let shown = fixture.next(token).await;
            if shown["finished"] == true {
                break;
            }
            let item = shown["item"].as_str().unwrap().to_owned();
            let label = &items[&item].2[at];
            let side = |side: &str| shown[side] == format!("{label} says.");
            let outcome = if side("a") {
                "a"
            } else if side("b") {
                "b"
            } else {
                "tie"
            };
            fixture.judge(token, &shown, outcome).await;
            expected.push((item, label.clone()));
        }
    }
    let lines = fixture.exported().await;
    let winner = |line: &Value| match line["winner"].as_str().unwrap() {
        "tie" => "tie".to_owned(),
        side => line[side].as_str().unwrap().to_owned(),
    };
    let mut found: Vec<(String, String)> =
        lines.iter().map(|line| (line["item"].as_str().unwrap().to_owned(), winner(line))).collect();
    found.sort();
    expected.sort();
    assert_eq!(found.len(), items.len() * size);
    assert_eq!(found, expected, "every judgement comes out as it went in");
    println!("{} items with {size} labels each: {} judgements", items.len(), found.len());

    // The ratings are those of a fit of the same labels from a file, which the campaign never saw.
    let votes: String = items
        .iter()
        .flat_map(|(_, (left, right, labels))| labels.iter().map(move |label| (left, right, label)))
        .map(|(left, right, label)| {
            let winner = if label == left {
                "model_a"
            } else if label == right {
                "model_b"
            } else {
                "tie"
            };
            json!({"model_a": left, "model_b": right, "winner": winner}).to_string() + "\n"
        })
        .collect();
    std::fs::write(fixture.folder.path().join("votes.jsonl"), votes).unwrap();
    let fitted = langya_beside(fixture.folder.path(), &["fit", "--votes", "votes.jsonl", "--format", "json"]).await;
    let fitted: Value = serde_json::from_str(&fitted.stdout).unwrap();
    let report = fixture.json(&["report", "pilot"]).await;
    let ratings = |leaderboard: &Value| -> BTreeMap<String, f64> {
        let models = leaderboard["models"].as_array().unwrap().iter();
        models.filter_map(|model| Some((model["model"].as_str()?.to_owned(), model["rating"].as_f64()?))).collect()
    };
    let (ours, theirs) = (ratings(&report), ratings(&fitted));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (model, rating) in &ours {
        assert!((rating - theirs[model]).abs() < 1e-6, "{model}: {rating} {}", theirs[model]);
    }
    fixture.arena.end().await;
}
