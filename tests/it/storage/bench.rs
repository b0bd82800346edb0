//! What every database promises of benchmarks: facts are kept once, never changed, and found again.

use std::time::Duration;

use langya::domain::battle::ModelId;
use langya::domain::benchmark::item::ItemSampling;
use langya::domain::benchmark::runs::run_manifest::RunManifest;
use langya::domain::benchmark::runs::run_state::{DueCount, RunSnapshot, RunState};
use langya::domain::benchmark::scores::judgement::{Game, JudgeTokens, Judgement, Status};
use langya::domain::benchmark::suite_id::SuiteId;
use langya::domain::judging::budget::{Spent, Tokens};
use langya::domain::judging::token_probabilities::NumberToken;
use langya::domain::judging::verdict::{Preference, Rating, Verdict};
use langya::domain::time::Timestamp;
use langya::infra::llm::Usage;
use langya::infra::llm::model_client::WholeReply;
use langya::infra::storage::{
    AnswerRound, AttemptRow, AttemptStatus, BenchAnswerRow, BenchFilter, BenchItemRow, BenchJudgementRow, BenchRunRow,
    BenchSuiteRow, Imported, IncludeText, NewBenchRun, OpenAttempts, PlanStep, PublishedScoreRow, ScoredJudgement,
    Store,
};

fn suite_id() -> SuiteId {
    SuiteId::new("mtbench101")
}

fn of<'f>(model: &'f str, item: &'f str) -> BenchFilter<'f> {
    BenchFilter { model: Some(model), item: Some(item) }
}

fn set() -> AnswerRound {
    AnswerRound { suite: suite_id(), version: "v1".into(), sample: 1 }
}

fn run(id: &str) -> NewBenchRun {
    NewBenchRun {
        id: id.into(),
        suite: "mtbench101".into(),
        version: "v1".into(),
        sample: 2,
        models: vec!["m".into(), "n".into()],
        judges: Vec::new(),
        baseline: "b".into(),
        answers: DueCount { done: 1, due: 9 },
        judgements: DueCount::default(),
        expected_cost: None,
        manifest: RunManifest { program: "langya 琅琊".into(), seeds: vec![7], ..RunManifest::default() },
        plan: None,
        started_at: Timestamp(7),
    }
}

/// A run that belongs to a plan.
pub(super) fn run_of_plan(id: &str, plan: Option<PlanStep>) -> NewBenchRun {
    NewBenchRun { plan, ..run(id) }
}

pub(super) async fn a_run_is_kept_with_what_it_has_come_to(store: &Store) {
    assert!(store.bytes().await.unwrap() > 1 << 16, "a database with its tables");
    for id in ["r1", "r2", "r1"] {
        store.insert_bench_run(&run(id)).await.unwrap();
    }
    let snapshot = RunSnapshot {
        state: RunState::OverBudget,
        answers: DueCount { done: 4, due: 9 },
        judgements: DueCount { done: 0, due: 3 },
        spent: Spent { calls: 3, tokens: Tokens { input: 11, output: 12 }, cost: 0.125 },
        error: "m: 琅琊".into(),
    };
    store.update_bench_run("r1", &snapshot, Timestamp(8)).await.unwrap();
    store.update_bench_run("nowhere", &snapshot, Timestamp(8)).await.unwrap();
    let rows = store.bench_runs(9).await.unwrap();
    let begun = RunSnapshot {
        state: RunState::Running,
        answers: DueCount { done: 1, due: 9 },
        judgements: DueCount::default(),
        spent: Spent::default(),
        error: String::new(),
    };
    let kept = NewBenchRun { answers: snapshot.answers, judgements: snapshot.judgements, ..run("r1") };
    assert_eq!(rows[0], BenchRunRow { run: run("r2"), snapshot: begun, changed_at: Timestamp(7) });
    assert_eq!(rows[1..], [BenchRunRow { run: kept, snapshot, changed_at: Timestamp(8) }]);
    assert_eq!(store.bench_runs(1).await.unwrap().len(), 1);
}

async fn suite(store: &Store, version: &str, at: i64) -> Imported {
    let suite = BenchSuiteRow {
        suite: suite_id(),
        version: version.into(),
        source: "file.jsonl".into(),
        declaration: None,
        items: 2,
        imported_at: Timestamp(at),
    };
    let items = ["b", "a"].map(|id| BenchItemRow { item: id.into(), body: format!("{{\"{id}\": \"琅琊\"}}") });
    store.import_suite(&suite, &items).await.unwrap()
}

fn answer(id: &str, item: &str, ask: &str) -> BenchAnswerRow {
    BenchAnswerRow {
        id: id.into(),
        item: item.into(),
        turn: 2,
        model: "m".into(),
        ask_sha256: ask.into(),
        source: String::new(),
        params: "{}".into(),
        text: "答 {answer}".into(),
        attempts: 3,
        latency_ms: 12,
        input_tokens: Some(7),
        output_tokens: None,
        created_at: Timestamp(5),
    }
}

fn judgement(id: &str, status: Status, at: i64) -> BenchJudgementRow {
    let rating = || Verdict::Rating(Rating::new(7.5, [("清晰度".to_owned(), 9.0)].into()));
    BenchJudgementRow {
        id: id.into(),
        sample: 1,
        variant: String::new(),
        baseline: String::new(),
        source: String::new(),
        earlier: vec!["no".into(), "number".into()],
        reasoning: "思".into(),
        number_tokens: vec![NumberToken {
            at: 3,
            digits: "7".into(),
            alternatives: vec![("7".into(), 0.75), ("8".into(), 0.25)],
        }],
        judgement: Judgement {
            suite: "mtbench101".into(),
            suite_version: "v1".into(),
            item_id: "a".into(),
            turn: 2,
            model: "m".into(),
            judge_model: "j".into(),
            judge_prompt_sha256: "p".into(),
            params: ItemSampling { temperature: Some(0.0), ..ItemSampling::default() },
            game: Game::Second,
            raw_text: format!("said by {id}"),
            parsed: (status == Status::Ok).then(rating),
            status,
            attempts: 1,
            latency_ms: Some(9),
            tokens: Some(JudgeTokens { prompt: 5, reply: 6 }),
            ts: at,
        },
    }
}

pub(super) async fn a_data_file_is_kept_once_and_in_its_order(store: &Store) {
    assert_eq!(suite(store, "v1", 1).await, Imported::All(2));
    assert_eq!(suite(store, "v1", 2).await, Imported::Before);
    assert_eq!(suite(store, "v2", 3).await, Imported::All(2));
    let suites = store.bench_suites().await.unwrap();
    let versions: Vec<_> = suites.iter().map(|row| (row.version.as_str(), row.imported_at.0, row.items)).collect();
    assert_eq!(versions, [("v2", 3, 2), ("v1", 1, 2)], "the latest file comes first");
    let items = store.bench_items(&suite_id(), "v1").await.unwrap();
    assert_eq!(items.iter().map(|row| row.item.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(store.bench_item(&suite_id(), "v1", "a").await.unwrap().as_deref(), Some("{\"a\": \"琅琊\"}"));
    assert_eq!(store.bench_item(&suite_id(), "v1", "c").await.unwrap(), None);
}

pub(super) async fn a_data_file_with_an_item_that_cannot_be_kept_leaves_nothing(store: &Store) {
    let suite = BenchSuiteRow {
        suite: SuiteId::new("s"),
        version: "v".into(),
        source: String::new(),
        declaration: None,
        items: 2,
        imported_at: Timestamp(1),
    };
    let twice = ["a", "a"].map(|id| BenchItemRow { item: id.into(), body: "{}".into() });
    store.import_suite(&suite, &twice).await.unwrap_err();
    assert_eq!(store.bench_suites().await.unwrap(), []);
}

pub(super) async fn prompts_of_a_campaign_are_added_once_and_stand_in_no_list(store: &Store) {
    suite(store, "v1", 1).await;
    let own = BenchSuiteRow {
        suite: SuiteId::new("campaign:pilot"),
        version: "v".into(),
        source: "prompts.jsonl".into(),
        declaration: None,
        items: 2,
        imported_at: Timestamp(1),
    };
    let items = ["a", "b", "c"].map(|id| BenchItemRow { item: id.into(), body: format!("{{\"{id}\": \"琅琊\"}}") });
    store.add_bench_items(&own, &items[..2]).await.unwrap();
    store.add_bench_items(&own, &items[1..]).await.unwrap();
    assert_eq!(store.bench_items(&own.suite, "v").await.unwrap(), items);
    let set = AnswerRound { suite: own.suite, version: "v".into(), sample: 1 };
    store.insert_answers(&set, &[answer("a1", "c", "sha")]).await.unwrap();
    assert_eq!(store.bench_answers(&set, BenchFilter::ALL).await.unwrap().len(), 1);
    let listed: Vec<SuiteId> = store.bench_suites().await.unwrap().into_iter().map(|row| row.suite).collect();
    assert_eq!(listed, [suite_id()], "annotators are to find no answers");
}

pub(super) async fn an_answer_to_a_question_is_kept_once(store: &Store) {
    suite(store, "v1", 1).await;
    let first = answer("1", "a", "ask");
    store.insert_answers(&set(), &[first.clone(), answer("2", "b", "ask")]).await.unwrap();
    let anew = BenchAnswerRow { text: "other".into(), ..answer("3", "a", "ask") };
    store.insert_answers(&set(), &[anew.clone(), first.clone()]).await.unwrap();
    assert_eq!(store.bench_answers(&set(), of("m", "a")).await.unwrap(), std::slice::from_ref(&first));
    assert_eq!(store.import_answers(&set(), &[anew, answer("4", "a", "another ask")]).await.unwrap(), 1);
    let second_round = AnswerRound { sample: 2, ..set() };
    store.insert_answers(&second_round, &[answer("5", "a", "ask")]).await.unwrap();
    assert_eq!(store.bench_answers(&set(), BenchFilter::ALL).await.unwrap().len(), 3);
    assert_eq!(store.bench_answers(&set(), BenchFilter::of_model(&ModelId::new("n"))).await.unwrap(), []);
    let answered = store.answered(&suite_id(), "v1").await.unwrap();
    let counts: Vec<_> = answered.iter().map(|row| (row.sample, row.model.as_str(), row.answers)).collect();
    assert_eq!(counts, [(1, "m", 3), (2, "m", 1)]);
}

pub(super) async fn a_score_that_is_no_number_is_not_kept(store: &Store) {
    suite(store, "v1", 1).await;
    for (score, dimension) in [(f64::INFINITY, 1.0), (f64::NAN, 1.0), (7.0, f64::NEG_INFINITY)] {
        let mut row = judgement("1", Status::Ok, 1);
        let dimensions = [("清晰度".to_owned(), dimension)].into();
        row.judgement.parsed = Some(Verdict::Rating(Rating::new(score, dimensions)));
        assert!(store.insert_judgements(&[judgement("0", Status::Ok, 1), row]).await.is_err(), "{score} {dimension}");
    }
    assert_eq!(store.bench_judgements(&set(), BenchFilter::ALL, IncludeText::Yes).await.unwrap(), []);
}

pub(super) async fn failures_may_repeat_and_a_verdict_is_kept_once(store: &Store) {
    suite(store, "v1", 1).await;
    let failed = judgement("1", Status::TransportFailed, 1);
    let [first, second] = ["2", "3"].map(|id| judgement(id, Status::Ok, 2));
    store.insert_judgements(&[failed.clone(), judgement("4", Status::TransportFailed, 3)]).await.unwrap();
    for _ in 0..2 {
        store.insert_judgements(&[first.clone(), second.clone()]).await.unwrap();
    }
    let kept = store.bench_judgements(&set(), of("m", "a"), IncludeText::Yes).await.unwrap();
    assert_eq!(kept, [failed, first.clone(), judgement("4", Status::TransportFailed, 3)]);
    let mut without_words = first.clone();
    without_words.judgement.raw_text.clear();
    without_words.earlier.clear();
    without_words.reasoning.clear();
    without_words.number_tokens.clear();
    assert_eq!(store.bench_judgements(&set(), BenchFilter::ALL, IncludeText::No).await.unwrap()[1], without_words);
    let by_another_way = BenchJudgementRow { variant: "rules".into(), ..judgement("5", Status::Ok, 4) };
    assert_eq!(store.import_judgements(&[second, by_another_way]).await.unwrap(), 1);
    let groups = store.judged(&suite_id(), "v1").await.unwrap();
    let counts: Vec<_> = groups.iter().map(|row| (row.variant.as_str(), row.status.as_str(), row.count)).collect();
    assert_eq!(counts, [("", "ok", 1), ("rules", "ok", 1)], "each judging once, with its verdict");
}

pub(super) async fn scores_are_made_of_what_the_rows_say(store: &Store) {
    suite(store, "v1", 1).await;
    let mut rows = Vec::new();
    for (number, id) in ["f", "e", "d", "c", "b"].into_iter().enumerate() {
        let status = if number == 2 { Status::ParseFailed } else { Status::Ok };
        let mut row = judgement(id, status, 7 - i64::try_from(number / 2).unwrap());
        row.judgement.model = format!("m\u{1e}\n\"{number}\", ");
        row.baseline = if number == 3 { "琅琊".into() } else { String::new() };
        row.judgement.parsed = row.judgement.parsed.map(|rating| match number {
            0 => Verdict::Pair { winner: Preference::Tie, margin: None },
            1 => Verdict::Choice { choice: None, correct: true },
            _ => rating,
        });
        rows.push(row);
    }
    rows[1].judgement.tokens = None;
    rows[3].judgement.attempts = 0;
    rows.push(BenchJudgementRow { variant: "rules".into(), ..judgement("a", Status::Ok, 4) });
    rows.push(BenchJudgementRow { sample: 2, ..judgement("0", Status::Ok, 4) });
    store.insert_judgements(&rows).await.unwrap();
    for (variant, number) in [("", 5), ("rules", 1), ("other", 0)] {
        let mut expected = store.bench_judgements(&set(), BenchFilter::ALL, IncludeText::No).await.unwrap();
        expected.retain(|row| row.variant == variant);
        let narrow = |row: BenchJudgementRow| ScoredJudgement {
            baseline: row.baseline,
            judgement: Judgement {
                suite: String::new(),
                suite_version: String::new(),
                judge_prompt_sha256: String::new(),
                params: ItemSampling::default(),
                attempts: 0,
                latency_ms: None,
                tokens: row.judgement.tokens.filter(|_| row.judgement.attempts > 0),
                ..row.judgement
            },
        };
        let expected: Vec<ScoredJudgement> = expected.into_iter().map(narrow).collect();
        let scored = store.scored_judgements(&set(), variant).await.unwrap();
        assert_eq!((scored.len(), scored), (number, expected), "{variant}");
    }
}

pub(super) async fn what_failed_counts_once_unless_there_is_a_verdict(store: &Store) {
    suite(store, "v1", 1).await;
    let of = |id: &str, model: &str, status, at| {
        let mut row = judgement(id, status, at);
        row.judgement.model = model.into();
        row
    };
    let rows = [
        of("1", "m", Status::TransportFailed, 1),
        of("2", "m", Status::Ok, 2),
        of("3", "m", Status::ParseFailed, 3),
        of("4", "n", Status::TransportFailed, 4),
        of("5", "n", Status::ParseFailed, 9),
        of("6", "n", Status::TransportFailed, 6),
    ];
    store.insert_judgements(&rows).await.unwrap();
    let groups = store.judged(&suite_id(), "v1").await.unwrap();
    let counts: Vec<_> = groups.iter().map(|row| (row.model.as_str(), row.status.as_str(), row.count)).collect();
    assert_eq!(counts, [("m", "ok", 1), ("n", "parse_failed", 1)]);
    assert_eq!(store.judged_at(&suite_id(), "v1").await.unwrap(), Some(Timestamp(9)));
    assert_eq!(store.judged_at(&suite_id(), "v2").await.unwrap(), None);
}

pub(super) async fn what_a_judge_said_to_a_prompt_is_found_again(store: &Store) {
    suite(store, "v1", 1).await;
    let asked = judgement("0", Status::Ok, 1).judgement.params;
    let known = async |prompt: &str, params| {
        store.known_judgement("j", prompt, params).await.unwrap().map(|row: BenchJudgementRow| row.id)
    };
    let mut copy = judgement("4", Status::Ok, 9);
    copy.judgement.attempts = 0;
    copy.judgement.item_id = "b".into();
    let imported = BenchJudgementRow { source: "file".into(), variant: "x".into(), ..judgement("5", Status::Ok, 9) };
    store.insert_judgements(&[judgement("1", Status::TransportFailed, 1), copy, imported]).await.unwrap();
    assert_eq!(known("p", &asked).await, None, "a request that never came through, a copy, somebody else's verdict");
    store.insert_judgements(&[judgement("2", Status::Ok, 2), judgement("3", Status::ParseFailed, 3)]).await.unwrap();
    assert_eq!(known("p", &asked).await.as_deref(), Some("2"), "a verdict wins over a later failure");
    assert_eq!(known("q", &asked).await, None);
    assert_eq!(known("p", &ItemSampling::default()).await, None, "sampled otherwise");
}

fn attempt(id: &str, result: &str, status: AttemptStatus, at: i64) -> AttemptRow {
    let reply = WholeReply {
        text: format!("said in {id}"),
        reasoning: String::new(),
        numbers: Vec::new(),
        attempts: 2,
        latency: Duration::from_millis(9),
        usage: Usage { input: Some(5), output: None },
        lost: Default::default(),
    };
    AttemptRow {
        id: id.into(),
        result: result.into(),
        model: ModelId::new("m"),
        request_sha256: "r".into(),
        status,
        reply,
        created_at: Timestamp(at),
    }
}

pub(super) async fn attempts_stay_open_until_their_result_is_there(store: &Store) {
    suite(store, "v1", 1).await;
    let model = ModelId::new("m");
    let open = async |request: &str| store.open_attempts(&model, request).await.unwrap();
    let unsettled = |id: &str, result: &str, at| attempt(id, result, AttemptStatus::Unsettled, at);
    let (first, second) = (unsettled("x", "7", 1), unsettled("a", "7", 2));
    assert_eq!(open("r").await, None);
    store.insert_attempts(&[second.clone(), first.clone()]).await.unwrap();
    let of_another_run = unsettled("b", "8", 3);
    store.insert_attempts(&[first.clone(), of_another_run.clone()]).await.unwrap();
    let expected = OpenAttempts { result: "7".into(), replies: vec![first.reply, second.reply] };
    assert_eq!(open("r").await, Some(expected), "in the order of time, and each once");
    assert_eq!(open("s").await, None);
    assert_eq!(store.open_attempts(&ModelId::new("n"), "r").await.unwrap(), None);
    store.insert_judgements(&[judgement("7", Status::ParseFailed, 4)]).await.unwrap();
    let expected = OpenAttempts { result: "8".into(), replies: vec![of_another_run.reply] };
    assert_eq!(open("r").await, Some(expected));
    store.insert_answers(&set(), &[answer("8", "a", "ask")]).await.unwrap();
    assert_eq!(open("r").await, None);
    store.insert_attempts(&[attempt("c", "9", AttemptStatus::Refused, 5)]).await.unwrap();
    assert_eq!(open("r").await, None, "what is refused is no reply to go on with");
    assert_eq!(store.refused_requests(&model).await.unwrap(), ["r".to_owned()].into());
    assert!(store.refused_requests(&ModelId::new("n")).await.unwrap().is_empty());
}

pub(super) async fn published_scores_are_replaced_by_their_successors(store: &Store) {
    let row = |model: &str, score| PublishedScoreRow {
        series: "paper".into(),
        suite: "mtbench101".into(),
        part: "overall".into(),
        model: model.into(),
        score,
        source: "Table 3".into(),
    };
    store.import_scores(&[row("b", 8.0), row("a", 7.0)], Timestamp(1)).await.unwrap();
    store.import_scores(&[row("b", 8.5)], Timestamp(2)).await.unwrap();
    assert_eq!(store.published_scores().await.unwrap(), [row("a", 7.0), row("b", 8.5)]);
}

pub(super) async fn a_suite_is_run_by_one_at_a_time(store: &Store) {
    let held = store.command_lock("bench-x").await.unwrap().unwrap();
    assert!(store.command_lock("bench-x").await.unwrap().is_none());
    let other = store.command_lock("bench-y").await.unwrap();
    assert!(other.is_some(), "another suite goes beside it");
    held.release().await;
    assert!(store.command_lock("bench-x").await.unwrap().is_some());
}

/// One row of each, so that a test may try to change it.
pub(crate) async fn fill(store: &Store) {
    suite(store, "v1", 1).await;
    store.insert_answers(&set(), &[answer("1", "a", "ask")]).await.unwrap();
    store.insert_judgements(&[judgement("1", Status::Ok, 1)]).await.unwrap();
    store.insert_attempts(&[attempt("1", "2", AttemptStatus::Unsettled, 1)]).await.unwrap();
}
