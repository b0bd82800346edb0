//! Votes read from files, and refused files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::domain::battle::Outcome::{AWins, BWins, BothBad, Tie};
use crate::domain::rating::votes::slice::Slice;
use crate::domain::rating::votes::vote_log::{Labels, ReplyTiming};

/// The votes of files with these contents, as `a outcome b`.
fn read(files: &[&[u8]]) -> Result<Vec<String>, String> {
    read_as(files, &ReadOptions::default()).map(|log| lines_of(&log))
}

/// The log of files with these contents, with every column.
pub(super) fn read_as(files: &[&[u8]], options: &ReadOptions) -> Result<VoteLog, String> {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..files.len()).map(|n| folder.path().join(format!("votes{n}.csv"))).collect();
    for (path, text) in paths.iter().zip(files) {
        std::fs::write(path, text).unwrap();
    }
    let shown = |error: VoteFileError| error.to_string().replace(&format!("{}/", folder.path().display()), "");
    read_log(&paths, EVERYTHING, options).map_err(shown)
}

pub(super) const EVERYTHING: ColumnSet = ColumnSet {
    voters: true,
    languages: true,
    categories: true,
    intents: true,
    turns: true,
    prompt_tokens: true,
    satisfactions: true,
    reasons: true,
    seconds: true,
    style: true,
    pair_probabilities: true,
    timings: true,
    pairing_policies: true,
    battle_ids: true,
    excluded_votes: true,
};

pub(super) fn lines_of(log: &VoteLog) -> Vec<String> {
    let name = |index: u32| &log.models.as_slice()[index as usize];
    (0..log.len()).map(|row| format!("{} {:?} {}", name(log.a[row]), log.outcomes[row], name(log.b[row]))).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(read(&[text.as_bytes()]).unwrap(), expected);
}

#[track_caller]
fn refuse(text: &[u8], message: &str) {
    assert_eq!(read(&[text]).unwrap_err(), message);
}

#[test]
fn every_spelling_of_a_winner_is_known() {
    for (spellings, outcome) in [
        (&["model_a", "A", "a", "left"][..], AWins),
        (&["model_b", "B", "b", "right"], BWins),
        (&["tie"], Tie),
        (&["both_bad", "tie (bothbad)"], BothBad),
    ] {
        for spelling in spellings {
            check(&format!("model_a,model_b,winner\nx,y,{spelling}\n"), &[&format!("x {outcome:?} y")]);
        }
    }
}

#[test]
fn columns_are_found_by_name_in_any_order() {
    check("id,winner,model_x,left,right\n0,right,97,Falcon,\"Weaver, 12k\"\n", &["Falcon BWins Weaver, 12k"]);
}

#[test]
fn a_byte_order_mark_and_carriage_returns_do_no_harm() {
    let text = "\u{feff}model_a,model_b,winner\r\nx,y,model_b\r\n通义,y,tie\r\n";
    check(text, &["x BWins y", "通义 Tie y"]);
    check("\u{feff}{\"model_a\":\"x\",\"model_b\":\"y\",\"winner\":\"tie\"}\r\n", &["x Tie y"]);
}

#[test]
fn votes_come_in_the_order_of_their_times() {
    let text = "tstamp,model_a,model_b,winner\n3,x,y,A\n1.5,x,y,B\n3,x,y,tie\n-2,x,y,both_bad\n";
    check(text, &["x BothBad y", "x BWins y", "x AWins y", "x Tie y"]);
}

#[test]
fn several_files_are_put_in_one_order_where_all_have_times() {
    let one = b"model_a,model_b,winner,tstamp\nx,y,B,30\nx,y,A,10\n";
    let other = b"model_a,model_b,winner,ts_ms\nx,y,tie,20000\n";
    let untimed = b"model_a,model_b,winner\nx,z,A\n";
    assert_eq!(read(&[one, other]).unwrap(), ["x AWins y", "x Tie y", "x BWins y"]);
    assert_eq!(read(&[one, untimed, other]).unwrap(), ["x AWins y", "x BWins y", "x AWins z", "x Tie y"]);
}

#[test]
fn a_header_without_rows_is_no_votes() {
    check("model_a,model_b,winner\n", &[]);
}

#[test]
fn without_votes_every_column_may_be_asked_for() {
    for text in ["model_a,model_b,winner\n", "", "\n\n", "[]"] {
        let log = read_as(&[text.as_bytes()], &ReadOptions::default()).unwrap();
        assert!(log.is_empty() && log.voters.is_some() && log.style.is_some() && log.seconds.is_some(), "{text:?}");
        assert!(log.pair_probabilities.is_some() && log.timings.is_some(), "{text:?}");
    }
}

#[test]
fn times_of_replies_are_read_as_far_as_they_are_given() {
    let text = b"model_a,model_b,winner,first_token_ms_a,duration_ms_a,duration_ms_b\nx,y,A,120,2000,\nx,y,B,,,31.9\n";
    let timing = |first_token_ms, duration_ms| ReplyTiming { first_token_ms, duration_ms };
    let unknown = ReplyTiming::default();
    let log = read_as(&[text], &ReadOptions::default()).unwrap();
    assert_eq!(log.timings.unwrap(), [[timing(Some(120), Some(2000)), unknown], [unknown, timing(None, Some(31))]]);
    let without = read_as(&[b"model_a,model_b,winner\nx,y,A\n"], &ReadOptions::default()).unwrap();
    assert_eq!(without.timings, None);
}

#[test]
fn counts_of_style_that_are_not_given_are_not_zero() {
    let text =
        b"model_a,model_b,winner,tokens_a,tokens_b,bold_a,bold_b\nx,y,A,10,20,0,3\nx,y,B,,20,1,1\nx,y,B,0,0,0,0\n";
    let style = read_as(&[text], &ReadOptions::default()).unwrap().style.unwrap();
    assert_eq!(style.tokens(), [[10, 20], [0, 0], [0, 0]]);
    assert_eq!(style.known(), [[true, false, false, true], [false, false, false, true], [false; 4]]);
    assert_eq!(style.complete(), Some(vec![true, false, false]));
    refuse(
        b"model_a,model_b,winner,tokens_a,tokens_b\nx,y,A,-5,20\n",
        "votes0.csv line 2: tokens is \"-5\": give a number",
    );
}

#[test]
fn a_word_for_a_side_that_is_the_model_on_the_other_side_is_refused() {
    check("model_a,model_b,winner\nA,B,A\nA,B,B\nleft,y,left\n", &["A AWins B", "A BWins B", "left AWins y"]);
    let refused = "votes0.csv line 2: the winner \"A\" is side A or the model \"A\", which is on the other side: write model_a or \
                   model_b in the column of winners";
    refuse(b"model_a,model_b,winner\nB,A,A\n", refused);
    refuse(b"model_a,model_b,winner\nx,A,A\n", refused);
    // The words of this program's vote log always mean the side.
    check("model_a,model_b,winner\nx,model_a,model_a\n", &["x AWins model_a"]);
}

#[test]
fn short_rows_are_padded_where_that_is_asked_for() {
    let pad = ReadOptions { pad: true, ..ReadOptions::default() };
    let text = b"model_a,model_b,winner,judge\nx,y,A,ann\nx,y,B\n";
    let voters = read_as(&[text], &pad).unwrap().voters.unwrap();
    assert_eq!(voters.rows, [0, Labels::NONE]);
    let error = read_as(&[b"model_a,model_b,winner,judge\nx,y\n"], &pad).unwrap_err().to_string();
    assert!(error.contains("line 2: unknown winner"), "{error}");
    let error = read_as(&[b"model_a,model_b,winner,judge\nx,y,A,ann,more\n"], &pad).unwrap_err().to_string();
    assert!(error.contains("5 fields where the header has 4"), "{error}");
}

#[test]
fn the_line_of_a_bad_row_counts_blank_lines_and_lines_within_quotes() {
    for end in ["\n", "\r\n"] {
        let lines = ["model_a,model_b,winner", "", "\"x", "2\",y,A", "", "", "x,y,nobody", ""];
        refuse(
            lines.join(end).as_bytes(),
            "votes0.csv line 7: unknown winner \"nobody\": write model_a, model_b, tie or both_bad",
        );
    }
}

#[test]
fn the_delimiter_is_that_of_the_header_behind_blank_lines() {
    for (delimiter, end) in [(";", "\n"), ("\t", "\r\n")] {
        let lines = ["", "", "model_a,model_b,winner", "x,y,A", ""];
        check(&lines.join(end).replace(',', delimiter), &["x AWins y"]);
    }
}

#[test]
fn bad_rows_are_refused_with_their_line_and_reason() {
    let header = "model_a,model_b,winner,tstamp\n";
    for (row, reason) in [
        ("x,y,nobody,1", "unknown winner \"nobody\": write model_a, model_b, tie or both_bad"),
        ("x,y,,1", "unknown winner \"\": write model_a, model_b, tie or both_bad"),
        ("x,x,A,1", "model \"x\" is compared with itself: a vote needs two different models"),
        ("x,,A,1", "column model_b is empty: name the model"),
        ("x,y,A,soon", "tstamp is \"soon\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z"),
        ("x,y,A,1e300", "tstamp is \"1e300\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z"),
        (
            "x,y,A,-1795219200000000",
            "tstamp is \"-1795219200000000\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z",
        ),
        ("x,y,A,20251121", "tstamp is \"20251121\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z"),
        (
            "x,y,A,20251121083000",
            "tstamp is \"20251121083000\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z",
        ),
        (
            "x,y,A,202511210830",
            "tstamp is \"202511210830\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z",
        ),
        ("x,y,A,19691231", "tstamp is \"19691231\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z"),
        ("x,y,A,21010101", "tstamp is \"21010101\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z"),
        (
            "x,y,A,9999-12-31",
            "tstamp is \"9999-12-31\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z",
        ),
        ("x,y,A,NaN", "tstamp is \"NaN\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z"),
        (
            "x,y,A",
            "3 fields where the header has 4: complete the row, or treat missing fields at the end as empty with --pad",
        ),
        ("x,y,A,1,2", "5 fields where the header has 4: quote fields that hold a comma"),
    ] {
        let text = format!("{header}x,y,A,0\n\"x\n2\",y,A,0\n{row}\nx,y,B,2\n");
        refuse(text.as_bytes(), &format!("votes0.csv line 5: {reason}"));
    }
    refuse(b"model_a,model_b,winner\nx,\xff,A\n", "votes0.csv line 2: not UTF-8: save the file as UTF-8");
}

#[test]
fn files_without_the_columns_are_refused_by_name() {
    let rest = "it must have model_a, model_b and winner (or left, right and winner), or name them with --model-a, \
                --model-b and --winner";
    refuse(b"a,b\n", &format!("votes0.csv has no column model_a: {rest}"));
    refuse(b"model_a,winner\nx,A\n", &format!("votes0.csv has no column model_b: {rest}"));
    refuse(b"left,right\nx,y\n", &format!("votes0.csv has no column winner: {rest}"));
}

#[test]
fn a_column_that_is_there_twice_is_refused() {
    let double =
        |name: &str| format!("votes0.csv has two columns {name}: take one of them out, or give it another name");
    refuse(b"model_a,model_b,winner,winner\nx,y,A,B\n", &double("winner"));
    refuse(b"model_a,model_b, model_a,winner\nx,y,z,A\n", &double("model_a"));
    refuse(b"model_a,model_b,winner,bold_a,bold_b,bold_a\nx,y,A,1,2,3\n", &double("bold_a"));
    check("model_a,model_b,winner,note,note\nx,y,A,1,2\n", &["x AWins y"]);
}

#[test]
fn columns_that_would_say_how_many_votes_a_row_stands_for_are_named_and_not_read() {
    let of = |text: &str, options: &ReadOptions| read_as(&[text.as_bytes()], options).unwrap().unread_columns;
    let csv = "model_a,model_b,winner,count,weight\nx,y,A,,3\nx,y,B,,1\n";
    let lines = "{\"model_a\":\"x\",\"model_b\":\"y\",\"winner\":\"A\",\"weight\":3}\n";
    for text in [csv, lines] {
        assert_eq!(of(text, &ReadOptions::default()), ["weight".to_owned()].into(), "{text}");
    }
    let columns = ColumnNames { turn: Some("weight".into()), ..ColumnNames::default() };
    assert!(of(csv, &ReadOptions { columns, ..ReadOptions::default() }).is_empty(), "a flag says what it holds");
}

#[test]
fn a_missing_file_is_named() {
    let error = read_log(&["no/such/votes.csv"], EVERYTHING, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("cannot read no/such/votes.csv: "), "{error}");
}

#[test]
fn columns_can_be_named_and_the_known_ones_are_not_looked_at_then() {
    let columns = ColumnNames {
        model_a: Some("one".into()),
        model_b: Some("other".into()),
        winner: Some("better".into()),
        voter: Some("who".into()),
        time: Some("when".into()),
        ..ColumnNames::default()
    };
    let options = ReadOptions { columns, ..ReadOptions::default() };
    let csv = b"one;other;better;who;when;model_a;model_b;winner;tstamp\nx;y;y;v;2026-11-21T00:00:09Z;p;q;tie;x\n\
                x;z;x;w;2026-11-21 00:00:08;p;q;tie;x\n";
    let log = read_as(&[csv], &options).unwrap();
    assert_eq!(lines_of(&log), ["x AWins z", "x BWins y"]);
    assert_eq!(log.seconds.unwrap(), [1_795_219_208.0, 1_795_219_209.0]);
    let json = br#"{"one":"x","other":"y","better":"y","who":"v","when":5,"winner":"tie","left":"l"}"#;
    assert_eq!(lines_of(&read_as(&[json], &options).unwrap()), ["x BWins y"]);
    let error = read_as(&[b"model_a,model_b,winner\nx,y,A\n"], &options).unwrap_err();
    assert!(error.starts_with("votes0.csv has no column one: "), "{error}");
}

#[test]
fn turns_and_tokens_are_found_within_the_metadata_of_json() {
    let json = br#"{"model_a":"x","model_b":"y","winner":"A","conv_metadata":{"turns":3,"sum_user_tokens":501}}"#;
    let log = read_as(&[json], &ReadOptions::default()).unwrap();
    assert_eq!((log.turns, log.prompt_tokens), (Some(vec![3]), Some(vec![501])));
}

#[test]
fn bad_rows_are_counted_by_reason_where_they_are_to_be_skipped() {
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let csv =
        "model_a,model_b,winner,tstamp\nx,y,A,1\nx,y,nobody,1\nx,y,?,1\nx,x,A,1\nx,y,A,soon\nx,y\n,y,A,1\nx,y,B,2\n";
    let expected = [("bad_time", 1), ("malformed", 1), ("no_model", 1), ("self_play", 1), ("unknown_winner", 2)];
    let expected = expected.map(|(reason, votes)| (reason.to_owned(), votes));
    let log = read_as(&[csv.as_bytes()], &options).unwrap();
    assert_eq!(lines_of(&log), ["x AWins y", "x BWins y"]);
    assert_eq!(log.excluded, expected.clone().into());
    let json = "{\"model_a\":\"x\",\"model_b\":\"y\",\"winner\":\"A\"}\n[1]\n{\"model_a\":\"x\"\n{\"model_a\":\"x\",\"winner\":\"A\"}\n";
    let log = read_as(&[json.as_bytes()], &options).unwrap();
    assert_eq!(log.excluded, [("malformed".to_owned(), 2), ("no_model".to_owned(), 1)].into());
    assert_eq!(log.len(), 1);
}

#[test]
fn bad_rows_of_json_are_refused_with_their_place() {
    let good = r#"{"model_a":"x","model_b":"y","winner":"tie","anony":true}"#;
    let bad = r#"{"model_a":"x","model_b":"y","winner":"nobody"}"#;
    let reason = "unknown winner \"nobody\": write model_a, model_b, tie or both_bad";
    refuse(format!("{good}\n\n{bad}\n").as_bytes(), &format!("votes0.csv line 3: {reason}"));
    refuse(format!("[{good},\n{bad}]").as_bytes(), &format!("votes0.csv row 2: {reason}"));
    let error = read(&[format!("[{good},").as_bytes()]).unwrap_err();
    assert!(error.starts_with("votes0.csv line 1: not JSON: "), "{error}");
    let truncated = format!("{good}\n{{\"model_a\":\n");
    let reason = "not a JSON object: EOF while parsing a value at column 11: if the file was cut off, fetch it again";
    refuse(truncated.as_bytes(), &format!("votes0.csv line 2: {reason}"));
    let reason = "not an array of objects: invalid type: integer `1`, expected an object for each vote at column 3";
    refuse(b"\n[1]", &format!("votes0.csv line 2: {reason}"));
    let late = r#"{"model_a":"x","model_b":"y","winner":"tie","ts_ms":1e300}"#;
    let reason = "ts_ms is \"1e+300\": give seconds since 1970 or a date such as 2026-11-21T08:00:00Z";
    refuse(late.as_bytes(), &format!("votes0.csv line 1: {reason}"));
}

#[test]
fn a_name_that_stands_twice_in_an_object_is_refused() {
    let double = r#"{"model_a":"x","model_b":"y","winner":"A","winner":"B"}"#;
    let error = read(&[format!("{double}\n").as_bytes()]).unwrap_err();
    assert!(error.starts_with("votes0.csv line 1: not a JSON object: winner appears twice at column "), "{error}");
    let error = read(&[format!("[{double}]").as_bytes()]).unwrap_err();
    assert!(error.contains("winner appears twice"), "{error}");
    check(r#"{"note":1,"model_a":"x","model_b":"y","winner":"A","note":2}"#, &["x AWins y"]);
}

#[test]
fn a_word_that_says_neither_yes_nor_no_is_refused() {
    let refused = |column: &str| format!("votes0.csv line 2: {column} is \"maybe\": write true or false");
    refuse(b"model_a,model_b,winner,rated\nx,y,A,maybe\n", &refused("rated"));
    refuse(b"model_a,model_b,winner,anony\nx,y,A,maybe\n", &refused("anony"));
    let text = b"model_a,model_b,winner,rated,anony\nx,y,A,No,\nx,y,A,f,\nx,y,B,YES,n\nx,y,tie,,y\n";
    let log = read_as(&[text], &ReadOptions::default()).unwrap();
    assert_eq!(lines_of(&log), ["x Tie y"]);
    assert_eq!(log.excluded, [("named_mode".to_owned(), 1), ("unrated".to_owned(), 2)].into());
}

#[test]
fn a_rule_excludes_a_vote_also_where_nothing_says_whether_it_is_rated() {
    let row = |winner: &str, rest: &str| format!(r#"{{"model_a":"x","model_b":"y","winner":"{winner}",{rest}}}"#);
    let left_out = r#""exclusion":"left_out""#;
    let json = [row("A", left_out), row("B", r#""exclusion":null"#), row("A", &format!(r#"{left_out},"rated":null"#))];
    for text in [
        "model_a,model_b,winner,exclusion\nx,y,A,left_out\nx,y,B,\nx,y,A,left_out\n",
        "model_a,model_b,winner,exclusion,rated\nx,y,A,left_out,\nx,y,B,left_out,true\nx,y,A,left_out,false\n",
        &json.join("\n"),
    ] {
        let log = read_as(&[text.as_bytes()], &ReadOptions::default()).unwrap();
        assert_eq!(lines_of(&log), ["x BWins y"], "{text}");
        assert_eq!(log.excluded, [("left_out".to_owned(), 2)].into(), "{text}");
    }
}

#[test]
fn excluded_votes_keep_what_slices_select_them_by() {
    let english = Slice { language: Some("en".into()), ..Slice::default() };
    let csv =
        b"model_a,model_b,winner,rated,exclusion,language,turn\nx,y,A,,,en,1\nx,y,A,,,zh,1\nx,y,A,no,admin,en,2\n\
        x,y,B,no,admin,zh,1\nx,y,B,no,,zh,1\nx,x,A,no,,en,1\nx,y,?,,,en,1\n";
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let log = read_as(&[csv], &options).unwrap();
    let counted = |votes: &[(&str, u64)]| -> BTreeMap<String, u64> {
        votes.iter().map(|&(rule, votes)| (rule.to_owned(), votes)).collect()
    };
    assert_eq!(log.excluded, counted(&[("admin", 2), ("unknown_winner", 1), ("unrated", 2)]));
    let excluded = log.excluded_votes.as_ref().unwrap();
    assert_eq!(excluded.rules.rows, [0, 0, 1, 1]);
    assert_eq!(excluded.columns.turns.as_deref(), Some(&[2, 1, 1, 1][..]));
    let log = english.take(log).unwrap();
    assert_eq!((log.len(), log.excluded), (1, counted(&[("admin", 1), ("unknown_winner", 1), ("unrated", 1)])));
}

#[test]
fn a_number_that_its_column_cannot_have_is_refused() {
    for (cell, range) in [
        ("pair_probability is \"1.5\"", "a probability above 0 and at most 1, or 0 where it is not known"),
        ("pair_probability is \"-0.5\"", "a probability above 0 and at most 1, or 0 where it is not known"),
        ("satisfaction is \"9\"", "a whole number from 1 to 5, or nothing"),
        ("satisfaction is \"2.5\"", "a whole number from 1 to 5, or nothing"),
    ] {
        let (column, number) = cell.split_once(" is ").unwrap();
        let text = format!("model_a,model_b,winner,{column}\nx,y,A,\nx,y,A,{number}\n");
        refuse(text.as_bytes(), &format!("votes0.csv line 3: {cell}: give {range}"));
    }
    let text = b"model_a,model_b,winner,pair_probability,satisfaction\nx,y,A,0,5.0\nx,y,A,1,1\n";
    let log = read_as(&[text], &ReadOptions::default()).unwrap();
    assert_eq!((log.pair_probabilities, log.satisfactions), (Some(vec![0.0, 1.0]), Some(vec![5, 1])));
}

#[test]
fn counts_beyond_all_bounds_stay_at_the_largest() {
    let json =
        br#"{"model_a":"x","model_b":"y","winner":"A","conv_metadata":{"header_count_a":{"h1":4294967295,"h2":7},"header_count_b":{}}}"#;
    let csv = b"model_a,model_b,winner,headers_a,headings_a,headers_b\nx,y,A,1e30,9,2\n";
    for (text, b) in [(&json[..], 0), (&csv[..], 2)] {
        assert_eq!(read_as(&[text], &ReadOptions::default()).unwrap().style.unwrap().headings(), [[u32::MAX, b]]);
    }
}

#[test]
fn packed_files_are_read_as_they_are() {
    use std::io::Write as _;
    let text = b"\xef\xbb\xbfmodel_a,model_b,winner\nx,y,A\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    // Concatenated compressed parts are one file.
    let parts = [zstd::encode_all(&text[..9], 1).unwrap(), zstd::encode_all(&text[9..], 1).unwrap()].concat();
    for packed in [gzip.finish().unwrap(), parts] {
        assert_eq!(read(&[&packed]).unwrap(), ["x AWins y"]);
        let error = read(&[&packed[..packed.len() / 2]]).unwrap_err();
        assert!(error.starts_with("cannot read votes0.csv: "), "{error}");
        assert!(error.ends_with("it was cut off or damaged, so fetch it again"), "{error}");
    }
    let parquet =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/votes/lmarena_33k.parquet"))
            .unwrap();
    assert_eq!(read(&[&zstd::encode_all(&*parquet, 1).unwrap()]).unwrap().len(), 4);
    let error = read(&[&parquet[..parquet.len() / 2]]).unwrap_err();
    assert!(error.starts_with("cannot read the Parquet file votes0.csv: "), "{error}");
    assert!(error.ends_with("; if it was cut off or damaged, fetch or write it again"), "{error}");
}

/// A file that is packed by gzip.
fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, text).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn a_vote_that_takes_more_than_the_limit_is_refused_with_the_flag() {
    let limits = ReadLimits { line_bytes: 1 << 20, ..ReadLimits::default() };
    let options = ReadOptions { limits, skip_bad: true, ..ReadOptions::default() };
    let long = "x".repeat(3 << 20);
    let vote = r#"{"model_a":"x","model_b":"y","winner":"tie","text":"#;
    for text in [
        format!("model_a,model_b,winner,text\nx,y,A,{long}\n"),
        format!("model_a,model_b,winner,text\nx,y,A,\"{long}\"\n"),
        format!("{vote}\"{long}\"}}\n"),
        format!("[{vote}\"\"}},{vote}\"{long}\"}}]"),
    ] {
        let refused = read_as(&[&gzipped(text.as_bytes())], &options).unwrap_err();
        let told = "cannot read votes0.csv: one vote takes more than 1048576 bytes: raise --max-line-bytes";
        assert!(refused.starts_with(told), "{refused}");
        assert!(read(&[text.as_bytes()]).is_ok(), "the default is generous");
    }
    let many = format!("[{}{vote}\"\"}}]", format!("{vote}\"{}\"}},", "x".repeat(1_000)).repeat(3_000));
    assert_eq!(read_as(&[many.as_bytes()], &options).unwrap().len(), 3_001, "the limit is on each vote");
}

#[test]
fn a_file_that_unpacks_to_more_than_the_limit_is_refused_with_the_flag() {
    let text = format!("model_a,model_b,winner\n{}", "x,y,A\n".repeat(100_000));
    let parquet =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/votes/lmarena_33k.parquet"))
            .unwrap();
    for (packed, enough) in [(gzipped(text.as_bytes()), 600_023), (zstd::encode_all(&*parquet, 1).unwrap(), 1 << 30)] {
        let read = |decompressed_bytes| {
            let limits = ReadLimits { decompressed_bytes, ..ReadLimits::default() };
            read_as(&[&packed], &ReadOptions { limits, ..ReadOptions::default() })
        };
        read(enough).unwrap();
        let refused = read(1_000).unwrap_err();
        assert!(refused.contains("unpacks to more than 1000 bytes: raise --max-decompressed-bytes"), "{refused}");
    }
    let limits = ReadLimits { decompressed_bytes: 10, ..ReadLimits::default() };
    let refused = read_as(&[&parquet], &ReadOptions { limits, ..ReadOptions::default() }).unwrap_err();
    assert!(refused.contains("--max-decompressed-bytes"), "what the columns say of themselves: {refused}");
}

#[test]
fn a_bad_row_far_down_a_long_file_is_found_on_its_line() {
    let rows = |count: usize| "\"x\",y,A,\"said\nin two lines, \"\"really\"\"\"\n".repeat(count);
    let text = format!("model_a,model_b,winner,text\n{}x,y,nobody,\n{}x,x,A,\n", rows(100_000), rows(100_000));
    refuse(
        text.as_bytes(),
        "votes0.csv line 200002: unknown winner \"nobody\": write model_a, model_b, tie or both_bad",
    );
    let skipped = read_as(&[text.as_bytes()], &ReadOptions { skip_bad: true, ..ReadOptions::default() }).unwrap();
    assert_eq!((skipped.len(), skipped.excluded.len()), (200_000, 2));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let _: Result<_, _> = read(&[&[b"model_a,model_b,winner\n", bytes.as_slice()].concat()]);
    }
}
