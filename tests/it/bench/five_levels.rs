//! Arena-Hard's five verdicts from end to end: read, counted by game and weight, reported with intervals, shown on the page of an item.

use serde_json::{Value, json};

use super::{Field, answer, question, quoted, reply};
use crate::support::program::Server;
use crate::support::upstream::Received;
use crate::support::visitor::get;

/// What the judge says of item k beside the baseline, if the model stands first: a verdict for each k modulo 5.
const VERDICTS: [&str; 5] = ["A>>B", "A>B", "A=B", "B>A", "B>>A"];
/// The same from the other side.
const MIRRORED: [&str; 5] = ["B>>A", "B>A", "A=B", "A>B", "A>>B"];
const ITEMS: usize = 12;

fn question_of(item: usize) -> String {
    format!("第{item}题{{x}}")
}

/// The judge knows the model's answer on either side, and says no more than which token, after a thought of another one.
fn judged(request: &Received) -> String {
    let prompt = question(request);
    let item: usize = prompt.split_once('第').unwrap().1.split_once('题').unwrap().0.parse().unwrap();
    let own = answer("one", &question_of(item));
    let first = prompt.split_once('«').unwrap().1.starts_with(quoted(&own));
    let verdict = if first { VERDICTS[item % 5] } else { MIRRORED[item % 5] };
    // Item 11 goes to the side that stands first.
    let verdict = if item == 11 { "A>>B" } else { verdict };
    format!("Perhaps [[A=B]]? My final verdict is [[{verdict}]].")
}

async fn field() -> Field {
    let field = Field::with_judge(&["one", "base"], |request, _| reply(&judged(request))).await;
    let line = |item: usize| format!("{}\n", json!({"id": item, "capability": "闲聊", "turns": [question_of(item)]}));
    field.write("o.jsonl", (0..ITEMS).map(line).collect::<String>());
    field.done(&["import", "suite", "superclue-open", "o.jsonl"]).await;
    let run = ["bench", "run", "superclue-open", "--models", "one", "--judge", "judge", "--baseline", "base"];
    field.done(&[run.as_slice(), &["--ablation", "five_levels"]].concat()).await;
    field
}

/// The share of the votes, worked out from the verdicts: both games of items 0 to 10 agree; item 11 is a win and a loss of three votes each.
fn expected() -> f64 {
    let of_item = |item: usize| [(6.0, 6.0), (2.0, 2.0), (1.0, 2.0), (0.0, 2.0), (0.0, 6.0)][item % 5];
    let (won, all) =
        (0..11).map(of_item).chain([(3.0, 6.0)]).fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    won / all
}

#[actix_web::test]
async fn five_levels_are_counted_by_game_and_weight_against_the_baseline() {
    let field = field().await;
    let report = async |more: &[&str]| {
        let all = ["bench", "report", "superclue-open", "--ablation", "five_levels"];
        field.done(&[all.as_slice(), more].concat()).await
    };
    let rows: Value = serde_json::from_str(&report(&["--format", "json"]).await).unwrap();
    let score = |part: &str| rows.as_array().unwrap().iter().find(|row| row["part"] == part).unwrap()["score"].as_f64();
    assert!((score("overall").unwrap() - 100.0 * expected()).abs() < 1e-9, "{rows}");
    assert!((score("闲聊").unwrap() - 100.0 * expected()).abs() < 1e-9);
    // Both games together: items 0, 1, 5, 6, 10 are won, 2, 7 and 11 are ties.
    assert!((score("wins and ties").unwrap() - 100.0 * 8.0 / 12.0).abs() < 1e-9, "{rows}");
    assert!((score("ties half").unwrap() - 100.0 * 6.5 / 12.0).abs() < 1e-9, "{rows}");
    let markdown = report(&["--format", "markdown"]).await;
    let (_, table) = markdown.split_once("Win rates against the baseline").unwrap();
    let row = table.lines().find(|line| line.starts_with("| judge : base |")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    // Games: items 0, 5, 10 and one of item 11 are much better; 1, 6; 2, 7; 3, 8; 4, 9 and the other of item 11.
    assert_eq!(cells[2..8], ["one", "7", "4", "4", "4", "5"], "{row}");
    let number = |at: usize| cells[at].parse::<f64>().unwrap();
    assert!((number(8) - expected()).abs() < 0.005 && number(9) < number(8) && number(8) < number(10), "{row}");
    assert_eq!(markdown, report(&["--format", "markdown"]).await, "the resamples have a seed");
    let chinese = report(&["--format", "markdown", "--language", "zh"]).await;
    assert!(chinese.contains("对基线的胜率") && chinese.contains("胜和率"), "{chinese}");
    the_two_ways_are_kept_apart(&field).await;
    shown_on_the_page(&field).await;
}

/// Three levels are another prompt and another variant, whose judge here never says one of three.
async fn the_two_ways_are_kept_apart(field: &Field) {
    let run = ["bench", "run", "superclue-open", "--models", "one", "--judge", "judge", "--baseline", "base"];
    field.unreadable(&run).await;
    let plain = field.scores("superclue-open").await;
    assert_eq!(plain[&("one".to_owned(), "overall".to_owned())], None, "no verdict of five is one of three: {plain:?}");
    let compat = [run.as_slice(), &["--ablation", "five_levels", "--compat", "superclue-open.first_token"]].concat();
    assert!(field.refused(&compat).await.contains("superclue-open.first_token"));
    field.write("three.toml", "[variants.pair-v2]\nuser = \"{question} {answer_a} {answer_b}: [[A]] or [[B]]\"\n");
    let three = [run.as_slice(), &["--ablation", "five_levels", "--prompt", "three.toml"]].concat();
    assert!(field.refused(&three).await.contains("does not ask for [[A>>B]]"));
    field.write("five.toml", "[variants.pair-v2]\nuser = \"{question} {answer_a} {answer_b}: [[A>>B]] or [[B>>A]]\"\n");
    let five = [run.as_slice(), &["--prompt", "five.toml"]].concat();
    assert!(field.refused(&five).await.contains("add --ablation five_levels"));
}

async fn shown_on_the_page(field: &Field) {
    let server = Server::start(field.path(), &["--config", "langya.toml"]);
    let page = async |path: &str| get(&format!("{}{path}", server.url)).await.text().await.unwrap();
    let html = page("/benchmarks/superclue-open/items/0?variant=five_levels").await;
    assert!(html.contains("A is much better") && html.contains("B is much better"), "{html}");
    let slight = page("/benchmarks/superclue-open/items/1?variant=five_levels&lang=zh").await;
    assert!(slight.contains("A 略好") && slight.contains("B 略好"), "{slight}");
    let report = page("/benchmarks/superclue-open?variant=five_levels").await;
    assert!(report.contains("Win rates against the baseline"), "{report}");
}
