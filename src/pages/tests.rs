use actix_web::body::to_bytes;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, SET_COOKIE};
use actix_web::test::TestRequest;
use actix_web::{HttpRequest, HttpResponse};

use crate::domain::battle::Outcome;
use crate::domain::battle::mode::BattleMode;
use crate::domain::battle_judging::report::{BattleJudgingReport, report};
use crate::domain::battle_judging::verdicts::JudgedVote;
use crate::domain::benchmark::scores::judgement::{Game, Status};
use crate::domain::integrity::rigging::rigging_report::RiggingReport;
use crate::domain::judging::verdict::Preference;
use crate::domain::language::Language;
use crate::domain::rating::notes::RatingNote;
use crate::domain::rating::robustness::{FirstPlace, FirstPlaceLead, OverallRobustness};
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::domain::time::Timestamp;
use crate::infra::config::{
    AccessMode, AccessSettings, BattleSettings, FlaggedVoterPolicy, PacingMode, Settings, WindowLimits,
};
use crate::render::i18n::pages::{ConsentFacts, ConsentText, InvalidField, ModelVerdicts, StorageInForce, page_texts};

use super::leaderboards::leaderboard::{LeaderboardRow, LeaderboardView, leaderboard_html, rows_html};
use super::leaderboards::robustness_details::RobustnessDetails;
use super::visitor::battle::BattlePageState;
use super::*;

async fn text(response: HttpResponse) -> String {
    let bytes = to_bytes(response.into_body()).await.expect("a page is in memory");
    String::from_utf8(bytes.to_vec()).expect("a page is UTF-8")
}

fn request(uri: &str) -> HttpRequest {
    TestRequest::get().uri(uri).to_http_request()
}

const STORAGE: StorageInForce =
    StorageInForce { abandon_after_minutes: 30, sign_in_days: None, counts_networks: true, text_days: None };

fn consent_text() -> ConsentText {
    let facts = ConsentFacts {
        storage: STORAGE,
        images: true,
        moderation: None,
        moderates_replies: false,
        judging: ModelVerdicts::ByModels,
        leak_judge: "",
        privacy: "",
    };
    ConsentText::new(Language::English, &facts, None)
}

fn state(practice: bool) -> BattlePageState {
    BattlePageState { takes_images: practice, practice, asks_consent: true, pairable: 3 }
}

/// Renders every page in a language.
async fn pages(query: &str) -> Vec<String> {
    let (rules_at, judging) = (request(&format!("/about{query}")), ModelVerdicts::ByModels);
    vec![
        text(visitor::battle::battle(&request(&format!("/{query}")), &invited(), state(true))).await,
        text(about::rules(&rules_at, &Settings::default(), STORAGE, judging, vec![])).await,
        text(visitor::consent::consent(&request(&format!("/consent{query}")), "0123456789ab", &consent_text())).await,
        text(judges::judges(&request(&format!("/judges{query}")), &judged())).await,
        text(errors::not_found::not_found(&request(&format!("/nothing{query}")))).await,
        leaderboard_html(&request(&format!("/leaderboard{query}")), &view()),
        leaderboard_html(&request(&format!("/leaderboard{query}")), &LeaderboardView::default()),
    ]
}

fn view() -> LeaderboardView {
    let row = LeaderboardRow {
        rank: Some(1),
        model: "crane".into(),
        name: "Crane".into(),
        organization: "Northern Institute".into(),
        license: "MIT".into(),
        rating: Some(1050.0),
        lower: Some(1000.0),
        upper: Some(1100.0),
        elo: 1012.4,
        battles: 40,
        win_tie_rate: Some(0.625),
        ..LeaderboardRow::default()
    };
    let other = LeaderboardRow {
        rank: Some(2),
        model: "heron".into(),
        name: "Heron".into(),
        organization: String::new(),
        rating: Some(950.0),
        lower: Some(900.0),
        upper: Some(1000.0),
        practice: true,
        provisional: true,
        ..row.clone()
    };
    LeaderboardView {
        as_of_ms: Some(1_700_000_000_000),
        votes: 80,
        notes: vec![RatingNote::Text { text: "a note".into() }],
        rows: vec![row, other],
        robustness: fold(Language::English),
        ..LeaderboardView::default()
    }
}

/// Returns a report of two models whose names contain markup.
fn fold(language: Language) -> Option<RobustnessDetails> {
    let lead = FirstPlaceLead { second: "heron".into(), points: 100.0 };
    let first_place = FirstPlace { models: vec!["crane".into()], lead: Some(lead), votes: None, voters: None };
    let report = OverallRobustness { votes: 80, first_place: Some(first_place), ..OverallRobustness::default() };
    let rigging = RiggingReport::default();
    RobustnessDetails::new(&report, &rigging, Timestamp(1_700_000_000_000), language, |model| format!("<i>{model}</i>"))
}

#[actix_web::test]
async fn the_fold_tells_how_firm_the_leaderboard_is_and_escapes_names() {
    let page = |language: &str, view: LeaderboardView| {
        leaderboard_html(&request(&format!("/leaderboard?lang={language}")), &view)
    };
    let english = page("en", view());
    for said in [
        "<summary>How robust is this leaderboard?</summary>",
        "<dt>Who is first?</dt>",
        "<dd>&#60;i&#62;crane&#60;/i&#62;, 100 points ahead of &#60;i&#62;heron&#60;/i&#62;.</dd>",
        "Computed 2023-11-14 22:13 UTC from 80 votes",
    ] {
        assert!(english.contains(said), "no {said}: {english}");
    }
    let chinese = page("zh", LeaderboardView { robustness: fold(Language::Chinese), ..view() });
    assert!(chinese.contains("<summary>这份榜单有多可靠？</summary>") && chinese.contains("谁是第一？"), "{chinese}");
    let none = page("en", LeaderboardView { robustness: None, ..view() });
    assert!(!none.contains("class=\"robustness\"") && !none.contains("How robust"), "{none}");
}

#[actix_web::test]
async fn no_page_has_an_inline_script_or_style_or_another_host() {
    for query in ["?lang=en", "?lang=zh"] {
        for page in pages(query).await {
            assert!(!page.contains(" style=") && !page.contains("<style") && !page.contains(" onclick"), "{page}");
            assert!(!page.contains("http://") && !page.contains("https://"), "{page}");
            for script in page.split("<script").skip(1) {
                let (attributes, content) = script.split_once('>').expect("each tag ends");
                assert!(attributes.contains("src=\"/static/") && content.starts_with("</script>"), "{script}");
            }
        }
    }
}

#[actix_web::test]
async fn every_page_says_its_language_and_offers_the_other_one() {
    for page in pages("?lang=zh").await {
        assert!(page.contains("<html lang=\"zh\">") && page.contains("?lang=en\">English</a>"), "{page}");
    }
    for page in pages("?lang=en").await {
        assert!(page.contains("<html lang=\"en\">") && page.contains("?lang=zh\">中文</a>"), "{page}");
    }
}

#[actix_web::test]
async fn a_chosen_language_is_kept_in_a_cookie_and_only_then() {
    let rules_at =
        |path: &str| about::rules(&request(path), &Settings::default(), STORAGE, ModelVerdicts::None, vec![]);
    let chosen = rules_at("/about?lang=zh");
    let cookie = chosen.headers().get(SET_COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    assert!(cookie.starts_with("langya_language=zh;") && cookie.contains("SameSite=Lax"), "{cookie}");
    assert!(rules_at("/about").headers().get(SET_COOKIE).is_none());
}

#[actix_web::test]
async fn an_unknown_address_is_a_404_in_html() {
    let response = errors::not_found::not_found(&request("/no/such/page"));
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert_eq!(response.headers().get(CONTENT_TYPE).map(|v| v.as_bytes()), Some(&b"text/html; charset=utf-8"[..]));
}

#[actix_web::test]
async fn the_script_of_the_battle_page_finds_its_words() {
    let page = text(visitor::battle::battle(&request("/"), &Settings::default(), state(false))).await;
    let (_, words) = page.split_once("data-strings=\"").expect("the words are there");
    let words = words.split('"').next().unwrap_or_default().replace("&#34;", "\"").replace("&#38;", "&");
    let words: serde_json::Value = serde_json::from_str(&words).expect("the words are JSON");
    assert_eq!(words["both_ended"], "Both replies have ended. You can vote now.");
}

#[actix_web::test]
async fn an_arena_of_two_models_offers_the_same_two_again() {
    for (query, pairable, offer, why) in [
        ("?lang=en", 2, "Ask the same two models again", "you can ask the same two again"),
        ("?lang=en", 3, "Ask two other models", "You can ask two other models"),
        ("?lang=zh", 2, "请这两个模型重新作答", "可以请它们重新作答"),
        ("?lang=zh", 3, "换两个模型作答", "可以换两个模型回答"),
    ] {
        let state = BattlePageState { pairable, ..state(false) };
        let page = text(visitor::battle::battle(&request(&format!("/{query}")), &Settings::default(), state)).await;
        assert!(page.contains(&format!("<span class=\"if-drawn\">{offer}</span>")), "{query} {pairable}: {page}");
        assert_eq!(page.matches(why).count(), 2, "a failed answer and an empty one, {query} {pairable}: {page}");
    }
}

#[actix_web::test]
async fn the_page_holds_the_same_rows_that_are_sent_live() {
    let page = leaderboard_html(&request("/leaderboard"), &view());
    assert!(page.contains(rows_html(&view(), Language::English).trim()));
    assert!(page.contains("<time data-part=\"time\" datetime=\"2023-11-14T22:13:20Z\">2023-11-14 22:13 UTC</time>"));
    assert!(page.contains("<b data-part=\"votes\">80</b>") && page.contains("A note."));
}

#[test]
fn the_noun_beside_the_number_of_votes_fits_it_in_both_languages() {
    let noun = |query: &str, votes| {
        let page = leaderboard_html(&request(&format!("/leaderboard{query}")), &LeaderboardView { votes, ..view() });
        let (_, from) = page.split_once("data-part=\"votes-noun\" ").expect("the noun stands beside the number");
        from.split_once("</span>").expect("an element ends").0.to_owned()
    };
    assert_eq!(noun("", 1), "data-one=\"rated vote\" data-more=\"rated votes\">rated vote");
    assert_eq!(noun("", 80), "data-one=\"rated vote\" data-more=\"rated votes\">rated votes");
    assert_eq!(noun("?lang=zh", 1), "data-one=\"张有效票\" data-more=\"张有效票\">张有效票");
}

#[test]
fn the_leaderboard_leads_to_what_its_words_mean() {
    let page = leaderboard_html(&request("/leaderboard"), &view());
    assert!(page.contains("href=\"#reading\"") && page.contains("id=\"reading\""), "{page}");
    for word in [
        "The interval, drawn as a bar",
        "Elo is a second score",
        "Rated votes are",
        "both replies were found bad counts as neither",
    ] {
        assert!(page.contains(word), "{word}");
    }
}

#[actix_web::test]
async fn the_rules_call_exclusions_by_their_names() {
    let page =
        text(about::rules(&request("/about"), &Settings::default(), STORAGE, ModelVerdicts::ByModels, vec![])).await;
    assert!(page.contains("<dt>Identity leak <code>identity_leak</code></dt>"), "{page}");
}

#[actix_web::test]
async fn a_reason_of_the_program_is_in_the_language_of_the_page_and_one_of_a_person_as_it_was_written() {
    let line = |rule: &str, reason: &str| exclusions::ExclusionLine {
        seq: 1,
        rule: rule.into(),
        reason: reason.into(),
        excluded_ms: 0,
        withdrawn_ms: None,
    };
    let lines = vec![line("named_mode", "the visitor chose both models"), line("admin", "one <i>voter</i>")];
    let view = exclusions::ExclusionsView { lines, is_latest: true, ..Default::default() };
    for (query, reason) in [("?lang=en", "the visitor chose both models"), ("?lang=zh", "访客选定了两个模型")]
    {
        let page = text(exclusions::exclusions(&request(&format!("/exclusions{query}")), &view)).await;
        for stated in [reason, "one &#60;i&#62;voter&#60;/i&#62;"] {
            assert!(page.contains(&format!("<td class=\"sentence\">{stated}</td>")), "{query}: {page}");
        }
    }
}

#[test]
fn a_row_shows_the_figures_and_the_labels() {
    let html = rows_html(&view(), Language::English);
    assert_eq!(html.matches("<tr").count(), 2);
    for part in
        [">1050<", "1000 – 1100", ">1012<", ">40<", ">62 %<", "Northern Institute · MIT", "Practice", "Provisional"]
    {
        assert!(html.contains(part), "{part} in {html}");
    }
    // On the common scale from 900 to 1100 the first interval is the right half, and 1000 the middle.
    assert!(html.contains("class=\"bar-range\" x=\"50.00\" y=\"6\" width=\"50.00\""), "{html}");
    assert!(html.contains("class=\"bar-point\" x=\"75.00\""), "{html}");
    assert!(html.contains("class=\"bar-mean\" x=\"50.00\""), "{html}");
    assert!(rows_html(&view(), Language::Chinese).contains("陪练"));
}

#[test]
fn only_a_rank_that_is_first_for_sure_is_marked_as_first() {
    for (ranks, marked) in [(None, 1), (Some((1, 1)), 1), (Some((1, 3)), 0)] {
        let mut view = view();
        view.rows[0].ranks = ranks;
        let html = rows_html(&view, Language::English);
        assert_eq!(html.matches("class=\"rank first\"").count(), marked, "{ranks:?} in {html}");
    }
}

#[actix_web::test]
async fn the_consent_and_the_choice_to_wait_fit_the_mode() {
    for (query, alone, wait) in [
        ("?lang=en", "Your question goes to one model", "Always wait until I send my vote"),
        ("?lang=zh", "你的问题会发送给一个模型", "总是等我点击后再提交投票"),
    ] {
        let mut settings = invited();
        settings.battle.modes = BattleMode::ALL.to_vec();
        let page = text(visitor::battle::battle(&request(&format!("/{query}")), &settings, state(false))).await;
        assert!(page.contains(&format!("<span class=\"if-one\">{alone}")), "{page}");
        assert!(page.contains(&format!("<span class=\"if-chosen\">{wait}</span>")), "{page}");
    }
}

#[test]
fn a_model_cannot_write_html_through_its_name() {
    let mut view = view();
    let row = &mut view.rows[0];
    for field in [&mut row.name, &mut row.organization, &mut row.license, &mut row.model] {
        *field = "\"><script>alert(1)</script>".into();
    }
    let html = rows_html(&view, Language::English);
    assert!(!html.contains("<script"), "{html}");
}

#[test]
fn a_model_without_a_rating_and_a_board_of_one_are_shown() {
    let unrated = LeaderboardRow { name: "New".into(), elo: 1000.0, ..LeaderboardRow::default() };
    let html = rows_html(&LeaderboardView { rows: vec![unrated], ..LeaderboardView::default() }, Language::English);
    assert!(html.contains(">–<") && !html.contains("<svg") && !html.contains("NaN"), "{html}");
    let even =
        LeaderboardRow { rating: Some(1000.0), lower: Some(1000.0), upper: Some(1000.0), ..LeaderboardRow::default() };
    let html = rows_html(&LeaderboardView { rows: vec![even], ..LeaderboardView::default() }, Language::English);
    assert!(html.contains("x=\"50.00\"") && !html.contains("NaN"), "{html}");
    assert_eq!(rows_html(&LeaderboardView::default(), Language::English).trim(), "");
}

#[actix_web::test]
async fn an_empty_board_says_so_and_leads_to_a_battle() {
    let page = leaderboard_html(&request("/leaderboard"), &LeaderboardView::default());
    assert!(page.contains("data-empty") && page.contains("No model has been rated yet"));
}

#[test]
fn both_languages_have_the_same_placeholders_and_parts() {
    let holes = |language: Language| {
        let words = serde_json::to_value(&page_texts(language).script).expect("a struct of strings is JSON");
        let words = words.as_object().expect("a struct is an object").clone();
        words
            .into_iter()
            .map(|(key, text)| {
                let mut holes: Vec<String> = text
                    .as_str()
                    .unwrap_or_default()
                    .split('{')
                    .skip(1)
                    .map(|hole| hole.split('}').next().unwrap_or_default().into())
                    .collect();
                holes.sort();
                (key, holes)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(holes(Language::English), holes(Language::Chinese));
    let (english, chinese) = (page_texts(Language::English), page_texts(Language::Chinese));
    assert_eq!(english.about.sections.len(), chinese.about.sections.len());
    assert_eq!(english.leaderboard.reading_points.len(), chinese.leaderboard.reading_points.len());
}

/// Returns a report with markup in every text.
fn judged() -> BattleJudgingReport {
    let vote = |seq, judge: &str, game, winner| JudgedVote {
        seq,
        models: ["<x>".into(), "y".into()],
        outcome: Outcome::AWins,
        turns: 2,
        language: "<b>".into(),
        category: Some("<script>".into()),
        intent: None,
        judge: judge.into(),
        prompt_sha256: "0123456789abcdef".into(),
        game,
        status: Status::Ok,
        parsed: Some(winner),
        created_at: Timestamp(1_795_219_200_000),
    };
    let both =
        |judge| [(Game::First, Preference::A), (Game::Second, Preference::B)].map(|(game, w)| vote(1, judge, game, w));
    report(&[both("<i>judge"), both("other")].concat(), &[], ConfidenceLevel::default()).unwrap()
}

#[actix_web::test]
async fn what_judges_made_of_battles_is_escaped_and_shown_in_both_languages() {
    let page = async |query: &str| text(judges::judges(&request(&format!("/judges{query}")), &judged())).await;
    let (english, chinese) = (page("?lang=en").await, page("?lang=zh").await);
    for html in [&english, &chinese] {
        assert!(!html.contains("<i>judge") && !html.contains("<script>") && !html.contains("<x>"), "{html}");
        assert!(html.contains("&#60;i&#62;judge") && html.contains("100.0 % (20.7–100.0), 1/1"), "{html}");
        assert!(html.contains("2026-11-21") && html.contains("0123456789ab<"), "{html}");
        assert_eq!(html.matches("<table").count(), 5, "two for each judge, and one of both");
    }
    assert!(english.contains("Several turns") && english.contains("Distance not known"));
    assert!(chinese.contains("多轮") && chinese.contains("距离未知"));
    let nothing = report(&[], &[], ConfidenceLevel::default()).unwrap();
    let nothing = text(judges::judges(&request("/judges?lang=en"), &nothing)).await;
    assert!(nothing.contains("No battle has been judged yet.") && !nothing.contains("<table"));
}

#[actix_web::test]
async fn the_rules_name_judges_only_where_there_are_any() {
    for (query, words) in [("?lang=en", "other models judge a share"), ("?lang=zh", "交给其他模型评判")] {
        let page = async |judging| {
            let request = request(&format!("/about{query}"));
            text(about::rules(&request, &Settings::default(), STORAGE, judging, vec![])).await
        };
        assert!(page(ModelVerdicts::ByModels).await.contains(words));
        assert!(!page(ModelVerdicts::None).await.contains(words));
    }
}

#[actix_web::test]
async fn the_rules_say_the_limits_that_the_arena_has() {
    let mut settings = Settings::default();
    let page = async |query: &str, settings: &Settings| {
        text(about::rules(&request(&format!("/about{query}")), settings, STORAGE, ModelVerdicts::None, vec![])).await
    };
    let said = page("?lang=en", &settings).await;
    assert!(said.contains("Votes allowed per visitor: 15 per minute, 240 per hour, 720 per day."), "{said}");
    assert!(said.contains("together: 90 per minute, 1800 per hour, 3600 per day."), "{said}");
    assert!(page("?lang=zh", &settings).await.contains("最多可投：每分钟 15 票，每小时 240 票，每天 720 票。"));
    settings.limits.votes = WindowLimits::new(0, 7, 0);
    settings.limits.votes_per_address = WindowLimits::NONE;
    let said = page("?lang=en", &settings).await;
    assert!(said.contains("Votes allowed per visitor: 7 per hour.") && !said.contains("one network"), "{said}");
    settings.limits.votes = WindowLimits::NONE;
    settings.limits.proof_above = 1.0;
    assert!(!page("?lang=en", &settings).await.contains("<h2>Limits</h2>"));
}

#[actix_web::test]
async fn the_rules_say_what_comes_of_flagged_voters() {
    let mut settings = Settings::default();
    let page = async |settings: &Settings| {
        text(about::rules(&request("/about?lang=en"), settings, STORAGE, ModelVerdicts::None, vec![])).await
    };
    assert!(page(&settings).await.contains("listed for the operator; the program does not exclude anybody for this"));
    settings.integrity.flagged_voters = FlaggedVoterPolicy::Exclude;
    assert!(page(&settings).await.contains("excluded automatically until the operator readmits them"));
}

#[actix_web::test]
async fn the_rules_say_which_pacing_is_in_force_with_its_classes_and_figures() {
    let page = async |pacing, query| {
        let battle = BattleSettings { pacing, slow_class_share: 0.37, ..BattleSettings::default() };
        let settings = Settings { battle, ..Settings::default() };
        text(about::rules(&request(&format!("/about{query}")), &settings, STORAGE, ModelVerdicts::None, vec![])).await
    };
    let classes = page(PacingMode::Classes, "?lang=en").await;
    assert!(classes.contains("“classes”") && classes.contains("after 3 or 15 seconds"), "{classes}");
    assert!(classes.contains("60 or 25 characters a second") && classes.contains("in 37 % of all cases"), "{classes}");
    assert!(page(PacingMode::Classes, "?lang=zh").await.contains("37 % 的对战"));
    for (pacing, name, measured) in [
        (PacingMode::Common, "“common”", true),
        (PacingMode::Whole, "“whole”", true),
        (PacingMode::Raw, "“raw”", false),
    ] {
        let english = page(pacing, "?lang=en").await;
        assert!(english.contains(name) && english.contains("Measured:") == measured, "{english}");
    }
}

/// Returns the settings of an arena that requires invites.
fn invited() -> Settings {
    Settings { access: AccessSettings { mode: AccessMode::Invite, ..AccessSettings::default() }, ..Settings::default() }
}

#[actix_web::test]
async fn the_way_out_of_a_refusal_is_a_page_that_needs_none_of_what_was_asked() {
    let (address, form) = ("Open the page without these options", "Open the page of the form");
    for (request, button_href, action) in [
        (TestRequest::get().uri("/leaderboard?lang=en&sort=x"), "/leaderboard", address),
        (TestRequest::get().uri("/admin/votes/decide?lang=en&change=x"), "/admin/votes", address),
        (TestRequest::get().uri("/admin/models/change?lang=en"), "/admin/models", address),
        (TestRequest::get().uri("/admin/nowhere?lang=en"), "/admin", address),
        (TestRequest::post().uri("/admin/campaigns/state?lang=en"), "/admin/campaigns", form),
        (TestRequest::post().uri("/battle/one/label?lang=en"), "/battle/one", form),
        (TestRequest::post().uri("/sign-in?lang=en"), "/sign-in", form),
        (TestRequest::post().uri("/sign-out?lang=en"), "/", form),
    ] {
        let request = request.to_http_request();
        let page = text(errors::refused::refused(&request, StatusCode::BAD_REQUEST, "why")).await;
        let button = format!("<a class=\"button primary\" href=\"{button_href}\">{action}</a>");
        assert!(page.contains(&button), "{}: {page}", request.uri());
    }
    let request = TestRequest::post().uri("/shared/token/removal?lang=zh").to_http_request();
    let page = text(errors::refused::invalid_field(&request, StatusCode::BAD_REQUEST, InvalidField::Reason)).await;
    assert!(page.contains("href=\"/shared/token\"") && page.contains("个字符的理由"), "{page}");
}
