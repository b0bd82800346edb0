//! Properties of JSON files that are known only after all objects were read.

use super::tests::{lines_of, read_as};
use super::*;
use crate::domain::rating::votes::slice::Slice;
use crate::domain::rating::votes::vote_log::Labels;

/// A vote for `x` with these further columns.
fn vote(rest: &str) -> String {
    format!(r#"{{"model_a":"x","model_b":"y","winner":"A"{rest}}}"#)
}

fn with_voters_in(column: &str) -> ReadOptions {
    let columns = ColumnNames { voter: Some(column.into()), ..ColumnNames::default() };
    ReadOptions { columns, ..ReadOptions::default() }
}

#[test]
fn a_flag_that_names_a_column_which_no_row_has_is_refused_with_those_that_are_there() {
    let row = vote(r#","user":"v""#);
    let refused = "votes0.csv has no column usr: name one of its columns, which are model_a, model_b, winner, user";
    let csv = "model_a,model_b,winner,user\nx,y,A,v\n";
    for text in [format!("{row}\n{row}\n"), format!("[{row},{row}]"), csv.to_owned()] {
        assert_eq!(read_as(&[text.as_bytes()], &with_voters_in("usr")).unwrap_err(), refused, "{text}");
        assert_eq!(read_as(&[text.as_bytes()], &with_voters_in("user")).unwrap().voters.unwrap().rows[0], 0, "{text}");
    }
    let many = format!("model_a,model_b,winner{}\n", ",more".repeat(50));
    let error = read_as(&[many.as_bytes()], &with_voters_in("usr")).unwrap_err();
    assert!(error.contains("which are model_a, model_b, winner, more, ") && error.ends_with(", more and 13 more"));
    assert!(read_as(&[b"\n"], &with_voters_in("usr")).unwrap().is_empty(), "a file without rows contradicts nothing");
}

#[test]
fn a_column_that_some_rows_leave_out_or_have_without_a_value_is_there() {
    let text = [vote(""), vote(r#","user":"v""#), vote("")].join("\n");
    let voters = read_as(&[text.as_bytes()], &with_voters_in("user")).unwrap().voters.unwrap();
    assert_eq!(voters.rows, [Labels::NONE, 0, Labels::NONE]);
    let log = read_as(&[vote(r#","user":null"#).as_bytes()], &with_voters_in("user")).unwrap();
    assert_eq!((log.len(), log.voters), (1, None));
}

#[test]
fn a_mistyped_column_of_models_or_winners_is_refused_like_any_other() {
    for columns in [
        ColumnNames { model_a: Some("usr".into()), ..ColumnNames::default() },
        ColumnNames { winner: Some("usr".into()), ..ColumnNames::default() },
    ] {
        let options = ReadOptions { columns, ..ReadOptions::default() };
        let refused = "votes0.csv has no column usr: name one of its columns, which are model_a, model_b, winner";
        for text in [vote(""), format!("[{}]", vote(""))] {
            assert_eq!(read_as(&[text.as_bytes()], &options).unwrap_err(), refused, "{text}");
        }
        let skipping = ReadOptions { skip_bad: true, ..options };
        assert_eq!(read_as(&[vote("").as_bytes()], &skipping).unwrap_err(), refused, "also where bad rows are skipped");
    }
}

#[test]
fn the_error_of_a_column_that_no_row_has_so_far_does_not_depend_on_the_threads_that_read_further_on() {
    // After the first block of lines that a thread reads.
    let file = |rest: &str| format!("{}\n{}", vote(r#","first":1"#), format!("{}\n", vote(rest)).repeat(40_000));
    let refused = "votes0.csv has no column usr: name one of its columns, which are model_a, model_b, winner, first";
    let columns = ColumnNames { model_a: Some("usr".into()), ..ColumnNames::default() };
    let options = ReadOptions { columns, ..ReadOptions::default() };
    assert_eq!(read_as(&[file(r#","usr":"z""#).as_bytes()], &options).unwrap_err(), refused);
    assert_eq!(read_as(&[file(r#","user":"v""#).as_bytes()], &with_voters_in("usr")).unwrap_err(), refused);
}

#[test]
fn where_one_vote_has_a_time_every_vote_needs_one_whichever_comes_first() {
    let (untimed, early, late) = (vote(""), vote(r#","tstamp":1"#), vote(r#","tstamp":9"#));
    let refused = |place: &str| {
        format!("votes0.csv {place}: tstamp is \"\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z")
    };
    for (text, place) in [
        (format!("{untimed}\n{late}\n{early}\n"), "line 1"),
        (format!("{late}\n\n{untimed}\n{untimed}\n"), "line 3"),
        (format!("[{untimed},{late}]"), "row 1"),
        (format!("[{late},{early},{untimed}]"), "row 3"),
        // After the first block of lines that a thread reads.
        (format!("{}{untimed}\n", format!("{late}\n").repeat(40_000)), "line 40001"),
    ] {
        assert_eq!(read_as(&[text.as_bytes()], &ReadOptions::default()).unwrap_err(), refused(place));
    }
    for text in [format!("{late}\n{early}\n"), format!("[{late},{early}]")] {
        let log = read_as(&[text.as_bytes()], &ReadOptions::default()).unwrap();
        assert_eq!(log.seconds, Some(vec![1.0, 9.0]), "in the order of the times");
    }
    let log = read_as(&[format!("{untimed}\n{untimed}\n").as_bytes()], &ReadOptions::default()).unwrap();
    assert_eq!((log.len(), log.seconds), (2, None));
}

#[test]
fn votes_without_a_time_among_others_are_skipped_and_counted_where_bad_rows_are() {
    let untimed = r#"{"model_a":"p","model_b":"q","winner":"A"}"#;
    let text = [untimed, &vote(r#","tstamp":9"#), untimed, &vote(r#","tstamp":1"#)].join("\n");
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let log = read_as(&[text.as_bytes()], &options).unwrap();
    assert_eq!((lines_of(&log), log.seconds), (vec!["x AWins y".to_owned(); 2], Some(vec![1.0, 9.0])));
    assert_eq!(log.models.as_slice(), ["x", "y"]);
    assert_eq!(log.excluded, [("bad_time".to_owned(), 2)].into());
}

#[test]
fn a_name_with_a_comma_in_a_list_is_one_name() {
    let text = [vote(r#","category":["law, tax"," math ",""]"#), vote(r#","category":["law"]"#)].join("\n");
    let log = read_as(&[text.as_bytes()], &ReadOptions::default()).unwrap();
    for (category, votes) in [("law, tax", 1), ("math", 1), ("law", 1)] {
        let slice = Slice { category: Some(category.into()), ..Slice::default() };
        assert_eq!(slice.take(log.clone()).unwrap().len(), votes, "{category}");
    }
    assert_eq!(log.categories.unwrap().names.as_slice(), ["\"law, tax\",math", "law"]);
}

#[test]
fn the_battles_of_votes_are_read() {
    let csv = "model_a,model_b,winner,battle_id\nx,y,A,b1\nx,y,A,\n";
    let json = [vote(r#","battle_id":"b1""#), vote("")].join("\n");
    for text in [csv, &json] {
        let battles = read_as(&[text.as_bytes()], &ReadOptions::default()).unwrap().battle_ids.unwrap();
        assert_eq!((battles.names.as_slice(), battles.rows), (&["b1".to_owned()][..], vec![0, Labels::NONE]));
    }
}

/// A vote with these nested counts of tokens and headings of the reply on side A, and some of that on side B.
fn counted(tokens: &str, headings: &str) -> String {
    let tokens = format!(r#""sum_assistant_a_tokens":{tokens},"sum_assistant_b_tokens":7"#);
    let headings = format!(r#""header_count_a":{headings},"header_count_b":{{"h1":1}}"#);
    vote(&format!(r#","conv_metadata":{{{tokens},{headings}}}"#))
}

#[test]
fn a_nested_count_that_is_null_is_missing_and_not_zero() {
    let rows = [
        counted("5", r#"{"h1":2,"h2":null}"#),
        counted("null", r#"{"h1":null,"h2":null}"#),
        counted(r#""5""#, "{}"),
        counted("0", r#"{"h1":0}"#),
    ];
    let style = read_as(&[rows.join("\n").as_bytes()], &ReadOptions::default()).unwrap().style.unwrap();
    assert_eq!(style.tokens(), [[5, 7], [0, 0], [5, 7], [0, 7]]);
    assert_eq!(style.headings(), [[2, 1], [0, 0], [0, 1], [0, 1]]);
    let known = [true, true, false, false];
    assert_eq!(style.known(), [known, [false; 4], known, known]);
    let text = vote(r#","conv_metadata":{"turns":null,"sum_user_tokens":9}"#);
    let log = read_as(&[text.as_bytes()], &ReadOptions::default()).unwrap();
    assert_eq!((log.turns, log.prompt_tokens), (None, Some(vec![9])));
}

#[test]
fn a_nested_count_that_is_no_number_is_refused_like_one_in_a_column() {
    for (text, refused) in [
        (counted("-5", "{}"), "tokens is \"-5\""),
        (counted(r#""x""#, "{}"), "tokens is \"x\""),
        (counted("true", "{}"), "tokens is \"true\""),
        (counted("[]", "{}"), "tokens is \"[]\""),
        (counted("5", r#"{"h1":2,"h2":-1}"#), "headings is \"-1\""),
        (vote(r#","conv_metadata":{"turns":"x"}"#), "turns is \"x\""),
    ] {
        let error = read_as(&[text.as_bytes()], &ReadOptions::default()).unwrap_err();
        assert_eq!(error, format!("votes0.csv line 1: {refused}: give a number"));
    }
    let skipping = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let log = read_as(&[counted("-5", "{}").as_bytes()], &skipping).unwrap();
    assert_eq!((log.len(), log.excluded), (0, [("bad_number".to_owned(), 1)].into()));
}
