//! Output of `langya fit` for vote files.

use std::path::PathBuf;

use clap::Parser;

use super::print::print_within;
use super::*;
use crate::domain::rating::leaderboards::leaderboard::{Leaderboard, RankedModel};
use crate::domain::rating::options::IntervalMethod;
use crate::formats::votes::read_log;
use crate::output::terminal_text::width;

#[derive(Parser)]
struct FitArguments {
    #[command(flatten)]
    options: FitOptions,
}

/// Runs `langya fit` on a file with these votes.
fn run(votes: &str, flags: &[&str]) -> Result<String, FitCommandError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes.csv");
    std::fs::write(&path, votes).unwrap();
    let line = [&["fit", "--votes", path.to_str().unwrap()], flags].concat();
    let options = FitArguments::try_parse_from(line).unwrap().options;
    fit_files(&options).map(|result| print(&result, &options))
}

const VOTES: &str = "model_a,model_b,winner\n通义千问,\"b, 7B\",A\n通义千问,\"b, 7B\",A\n通义千问,\"b, 7B\",A\n\
                     通义千问,\"b, 7B\",B\nc\u{1b}[2J,\"b, 7B\",tie\n";

#[test]
fn the_table_is_aligned_and_has_no_control_characters() {
    insta::assert_snapshot!(run(VOTES, &["--interval", "none"]).unwrap(), @r"
    Bradley–Terry, converged in 5 iterations; no intervals; 5 of 5 votes rated
    rank  model     rating  lower  upper     Elo  battles  wins  losses  win+tie
       1  通义千问  1127.2      –      –  1003.9        4     3       1    75.0%  provisional
       2  b, 7B      936.4      –      –   996.2        5     1       3    40.0%  provisional
       2  c�[2J      936.4      –      –  1000.0        1     0       0   100.0%  provisional
    rank: the order of the ratings, which may be chance; rating: points, where 400 more are odds of 10 to 1; lower, upper: interval of the rating; Elo: the votes one by one in log order; win+tie: share of battles won or tied, both-bad being neither
    ");
}

#[test]
fn a_narrow_screen_has_fewer_columns_and_shorter_names() {
    let votes = VOTES.replace("通义千问", "通义千问-超长名称-指令微调-量化后-第一百二十次试验");
    let wide = run(&votes, &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes.csv");
    std::fs::write(&path, votes).unwrap();
    let options = FitArguments::try_parse_from(["fit", "--votes", path.to_str().unwrap()]).unwrap().options;
    let result = fit_files(&options).unwrap();
    for screen in [40, 60, 80, 100, 120] {
        let text = print_within(&result, &options, Some(screen));
        for line in text.lines().skip(1).take(4) {
            assert!(width(line) <= screen, "{line:?} is wider than {screen}");
        }
        assert!(text.contains("rating") && text.contains("通义"), "{text}");
    }
    assert_eq!(print_within(&result, &options, Some(300)), wide);
}

#[test]
fn models_whose_shown_ranks_are_the_same_stand_by_rating() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes.csv");
    std::fs::write(&path, "model_a,model_b,winner\nhigh,low,A\nhigh,low,A\nhigh,low,B\n").unwrap();
    let options = FitArguments::try_parse_from(["fit", "--votes", path.to_str().unwrap()]).unwrap().options;
    let mut result = fit_files(&options).unwrap();
    // The interval of the better model is narrower and does not reach that of a third one.
    for model in &mut result.leaderboard.models {
        model.rank = if model.model == "high" { 2 } else { 1 };
    }
    result.leaderboard.models.reverse();
    let text = print_within(&result, &options, None);
    let names: Vec<&str> = text.lines().skip(2).take(2).filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(names, ["high", "low"], "{text}");
}

#[test]
fn charts_are_written_into_a_folder_and_not_over_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let charts = folder.path().join("new").join("charts");
    let charts = charts.to_str().unwrap();
    run(
        &VOTES.replace("model_a,", "tstamp,model_a,").replace("\n通", "\n7,通").replace("\nc", "\n9,c"),
        &["--charts", charts],
    )
    .unwrap();
    let mut names: Vec<_> =
        std::fs::read_dir(charts).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["battles.svg", "history.svg", "predicted.svg", "ratings.svg", "wins.svg"]);
    for name in names {
        let svg = std::fs::read_to_string(format!("{charts}/{name}")).unwrap();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(svg.contains("通义千问"), "{name}");
    }
    let refused = run(VOTES, &["--charts", &format!("{charts}/wins.svg")]).unwrap_err().to_string();
    assert!(refused.contains("wins.svg") && refused.contains("choose another folder"), "{refused}");
}

#[test]
fn the_thread_that_fits_draws_the_charts_and_writes_none() {
    let folder = tempfile::tempdir().unwrap();
    let [votes, charts] = ["votes.csv", "charts"].map(|name| folder.path().join(name));
    std::fs::write(&votes, VOTES).unwrap();
    let line = ["fit", "--votes", votes.to_str().unwrap(), "--charts", charts.to_str().unwrap()];
    let options = FitArguments::try_parse_from(line).unwrap().options;
    let log = read_log(&options.votes, options.columns(), &options.reading.options()).unwrap();
    let fitted = rank_and_draw(log, &options.leaderboard_options().unwrap(), None, &options).unwrap();
    let drawn = fitted.charts.len();
    assert!(drawn >= 4 && !charts.exists(), "{drawn}");
    fitted.write_charts(&options).unwrap();
    assert_eq!(std::fs::read_dir(charts).unwrap().count(), drawn);
}

#[test]
fn a_winner_of_every_vote_is_explained_under_the_table() {
    let votes = format!("{VOTES}d,通义千问,A\n");
    insta::assert_snapshot!(run(&votes, &["--min-votes", "0"]).unwrap(), @r#"
    Bradley–Terry, converged in 5 iterations; sandwich intervals, which take votes as independent, at 0.95 confidence; 6 of 6 votes rated
    rank  model     rating  lower   upper     Elo  battles  wins  losses  win+tie
       –  d         ≥748.8  748.8       –  1002.0        1     1       0   100.0%  only won
     1–4  通义千问  1127.2  865.1  1389.3  1001.8        5     3       2    60.0%
     1–4  b, 7B      936.4  805.3  1067.4   996.2        5     1       3    40.0%
       –  c�[2J      936.4      –       –  1000.0        1     0       0   100.0%
    rank: the places that the votes allow, right for all models together at this confidence; rating: points, where 400 more are odds of 10 to 1; lower, upper: interval of the rating; Elo: the votes one by one in log order; win+tie: share of battles won or tied, both-bad being neither
    note: "d" won every vote against the rated models, so its rating has no upper bound: the table shows its lower bound by likelihood ratio at 0.95 confidence, which takes votes as independent, and the other ratings ignore its votes
    note: every vote on some models equals its prediction, such as a single tie, or too few resamples give them a finite rating, so the sampling error cannot be estimated: these models have no intervals
    "#);
}

#[test]
fn a_rank_that_the_votes_do_not_determine_is_no_number() {
    for votes in ["a,b,tie\nb,c,tie\n", "a,b,A\n"] {
        let text = run(&format!("model_a,model_b,winner\n{votes}"), &[]).unwrap();
        let ranks: Vec<&str> = text.lines().skip(2).take(2).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(ranks, ["–", "–"], "{text}");
    }
}

#[test]
fn the_summary_says_on_how_many_voters_the_intervals_rest() {
    let votes = "model_a,model_b,winner,judge\na,b,A,v1\na,b,A,v2\na,b,A,v3\na,b,B,v4\n";
    for (interval, rests) in [
        ("auto", "intervals by leaving out each of 4 voters at 0.95 confidence"),
        ("cluster", "sandwich intervals clustered by 4 voters at 0.95 confidence"),
        ("bootstrap", "bootstrap intervals at 0.95 confidence from 1000 replicates of 4 voters, seed 0"),
        ("sandwich", "sandwich intervals, which take votes as independent, at 0.95 confidence"),
    ] {
        let text = run(votes, &["--interval", interval]).unwrap();
        assert!(text.contains(rests), "{text}");
    }
}

#[test]
fn neighbours_are_compared_below_the_table_and_in_json() {
    let rows = "a,b,A\n".repeat(60) + &"a,b,B\n".repeat(20) + &"b,c,A\n".repeat(40) + &"b,c,B\n".repeat(36);
    let votes = format!("model_a,model_b,winner\n{rows}");
    let text = run(&votes, &["--sequential", "--optimal-at-battles", "100"]).unwrap();
    let lines = &text[text.find("a and b").unwrap_or_else(|| panic!("{text}"))..];
    insta::assert_snapshot!(lines, @r"
    a and b: +190.8 points (+54.6 to +327.1, however often you look): separated
    b and c: +18.3 points (-103.2 to +139.8, however often you look): open
    ");
    let leaderboard: Leaderboard = serde_json::from_str(&run(&votes, &["--format", "json"]).unwrap()).unwrap();
    assert_eq!((leaderboard.neighbours.len(), leaderboard.sequential.unwrap().optimal_at_battles), (2, 1_000));

    let plain = run(&votes, &["--format", "json", "--interval", "none"]).unwrap();
    assert!(!plain.contains("neighbours"), "{plain}");
    let refused = run(&votes, &["--sequential", "--interval", "none"]).unwrap_err().to_string();
    assert!(refused.contains("--sequential needs"), "{refused}");
    let refused = run(&votes, &["--equal-within=-1"]).unwrap_err().to_string();
    assert!(refused.contains("rating points"), "{refused}");
}

#[test]
fn that_few_voters_decide_is_noted_beside_the_neighbours_that_they_decide() {
    let rows =
        |voter: &str, wins: usize| format!("a,b,A,{voter}\n").repeat(wins) + &format!("a,b,B,{voter}\n").repeat(60);
    let rows: String = [("ann", 146), ("ben", 137), ("cal", 137)].map(|(voter, wins)| rows(voter, wins)).concat();
    let votes = format!("model_a,model_b,winner,judge\n{rows}");
    let few = "note: neighbours are told apart, or found equal, by few voters (in effect ";
    let text = run(&votes, &["--sequential"]).unwrap();
    assert!(text.contains("separated") && text.contains(few), "{text}");
    let text = run(&votes, &[]).unwrap();
    assert!(!text.contains("separated") && !text.contains(few), "{text}");
}

#[test]
fn csv_has_a_line_a_model_and_quotes_names() {
    let text = run(VOTES, &["--format", "csv", "--interval", "none", "--ties", "drop"]).unwrap();
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let columns: Vec<&str> = lines.headers().unwrap().iter().collect();
    assert_eq!((columns.len(), columns[0], columns[28]), (29, "model", "good_enough_change_upper"));
    let models: Vec<RankedModel> = lines.deserialize().collect::<Result<_, _>>().unwrap();
    let shown: Vec<_> = models.iter().map(|model| (model.model.as_str(), model.rank, model.lower)).collect();
    assert_eq!(shown, [("通义千问", 1, None), ("b, 7B", 2, None)]);
}

#[test]
fn json_is_one_object_with_every_option_in_it() {
    let text = run(VOTES, &["--format=json", "--method=elo", "--anchor", "b, 7B=900.5", "--min-votes=5"]).unwrap();
    let leaderboard: Leaderboard = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (leaderboard.method, leaderboard.interval, leaderboard.votes.rated),
        (Method::Elo, IntervalMethod::None, 5)
    );
    let b = leaderboard.models.iter().find(|model| model.model == "b, 7B").unwrap();
    assert!((b.rating.unwrap() - 900.5).abs() < 1e-9 && !b.provisional, "{b:?}");
}

#[test]
fn an_anchor_name_may_hold_an_equals_sign() {
    let text = run("model_a,model_b,winner\nx=y,z,tie\n", &["--format=json", "--anchor", "x=y=1500"]).unwrap();
    let leaderboard: Leaderboard = serde_json::from_str(&text).unwrap();
    assert!(leaderboard.models.iter().all(|model| (model.rating.unwrap() - 1500.0).abs() < 1e-9), "{leaderboard:?}");
}

#[test]
fn robustness_follows_the_table() {
    let votes = "model_a,model_b,winner\na,b,A\na,b,A\na,b,A\na,b,B\n";
    let text = run(votes, &["--robustness"]).unwrap();
    let (_, robustness) = text.split_once("\n\n").unwrap();
    insta::assert_snapshot!(robustness, @r"
    robustness of the order at 0.95 confidence
    place  possible  without a voter  votes to flip  votes to separate  model
        1       1–2                –              3                 13  a
        2       1–2                –              –                  –  b

    Who is first? a, 191 points ahead of b.
    How many votes or voters decide it? Without 3 of the 4 votes (75 %), picked to hurt a most, b would be first.
    Does it matter how ties count? No: no vote is a tie.
    ");
}

#[test]
fn no_votes_say_so() {
    let text = run("model_a,model_b,winner\n", &[]).unwrap();
    assert!(text.contains("note: no rated votes yet"), "{text}");
}

#[test]
fn options_that_cannot_be_are_refused_with_the_way_out() {
    for (flags, message) in [
        (&["--anchor", "b"][..], "--anchor is \"b\": write MODEL=RATING, for example gpt-4=1200"),
        (&["--anchor", "=1"], "--anchor is \"=1\": write MODEL=RATING, for example gpt-4=1200"),
        (
            &["--anchor", "x=inf"],
            "the anchor's rating is inf: give a number from -1000000 to 1000000, for example 1000",
        ),
        (
            &["--anchor", "x=1e308"],
            "the anchor's rating is 1e308: give a number from -1000000 to 1000000, for example 1000",
        ),
        (&["--anchor", "x=1"], "the anchor model \"x\" has no rated vote: name one of the rated models"),
        (&["--confidence", "1"], "confidence is 1: give a number from 0.000001 to 0.999999, for example 0.95"),
        (
            &["--confidence", "0.9999999999"],
            "confidence is 0.9999999999: give a number from 0.000001 to 0.999999, for example 0.95",
        ),
        (
            &["--confidence", "1e-300"],
            "confidence is 1e-300: give a number from 0.000001 to 0.999999, for example 0.95",
        ),
        (&["--confidence", "NaN"], "confidence is NaN: give a number from 0.000001 to 0.999999, for example 0.95"),
        (
            &["--since", "2026-02-01", "--until", "2026-01-01"],
            "--since is not before --until: no vote can lie between them",
        ),
        (
            &["--method", "elo", "--ties", "davidson"],
            "--ties davidson is for Bradley–Terry ratings: leave it out, or leave out --method elo",
        ),
        (
            &["--method", "elo", "--interval", "bootstrap"],
            "--interval is for Bradley–Terry ratings: leave it out, or leave out --method elo",
        ),
    ] {
        assert_eq!(run(VOTES, flags).unwrap_err().to_string(), message);
    }
}

#[test]
fn unknown_choices_are_refused_as_bad_usage() {
    for (flag, choices) in [
        ("--ties=x", "expected half, drop or davidson"),
        ("--both-bad=x", "expected half or drop"),
        ("--method=mle", "expected bt or elo"),
        ("--interval=exact", "expected auto, jackknife, sandwich, cluster, bootstrap or none"),
        ("--reweight=x", "expected none, pair-count or pair-probability"),
        ("--optimal-at-battles=1000001", "1000001 is not in 1..=1000000"),
        ("--bootstrap=4294967295", "4294967295 is not in 0..=100000"),
        ("--turns=2", "expected first or multi"),
        ("--as-of=soon", "'soon' for '--as-of <TIME>': write 2026-11-21 or 2026-11-21T08:00:00Z"),
        ("--since=soon", "'soon' for '--since <TIME>': write 2026-11-21 or 2026-11-21T08:00:00Z"),
    ] {
        let error = FitArguments::try_parse_from(["fit", flag]).err().unwrap().to_string();
        assert!(error.contains(choices), "{error}");
    }
}

#[test]
fn several_files_follow_one_flag() {
    let options = FitArguments::try_parse_from(["fit", "--votes", "one.csv", "two.csv", "--votes", "three.csv"]);
    assert_eq!(options.unwrap().options.votes, ["one.csv", "two.csv", "three.csv"].map(PathBuf::from));
}

#[test]
fn as_of_a_day_has_the_votes_of_that_day() {
    let votes = "model_a,model_b,winner,tstamp\na,b,A,1795132800\na,b,B,1795219199\na,b,A,1795219200\n";
    for (flags, rated) in [
        (&["--as-of=2026-11-20"][..], "2 of 2 votes rated"),
        (&["--as-of=2026-11-20T12:00:00Z"], "1 of 1 vote rated"),
        (&["--until=2026-11-20"], "0 of 0 votes rated"),
        (&["--since=2026-11-21"], "1 of 1 vote rated"),
        (&[], "3 of 3 votes rated"),
    ] {
        let text = run(votes, flags).unwrap();
        assert!(text.contains(rated), "{flags:?}: {text}");
    }
    let both = FitArguments::try_parse_from(["fit", "--until=2026-11-20", "--as-of=2026-11-20"]).err().unwrap();
    assert!(both.to_string().contains("cannot be used with"), "{both}");
}

/// Returns votes with tokens and times: `a` is rated a little above `b`, and both far above `c`.
fn votes_with_tokens() -> String {
    let row = |a: &str, b: &str, winner: &str, times: usize| {
        let tokens = |model: &str| if model == "b" { 300 } else { 100 };
        let duration = |model: &str| 500 + 10 * tokens(model);
        format!("{a},{b},{winner},{},{},20,500,{},500,{}\n", tokens(a), tokens(b), duration(a), duration(b))
            .repeat(times)
    };
    let rows: [(&str, &str, usize, usize); 3] = [("a", "b", 52, 48), ("a", "c", 90, 10), ("b", "c", 90, 10)];
    let rows = rows.map(|(a, b, wins, losses)| row(a, b, "A", wins) + &row(a, b, "B", losses)).concat();
    let times = "first_token_ms_a,duration_ms_a,first_token_ms_b,duration_ms_b";
    format!("model_a,model_b,winner,tokens_a,tokens_b,prompt_tokens,{times}\n{rows}")
}

/// Runs `langya fit` with these prices.
fn run_with_prices(votes: &str, prices: &str, flags: &[&str]) -> Result<String, FitCommandError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.csv");
    std::fs::write(&path, prices).unwrap();
    run(votes, &[&["--prices", path.to_str().unwrap()], flags].concat())
}

const PRICES: &str =
    "model,input_price,output_price,date,source,currency\na,5,10,2026-11-21,list,USD\nb,1,2,,,USD\nc,1,1,,,USD\n";

#[test]
fn prices_are_joined_below_the_table() {
    let text = run_with_prices(&votes_with_tokens(), PRICES, &[]).unwrap();
    let value = &text[text.find("\nvalue for money").unwrap_or_else(|| panic!("{text}"))..];
    insta::assert_snapshot!(value, @r"

    value for money: cost of 1,000 answers in USD, prompts and replies, by langya's own count of tokens
    rating   cost  first token  tokens/s  Pareto  model
    1133.1   1.10        0.5 s       100     yes  a
    1121.4  0.620        0.5 s       100     yes  b
     745.5  0.120        0.5 s       100     yes  c
    a and b cannot be told apart by these votes; b costs 44 % less. a is rated 12 points higher, and the votes allow for any difference from −51 to 75 points: at 75, a would win about 61 of 100 battles against b.
    ");
    let bare = "model_a,model_b,winner\n".to_owned() + &"a,b,A\n".repeat(40) + &"a,b,B\n".repeat(36);
    let text = run_with_prices(&bare, PRICES, &[]).unwrap();
    assert!(text.contains("cost of a million tokens of output in USD: the votes have no counts of tokens"), "{text}");
    assert!(text.contains("b costs 80 % less."), "{text}");
}

#[test]
fn the_json_has_a_value_only_with_prices() {
    let votes = votes_with_tokens();
    let json = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let mut with = json(run_with_prices(&votes, PRICES, &["--format", "json"]).unwrap());
    let value = with.as_object_mut().unwrap().remove("value").unwrap();
    assert_eq!(with, json(run(&votes, &["--format", "json"]).unwrap()), "nothing else differs");
    assert_eq!((&value["currency"], &value["cost_basis"]), (&"USD".into(), &"prompts_and_replies".into()));
    assert_eq!(
        (&value["models"][0]["price_date"], &value["models"][0]["price_source"]),
        (&"2026-11-21".into(), &"list".into())
    );
    let refused = run_with_prices(&votes, "model,input_price\na,1\n", &[]).unwrap_err().to_string();
    assert!(refused.contains("prices.csv: no column is called output_price"), "{refused}");
}

#[test]
fn notes_name_what_of_the_files_is_not_used() {
    let votes = "model_a,model_b,winner,weight,count\na,b,A,3,\na,b,B,1,\n";
    let text = run_with_prices(votes, &PRICES.replace("\nc,", "\nB,"), &[]).unwrap();
    for note in [
        "note: each row counts as one vote, so these columns are not used; repeat a row that stands for several votes: \"weight\"\n",
        "note: these models have a price and no rating, so their prices are not used; if a name is mistyped, write it as in the votes: \
         \"B\"\n",
    ] {
        assert!(text.contains(note), "{note:?} is not in {text}");
    }
    let text = run_with_prices(&votes_with_tokens(), PRICES, &[]).unwrap();
    assert!(!text.contains("not used"), "{text}");
}
