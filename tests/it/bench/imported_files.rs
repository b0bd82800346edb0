//! What was made elsewhere: good files come in whole, bad ones leave nothing behind.

use super::mtbench101::{compare, data, dialogues, expected};
use super::{Field, answer, score};

async fn with_suite() -> Field {
    let field = Field::new(&["one"]).await;
    field.write("mt.jsonl", data(&dialogues()));
    field.done(&["import", "suite", "mtbench101", "mt.jsonl"]).await;
    field
}

#[actix_web::test]
async fn answers_and_verdicts_from_elsewhere_count_like_our_own() {
    let field = with_suite().await;
    let (mut answers, mut verdicts) = (String::new(), String::from("\u{feff}item,turn,model,judge,judgment\r\n"));
    let dialogues = dialogues();
    for dialogue in &dialogues {
        let first = if dialogue.judged()[0].contains("turn 1") { 1 } else { 2 };
        for (turn, question) in (first..).zip(dialogue.judged()) {
            let text = answer("far", question);
            let line = serde_json::json!({"question_id": dialogue.id, "turn": turn, "model_id": "far", "answer": text});
            answers += &format!("{line}\n");
            verdicts += &format!("{},{turn},far,wise,\"said:\r\nRating: [[{}]]\"\r\n", dialogue.id, score(&text));
        }
    }
    field.write("answers.jsonl", &answers);
    field.write("verdicts.csv", &verdicts);
    let first = field.done(&["import", "answers", "answers.jsonl", "--suite", "mtbench101"]).await;
    let count = answers.lines().count();
    assert!(first.contains(&format!("{count} answers read, {count} of them new")), "{first}");
    let again = field.done(&["import", "answers", "answers.jsonl", "--suite", "mtbench101"]).await;
    assert!(again.contains("0 of them new"), "{again}");
    field.done(&["import", "verdicts", "verdicts.csv", "--suite", "mtbench101"]).await;
    compare(&field.scores("mtbench101").await, "far", &expected(&dialogues, "far", |answer| Some(score(answer))));
    field.done(&["bench", "judge", "mtbench101", "--models", "far", "--judge", "judge"]).await;
    assert_eq!(field.requests("judge"), count, "a judge here judges them too");
}

#[actix_web::test]
async fn a_hostile_name_steers_neither_a_terminal_nor_a_spreadsheet() {
    let field = with_suite().await;
    let verdict = |model: &str, judge: &str| {
        serde_json::json!({"item": 1, "model": model, "judge": judge, "score": 7}).to_string() + "\n"
    };
    let pairs = [("=1+2", "@SUM(1)"), ("=1+2", "-j"), ("\u{1b}[2J", "@SUM(1)"), ("\u{1b}[2J", "-j")];
    field.write("verdicts.jsonl", pairs.map(|(model, judge)| verdict(model, judge)).concat());
    field.done(&["import", "verdicts", "verdicts.jsonl", "--suite", "mtbench101"]).await;
    let report = ["bench", "report", "mtbench101"];
    for table in [field.done(&report).await, field.done(&["bench", "list"]).await] {
        assert!(!table.contains('\u{1b}'), "{table:?}");
    }
    let csv = field.done(&[&report[..], &["--format", "csv"]].concat()).await;
    let list = field.done(&["bench", "list", "--format", "csv"]).await;
    field.done(&[&report[..], &["--out", "out.csv"]].concat()).await;
    let file = std::fs::read_to_string(field.path().join("out.csv")).unwrap();
    for (csv, defused) in [(csv, "'=1+2"), (file, "'=1+2"), (list, "'-j")] {
        let begins = |cell: &str| cell.starts_with(['=', '@', '-']) && cell.parse::<f64>().is_err();
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        assert!(reader.records().all(|row| !row.unwrap().iter().any(begins)), "{csv}");
        assert!(csv.contains(defused), "{csv}");
    }
}

#[actix_web::test]
async fn scores_by_dimension_are_those_that_a_judge_may_give_also_in_a_cell() {
    let field = with_suite().await;
    field.write("v.csv", "item,model,judge,score,rating\n1,far,j,7,\"{\"\"a\"\": 9, \"\"b\"\": 99, \"\"c\"\": 0}\"\n");
    field.done(&["import", "verdicts", "v.csv", "--suite", "mtbench101"]).await;
    let store = field.store().await;
    let set = field.set(&store, "mtbench101").await;
    let kept = store
        .bench_judgements(&set, langya::infra::storage::BenchFilter::ALL, langya::infra::storage::IncludeText::Yes)
        .await
        .unwrap();
    let parsed = serde_json::to_string(&kept[0].judgement.parsed).unwrap();
    assert_eq!(parsed, "{\"score\":7.0,\"rating\":{\"a\":9.0}}");
    field.write("v.csv", "item,model,judge,score,rating\n1,other,j,7,clear\n");
    let refused = field.refused(&["import", "verdicts", "v.csv", "--suite", "mtbench101"]).await;
    assert!(refused.contains("line 2: rating must be an object"), "{refused}");
}

#[actix_web::test]
async fn an_empty_cell_is_an_empty_answer() {
    let field = with_suite().await;
    field.write("a.csv", "item,model,answer\n1,far,\n");
    let told = field.done(&["import", "answers", "a.csv", "--suite", "mtbench101"]).await;
    assert!(told.contains("1 answer read, 1 of them new"), "{told}");
}

#[actix_web::test]
async fn what_differs_from_what_is_stored_is_counted_and_not_taken() {
    let field = with_suite().await;
    let verdicts = ["import", "verdicts", "v.csv", "--suite", "mtbench101"];
    field.write("v.csv", "item,model,judge,score\n1,far,j,7\n1,near,j,7\n1,old,j,7\n");
    let told = field.done(&verdicts).await;
    assert!(told.ends_with(": 3 verdicts read, 3 of them new\n"), "{told}");
    field.write("v.csv", "item,model,judge,score\n1,far,j,8\n1,near,j,7\n1,old,j,9\n");
    let told = field.done(&verdicts).await;
    let expected = ": 3 verdicts read, 0 of them new; 2 differ from what is stored and were not imported\n";
    assert!(told.ends_with(expected), "{told}");
    let answers = ["import", "answers", "a.csv", "--suite", "mtbench101"];
    field.write("a.csv", "item,model,answer\n1,far,x\n");
    field.done(&answers).await;
    field.write("a.csv", "item,model,answer\n1,far,y\n1,near,y\n");
    let told = field.done(&answers).await;
    let expected = ": 2 answers read, 1 of them new; 1 differ from what is stored and were not imported\n";
    assert!(told.ends_with(expected), "{told}");
}

#[actix_web::test]
async fn a_report_says_which_data_there_are_and_how_imported_verdicts_are_read_otherwise() {
    let field = with_suite().await;
    let said = field.refused(&["bench", "report", "mtbench101", "--data", "ffff"]).await;
    assert!(said.contains("no data whose SHA-256 begins with \"ffff\": it has "), "{said}");
    let import = ["import", "verdicts", "v.csv", "--suite", "mtbench101"];
    field.write("v.csv", "item,model,judge,judgment\n1,far,j,As said in [3]. Rating: [[7]]\n");
    field.done(&import).await;
    let switch = ["--compat", "mtbench101.first_bracket"];
    let report = [&["bench", "report", "mtbench101"][..], &switch].concat();
    let said = field.run(&report).await;
    let note = "note: 1 imported verdicts were read without these switches";
    assert!(said.stderr.contains(note) && said.stderr.contains("again with --compat mtbench101"), "{}", said.stderr);
    field.done(&[&import[..], &switch].concat()).await;
    let said = field.run(&report).await;
    assert!(!said.stderr.contains("note") && said.stdout.contains("far"), "{}{}", said.stdout, said.stderr);
}

#[actix_web::test]
async fn a_bare_score_is_refused_for_a_suite_that_counts_none() {
    let field = Field::new(&["one"]).await;
    for (mode, item) in [
        ("pairwise_baseline", "{\"id\": 1, \"question\": \"q\"}"),
        (
            "multiple_choice",
            "{\"id\": 1, \"question\": \"q\", \"options\": [\"a\", \"b\", \"c\", \"d\"], \"answer\": \"C\"}",
        ),
    ] {
        let name = mode.replace('_', "-");
        field.write("own.toml", format!("name = \"{name}\"\nlanguage = \"en\"\nmode = \"{mode}\"\n"));
        field.write("items.jsonl", item);
        field.done(&["import", "suite", &name, "items.jsonl", "--suite-file", "own.toml"]).await;
        field.write("v.jsonl", "{\"item\": 1, \"model\": \"m\", \"judge\": \"j\", \"score\": 7}\n");
        let refused = field.refused(&["import", "verdicts", "v.jsonl", "--suite", &name]).await;
        assert!(refused.contains("line 1: suite") && refused.contains("counts no scores"), "{refused}");
    }
}

#[actix_web::test]
async fn published_scores_come_in_and_replace_their_predecessors() {
    let field = with_suite().await;
    field.write("scores.csv", "suite,model,score,part,series,source\nmtbench101,GPT-4,8.86,,paper,Table 3\nmtbench101,GPT-4,9.1,CM,paper,Table 3\n");
    assert!(field.done(&["import", "scores", "scores.csv"]).await.contains("2 scores imported"));
    let rows = field.store().await.published_scores().await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.part.as_str(), row.model.as_str(), row.source.as_str())).collect();
    assert_eq!(found, [("CM", "GPT-4", "Table 3"), ("overall", "GPT-4", "Table 3")]);
}

#[actix_web::test]
async fn exported_scores_come_back_as_a_series_for_each_judge() {
    let field = with_suite().await;
    let dialogues = dialogues();
    let dialogue = &dialogues[0];
    let first = if dialogue.judged()[0].contains("turn 1") { 1 } else { 2 };
    let mut verdicts = String::new();
    for (turn, _) in (first..).zip(dialogue.judged()) {
        for (judge, score) in [("j", 7), ("k", 9)] {
            let id = &dialogue.id;
            let line = serde_json::json!({"item": id, "turn": turn, "model": "=1+2", "judge": judge, "score": score});
            verdicts += &format!("{line}\n");
        }
    }
    field.write("v.jsonl", &verdicts);
    field.done(&["import", "verdicts", "v.jsonl", "--suite", "mtbench101"]).await;
    let export = async |format: &str| {
        let file = format!("s.{format}");
        field.done(&["export", "scores", "--suite", "mtbench101", "--format", format, "--out", &file]).await;
        std::fs::read_to_string(field.path().join(file)).unwrap()
    };
    let lines = export("jsonl").await;
    export("csv").await;
    let rows: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scored = rows.iter().filter(|row| row["score"].is_number());
    let expected: Vec<(String, &str, f64)> = scored
        .map(|row| {
            let series = format!("@{}", row["judge"].as_str().unwrap());
            (series, row["part"].as_str().unwrap(), row["score"].as_f64().unwrap())
        })
        .collect();
    assert!(["@j", "@k"].iter().all(|judge| expected.iter().any(|(series, ..)| series == judge)), "{expected:?}");
    for file in ["s.jsonl", "s.csv"] {
        let told = field.done(&["import", "scores", file]).await;
        let blank = rows.len() - expected.len();
        let records = if blank == 1 { "record" } else { "records" };
        let end = format!(": {} scores imported; {blank} {records} without a score left out\n", expected.len());
        assert!(blank > 0 && told.ends_with(&end), "{told}");
        let stored = field.store().await.published_scores().await.unwrap();
        let of_file: Vec<_> = stored.iter().filter(|row| row.series.starts_with(file)).collect();
        assert_eq!(of_file.len(), expected.len());
        for (series, part, score) in &expected {
            let is_it = |row: &&&langya::infra::storage::PublishedScoreRow| {
                row.series == format!("{file}{series}") && row.part == *part
            };
            let found = of_file.iter().find(is_it).unwrap();
            assert_eq!((found.model.as_str(), found.score), ("=1+2", *score), "{file}");
        }
    }
}

#[actix_web::test]
async fn a_score_beyond_the_scale_is_reported_and_kept_as_failed() {
    let field = with_suite().await;
    let verdicts = ["import", "verdicts", "v.csv", "--suite", "mtbench101"];
    field.write("v.csv", "item,model,judge,score,judgment\n1,far,j,99,\n1,near,j,7,\n1,odd,j,,I cannot say\n");
    let told = field.done(&verdicts).await;
    let expected = ": 3 verdicts read, 3 of them new; kept as failed: 1 (a score beyond the scale), 1 (refused by the judge or its provider)\n";
    assert!(told.ends_with(expected), "{told}");
}

#[actix_web::test]
async fn a_bad_file_is_refused_by_its_line_and_leaves_nothing() {
    let field = with_suite().await;
    let good = data(&dialogues());
    let line = |text: &str| format!("{good}{text}\n");
    for (text, said) in [
        (
            line("{\"task\": \"CM\", \"id\": 900}"),
            "line 27: this is not a record of the suite: missing field `history`",
        ),
        (
            line("{\"task\": \"XX\", \"id\": 900, \"history\": [{\"user\": \"u\", \"bot\": \"b\"}]}"),
            "line 27: the task \"XX\" is unknown",
        ),
        (
            line("{\"task\": \"TS\", \"id\": 3, \"history\": [{\"user\": \"u\", \"bot\": \"b\"}]}"),
            "line 27: the id \"3\" is already on line 3",
        ),
        (String::new(), "the file has no items"),
    ] {
        field.write("bad.jsonl", text);
        let refused = field.refused(&["import", "suite", "mtbench101", "bad.jsonl"]).await;
        assert!(refused.contains("bad.jsonl line") && refused.contains(said), "{refused}");
    }
    field
        .write("latin.jsonl", b"{\"task\": \"CM\", \"id\": 1, \"history\": [{\"user\": \"caf\xe9\", \"bot\": \"b\"}]}");
    let refused = field.refused(&["import", "suite", "mtbench101", "latin.jsonl"]).await;
    assert!(refused.contains("line 1: the text is not UTF-8"), "{refused}");
    let refused = field.refused(&["import", "suite", "mtbench101", "missing.jsonl"]).await;
    assert!(refused.contains("cannot read missing.jsonl"), "{refused}");
    let store = field.store().await;
    assert_eq!(store.bench_suites().await.unwrap().len(), 1, "only the good file");
}

#[actix_web::test]
async fn bad_answers_and_verdicts_are_refused_by_their_line_and_leave_nothing() {
    let field = with_suite().await;
    let good = "{\"item\": 1, \"model\": \"far\", \"answer\": \"x\"}\n";
    for (what, text, said) in [
        ("answers", "{\"item\": 77, \"model\": \"far\", \"answer\": \"x\"}", "line 2: the suite has no item \"77\""),
        ("answers", "{\"item\": 2, \"answer\": \"x\"}", "line 2: it has no model or model_id"),
        ("answers", "{\"item\": 2, \"model\": \"far\"}", "line 2: it has no answer"),
        ("answers", good.trim_end(), "line 2: turn 1 of item \"1\" is answered on line 1 already"),
        (
            "answers",
            "{\"item\": 5, \"turn\": 1, \"model\": \"far\", \"answer\": \"x\"}",
            "line 2: turn 1 of item \"5\" is not asked",
        ),
        ("answers", "{\"item\": 2, \"turn\": 0, \"model\": \"far\", \"answer\": \"x\"}", "line 2: turn is \"0\""),
        ("verdicts", "", "line 1: it has neither raw_text nor judgment nor score"),
    ] {
        field.write("bad.jsonl", format!("{good}{text}\n"));
        let refused = field.refused(&["import", what, "bad.jsonl", "--suite", "mtbench101"]).await;
        assert!(refused.contains("bad.jsonl") && refused.contains(said), "{text}: {refused}");
    }
    let twice = "{\"item\": 1, \"model\": \"far\", \"judge\": \"j\", \"judgment\": \"Rating: [[4]]\", \"score\": 9}\n";
    field.write("twice.jsonl", twice);
    let refused = field.refused(&["import", "verdicts", "twice.jsonl", "--suite", "mtbench101"]).await;
    assert!(refused.contains("line 1: the judge's reply says 4 and the score is 9"), "{refused}");
    for (text, said) in [
        ("suite,model,score\nmtbench101,m,high\n", "line 2: score is \"high\": write a number"),
        (
            "suite,model,score\nmtbench101,m,NaN\n",
            "line 2: score is \"NaN\": write a number, or leave the record out where there is none",
        ),
        ("suite,model,score\nmtbench101,m,1\nmtbench101,m,2\n", "line 3: the same score of \"m\" is already on line 2"),
    ] {
        field.write("bad.csv", text);
        let refused = field.refused(&["import", "scores", "bad.csv"]).await;
        assert!(refused.contains(said), "{refused}");
    }
    let store = field.store().await;
    let set = field.set(&store, "mtbench101").await;
    assert_eq!(store.bench_answers(&set, langya::infra::storage::BenchFilter::ALL).await.unwrap(), []);
    assert_eq!(store.published_scores().await.unwrap(), []);
}
