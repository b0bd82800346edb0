//! Recounts of small logs.

use super::*;

/// Default rating rules of an arena.
pub(in crate::public_log) const RULES: RatingRules = RatingRules {
    confidence: 0.95,
    interval: IntervalMethod::Auto,
    min_votes: 30,
    equal_within: 10.0,
    optimal_at_battles: 100,
};

fn vote(seq: i64, models: [&str; 2], winner: &str, voter: &str) -> String {
    let [a, b] = models;
    format!(
        r#"{{"vote":{{"seq":{seq},"time":{seq},"model_a":"{a}","model_b":"{b}","winner":"{winner}","turn":1,"language":"en","#
    ) + &format!(r#""pairing_policy":"uniform","pair_probability":1.0,"voter":"{voter}","commitment":""}}}}"#)
}

fn excluded(seq: i64, rule: &str) -> String {
    format!(r#"{{"exclusion":{{"seq":{seq},"time":9,"rule":"{rule}","reason":"so"}}}}"#)
}

fn withdrawn(seq: i64, rule: &str) -> String {
    format!(r#"{{"withdrawal":{{"seq":{seq},"time":9,"rule":"{rule}"}}}}"#)
}

fn votes() -> Vec<String> {
    let pairs = [["one", "two"], ["two", "three"], ["three", "one"]];
    (1..=60_u32)
        .map(|n| {
            let winner = ["model_a", "model_b", "tie", "model_a", "both_bad"][(n as usize * 7 + n as usize / 3) % 5];
            vote(i64::from(n) * 2, pairs[n as usize % 3], winner, ["ann", "bob", "", "eve"][n as usize % 4])
        })
        .collect()
}

fn recount(entries: &[String]) -> Result<Recount, EntryError> {
    let mut recount = Recount::default();
    entries.iter().try_for_each(|entry| recount.add(entry.as_bytes()))?;
    Ok(recount)
}

fn leaderboard(entries: &[String]) -> Leaderboard {
    let recount = recount(entries).unwrap();
    recount.leaderboard(recount.votes(), &RULES.options().unwrap()).unwrap()
}

#[test]
fn a_withdrawn_exclusion_leaves_the_leaderboard_as_it_was() {
    let all = leaderboard(&votes());
    assert_eq!((all.votes.read, all.votes.rated, all.interval), (60, 60, IntervalMethod::Jackknife));
    let out = leaderboard(
        &[votes(), vec![excluded(8, "admin"), excluded(8, "rate_limited"), excluded(10, "admin")]].concat(),
    );
    assert_eq!(out.votes.excluded, [("admin".to_owned(), 2)].into());
    assert_ne!(out.models, all.models);
    let one = [votes(), vec![excluded(8, "admin"), excluded(8, "rate_limited"), withdrawn(8, "admin")]].concat();
    assert_eq!(leaderboard(&one).votes.excluded, [("rate_limited".to_owned(), 1)].into());
    let back = [one, vec![withdrawn(8, "rate_limited"), excluded(8, "admin"), withdrawn(8, "admin")]].concat();
    assert_eq!(leaderboard(&back), all);
    assert_eq!(recount(&back).unwrap().excluded(), 0);
}

#[test]
fn a_difference_in_the_last_bit_is_found() {
    let leaderboard = leaderboard(&votes());
    let mut published = serde_json::to_value(&leaderboard).unwrap();
    published["as_of"] = 5.into();
    assert!(differences(&published, &leaderboard).is_empty());
    let rating = published["models"][0]["rating"].as_f64().unwrap();
    published["models"][0]["rating"] = rating.next_up().into();
    published["votes"]["rated"] = 61.into();
    let found = differences(&published, &leaderboard);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("/models/0/rating: published ") && found[1].starts_with("/votes/rated: "),
        "{found:?}"
    );
    published["models"].as_array_mut().unwrap().pop();
    assert!(differences(&published, &leaderboard).iter().any(|found| found.starts_with("/models: ")));
}

#[test]
fn a_field_that_is_null_has_its_name() {
    let leaderboard = leaderboard(&votes());
    let mut published = serde_json::to_value(&leaderboard).unwrap();
    let model = published["models"][0].as_object_mut().unwrap();
    assert_eq!(model.remove("unbounded"), Some(serde_json::Value::Null));
    model.insert("unbounced".to_owned(), serde_json::Value::Null);
    let expected = [
        "/models/0/unbounced: published null, recounted nothing",
        "/models/0/unbounded: published nothing, recounted null",
    ];
    assert_eq!(differences(&published, &leaderboard), expected);
}

#[test]
fn without_voters_the_counts_are_fitted() {
    let recount = recount(&votes()).unwrap();
    let rules = RatingRules { interval: IntervalMethod::Sandwich, ..RULES };
    let leaderboard = recount.leaderboard(60, &rules.options().unwrap()).unwrap();
    assert_eq!((leaderboard.interval, leaderboard.votes.rated), (IntervalMethod::Sandwich, 60));
    assert!(matches!(recount.leaderboard(61, &rules.options().unwrap()), Err(RecountError::TooFew(60))));
    assert_eq!(recount.leaderboard(30, &rules.options().unwrap()).unwrap().votes.read, 30);
}

#[test]
fn entries_that_cannot_follow_each_other_are_refused() {
    let two = [vote(1, ["one", "two"], "tie", ""), vote(2, ["one", "two"], "tie", "")];
    let refused = |last: String| recount(&[two.to_vec(), vec![last]].concat()).unwrap_err();
    assert!(matches!(refused(two[1].clone()), EntryError::OutOfOrder { position: 2, seq: 2, last: 2 }));
    assert!(matches!(refused(excluded(3, "admin")), EntryError::NothingToExclude { seq: 3, .. }));
    assert!(matches!(refused(withdrawn(1, "admin")), EntryError::NothingToWithdraw { seq: 1, .. }));
    for malformed in ["", "{}", "[]", r#"{"vote":{}}"#, r#"{"burial":{"seq":1}}"#, "\u{0}"] {
        assert!(matches!(refused(malformed.to_owned()), EntryError::Malformed { position: 2, .. }), "{malformed}");
    }
    let unknown = vote(3, ["one", "two"], "model_c", "");
    assert!(matches!(refused(unknown), EntryError::Malformed { .. }));
    let twice = [two.to_vec(), vec![excluded(1, "admin"), excluded(1, "admin")]].concat();
    assert!(matches!(recount(&twice), Err(EntryError::NothingToExclude { position: 3, .. })));
}
