//! Correlations as visitors and programs see them: the page and the JSON, over votes and a benchmark that the program itself
//! has imported, and kept up to date while the arena serves.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use langya::domain::correlation::snapshot::CorrelationSnapshot;
use langya::domain::correlation::{Aliases, SeriesName};
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::stats::resample::BootstrapOptions;
use langya::services::correlation::{SeriesReader, Sources};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::arena::TestArena;
use crate::support::program::langya_beside;
use crate::support::scripted::Scripted;
use crate::support::visitor::get;

/// A model whose name is out to do harm.
const HOSTILE: &str = "<img src=x onerror=alert(1)>|`x`";
/// From the strongest to the weakest.
const MODELS: [&str; 9] = ["crane", "heron", "wise", HOSTILE, "egret", "stork", "ibis", "loon", "teal"];
/// Longest wait; reached only by a failing test.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn done(folder: &Path, arguments: &[&str]) -> String {
    let run = langya_beside(folder, arguments).await;
    assert_eq!(run.code, Some(0), "{arguments:?}: {}{}", run.stdout, run.stderr);
    run.stdout
}

/// Every two models meet four times; the stronger one wins three of them.
fn votes() -> String {
    let mut votes = String::new();
    for (b, model_b) in MODELS.iter().enumerate() {
        for (a, model_a) in MODELS[..b].iter().enumerate() {
            for round in 0..4 {
                let winner = if round == (a + b) % 4 { "model_b" } else { "model_a" };
                let intent = ["factual_qa", "leisure", "text_assistant", "ask_for_advice"][round];
                let vote = json!({"model_a": model_a, "model_b": model_b, "winner": winner, "judge": "v",
                    "tstamp": 1_790_000_000 + 3600 * (round * 40 + a + 9 * b), "satisfaction": 1 + (a + round) % 5,
                    "intent": intent});
                writeln!(votes, "{vote}").unwrap();
            }
        }
    }
    votes
}

/// The fixture's judged turns: item and turn.
const TURNS: [(&str, u32); 6] = [("1", 2), ("1", 3), ("2", 1), ("2", 2), ("3", 1), ("3", 2)];

/// The first eight models and one that the arena does not have; each has ratings of its own.
fn verdicts() -> String {
    let judged = MODELS[..8].iter().chain(&["elsewhere"]).enumerate();
    let mut verdicts = String::new();
    for (at, model) in judged {
        for (place, (item, turn)) in TURNS.into_iter().enumerate() {
            let rating = 10 - at.min(8) + usize::from(place % 2 == at % 2);
            let verdict = json!({"item": item, "turn": turn, "model": model, "judge": "owl",
                "judgment": format!("Rating: [[{}]]", rating.min(10))});
            writeln!(verdicts, "{verdict}").unwrap();
        }
    }
    verdicts
}

/// A folder whose database holds votes, a benchmark and brought scores.
pub(crate) async fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("votes.jsonl", votes());
    write("verdicts.jsonl", verdicts());
    let scores: String = MODELS.iter().enumerate().fold(String::new(), |rows, (at, model)| {
        rows + &format!("mtbench101,{model},{},,Elsewhere,Report 7\n", [9, 7, 8, 5, 6, 3, 4, 1, 2][at])
    });
    write("scores.csv", format!("suite,model,score,part,series,source\n{scores}"));
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/suites/mtbench101.jsonl");
    let at = ["--data-dir", "data"];
    done(folder.path(), &[&["import", "votes", "votes.jsonl"], &at[..]].concat()).await;
    done(folder.path(), &[&["import", "suite", "mtbench101", data], &at[..]].concat()).await;
    done(folder.path(), &[&["import", "verdicts", "verdicts.jsonl", "--suite", "mtbench101"], &at[..]].concat()).await;
    done(folder.path(), &[&["import", "scores", "scores.csv"], &at[..]].concat()).await;
    folder
}

/// An arena that has computed its correlations.
pub(crate) async fn serve(folder: &Path, ready: impl Fn(&CorrelationSnapshot) -> bool) -> TestArena {
    let models = [("crane", &Scripted::saying("one")), ("heron", &Scripted::saying("two"))];
    let data = folder.join("data");
    let arena = TestArena::start_with(&models, |settings| settings.storage.data_dir = data).await;
    until(&arena, ready).await;
    arena
}

async fn until(arena: &TestArena, ready: impl Fn(&CorrelationSnapshot) -> bool) {
    let mut changes = arena.app.correlation.changes();
    let found = tokio::time::timeout(TIMEOUT, changes.wait_for(|snapshot| ready(snapshot))).await;
    assert!(found.is_ok_and(|found| found.is_ok()), "the correlations were never computed");
}

async fn text(arena: &TestArena, query: &str) -> (u16, String) {
    let response = get(&format!("{}{query}", arena.url)).await;
    (response.status().as_u16(), response.text().await.unwrap())
}

async fn page(arena: &TestArena, query: &str) -> String {
    let (status, text) = text(arena, query).await;
    assert_eq!(status, 200, "{query}: {text}");
    text
}

async fn json_of(arena: &TestArena, query: &str) -> Value {
    serde_json::from_str(&page(arena, query).await).unwrap()
}

#[track_caller]
fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[actix_web::test]
async fn an_empty_arena_shows_the_papers_own_studies_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let arena = serve(folder.path(), |snapshot| snapshot.made_at.is_some()).await;
    let shown = page(&arena, "/correlation").await;
    holds(
        &shown,
        &[
            "aria-current=\"page\">Correlations<",
            "There are no votes and no benchmarks yet",
            "langya import votes FILE",
            "href=\"/correlation/papers\"",
            "SuperCLUE CLOSE, accuracy, % × SuperCLUE OPEN",
            "No rated vote has both a satisfaction score",
        ],
    );
    holds(
        &page(&arena, "/correlation?lang=zh&group=all").await,
        &["<html lang=\"zh\">", "还没有投票，也没有评测", "各论文自身的研究", "向右为"],
    );
    holds(
        &page(&arena, "/correlation/papers").await,
        &[
            "<td role=\"cell\" class=\"number\">0.5150</td>",
            "<td role=\"cell\" class=\"number\">0.51498</td>",
            "It is six: MiniMax has 60.67 and MOSS 41.00.",
            "<b class=\"off\">58.33 ≠</b>",
            "not published",
            "<td role=\"cell\">CM (Context memory)</td>",
        ],
    );
    holds(&page(&arena, "/correlation/papers?lang=zh").await, &["实为六个", "复现", "CM（上下文记忆）"]);
    // The heading of two series has room for both names where the task is not spelled out.
    let tasks = page(&arena, "/correlation?x=published:mtbench101_gpt4:CM&y=published:mtbench101_qwen72b:PI").await;
    let heading = ">MT-Bench-101 judged by GPT-4: CM × MT-Bench-101 judged by Qwen-72B-Chat: PI</text>";
    holds(&tasks, &[heading, ">MT-Bench-101 judged by GPT-4: CM (Context memory)</text>"]);
    assert!(shown.len() < 80_000, "{} bytes", shown.len());
    let link = "<a class=\"button\" href=\"/correlation?step=0#mixture\">Choose what is mixed</a>";
    holds(&shown, &[link, "<form class=\"choices\" method=\"get\" action=\"/correlation#matrix\""]);
    for (query, part) in [("step=0", "<select name=\"target\">"), ("group=all", "<table class=\"correlations\">")] {
        assert!(!shown.contains(part), "{part} takes much room and was not asked for");
        holds(&page(&arena, &format!("/correlation?{query}")).await, &[part]);
    }
    let listed = json_of(&arena, "/api/v1/correlation").await;
    assert_eq!((&listed["group"], &listed["replicates"]), (&json!("published"), &json!(200)));
    assert_eq!(listed["claims"].as_array().unwrap().len(), 23);
    let series = listed["series"].as_array().unwrap();
    assert!(series.iter().all(|series| series["source"] == "published" || series["source"] == "intents"), "{series:?}");
    // The papers' own numbers, over all models of the two columns.
    let pair =
        json_of(&arena, "/api/v1/correlation?x=published:superclue_close&y=published:superclue_open:turn:1").await;
    assert_eq!((&pair["n"], &pair["unmatched"]), (&json!(11), &json!([])));
    arena.end().await;
}

#[actix_web::test]
async fn series_are_compared_as_the_command_line_does() {
    let folder = filled().await;
    let arena = serve(folder.path(), |snapshot| snapshot.catalog.find("arena:rating").is_some()).await;
    for (x, y) in [("arena:rating", "published:Elsewhere:overall"), ("bench:mtbench101", "arena:rating")] {
        let found = json_of(&arena, &format!("/api/v1/correlation?x={x}&y={y}")).await;
        let same = ["correlate", "--x", x, "--y", y, "--bootstrap", "200", "--format", "json", "--data-dir", "data"];
        let told: Value = serde_json::from_str(&done(folder.path(), &same).await).unwrap();
        assert_eq!(found, told, "{x} {y}");
    }
    let mixed = json_of(
        &arena,
        "/api/v1/correlation?a=arena:rating&b=bench:mtbench101&target=published:Elsewhere:overall&step=0.01",
    )
    .await;
    let sum: f64 = mixed["weights"].as_object().unwrap().values().map(|weight| weight.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-12 && mixed["in_sample"] == true && mixed["n"] == 8, "{mixed}");
    let listed = json_of(&arena, "/api/v1/correlation?group=own").await;
    let cells = listed["matrix"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["y"] == "arena:rating" && cell["x"] == "bench:mtbench101").unwrap();
    let pair = json_of(&arena, "/api/v1/correlation?x=bench:mtbench101&y=arena:rating").await;
    assert_eq!((&cell["pearson"]["r"], &cell["n"]), (&pair["pearson"]["r"], &json!(8)));
    arena.end().await;
}

#[actix_web::test]
async fn the_page_shows_two_series_all_of_them_a_mixture_and_satisfaction() {
    let folder = filled().await;
    let arena = serve(folder.path(), |snapshot| snapshot.catalog.find("arena:rating").is_some()).await;
    let query = "/correlation?x=arena:rating&y=bench:mtbench101&coefficient=spearman&a=arena:rating&b=bench:mtbench101\
                 &target=published:Elsewhere:overall&group=own";
    let shown = page(&arena, query).await;
    holds(
        &shown,
        &[
            "<option value=\"arena:rating\" selected>Arena rating</option>",
            "<option value=\"bench:mtbench101\" selected>MT-Bench-101</option>",
            "<tr class=\"chosen\"><th scope=\"row\">Spearman",
            "Arena rating × MT-Bench-101",
            "Line of least squares: y = ",
            "Compared values (8)",
            "A dot without a name beside it can be found by its numbers",
            "The votes are resampled one by one, as if each came from a different person.",
            "it contains a true correlation such as 0.8 in fewer than 95 % of cases",
            "Only in MT-Bench-101 (1): <bdi translate=\"no\">elsewhere</bdi>",
            "Only in Arena rating (1): <bdi translate=\"no\">teal</bdi>",
            "under [aliases] in the settings",
            "This correlation over time: Spearman",
            "href=\"/correlation?x=arena:rating&#38;y=bench:mtbench101&#38;coefficient=spearman&#38;group=own#pair\"",
            "The first row is too optimistic",
            "How often chance reaches Pearson&#39;s correlation of the first row: p = 0.",
            "random orders, with the weights fitted again to each",
            "Leave-one-out (each model predicted from the others)",
            "<th scope=\"row\">Factual QA</th>",
            "See the two as a chart",
            "votes and judged items resampled 200 times",
        ],
    );
    let fitted = shown.split_once("Fitted to the same models</th>").unwrap().1.split_once("</tr>").unwrap().0;
    assert!(fitted.matches("<td").count() == 3 && !fitted.contains('('), "the fitted row has no intervals: {fitted}");
    for part in ["<img", "<script>", " onerror=\"", " style=", "NaN", "Hover over"] {
        assert!(!shown.contains(part), "{part:?} is in {shown}");
    }
    assert!(shown.contains("&#60;img src=x onerror=alert(1)&#62;"), "a name is text: {shown}");
    let chinese = page(&arena, &format!("{query}&lang=zh")).await;
    holds(
        &chinese,
        &[
            "竞技场评分 × MT-Bench-101",
            "未标名称的点",
            "选票逐张重抽",
            "落在区间内的情形不到 95 %",
            "未参与比较",
            "该相关系数的变化",
            "因此偏于乐观",
            "每次都重新拟合权重",
            "按意图的满意度",
        ],
    );
    arena.end().await;
}

#[actix_web::test]
async fn what_cannot_be_asked_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let arena = serve(folder.path(), |snapshot| snapshot.made_at.is_some()).await;
    let same = "x=published:urs&y=published:urs";
    for (query, said) in [
        ("x=arena:fame&y=published:urs", "unknown series \"arena:fame\""),
        ("x=published:urs", "x and y belong together"),
        (same, "name two series"),
        ("x=published:urs&y=published:urs:intents", "they cannot be compared"),
        ("coefficient=tau", "pearson, spearman or kendall"),
        ("group=both", "own, published or all"),
        ("a=published:urs&target=published:superclue_close", "1 series cannot be mixed here"),
        ("a=published:urs&b=published:urs&target=published:superclue_close", "choose two to 4 different series"),
        ("a=published:urs&b=published:superclue_open", "target is missing"),
        ("a=published:urs&b=published:superclue_open&target=published:superclue_close&step=7", "step is \"7\""),
        (
            "a=published:urs&b=published:superclue_open&target=published:superclue_close",
            "has no correlation with the target",
        ),
        ("x=a&x=b", "given once"),
    ] {
        for path in ["/correlation", "/api/v1/correlation"] {
            let (status, text) = text(&arena, &format!("{path}?{query}")).await;
            assert_eq!(status, 400, "{path}?{query}: {text}");
            assert!(text.contains(said) && text.trim().lines().count() == 1, "{path}?{query}: {text}");
        }
    }
    arena.end().await;
}

#[actix_web::test]
async fn a_vote_is_taken_in_while_the_arena_serves() {
    let folder = filled().await;
    let arena = serve(folder.path(), |snapshot| snapshot.catalog.find("arena:rating").is_some()).await;
    let rating = || async {
        let pair = json_of(&arena, "/api/v1/correlation?x=arena:rating&y=published:Elsewhere:overall").await;
        let points = pair["points"].as_array().unwrap().clone();
        points.into_iter().find(|point| point["model"] == "heron").unwrap()["x"].as_f64().unwrap()
    };
    let (before, snapshot) = (rating().await, arena.app.correlation.latest());
    let mut visitor = arena.visitor().await;
    visitor.ask("Which one?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    let value = |snapshot: &CorrelationSnapshot| {
        snapshot.catalog.find("arena:rating").map(|series| series.points["heron"].value)
    };
    until(&arena, |latest| value(latest) != value(&snapshot)).await;
    assert!((rating().await - before).abs() > 1e-3, "the page follows without a restart");
    arena.end().await;
}

#[actix_web::test]
async fn series_end_at_the_vote_that_is_asked_for() {
    let folder = filled().await;
    let arena = serve(folder.path(), |_| true).await;
    let sources = Sources {
        store: Some(&arena.app.store),
        table: None,
        aliases: Aliases::default(),
        rating: LeaderboardOptions::default(),
        bootstrap: BootstrapOptions { replicates: 0, seed: 0 },
    };
    let mut reader = SeriesReader::new(sources).up_to(10);
    reader.read(&"arena:rating".parse().unwrap()).await.unwrap();
    reader.read(&SeriesName::Satisfaction).await.unwrap();
    let used = reader.used();
    let votes = used.votes.map(|votes| (votes.rated, votes.last_seq));
    assert_eq!((votes, used.satisfied_votes), (Some((10, 10)), Some(10)));
    arena.end().await;
}
