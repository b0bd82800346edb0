//! Benchmarks as visitors and programs see them: pages, JSON and files of one report, over a database that the program itself
//! has filled.

mod items;

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::{Server, langya};
use crate::support::until;
use crate::support::visitor::get;

/// A model whose name is out to do harm.
const HOSTILE: &str = "<img src=x onerror=alert(1)>|`x`";
/// What a model and a judge write that are.
const SCRIPT: &str = "<script>alert('x')</script> <img src=x onerror=alert(2)> [a](javascript:alert(3)) {{ 7 * 7 }}";

/// Items of the other fixture, `urs.csv`.
const URS_ITEMS: usize = 4;

/// The fixture's judged turns: item and turn.
const TURNS: [(&str, u32); 6] = [("1", 2), ("1", 3), ("2", 1), ("2", 2), ("3", 1), ("3", 2)];

/// Ratings of the turns in that order, by model and judge; 0 stands for a reply that cannot be read.
const RATINGS: [(&str, &str, [u8; 6]); 7] = [
    ("crane", "owl", [8, 6, 7, 9, 5, 10]),
    ("crane", "wise", [9, 9, 9, 9, 9, 9]),
    ("heron", "owl", [0, 4, 3, 3, 2, 4]),
    ("heron", "wise", [8, 8, 8, 8, 8, 8]),
    ("wise", "owl", [7, 7, 7, 7, 7, 7]),
    ("wise", "wise", [10, 10, 10, 10, 10, 10]),
    (HOSTILE, "owl", [5, 5, 5, 5, 5, 5]),
];

fn verdicts<'r>(ratings: impl IntoIterator<Item = &'r (&'r str, &'r str, [u8; 6])>) -> String {
    let line = |(model, judge, (item, turn), rating): (&str, &str, (&str, u32), u8)| {
        let said = if rating == 0 { SCRIPT.to_owned() } else { format!("{SCRIPT} Rating: [[{rating}]]") };
        json!({"item": item, "turn": turn, "model": model, "judge": judge, "judgment": said}).to_string() + "\n"
    };
    let of = |(model, judge, ratings): &'r (&'r str, &'r str, [u8; 6])| {
        TURNS.into_iter().zip(ratings).map(move |(turn, rating)| line((model, judge, turn, *rating)))
    };
    ratings.into_iter().flat_map(of).collect()
}

fn answers() -> String {
    let line = |model: &str, (item, turn): (&str, u32)| {
        let text = if turn == 2 { SCRIPT.to_owned() } else { format!("**{model}** answers") };
        json!({"item": item, "turn": turn, "model": model, "answer": text}).to_string() + "\n"
    };
    ["crane", "heron"].into_iter().flat_map(|model| TURNS.map(|turn| line(model, turn))).collect()
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let run = langya(folder, arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {}{}", run.stdout, run.stderr);
    run.stdout
}

fn import(folder: &Path, what: &str, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
    let of_suite = if what == "scores" { vec![] } else { vec!["--suite", "mtbench101"] };
    done(folder, &[&["import", what, name, "--data-dir", "data"], of_suite.as_slice()].concat());
}

/// A folder whose database holds a benchmark.
fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/suites/mtbench101.jsonl");
    done(folder.path(), &["import", "suite", "mtbench101", data, "--data-dir", "data"]);
    import(folder.path(), "answers", "answers.jsonl", &answers());
    import(folder.path(), "verdicts", "verdicts.jsonl", &verdicts(&RATINGS));
    let scores = "suite,model,score,part,series,source\nmtbench101,<b>Far</b>,9.25,,Own series,Report 7\n";
    import(folder.path(), "scores", "scores.csv", scores);
    folder
}

async fn text(server: &Server, path: &str) -> (u16, String) {
    let response = get(&format!("{}{path}", server.url)).await;
    (response.status().as_u16(), response.text().await.unwrap())
}

async fn page(server: &Server, path: &str) -> String {
    let (status, text) = text(server, path).await;
    assert_eq!(status, 200, "{path}: {text}");
    text
}

async fn json_of(server: &Server, path: &str) -> Value {
    serde_json::from_str(&page(server, path).await).unwrap()
}

#[track_caller]
fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

/// No markup of a model, a judge or a name has become the page's own.
#[track_caller]
fn is_harmless(html: &str) {
    for part in ["<script>", "<img", "<iframe", "href=\"javascript", "<b>Far", " style=", " onerror=\""] {
        assert!(!html.contains(part), "{part:?} is in {html}");
    }
}

/// A model's row in a table of a report.
fn row<'r>(report: &'r Value, table: usize, model: &str) -> &'r Value {
    let rows = report["tables"][table]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["model"] == model).unwrap()
}

#[actix_web::test]
async fn an_arena_without_benchmarks_says_how_one_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let list = page(&server, "/benchmarks").await;
    holds(
        &list,
        &["aria-current=\"page\">Benchmarks<", "No data yet.", "langya import suite mtbench101", "AlignBench"],
    );
    holds(&page(&server, "/benchmarks?lang=zh").await, &["<html lang=\"zh\">", "尚无数据。", "如何运行评测"]);
    assert_eq!(
        json_of(&server, "/api/v1/benchmarks").await,
        json!({"suites": [], "board": {"suites": [], "models": [], "superclue": []}, "compared": null})
    );
    for (path, said) in [
        ("/benchmarks/mtbench101", "langya import suite mtbench101 FILE"),
        ("/api/v1/benchmarks/mtbench101", "has no data here"),
        ("/benchmarks/nothing/items/1", "\"nothing\" is unknown"),
    ] {
        let (status, text) = text(&server, path).await;
        assert_eq!(status, 404, "{path}: {text}");
        holds(&text, &[said]);
    }
}

#[actix_web::test]
async fn a_suite_shows_its_scores_by_judge_with_their_coverage() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let listed = &json_of(&server, "/api/v1/benchmarks").await["suites"][0];
    assert_eq!((&listed["suite"], &listed["items"], &listed["judged"]), (&json!("mtbench101"), &json!(3), &json!(41)));
    assert_eq!((&listed["judges"], &listed["judgements"]), (&json!(["owl", "wise"]), &json!(42)));
    holds(&page(&server, "/benchmarks").await, &["href=\"/benchmarks/mtbench101\">MT-Bench-101</a>", "<dd>41/42</dd>"]);

    let owl = json_of(&server, "/api/v1/benchmarks/mtbench101?judge=owl").await;
    assert_eq!(owl["judges"], json!(["owl", "wise", "owl+wise"]));
    assert_eq!(owl["judge_is_evaluated"], json!(false));
    let models: Vec<&Value> = owl["tables"][0]["rows"].as_array().unwrap().iter().map(|row| &row["model"]).collect();
    assert_eq!(models, ["wise", "crane", HOSTILE, "heron"], "best first, what has no score behind");
    // The lowest turn of each dialogue, and their mean: CM 6, TS 5, MR 7.
    let columns: Vec<&Value> = owl["tables"][0]["columns"].as_array().unwrap().iter().map(|one| &one["part"]).collect();
    assert_eq!(columns, ["overall", "CM", "TS", "MR"]);
    let scores = |report: &Value, model: &str| -> Vec<Value> {
        row(report, 0, model)["cells"].as_array().unwrap().iter().map(|cell| cell["score"].clone()).collect()
    };
    assert_eq!(scores(&owl, "crane"), [6.0, 6.0, 5.0, 7.0]);
    assert_eq!(scores(&owl, "heron"), [Value::Null, Value::Null, 2.0.into(), 3.0.into()]);
    let heron = &row(&owl, 0, "heron")["cells"][0];
    assert_eq!((&heron["flagged"], &heron["coverage"]), (&json!(true), &json!({"ok": 2, "total": 3})));

    let panel = json_of(&server, "/api/v1/benchmarks/mtbench101").await;
    assert_eq!((&panel["judge"], &panel["judge_is_evaluated"]), (&json!("owl+wise"), &json!(true)));
    assert_eq!(scores(&panel, "crane"), [7.5, 7.5, 7.0, 8.0]);
    assert_eq!(row(&panel, 0, "wise")["judged_itself"], json!(true));
    let shown = page(&server, "/benchmarks/mtbench101").await;
    holds(
        &shown,
        &[
            "<option value=\"owl+wise\" selected>panel of owl+wise</option>",
            ">wise judges and is judged",
            "judges itself",
            "<td>7.50<small>6/6</small></td>",
            "&lt; 95 %",
            "Perceptivity</th>",
            "Own series · Tasks",
            "Report 7",
            "GPT-4",
            "Self-preference",
            "Judge against judge",
            "curve-0-title",
        ],
    );
    assert_eq!(shown.matches("role=\"img\"").count(), 6, "radar, matrix, violins and three tasks turn by turn");
    is_harmless(&shown);
    holds(&page(&server, "/benchmarks/mtbench101?lang=zh&judge=wise").await, &["已发表的结果", "自我偏好", "感知力"]);
    for (path, status, said) in [
        ("/benchmarks/mtbench101?judge=nobody", 404, "no judgements by \"nobody\""),
        ("/benchmarks/mtbench101?sample=0", 400, "a whole number from 1"),
        ("/benchmarks/mtbench101?data=ffff", 404, "has no data whose SHA-256 begins with"),
        ("/benchmarks/mtbench101?sample=2", 404, "was not judged with variant"),
        ("/api/v1/benchmarks/mtbench101?sample=99", 404, "was not judged with variant"),
        ("/benchmarks/mtbench101/items?variant=prompt%20anything", 404, "was not judged with variant"),
        ("/benchmarks/mtbench101/items/1?variant=self_context", 404, "was not judged with variant"),
        ("/benchmarks/mtbench101?variant=none", 404, "no ablation \"none\""),
    ] {
        let (refused, text) = text(&server, path).await;
        assert_eq!(refused, status, "{path}: {text}");
        holds(&text, &[said]);
    }
}

#[actix_web::test]
async fn judges_are_compared_by_what_they_say() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let report = json_of(&server, "/api/v1/benchmarks/mtbench101").await;
    let analyses = report["analyses"].as_array().unwrap();
    let of = |key: &str| &analyses.iter().find(|analysis| analysis["key"] == key).unwrap()["rows"];
    // Of itself 10 − 7; of crane, the only other model with both scores, 9 − 6.
    assert_eq!(of("self-preference"), &json!([["wise", 3.0, 3.0, 0.0]]));
    let pair = &of("judges")[0];
    assert_eq!((&pair[0], &pair[1], &pair[2], &pair[6]), (&json!("owl"), &json!("wise"), &json!(2), &json!(1)));
    let lengths = of("length-bias").as_array().unwrap();
    assert_eq!(lengths.iter().map(|row| &row[1]).collect::<Vec<_>>(), [11, 12], "scores of the answers that are kept");
}

#[actix_web::test]
async fn models_are_compared_on_the_same_items() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let report = json_of(&server, "/api/v1/benchmarks/mtbench101").await;
    let analyses = report["analyses"].as_array().unwrap();
    let of = |key: &str| analyses.iter().find(|analysis| analysis["key"] == key).unwrap()["rows"].as_array().unwrap();
    // A dialogue is worth its lowest turn: crane has 6, 7 and 5 with owl, wise has 7 in each.
    let crane = of("same-items").iter().find(|row| row[0] == "owl" && row[1] == "crane").unwrap();
    assert_eq!(crane.as_array().unwrap()[2..6], [json!("wise"), json!(0), json!(1), json!(2)]);
    assert_eq!((crane[6].as_f64().unwrap() * 6.0, &crane[9]), (1.0, &json!(-1.0)), "a tie is half a win");
    // One less on each of three items: no width to estimate, and two of the eight assignments of signs are as far from zero.
    let even = of("same-items").iter().find(|row| row[0] == "wise" && row[1] == "crane").unwrap();
    assert_eq!(even.as_array().unwrap()[9..], [json!(-1.0), Value::Null, Value::Null, json!(0.25), json!(0.5)]);
    assert_eq!(report["models"], json!([HOSTILE, "crane", "heron", "wise"]));
    assert_eq!(report["compared_with"], Value::Null);
    assert_eq!(of("level-items")[0], json!(["owl", 3, 0]));
    assert_eq!(of("disputed-items").len(), 3);
    let html = page(&server, "/benchmarks/mtbench101?lang=zh").await;
    holds(&html, &["相同题目上的模型对比", "裁判意见不一的题目"]);
    is_harmless(&html);
}

#[actix_web::test]
async fn models_are_compared_with_the_one_that_is_chosen() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let report = json_of(&server, "/api/v1/benchmarks/mtbench101?compare_with=crane").await;
    assert_eq!(report["compared_with"], "crane");
    let rows = report["analyses"].as_array().unwrap().iter().find(|analysis| analysis["key"] == "same-items");
    let rows = rows.unwrap()["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row[2] == "crane" && row[1] != "crane"), "{rows:?}");
    let wise = rows.iter().find(|row| row[0] == "owl" && row[1] == "wise").unwrap();
    assert_eq!(wise.as_array().unwrap()[3..6], [json!(2), json!(1), json!(0)]);
    let html = page(&server, "/benchmarks/mtbench101?compare_with=crane").await;
    holds(&html, &["<option value=\"crane\" selected>", "Compare models with"]);
    let hostile =
        page(&server, "/benchmarks/mtbench101?compare_with=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%7C%60x%60").await;
    is_harmless(&hostile);
    for path in ["/benchmarks/mtbench101?compare_with=nobody", "/api/v1/benchmarks/mtbench101?compare_with=nobody"] {
        let (status, said) = text(&server, path).await;
        assert_eq!(status, 404, "{said}");
        holds(&said, &["no judgements of"]);
    }
    let file = |more: &[&str]| {
        let report = ["bench", "report", "mtbench101", "--data-dir", "data", "--format", "markdown"];
        langya(folder.path(), [&report, more].concat())
    };
    holds(&file(&["--compare-with", "crane"]).stdout, &["| owl | wise | crane | 2 | 1 | 0 |"]);
    let refused = file(&["--compare-with", "nobody"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    holds(&refused.stderr, &["no judgements of \"nobody\""]);
}

/// As [`filled`], with scores in a second suite.
fn filled_twice() -> TempDir {
    let folder = filled();
    let suites = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/suites/urs.csv");
    done(folder.path(), &["import", "suite", "urs", suites, "--data-dir", "data"]);
    let verdicts: String = (1..=URS_ITEMS)
        .map(|item| {
            json!({"item": item.to_string(), "turn": 1, "model": "crane", "judge": "owl", "score": 8}).to_string()
                + "\n"
        })
        .collect();
    std::fs::write(folder.path().join("urs.jsonl"), verdicts).unwrap();
    done(folder.path(), &["import", "verdicts", "urs.jsonl", "--suite", "urs", "--data-dir", "data"]);
    folder
}

/// The table of models and suites, once it has two suites.
async fn table_of_two(server: &Server) -> Value {
    until(async || {
        let table = json_of(server, "/api/v1/benchmarks").await["board"].clone();
        (table["suites"].as_array().unwrap().len() == 2).then_some(table)
    })
    .await
}

#[actix_web::test]
async fn models_of_the_settings_have_their_names_in_the_table_and_ids_in_files() {
    let folder = filled_twice();
    let model = |id: &str, name: &str| format!("[[models]]\nid = \"{id}\"\nname = \"{name}\"\nprovider = \"ollama\"\n");
    let models = model("crane", "Crane One") + &model("owl", "Owl Two");
    std::fs::write(folder.path().join("langya.toml"), models).unwrap();
    let server = Server::start(folder.path(), &["--config", "langya.toml"]);
    assert_eq!(table_of_two(&server).await["models"][0]["model"], "crane");
    let html = page(&server, "/benchmarks?compare_with=crane").await;
    holds(&html, &["<bdi translate=\"no\">Crane One</bdi>", "Win rates against Crane One", "Owl Two, wise</bdi>"]);
    holds(
        &html,
        &["<option value=\"crane\" selected>Crane One</option>", "<th scope=\"row\"><bdi translate=\"no\">wise</bdi>"],
    );
}

#[actix_web::test]
async fn all_models_and_suites_stand_in_one_table() {
    let folder = filled_twice();
    let server = Server::start(folder.path(), &[]);
    let table = table_of_two(&server).await;
    let crane = &table["models"][0];
    assert_eq!((&crane["model"], &crane["scored"]), (&json!("crane"), &json!(2)), "{table}");
    let html = page(&server, "/benchmarks").await;
    holds(&html, &["All models and suites", "<bdi translate=\"no\">crane</bdi>", "1 of 2 suites"]);
    is_harmless(&html);
    the_score_table_is_a_file_too_and_compares_with_one_model(&server).await;
}

async fn the_score_table_is_a_file_too_and_compares_with_one_model(server: &Server) {
    let drawing = page(server, "/benchmarks.svg?lang=zh").await;
    holds(&drawing, &["<svg", "全部模型与评测", "MT-Bench-101", "crane", "各列单位不同"]);
    is_harmless(&drawing);
    let plain = page(server, "/api/v1/benchmarks.csv").await;
    let csv = page(server, "/api/v1/benchmarks.csv?compare_with=wise").await;
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!((lines(&plain).len(), lines(&csv).len()), (4, 4), "three scores and a head: {plain}");
    let crane = lines(&csv).into_iter().find(|line| line.starts_with("mtbench101,MT-Bench-101,crane,7.5,")).unwrap();
    // By both judges 7.5, 7 and 8 against 8.5 each.
    assert!(crane.contains(",wise,0,0,3,0.0,"), "{crane}");
    assert!(lines(&plain)[1].ends_with(",,,,,,,,,,,,"), "{plain}");
    let compared = json_of(server, "/api/v1/benchmarks?compare_with=wise").await["compared"].clone();
    assert_eq!((&compared["with"], compared["suites"].as_array().unwrap().len()), (&json!("wise"), 1));
    assert_eq!(json_of(server, "/api/v1/benchmarks").await["compared"], Value::Null);
    let html = page(server, "/benchmarks?compare_with=wise").await;
    holds(&html, &["Win rates against wise", "<option value=\"wise\" selected>", "benchmarks.csv?compare_with=wise\""]);
    holds(&html, &["<td class=\"number\">0.0 % <small>"]);
    is_harmless(&html);
    for path in ["/benchmarks", "/api/v1/benchmarks", "/api/v1/benchmarks.csv"] {
        let (status, said) = text(server, &format!("{path}?compare_with=nobody")).await;
        assert_eq!(status, 404, "{path}: {said}");
        let (status, _) = text(server, &format!("{path}?compare_with=a&compare_with=b")).await;
        assert_eq!(status, 400, "{path}");
    }
}

#[actix_web::test]
async fn items_are_listed_by_category_and_shown_with_every_judgement() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let all = page(&server, "/benchmarks/mtbench101/items").await;
    holds(
        &all,
        &["/benchmarks/mtbench101/items/1?\"", "/benchmarks/mtbench101/items/3?\"", "My dog is called Biscuit."],
    );
    let some = page(&server, "/benchmarks/mtbench101/items?category=MR").await;
    holds(&some, &["<option value=\"MR\" selected>Mathematical reasoning</option>", "What is 3 + 4?"]);
    assert!(!some.contains("Biscuit"), "{some}");
    holds(&page(&server, "/benchmarks/mtbench101/items?category=XX&page=9").await, &["No item is in this category."]);

    let item = page(&server, "/benchmarks/mtbench101/items/1").await;
    holds(
        &item,
        &["Context memory", "<strong>crane</strong> answers", "no verdict in the requested format", "{{ 7 * 7 }}"],
    );
    holds(&item, &["&lt;script&gt;", "Question · Turn 3", "{name: Biscuit}"]);
    // Three models by two judges and one by one, two turns each; one reply of each is shown.
    assert_eq!(item.matches("What the judge said").count(), 14);
    is_harmless(&item);
    let (status, missing) = text(&server, "/benchmarks/mtbench101/items/%3Cb%3E").await;
    assert_eq!(status, 404);
    holds(&missing, &["has no item \"<b>\""]);
    let response = get(&format!("{}/benchmarks/mtbench101/items/%3Cb%3E", server.url)).await;
    assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
}

#[actix_web::test]
async fn a_report_says_the_same_in_every_form_and_when_it_is_written_again() {
    let folder = filled();
    let path = folder.path();
    let write = |out: &str, more: &[&str]| {
        done(path, &[&["bench", "report", "mtbench101", "--data-dir", "data", "--out", out], more].concat());
        let mut files: Vec<String> = std::fs::read_dir(path.join(out))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        files.into_iter().map(|name| (std::fs::read_to_string(path.join(out).join(&name)).unwrap(), name)).collect()
    };
    let first: Vec<(String, String)> = write("one", &[]);
    assert_eq!(first, write("two", &[]), "byte for byte");
    let names: Vec<&str> = first.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["mtbench101.csv", "mtbench101.html", "mtbench101.json", "mtbench101.md"]);
    let [csv, html, json, markdown] = [0, 1, 2, 3].map(|at| first[at].0.as_str());

    let report: Value = serde_json::from_str(json).unwrap();
    let server = Server::start(path, &[]);
    assert_eq!(report, json_of(&server, "/api/v1/benchmarks/mtbench101").await, "the address gives the same report");
    let shown = page(&server, "/benchmarks/mtbench101").await;
    let mut compared = 0;
    let tables = report["tables"].as_array().unwrap().iter().chain(report["published"].as_array().unwrap());
    for cell in
        tables.flat_map(|table| table["rows"].as_array().unwrap()).flat_map(|row| row["cells"].as_array().unwrap())
    {
        let Some(score) = cell["score"].as_f64() else { continue };
        let text = format!("{score:.2}");
        assert!(markdown.contains(&text) && html.contains(&format!(">{text}<")) && shown.contains(&text), "{text}");
        compared += 1;
    }
    assert!(compared > 60, "{compared} scores");
    let mut lines = csv::Reader::from_reader(csv.as_bytes());
    let column = lines.headers().unwrap().iter().position(|name| name == "score").unwrap();
    let scored = lines.records().filter(|line| !line.as_ref().unwrap()[column].is_empty());
    assert_eq!(scored.count(), compared);
    holds(csv, &["mtbench101,", ",crane,owl+wise,,overall,7.5,", ",<b>Far</b>,,,overall,9.25,"]);
    holds(
        markdown,
        &[
            "| crane | 7.50 (6/6) | 7.50 (2/2) |",
            "\\<img src=x onerror=alert(1)\\>\\|\\`x\\`",
            "| \\<b\\>Far\\</b\\> | 9.25 |",
        ],
    );

    holds(html, &["<style>", ".chart .trace", "<svg class=\"chart\"", "judges itself"]);
    for outside in ["http://", "https://", "<link", "<script", "<iframe", "@import", "url("] {
        assert!(!html.contains(outside), "{outside} in the file");
    }
    let body = html.split("</style>").last().unwrap();
    is_harmless(body);
    let chinese: Vec<(String, String)> = write("three", &["--language", "zh", "--judge", "owl"]);
    holds(&chinese[1].0, &["<html lang=\"zh\">", "已发表的结果", "<dd><bdi>owl</bdi></dd>"]);
}

#[test]
fn the_form_of_a_report_follows_its_name_or_the_flag() {
    let folder = filled();
    let path = folder.path();
    let report =
        |more: &[&str]| langya(path, [&["bench", "report", "mtbench101", "--data-dir", "data"], more].concat());
    for (name, begins) in
        [("a.md", "# MT-Bench-101"), ("b.HTML", "<!doctype html>"), ("c.csv", "suite,"), ("d.json", "{\n")]
    {
        assert_eq!(report(&["--out", name]).code, Some(0), "{name}");
        let text = std::fs::read_to_string(path.join(name)).unwrap();
        assert!(text.starts_with(begins), "{name}: {}", &text[..40]);
    }
    assert_eq!(report(&["--out", "e.txt", "--format", "markdown"]).code, Some(0));
    assert_eq!(std::fs::read(path.join("e.txt")).unwrap(), std::fs::read(path.join("a.md")).unwrap());
    assert_eq!(report(&["--format", "markdown"]).stdout, std::fs::read_to_string(path.join("a.md")).unwrap());
    let refused = report(&["--out", "f.docx"]);
    assert_eq!(refused.code, Some(2));
    holds(&refused.stderr, &["f.docx", ".md, .csv, .json or .html"]);
}

#[actix_web::test]
async fn new_judgements_are_shown_without_a_restart() {
    let folder = filled();
    let server = Server::start(folder.path(), &[]);
    let models = async || {
        let report = json_of(&server, "/api/v1/benchmarks/mtbench101?judge=owl").await;
        (report["tables"][0]["rows"].as_array().unwrap().len(), report["coverage"].clone())
    };
    assert_eq!(models().await, (4, json!({"ok": 11, "total": 12})));
    import(folder.path(), "verdicts", "more.jsonl", &verdicts(&[("late", "owl", [9; 6])]));
    // What took long to compute, as on a busy machine, is shown as it was until it is computed again.
    until(async || (models().await == (5, json!({"ok": 14, "total": 15}))).then_some(())).await;
    until(async || page(&server, "/benchmarks").await.contains("<dd>47/48</dd>").then_some(())).await;
}
