//! Slices of the votes.

use langya::domain::battle::Outcome::{AWins, Tie};
use langya::domain::rating::votes::slice::{Slice, SliceError, Turns};
use langya::domain::rating::votes::vote_log::{Labels, VoteLog};

use crate::support::ratings::log_of;

/// Eight votes, distinguished by columns that hold the bits of their number.
fn sliced() -> VoteLog {
    let mut log = log_of(&[("a", "b", AWins, 4), ("b", "c", Tie, 4)]);
    let mut languages = Labels::default();
    for row in 0..8 {
        languages.rows.push(if row == 7 { Labels::NONE } else { languages.names.position(["en", "zh"][row & 1]) });
    }
    log.languages = Some(languages);
    log.turns = Some((0..8).map(|row| 1 + (row >> 1 & 1)).collect());
    log.prompt_tokens = Some((0..8).map(|row| 498 + row).collect());
    log.seconds = Some((0..8).map(f64::from).collect());
    log
}

#[track_caller]
fn check_slice(slice: &Slice, expected: &[f64]) {
    let taken = slice.take(sliced()).unwrap();
    assert_eq!(taken.seconds.as_deref().unwrap(), expected);
    assert_eq!((taken.a.len(), taken.b.len(), taken.outcomes.len()), (expected.len(), expected.len(), expected.len()));
}

#[test]
fn a_slice_keeps_the_order_of_its_votes() {
    let all = Slice::default();
    check_slice(&all, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    check_slice(&Slice { language: Some("zh".into()), ..all.clone() }, &[1.0, 3.0, 5.0]);
    check_slice(&Slice { turns: Some(Turns::First), ..all.clone() }, &[0.0, 1.0, 4.0, 5.0]);
    check_slice(&Slice { turns: Some(Turns::Multi), ..all.clone() }, &[2.0, 3.0, 6.0, 7.0]);
    check_slice(&Slice { long_prompts: true, ..all.clone() }, &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    check_slice(&Slice { since: Some(3.0), until: Some(5.0), ..all.clone() }, &[3.0, 4.0]);
    check_slice(&Slice { language: Some("en".into()), turns: Some(Turns::Multi), ..all }, &[2.0, 6.0]);
}

#[test]
fn an_impossible_slice_is_refused_with_the_known_values() {
    let of_category = Slice { category: Some("coding".into()), ..Slice::default() };
    assert_eq!(of_category.take(sliced()).unwrap_err(), SliceError::Missing("category"));
    let of_language = Slice { language: Some("fr".into()), ..Slice::default() };
    let refused = of_language.take(sliced()).unwrap_err().to_string();
    assert_eq!(refused, "no rated vote has the language \"fr\": the votes have \"en\", \"zh\"");
}
