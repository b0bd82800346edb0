use super::*;
use crate::domain::battle::Outcome;
use crate::domain::campaign::assignment::AssignmentKind;
use crate::domain::campaign::judgement::UnitJudgement;
use crate::domain::campaign::plan::Task;
use crate::domain::campaign::report::{CampaignFacts, JudgedUnit, LeftOutAnnotator, report};
use crate::domain::rating::options::LeaderboardOptions;

const PLAN: &str = "[campaign]\nid = \"pilot\"\ntitle = \"Which | <b>one</b>?\"\nanswers = \"x\"\n";

fn facts(task: Task) -> CampaignFacts {
    CampaignFacts {
        id: "pilot".into(),
        task,
        judgements_per_item: 3,
        until: None,
        ended: None,
        questions: Vec::new(),
        units: 12,
        gold: std::collections::BTreeMap::new(),
        left_out: vec![LeftOutAnnotator {
            annotator: "pilot-4".into(),
            reason: "asleep <i>".into(),
            by: "ann".into(),
            at: 1,
            judgements: 0,
        }],
        verdicts: Vec::new(),
        seed: 1,
    }
}

/// Four annotators judge every unit: of three models the earlier name wins except every fifth time.
fn written(task: Task, audience: Audience, language: Language) -> CampaignDocument {
    let names = ["m1", "<m2>", "m3"];
    let judged = (0..12_u32).flat_map(|unit| {
        (1..=4_u32).map(move |annotator| {
            let (a, b) = [(0, 1), (1, 2), (0, 2)][unit as usize % 3];
            let shown: Vec<String> = if task == Task::Score { vec![names[a]] } else { vec![names[a], names[b]] }
                .into_iter()
                .map(str::to_owned)
                .collect();
            let outcome = if (unit + annotator) % 5 == 0 { Outcome::BWins } else { Outcome::AWins };
            let score = u8::try_from(9 - 3 * a - (unit + annotator) as usize % 2).unwrap();
            JudgedUnit {
                annotator: format!("pilot-{annotator}").into(),
                unit,
                item: unit,
                shown: shown.into(),
                kind: AssignmentKind::Fresh,
                judgement: if task == Task::Score {
                    UnitJudgement::Score(score)
                } else {
                    UnitJudgement::Outcome(outcome)
                },
                answers: std::sync::Arc::default(),
                seconds: 5.0,
            }
        })
    });
    let report = report(&facts(task), judged.collect(), &LeaderboardOptions::default()).unwrap();
    let plan = CampaignPlan::parse(&format!("{PLAN}task = \"{}\"\n", task.as_str())).unwrap();
    CampaignDocument::new(&report, &plan, audience, language)
}

fn keys(document: &CampaignDocument) -> Vec<&str> {
    document.parts.iter().map(|part| part.key.as_str()).collect()
}

#[test]
fn operators_read_everything_and_everybody_else_nothing_of_single_annotators() {
    let all = written(Task::Pairwise, Audience::Operators, Language::English);
    assert_eq!(keys(&all), ["ratings", "pairs", "agreement", "annotators", "annotator-pairs", "left-out"]);
    assert_eq!(all.parts.iter().map(|part| part.charts.len()).collect::<Vec<_>>(), [1, 1, 0, 0, 1, 0]);
    assert!(all.parts.iter().all(|part| part.table.rows.iter().all(|row| row.len() == part.table.columns.len())));
    // m1 met <m2> in four units of three judgements each.
    assert_eq!(all.parts[1].table.rows[0][..3], ["<m2>", "m1", "12"].map(str::to_owned));
    let public = written(Task::Pairwise, Audience::Public, Language::Chinese);
    assert_eq!(keys(&public), ["ratings", "pairs", "agreement"]);
    for text in [markdown::write(&public, Language::Chinese), html::body(&public, Language::Chinese).unwrap()] {
        assert!(!text.contains("pilot-") && !text.contains("asleep") && !text.contains("ann"), "{text}");
        assert!(text.contains("有 12 次评判被排除"), "{text}");
    }
    let scores = written(Task::Score, Audience::Public, Language::English);
    assert_eq!(keys(&scores), ["scores", "agreement"]);
    // Three annotators are few for intervals by annotator, which only ratings have.
    assert!(all.notes.iter().any(|note| note.contains("few voters")), "{:?}", all.notes);
    assert!(public.notes.iter().any(|note| note.contains("少数投票者")), "{:?}", public.notes);
    assert!(!scores.notes.iter().any(|note| note.contains("voters")), "{:?}", scores.notes);
    assert_eq!(scores.parts[0].charts.len(), 1);
}

#[test]
fn what_others_wrote_is_text_in_every_form() {
    let document = written(Task::Pairwise, Audience::Operators, Language::English);
    let file = html::file(&document, Language::English).unwrap();
    assert!(!file.contains("<b>one") && !file.contains("<m2>") && !file.contains("<i>"), "{file}");
    assert!(file.contains("Which | &#60;b&#62;one") && file.contains("asleep &#60;i&#62;"), "{file}");
    let text = markdown::write(&document, Language::English);
    assert!(text.starts_with("# Which \\| \\<b\\>one\\</b\\>?\n\n- Campaign: pilot\n- Judgements: 36\n"), "{text}");
    assert!(text.contains("| \\<m2\\> | m1 | 12 |"), "{text}");
}

#[test]
fn the_dimensions_of_a_rubric_stand_in_one_table() {
    let plan = format!("{PLAN}task = \"score\"\nrubric = \"superclue\"\n");
    let plan = CampaignPlan::parse(&format!("{plan}[[questions]]\nid = \"why\"\ntext = \"Why?\"\nkind = \"text\"\n"));
    let plan = plan.unwrap();
    let answers = |accurate: u8| {
        let said = format!("{{\"targeted\":5,\"accurate\":{accurate},\"comprehensive\":5,\"why\":\"So.\"}}");
        std::sync::Arc::new(serde_json::from_str(&said).unwrap())
    };
    let judged =
        (0..4_u32).flat_map(|unit| [1, 2].map(|annotator| (unit, annotator))).map(|(unit, annotator)| JudgedUnit {
            annotator: format!("pilot-{annotator}").into(),
            unit,
            item: unit / 2,
            shown: vec![if unit % 2 == 0 { "<m1>".to_owned() } else { "m2".to_owned() }].into(),
            kind: AssignmentKind::Fresh,
            judgement: UnitJudgement::Score(5),
            answers: answers(if unit % 2 == 0 { 8 } else { 3 + u8::from(unit == 3) }),
            seconds: 5.0,
        });
    let facts = CampaignFacts { questions: plan.questions.clone(), units: 4, ..facts(Task::Score) };
    let report = report(&facts, judged.collect(), &LeaderboardOptions::default()).unwrap();
    let document = CampaignDocument::new(&report, &plan, Audience::Public, Language::Chinese);
    let part = document.parts.iter().find(|part| part.key == "dimensions").unwrap();
    assert_eq!(part.table.columns.iter().map(|column| &*column.label).collect::<Vec<_>>()[4..], ["<m1>", "m2"]);
    // 3 and 4: a mean of 3.5 ± 12.706 · 0.5.
    let rows: Vec<&[String]> = part.table.rows.iter().map(Vec::as_slice).collect();
    assert_eq!(rows.len(), 3, "the free text is no dimension");
    assert_eq!(*rows[1], ["准确性", "8", "1.00", "4", "8.00", "3.50 (-2.85 … 9.85)"]);
    let without = CampaignPlan { rubric: None, ..plan };
    assert!(
        !keys(&CampaignDocument::new(&report, &without, Audience::Public, Language::English)).contains(&"dimensions")
    );
}

#[test]
fn models_without_an_interval_have_no_rank() {
    let judged =
        (0..6_u32).flat_map(|unit| [1, 2, 3].map(|annotator| (unit, annotator))).map(|(unit, annotator)| JudgedUnit {
            annotator: format!("pilot-{annotator}").into(),
            unit,
            item: unit,
            shown: vec!["m1".to_owned(), "m2".to_owned()].into(),
            kind: AssignmentKind::Fresh,
            judgement: UnitJudgement::Outcome(Outcome::Tie),
            answers: std::sync::Arc::default(),
            seconds: 5.0,
        });
    let report = report(&facts(Task::Pairwise), judged.collect(), &LeaderboardOptions::default()).unwrap();
    let plan = CampaignPlan::parse(&format!("{PLAN}task = \"pairwise\"\n")).unwrap();
    let document = CampaignDocument::new(&report, &plan, Audience::Public, Language::English);
    let row = &document.parts[0].table.rows[0];
    assert_eq!(row[..5], ["–", "m1", "1000", "–", "–"].map(str::to_owned), "{document:?}");
}

#[test]
fn a_campaign_without_judgements_says_so() {
    let report = report(&facts(Task::Pairwise), Vec::new(), &LeaderboardOptions::default()).unwrap();
    let plan = CampaignPlan::parse(&format!("{PLAN}task = \"pairwise\"\n")).unwrap();
    let document = CampaignDocument::new(&report, &plan, Audience::Public, Language::English);
    assert!(document.parts.is_empty() && document.notes.is_empty(), "{document:?}");
    assert!(markdown::write(&document, Language::English).ends_with("No judgements yet.\n"));
    assert!(html::body(&document, Language::English).unwrap().contains("No judgements yet."));
}
