//! What the report says of a small arena, worked out by hand, and how it is had.

use std::sync::Arc;

use langya::domain::battle::Outcome;
use langya::domain::battle_judging::subject::JudgedSubject;
use langya::domain::benchmark::scores::judgement::{Game, JudgeTokens, Status};
use langya::domain::correlation::{Aliases, Series, SeriesName};
use langya::domain::judging::verdict::Preference;
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::stats::confidence::ConfidenceLevel;
use langya::domain::stats::resample::BootstrapOptions;
use langya::domain::time::Timestamp;
use langya::infra::config::{CurrentSettings, Settings};
use langya::infra::events::{Event, InstanceId, LocalBus};
use langya::infra::storage::{IfMissing, Store, VerdictRow};
use langya::infra::stored_votes::final_labels::SliceVoteChanges;
use langya::infra::stored_votes::rated_votes::RatedVotes;
use langya::infra::stored_votes::vote_tally::{StoreWhen, VoteTally};
use langya::infra::tasks::Tasks;
use langya::infra::time::clock::SystemClock;
use langya::services::battle_judging::reports::{BattleJudgingError, BattleJudgingReports};
use langya::services::correlation::{ReadSeriesError, SeriesReader, Sources};
use langya::services::leaderboard::latest_leaderboard::{LatestLeaderboard, Refitter};
use serde_json::{Value, json};

use super::{Battle, share};
use crate::support::arena::TestArena;
use crate::support::program::langya;
use crate::support::scripted::Scripted;
use crate::support::until;
use crate::support::visitor::get;

/// What a judge says of a battle in both orders.
fn verdict_rows(battle: &Battle, winners: [Preference; 2]) -> [VerdictRow; 2] {
    [0, 1].map(|game: usize| VerdictRow {
        id: format!("{}-{game}", battle.id),
        subject: JudgedSubject::Battle(battle.id.clone()),
        judge: "<judge>".into(),
        game: Game::BOTH[game],
        prompt_sha256: "0123456789abcdef".into(),
        params: langya::domain::benchmark::item::ItemSampling::default(),
        raw_text: String::new(),
        earlier: Vec::new(),
        parsed: Some(winners[game]),
        status: Status::Ok,
        attempts: 1,
        latency_ms: 1,
        tokens: JudgeTokens::default(),
        created_at: Timestamp(7_000),
    })
}

/// Twelve battles of three models: x beats y, y beats z and x beats z, three of four times each. The judge agrees on x and
/// y, is swayed by the position on y and z, and has x and z the other way round.
async fn small_arena(store: &Store) {
    use Preference::{A, B};
    let pairs = [(["x", "y"], "English"), (["y", "z"], "Chinese"), (["x", "z"], "English")];
    for (group, (models, language)) in pairs.into_iter().enumerate() {
        for number in 0..4 {
            let first_wins = number < 3;
            let mut battle = Battle::new(10 * group + number, if first_wins { [2, 1] } else { [1, 2] });
            battle.models = models;
            battle.language = language;
            battle.category = (number == 0).then_some("maths,code");
            if group == 1 {
                battle.quality = vec![[1, 1], [2, 2]];
            }
            battle.keep(store).await;
            let winners = match (group, first_wins) {
                (0, true) | (2, false) => [A, B],
                (0, false) | (2, true) => [B, A],
                _ => [A, A],
            };
            store.insert_verdicts(&verdict_rows(&battle, winners)).await.unwrap();
        }
    }
}

async fn open(folder: &std::path::Path) -> Store {
    let settings = langya::infra::config::StorageSettings { data_dir: folder.into(), ..Default::default() };
    Store::open(&settings, IfMissing::Create).await.unwrap()
}

#[actix_web::test]
async fn a_small_arena_is_reported_as_worked_out_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    small_arena(&store).await;
    let level = ConfidenceLevel::default();
    let report = BattleJudgingReports::new(store.clone(), Tasks::default()).latest(level).await.unwrap();
    let report = serde_json::to_value(&*report).unwrap();
    let judge = &report["judges"][0];
    assert_eq!((share(&judge["consistent"]), share(&judge["first_position"])), ((8, 12), (4, 4)));
    // Four on x and y; on y and z and on x and z nothing: those votes are for a side.
    assert_eq!(share(&judge["agreement"]["with_ties"]), (4, 12));
    assert_eq!(share(&judge["agreement"]["without_ties"]), (4, 8));
    let slices: Vec<(String, u64, u64)> = judge["slices"].as_array().unwrap().iter().map(counted).collect();
    let expected = [
        ("language Chinese", 0, 4),
        ("language English", 4, 8),
        ("category code", 1, 3),
        ("category maths", 1, 3),
        ("turns first", 4, 8),
        ("turns multi", 0, 4),
    ];
    assert_eq!(slices[..6], expected.map(|(part, of, total)| (part.to_owned(), of, total)));
    // σ(s) + σ(2s) = 6/4 has s = 0.76: x and y, and y and z, are 131 points apart, x and z twice as far.
    let bands: Vec<&str> = slices[6..].iter().map(|(part, ..)| part.as_str()).collect();
    assert_eq!(bands, ["distance 100-200", "distance 200+"]);
    assert_eq!((slices[6].2, slices[7].2), (8, 4));
    let leaderboards = &judge["leaderboards"];
    let order: Vec<&str> =
        leaderboards["models"].as_array().unwrap().iter().map(|row| row["model"].as_str().unwrap()).collect();
    assert_eq!(order, ["x", "y", "z"]);
    // By the verdicts z is first: it beats x three to one and ties with y, who loses to x three to one.
    let points = verdict_series(&store, "<judge>").await.unwrap().points;
    let rating = |model: &str| points[model].value;
    assert!(rating("z") > rating("x") && rating("x") > rating("y"), "{points:?}");
    assert!(points["z"].interval.is_some_and(|ends| ends.lower < rating("z")));
    assert_eq!(points["z"].samples.len(), 20, "verdicts are resampled like votes");
    assert_eq!(leaderboards["pairs"], json!({"same": 1, "otherwise": 2, "equal": 0}));
    assert!((leaderboards["spearman"]["value"].as_f64().unwrap() + 0.5).abs() < 1e-12);
    let nobody = verdict_series(&store, "nobody").await.unwrap_err();
    assert!(
        matches!(nobody, ReadSeriesError::BattleJudging(BattleJudgingError::NoVerdicts(..)))
            && nobody.to_string().contains("<judge>"),
        "{nobody}"
    );
}

/// The ratings by a judge's verdicts, as a correlation reads them.
async fn verdict_series(store: &Store, judge: &str) -> Result<Series, ReadSeriesError> {
    verdict_series_up_to(store, judge, i64::MAX).await
}

async fn verdict_series_up_to(store: &Store, judge: &str, last_vote: i64) -> Result<Series, ReadSeriesError> {
    let bootstrap = BootstrapOptions { replicates: 20, seed: 0 };
    let rating = LeaderboardOptions::default();
    let sources = Sources { store: Some(store), table: None, aliases: Aliases::default(), rating, bootstrap };
    SeriesReader::new(sources).up_to(last_vote).read(&SeriesName::Verdicts(judge.to_owned())).await
}

fn counted(slice: &Value) -> (String, u64, u64) {
    let (of, total) = share(&slice["agreement"]["with_ties"]);
    (format!("{} {}", slice["by"].as_str().unwrap(), slice["value"].as_str().unwrap()), of, total)
}

#[actix_web::test]
async fn a_report_is_made_once_until_something_changes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    small_arena(&store).await;
    let (reports, level) = (BattleJudgingReports::new(store.clone(), Tasks::default()), ConfidenceLevel::default());
    let first = reports.latest(level).await.unwrap();
    assert!(Arc::ptr_eq(&first, &reports.latest(level).await.unwrap()));
    let mut battle = Battle::new(99, [2, 1]);
    battle.outcome = Outcome::AWins;
    battle.keep(&store).await;
    let second = reports.latest(level).await.unwrap();
    assert!(!Arc::ptr_eq(&first, &second), "a vote is new");
    assert_eq!(second.judges[0].judged.total, 12);
    store.insert_verdicts(&verdict_rows(&battle, [Preference::A, Preference::B])).await.unwrap();
    assert_eq!(reports.latest(level).await.unwrap().judges[0].judged.total, 13, "a verdict is new");
    let wider = reports.latest(ConfidenceLevel::new(0.5).unwrap()).await.unwrap();
    assert!((wider.confidence - 0.5).abs() < 1e-12, "another level is another report");
}

/// Agreement by the distance of the two models.
async fn distances(reports: &BattleJudgingReports) -> Vec<(String, u64, u64)> {
    let report = serde_json::to_value(&*reports.latest(ConfidenceLevel::default()).await.unwrap()).unwrap();
    let slices = report["judges"][0]["slices"].as_array().unwrap().iter();
    slices.filter(|slice| slice["by"] == "distance").map(counted).collect()
}

#[actix_web::test]
async fn a_report_of_an_arena_ends_at_the_last_vote_of_its_leaderboard() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    small_arena(&store).await;
    let leaderboard = Arc::new(LatestLeaderboard::default());
    let reports = BattleJudgingReports::new(store.clone(), Tasks::default()).up_to(Arc::clone(&leaderboard));
    let level = ConfidenceLevel::default();
    let judged = async || reports.latest(level).await.unwrap().judges[0].judged.total;
    assert_eq!(judged().await, 12, "before the first leaderboard there is no bound");
    let before = distances(&reports).await;
    let mut refitter = Refitter {
        store: store.clone(),
        leaderboard: Arc::clone(&leaderboard),
        events: Arc::new(LocalBus::new(InstanceId("one".into()))),
        clock: Arc::new(SystemClock),
        settings: CurrentSettings::new(Settings::default()),
        ranked_by: None,
        ranked_exclusions: None,
        tally: VoteTally::default(),
        votes: RatedVotes::default(),
        relabeled: SliceVoteChanges::default(),
    };
    assert!(refitter.refit().await.unwrap());
    for number in 80..92 {
        Battle { models: ["x", "y"], ..Battle::new(number, [1, 2]) }.keep(&store).await;
    }
    let battle = Battle::new(99, [2, 1]);
    battle.keep(&store).await;
    store.insert_verdicts(&verdict_rows(&battle, [Preference::A, Preference::B])).await.unwrap();
    assert_eq!(judged().await, 12, "the leaderboard lacks this vote");
    assert_eq!(distances(&reports).await, before, "later votes on x and y would show that the two have just met");
    let fresh = BattleJudgingReports::new(store.clone(), Tasks::default()).up_to(Arc::clone(&leaderboard));
    let mut all = VoteTally::default();
    all.catch_up(&store, |_| {}).await.unwrap();
    all.store(&store, StoreWhen::AnyNew).await.unwrap();
    assert_eq!(distances(&fresh).await, before, "the stored counts are ahead of the leaderboard");
    assert!(refitter.refit().await.unwrap());
    assert_eq!(judged().await, 13);
    assert!(!distances(&reports).await.contains(&before[0]), "{before:?}");
    assert!(verdict_series_up_to(&store, "<judge>", 12).await.is_ok());
    let none = verdict_series_up_to(&store, "<judge>", 0).await;
    assert!(matches!(none, Err(ReadSeriesError::BattleJudging(BattleJudgingError::NoVerdicts(..)))), "{none:?}");
}

/// Waits until the arena's leaderboard has all votes.
async fn until_ranked(arena: &TestArena) {
    let last = arena.app.store.last_vote_seq().await.unwrap();
    arena.app.events.publish(Event::VoteRecorded);
    until(async || (arena.app.leaderboard.latest().last_vote_seq >= last).then_some(())).await;
}

#[actix_web::test]
async fn the_api_sends_the_report_and_an_empty_one_where_nobody_judges() {
    let models = ["one", "two"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    let arena = TestArena::start(&models).await;
    let report = async || -> Value { get(&format!("{}/api/v1/judges", arena.url)).await.json().await.unwrap() };
    assert_eq!(report().await, json!({"confidence": 0.95, "judges": [], "between": []}));
    small_arena(&arena.app.store).await;
    until_ranked(&arena).await;
    let found = report().await;
    assert_eq!(
        (&found["judges"][0]["judge"], &found["judges"][0]["prompt"]),
        (&json!("<judge>"), &json!("0123456789ab"))
    );
    arena.end().await;
}

#[actix_web::test]
async fn the_page_calls_models_and_judges_by_their_names() {
    let models = ["x", "<judge>"].map(|name| (name, Scripted::saying("Here.")));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    let arena = TestArena::start(&models).await;
    small_arena(&arena.app.store).await;
    until_ranked(&arena).await;
    let page = get(&format!("{}/judges", arena.url)).await.text().await.unwrap();
    assert!(page.contains("<bdi>Name-of-x</bdi>") && !page.contains("<bdi>x</bdi>"), "{page}");
    assert!(page.contains("Name-of-&#60;judge&#62;</bdi>"), "{page}");
    arena.end().await;
}

#[actix_web::test]
async fn a_category_that_a_spreadsheet_would_work_out_is_defused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    for number in 0..4 {
        let mut battle = Battle::new(number, [2, 1]);
        battle.category = Some("=1+1");
        battle.keep(&store).await;
        store.insert_verdicts(&verdict_rows(&battle, [Preference::A, Preference::B])).await.unwrap();
    }
    store.close().await;
    let report = langya(folder.path(), ["judge", "report", "--format", "csv", "--data-dir", "."]);
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    assert!(report.stdout.contains(",category,'=1+1,"), "{}", report.stdout);
}
