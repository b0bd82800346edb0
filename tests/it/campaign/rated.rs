//! Votes of rated campaigns move the arena's leaderboard as a slice of their own; who is left out counts nowhere, until readmitted.

use std::time::Duration;

use langya::domain::integrity::pseudonym::voter_pseudonym;
use langya::infra::config::{LimitSettings, WindowLimits};
use reqwest::header::RETRY_AFTER;

use super::*;
use crate::support::arena::NO_LIMITS;

/// Longest wait for a leaderboard; reached only by a failing test.
const TIMEOUT: Duration = Duration::from_secs(30);
const RATED: &str = "task = \"pairwise\"\njudgements_per_item = 2\nrepeat_share = 0.5\nrated = true\nseed = 7\n";

impl CampaignFixture {
    /// Puts limits in force, and believes the addresses that requests say they come from.
    fn limit(&self, limits: LimitSettings) {
        let mut settings = (*self.arena.app.settings.now()).clone();
        settings.server.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
        settings.limits = limits;
        self.arena.app.settings.replace(settings);
    }

    /// Sends a request from an address. A refusal for its rate says when to come back.
    async fn post_from(&self, address: &str, token: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let url = format!("{}/api/v1/campaigns/pilot/{path}", self.arena.url);
        let request = self.client.post(url).bearer_auth(token).header("x-forwarded-for", address);
        let response = request.json(&body).send().await.unwrap();
        let status = response.status();
        assert_eq!(response.headers().contains_key(RETRY_AFTER), status == StatusCode::TOO_MANY_REQUESTS, "{path}");
        (status, response.json().await.unwrap())
    }

    async fn until_rated(&self, votes: u64) {
        let mut changes = self.arena.app.leaderboard.changes();
        let rates = changes.wait_for(|snapshot| snapshot.leaderboard.votes.rated == votes);
        assert!(tokio::time::timeout(TIMEOUT, rates).await.is_ok_and(|found| found.is_ok()), "never {votes} votes");
    }

    /// Who has how many wins on the leaderboard of this address.
    async fn wins(&self, query: &str) -> BTreeMap<String, u64> {
        let leaderboard: Value =
            get(&format!("{}/api/v1/leaderboard{query}", self.arena.url)).await.json().await.unwrap();
        let models = leaderboard["models"].as_array().unwrap_or_else(|| panic!("{query}: {leaderboard}")).iter();
        models.map(|model| (model["model"].as_str().unwrap().to_owned(), model["wins"].as_u64().unwrap())).collect()
    }

    /// Judges everything that a token is given, always for the model `good`; returns how many repetitions there were.
    async fn judge_all(&self, token: &str) -> usize {
        self.judge_each(token, |_| "good").await
    }

    /// Judges everything that a token is given, each item for one model; returns how many repetitions there were.
    async fn judge_each(&self, token: &str, better: impl Fn(&str) -> &'static str) -> usize {
        let (mut items, mut repeats) = (BTreeSet::new(), 0);
        loop {
            let shown = self.next(token).await;
            if shown["finished"] == true {
                return repeats;
            }
            repeats += usize::from(!items.insert(shown["item"].to_string()));
            let better = better(shown["item"].as_str().unwrap());
            let outcome = if shown["a"] == format!("{better} says.") { "a" } else { "b" };
            self.judge(token, &shown, outcome).await;
        }
    }

    async fn rules_in_force(&self) -> Vec<String> {
        let exclusions =
            self.arena.app.store.exclusions_in_force(langya::infra::storage::VoteRange::ALL).await.unwrap();
        let last = self.arena.app.store.last_vote_seq().await.unwrap();
        (1..=last).filter_map(|seq| exclusions.rule_of(seq).map(str::to_owned)).collect()
    }
}

#[actix_web::test]
async fn votes_of_a_rated_campaign_are_a_slice_of_the_leaderboard_and_a_judgement_taken_back_is_none() {
    let fixture = CampaignFixture::start().await;
    let mut visitor = fixture.arena.visitor().await;
    visitor.ask("Which way?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    let tokens = fixture.open(&pairwise(RATED, 8, &["bad", "good"]), 2).await;
    let shown = fixture.next(&tokens[0]).await;
    fixture.judge(&tokens[0], &shown, "tie").await;
    fixture.until_rated(2).await;
    let (status, _) = fixture.post(&tokens[0], "undo", json!({})).await;
    assert_eq!(status, StatusCode::OK);
    fixture.until_rated(1).await;
    assert_eq!(fixture.rules_in_force().await, ["taken_back"]);
    assert!(fixture.judge_all(&tokens[0]).await > 0, "the repetitions are no votes");
    fixture.until_rated(9).await;

    let all = fixture.wins("").await;
    assert_eq!((all["good"], all["bad"], all["one"] + all["two"]), (8, 0, 1), "{all:?}");
    let campaign = fixture.wins("?source=campaign").await;
    assert_eq!((campaign["good"], campaign["bad"]), (8, 0));
    assert_eq!(campaign.get("one").copied().unwrap_or(0) + campaign.get("two").copied().unwrap_or(0), 0);
    let arena = fixture.wins("?source=arena").await;
    assert_eq!(arena["one"] + arena["two"], 1, "{arena:?}");
    let imported = fixture.wins("?source=import").await;
    assert_eq!(imported.values().sum::<u64>(), 0, "a source without votes is an empty slice: {imported:?}");
    let page = get(&format!("{}/leaderboard?source=campaign", fixture.arena.url)).await.text().await.unwrap();
    assert!(page.contains(r#"<option value="campaign" selected"#), "{page}");

    // The export of the arena's votes has them too, with where they come from.
    let exported = ["export", "votes", "--out", "all.jsonl", "--data-dir", "data"];
    assert_eq!(langya_beside(fixture.folder.path(), &exported).await.code, Some(0));
    for (source, votes) in [("campaign", 8), ("arena", 1)] {
        for from in [&["--votes", "all.jsonl"][..], &["--data-dir", "data"]] {
            let fit = [&["fit", "--format", "json", "--source", source][..], from].concat();
            let fitted = langya_beside(fixture.folder.path(), &fit).await;
            let fitted: Value = serde_json::from_str(&fitted.stdout).unwrap_or_else(|_| panic!("{}", fitted.stderr));
            let wins: u64 =
                fitted["models"].as_array().unwrap().iter().map(|model| model["wins"].as_u64().unwrap()).sum();
            assert_eq!(wins, votes, "{fit:?}");
        }
    }
    let deleted = fixture.campaign(&["delete", "pilot", "--with-judgements"]).await;
    assert_eq!(deleted.code, Some(0), "{}", deleted.stderr);
    let rules = fixture.rules_in_force().await;
    assert_eq!(rules.iter().filter(|rule| *rule == "left_out").count(), 9, "{rules:?}");
    fixture.arena.end().await;
}

#[actix_web::test]
async fn published_votes_of_an_annotator_are_one_voters_and_the_annotators_name_leads_to_none() {
    let fixture = CampaignFixture::start().await;
    let tokens = fixture.open(&pairwise(RATED, 3, &["bad", "good"]), 2).await;
    for token in &tokens {
        fixture.judge_all(token).await;
    }
    fixture.until_rated(6).await;
    let exported = ["export", "votes", "--out", "all.jsonl", "--data-dir", "data"];
    assert_eq!(langya_beside(fixture.folder.path(), &exported).await.code, Some(0));
    let lines = std::fs::read_to_string(fixture.folder.path().join("all.jsonl")).unwrap();
    let votes = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let voters: BTreeSet<String> = votes.map(|vote| vote["judge"].as_str().unwrap().to_owned()).collect();
    assert_eq!(voters.len(), 2, "{voters:?}");
    for annotator in ["pilot-1", "pilot-2"] {
        assert!(!voters.contains(&voter_pseudonym(annotator)), "{annotator} in {voters:?}");
    }
    fixture.arena.end().await;
}

#[actix_web::test]
async fn an_annotator_who_is_left_out_counts_nowhere_until_readmitted() {
    let fixture = CampaignFixture::start().await;
    let keys = RATED.replace("repeat_share = 0.5\n", "");
    let tokens = fixture.open(&pairwise(&keys, 3, &["bad", "good"]), 3).await;
    fixture.judge_all(&tokens[0]).await;
    fixture.judge_all(&tokens[1]).await;
    fixture.until_rated(6).await;
    let before = fixture.json(&["report", "pilot"]).await;
    assert_eq!((&before["complete"], &before["left_out"]), (&json!(true), &json!([])));

    let refused = fixture.campaign(&["report", "pilot", "--leave-out", "pilot-1"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("--reason"), "{}", refused.stderr);
    let refused = fixture.campaign(&["report", "pilot", "--leave-out", "pilot-9", "--reason", "x"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("annotator \"pilot-9\""), "{}", refused.stderr);
    let refused = fixture.campaign(&["report", "pilot", "--leave-out", "pilot-1", "--reason", " "]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("the reason must have 1 to 500"), "{}", refused.stderr);
    let refused = fixture.campaign(&["report", "pilot", "--readmit", "pilot-1"]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("does not leave out"), "{}", refused.stderr);

    let report = fixture.json(&["report", "pilot", "--leave-out", "pilot-1", "--reason", "was asleep"]).await;
    assert_eq!((&report["judgements"], &report["complete"]), (&json!(3), &json!(false)));
    assert_eq!(report["models"][0]["wins"], 3);
    assert_eq!(report["annotators"].as_array().unwrap().len(), 1);
    let left = &report["left_out"][0];
    assert_eq!(
        (&left["annotator"], &left["reason"], &left["judgements"]),
        (&json!("pilot-1"), &json!("was asleep"), &json!(3))
    );
    let table = fixture.campaign(&["report", "pilot"]).await.stdout;
    assert!(table.contains("left out: pilot-1 with 3 judgements") && table.contains("was asleep"), "{table}");
    assert!(table.contains("95 % interval: from judgements of one annotator, taken as independent"), "{table}");
    assert!(table.contains("note: ") && table.contains("won every vote"), "a limit is explained: {table}");
    fixture.until_rated(3).await;
    let (status, refused) = fixture.post(&tokens[0], "next", json!({})).await;
    assert_eq!((status, &refused["code"]), (StatusCode::FORBIDDEN, &json!("link_revoked")));
    let exported = fixture.exported().await;
    assert_eq!(exported.iter().filter(|line| line["exclusion"] == "left_out").count(), 3);
    let shown = fixture.next(&tokens[2]).await;
    assert!(shown["assignment"].is_string(), "the units need somebody else: {shown}");

    let report = fixture.json(&["report", "pilot", "--readmit", "pilot-1"]).await;
    assert_eq!(
        (&report["judgements"], &report["left_out"], &report["models"]),
        (&json!(6), &json!([]), &before["models"])
    );
    fixture.until_rated(6).await;
    assert_eq!(fixture.next(&tokens[0]).await["finished"], true);
    let audit = langya_beside(fixture.folder.path(), &["admin", "audit", "--data-dir", "data"]).await.stdout;
    assert!(audit.contains("leave_annotator_out") && audit.contains("readmit_annotator"), "{audit}");
    fixture.arena.end().await;
}

/// Of each model that was voted on: its battles, wins, rating and interval.
fn results(leaderboard: &Value) -> BTreeMap<String, [f64; 5]> {
    let models = leaderboard["models"].as_array().unwrap_or_else(|| panic!("{leaderboard}")).iter();
    let number = |model: &Value, key: &str| model[key].as_f64().unwrap_or_else(|| panic!("{key}: {model}"));
    let numbers = |model: &Value| ["battles", "wins", "rating", "lower", "upper"].map(|key| number(model, key));
    let voted_on = models.filter(|model| model["battles"] != 0);
    voted_on.map(|model| (model["model"].as_str().unwrap().to_owned(), numbers(model))).collect()
}

#[actix_web::test]
async fn the_exported_judgements_fit_like_those_of_the_database_and_the_report() {
    let fixture = CampaignFixture::start().await;
    let keys = RATED.replace("judgements_per_item = 2", "judgements_per_item = 4");
    let tokens = fixture.open(&pairwise(&keys, 8, &["bad", "good"]), 4).await;
    let mut repeats = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_bad = |item: &str| (usize::from(item.as_bytes()[1]) + at).is_multiple_of(at + 3);
        repeats.push(fixture.judge_each(token, |item| if is_bad(item) { "bad" } else { "good" }).await);
    }
    assert!(repeats[..3].iter().sum::<usize>() > 0, "{repeats:?}");
    fixture.until_rated(32).await;
    let report = fixture.json(&["report", "pilot", "--leave-out", "pilot-4", "--reason", "was asleep"]).await;
    let fit = async |from: &[&str]| -> Value {
        let fitted = langya_beside(fixture.folder.path(), &[&["fit", "--format", "json"], from].concat()).await;
        serde_json::from_str(&fitted.stdout).unwrap_or_else(|_| panic!("{}", fitted.stderr))
    };
    let database = fit(&["--source", "campaign", "--data-dir", "data"]).await;
    fixture.exported().await;
    fixture.done(&["export", "pilot", "--out", "out.csv", "--format", "csv"]).await;
    for file in ["out.jsonl", "out.csv"] {
        let fitted = fit(&["--votes", file]).await;
        let excluded = json!({"left_out": 8 + repeats[3], "unrated": repeats[..3].iter().sum::<usize>()});
        assert_eq!((&fitted["votes"]["rated"], &fitted["votes"]["excluded"]), (&json!(24), &excluded), "{file}");
        assert_eq!((&fitted["voters"], &database["voters"]), (&json!(3), &json!(3)), "{file}");
        for (other, name) in [(&database, "database"), (&report, "report")] {
            let (found, wanted) = (results(&fitted), results(other));
            assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{file} and {name}");
            for (found, wanted) in found.values().flatten().zip(wanted.values().flatten()) {
                assert!((found - wanted).abs() < 1e-6, "{file} and {name}: {found} {wanted}");
            }
        }
    }
    fixture.arena.end().await;
}

#[actix_web::test]
async fn an_annotator_of_a_rated_campaign_votes_no_faster_than_a_visitor_and_loses_nothing() {
    let fixture = CampaignFixture::start().await;
    let keys = RATED.replace("repeat_share = 0.5\n", "");
    let token = fixture.open(&pairwise(&keys, 8, &["bad", "good"]), 1).await.remove(0);
    fixture.limit(LimitSettings { votes: WindowLimits::new(0, 2, 0), ..NO_LIMITS });
    for _ in 0..2 {
        let shown = fixture.next(&token).await;
        fixture.judge(&token, &shown, "a").await;
    }
    let shown = fixture.next(&token).await;
    let said = json!({"assignment": shown["assignment"], "outcome": "a"});
    let (status, refused) = fixture.post_from("192.0.2.1", &token, "judgements", said).await;
    assert_eq!((status, &refused["code"]), (StatusCode::TOO_MANY_REQUESTS, &json!("rate_limited")), "{refused}");
    assert_eq!(fixture.next(&token).await["assignment"], shown["assignment"], "it waits");
    fixture.limit(NO_LIMITS);
    fixture.judge(&token, &shown, "a").await;
    fixture.until_rated(3).await;
    fixture.arena.end().await;
}

#[actix_web::test]
async fn a_network_takes_no_more_places_of_a_shared_link_than_it_may_vote() {
    let fixture = CampaignFixture::start().await;
    assert_eq!(fixture.create(&pairwise(RATED, 8, &["bad", "good"])).await.code, Some(0));
    fixture.done(&["open", "pilot"]).await;
    let link = fixture.json(&["invite", "pilot", "--shared", "--count", "20", "--quota", "8"]).await;
    let link = link["join"].as_str().unwrap();
    fixture.limit(LimitSettings { votes_per_address: WindowLimits::new(0, 3, 0), ..NO_LIMITS });
    let join = async |address: &str, person: u32| {
        fixture.post_from(address, link, "join", json!({"request": format!("person {person}")})).await
    };
    let first = join("203.0.113.9", 0).await.1["invite"].as_str().unwrap().to_owned();
    for person in 1..3 {
        assert_eq!(join("203.0.113.9", person).await.0, StatusCode::OK);
    }
    let (status, refused) = join("203.0.113.77", 3).await;
    assert_eq!((status, &refused["code"]), (StatusCode::TOO_MANY_REQUESTS, &json!("rate_limited")), "{refused}");
    let shown = fixture.next(&first).await;
    let said = json!({"assignment": shown["assignment"], "outcome": "a"});
    let (status, _) = fixture.post_from("203.0.113.9", &first, "judgements", said.clone()).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "the votes from these places are the network's");
    assert_eq!(join("198.51.100.1", 4).await.0, StatusCode::OK, "other networks are not concerned");
    assert_eq!(fixture.post_from("198.51.100.1", &first, "judgements", said).await.0, StatusCode::OK);
    fixture.arena.end().await;
}

#[actix_web::test]
async fn judgements_of_a_campaign_that_is_not_rated_are_no_votes_and_have_no_limit() {
    let fixture = CampaignFixture::start().await;
    let token = fixture.open(&pairwise(SHORT, 4, &["bad", "good"]), 1).await.remove(0);
    fixture.limit(LimitSettings { votes: WindowLimits::new(0, 1, 0), ..NO_LIMITS });
    for _ in 0..3 {
        let shown = fixture.next(&token).await;
        fixture.judge(&token, &shown, "a").await;
    }
    fixture.arena.end().await;
}

#[actix_web::test]
async fn making_a_rated_campaign_says_where_annotators_could_read_the_votes_of_others() {
    let fixture = CampaignFixture::start().await;
    std::fs::write(fixture.folder.path().join("public.toml"), "[api]\nvotes = \"public\"\n").unwrap();
    std::fs::write(fixture.folder.path().join("key.toml"), "[api]\nvotes = \"key\"\n").unwrap();
    for (keys, settings, warns) in [
        (RATED.to_owned(), "public.toml", true),
        (RATED.to_owned(), "key.toml", false),
        (RATED.replace("rated = true", "rated = false"), "public.toml", false),
    ] {
        assert_eq!(fixture.create(&pairwise(&keys, 2, &["bad", "good"])).await.code, Some(0), "writes the files");
        fixture.done(&["delete", "pilot"]).await;
        let arguments = ["campaign", "create", "pilot.toml", "--data-dir", "data", "--config", settings];
        let created = langya_beside(fixture.folder.path(), &arguments).await;
        assert_eq!(created.code, Some(0), "{}", created.stderr);
        let found = created.stderr.contains("annotators who read it are not blind");
        assert_eq!(found, warns, "{settings}, {keys}: {}", created.stderr);
        fixture.done(&["delete", "pilot"]).await;
    }
}
