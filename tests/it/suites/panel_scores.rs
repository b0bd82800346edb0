//! Every model by every judge, and by all judges together.

use langya::domain::benchmark::judgement::{Game, Judgement, Status};
use langya::domain::benchmark::panel_scores::{JudgePanel, JudgementTable};
use langya::domain::benchmark::score::Coverage;

use super::{judged, rated, read_fixture, suite_with};

fn by(judge: &str, model: &str, judgement: Judgement) -> Judgement {
    Judgement { judge_model: judge.to_owned(), model: model.to_owned(), ..judgement }
}

#[test]
fn a_jury_is_each_judge_alone_and_their_mean() {
    let suite = suite_with("alignbench", None, &[]);
    let items = &read_fixture(&*suite, "alignbench.jsonl")[..2];
    let judgements = [
        by("j", "m", rated("1", 1, 8.0, &[])),
        by("j", "m", rated("2", 1, 6.0, &[])),
        by("k", "m", rated("1", 1, 5.0, &[])),
        by("k", "m", judged("2", 1, Game::First, Err(Status::Refused))),
        by("j", "n", rated("1", 1, 4.0, &[])),
    ];
    let panel_scores = JudgementTable::new(&judgements).scores(&*suite, items);
    let benches: Vec<(&str, &JudgePanel)> = panel_scores.iter().map(|row| (row.model.as_str(), &row.panel)).collect();
    let (j, k) = (JudgePanel::Judge("j".to_owned()), JudgePanel::Judge("k".to_owned()));
    let jury = JudgePanel::Jury(vec!["j".to_owned(), "k".to_owned()]);
    assert_eq!(benches, [("m", &j), ("m", &k), ("m", &jury), ("n", &j), ("n", &k), ("n", &jury)]);
    let value = |row: usize, key: &str| panel_scores[row].scores.by_key(key).unwrap().value;
    assert_eq!((value(0, "overall"), value(1, "overall"), value(2, "overall")), (Some(7.0), None, None));
    assert_eq!(value(2, "reasoning"), Some(6.5));
    assert_eq!(panel_scores[2].scores.by_key("overall").unwrap().coverage, Coverage { ok: 3, total: 4 });
    assert_eq!(value(5, "reasoning"), None, "judge k did not judge it");
}

#[test]
fn one_judge_is_no_jury_and_the_later_judgement_counts() {
    let suite = suite_with("alignbench", None, &[]);
    let items = &read_fixture(&*suite, "alignbench.jsonl")[..1];
    let judgements = [judged("1", 1, Game::First, Err(Status::ParseFailed)), rated("1", 1, 9.0, &[])];
    let panel_scores = JudgementTable::new(&judgements).scores(&*suite, items);
    assert_eq!(panel_scores.len(), 1);
    assert_eq!(panel_scores[0].scores.by_key("overall").unwrap().value, Some(9.0));
}
