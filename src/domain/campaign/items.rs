//! Items and answers of a campaign, and their validation before anything is stored.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::{CampaignPlan, Task};
use super::questions::CampaignQuestion;
use crate::battle::Outcome;

/// Maximum length of a prompt, reference or answer in characters, limited by what an annotator can read.
pub const MAX_TEXT_CHARS: usize = 100_000;
/// Maximum number of answers of an item that are ranked at once.
pub const MAX_RANKED_ANSWERS: usize = 5;

/// Row of the file of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerRow {
    /// Location of the row for error messages, such as `line 3`.
    pub place: String,
    /// Id of the item.
    pub item: String,
    /// Prompt, or conversation as text.
    pub prompt: String,
    /// Name of the model or other candidate.
    pub model: String,
    /// Answer of the model.
    pub answer: String,
    /// Known good answer; empty without one.
    pub reference: String,
    /// Category of the item; may be empty.
    pub category: String,
    /// Language of the item; may be empty.
    pub language: String,
}

/// Item with its answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignItem {
    /// Id of the item.
    pub id: String,
    /// Prompt, or conversation as text.
    pub prompt: String,
    /// Known good answer; empty without one.
    pub reference: String,
    /// Category of the item; may be empty.
    pub category: String,
    /// Language of the item; may be empty.
    pub language: String,
    /// Answers by model: at least one, or two for comparisons.
    pub answers: BTreeMap<String, String>,
}

/// Pair of answers with a known outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldRow {
    /// Location of the row for error messages.
    pub place: String,
    /// Id of the item.
    pub item: String,
    /// Models of the pair.
    pub models: [String; 2],
    /// Known outcome.
    pub outcome: Outcome,
}

/// Error of an item or answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct ItemError {
    /// Row or item of the error.
    pub place: String,
    /// Description of the problem and how to fix it.
    pub reason: String,
}

/// Groups rows by item, in the order of their first rows.
///
/// # Errors
/// [`ItemError`] for the first invalid row or item.
pub fn gather(rows: Vec<AnswerRow>, task: Task) -> Result<Vec<CampaignItem>, ItemError> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut items: Vec<CampaignItem> = Vec::new();
    for row in rows {
        check(&row)?;
        let at = *places.entry(row.item.clone()).or_insert(items.len());
        if at == items.len() {
            items.push(CampaignItem {
                id: row.item,
                prompt: row.prompt,
                reference: row.reference,
                category: row.category,
                language: row.language,
                answers: BTreeMap::from([(row.model, row.answer)]),
            });
            continue;
        }
        let item = &mut items[at];
        let fail = |reason: String| ItemError { place: row.place.clone(), reason };
        if item.prompt != row.prompt {
            return Err(fail(format!(
                "item {:?} has another prompt in an earlier row: give each its own item",
                row.item
            )));
        }
        if item.answers.contains_key(&row.model) {
            return Err(fail(format!("item {:?} has two answers of {:?}: keep one of them", row.item, row.model)));
        }
        if item.reference.is_empty() {
            item.reference = row.reference;
        }
        item.answers.insert(row.model, row.answer);
    }
    items.iter().try_for_each(|item| check_count(item, task))?;
    if items.is_empty() {
        return Err(ItemError { place: "the file".into(), reason: "it has no rows: write one row an answer".into() });
    }
    Ok(items)
}

fn check(row: &AnswerRow) -> Result<(), ItemError> {
    let fail = |reason: String| Err(ItemError { place: row.place.clone(), reason });
    for (name, text) in [("item", &row.item), ("prompt", &row.prompt), ("model", &row.model), ("answer", &row.answer)] {
        if text.trim().is_empty() {
            return fail(format!("there is no {name}: every row has item, prompt, model and answer"));
        }
        if text.contains('\0') {
            return fail(format!("the {name} has a NUL character, which no database keeps: take it out"));
        }
    }
    for (name, text) in [("prompt", &row.prompt), ("answer", &row.answer), ("reference", &row.reference)] {
        let length = text.chars().count();
        if length > MAX_TEXT_CHARS {
            return fail(format!("the {name} has {length} characters: give at most {MAX_TEXT_CHARS}"));
        }
    }
    if row.item.len() > 200 || row.model.len() > 200 {
        return fail("the item or model has more than 200 bytes: give shorter names".into());
    }
    Ok(())
}

fn check_count(item: &CampaignItem, task: Task) -> Result<(), ItemError> {
    let fail = |reason: String| Err(ItemError { place: format!("item {:?}", item.id), reason });
    match (task, item.answers.len()) {
        (Task::Pairwise | Task::Rank, 1) => {
            let only = item.answers.keys().next().map_or("", String::as_str);
            fail(format!("only {only:?} answers it: give at least two answers to compare"))
        }
        (Task::Rank, many) if many > MAX_RANKED_ANSWERS => fail(format!(
            "it has {many} answers: nobody ranks more than {MAX_RANKED_ANSWERS} at once, so take some out"
        )),
        _ => Ok(()),
    }
}

/// Checks that the rubric has the category of each item, and that every question of the file applies to some item.
///
/// # Errors
/// [`ItemError`] for the first violation.
pub fn check_categories(plan: &CampaignPlan, items: &[CampaignItem]) -> Result<(), ItemError> {
    let of_rubric = plan.rubric.map_or(0, |rubric| rubric.ids().len());
    if let Some(rubric) = plan.rubric {
        for item in items {
            let place = || format!("item {:?}", item.id);
            rubric.check(&item.category).map_err(|reason| ItemError { place: place(), reason })?;
        }
    }
    let is_asked = |question: &&CampaignQuestion| items.iter().any(|item| question.is_about(&item.category));
    match plan.questions.iter().skip(of_rubric).find(|question| !is_asked(question)) {
        None => Ok(()),
        Some(question) => {
            let reason =
                format!("no item has one of its categories {:?}: correct them, or leave them out", question.categories);
            Err(ItemError { place: format!("question {:?}", question.id), reason })
        }
    }
}

/// Checks that each known outcome is for a pair of the items, without duplicates.
///
/// # Errors
/// [`ItemError`] for the first violation.
pub fn check_gold(gold: &[GoldRow], items: &[CampaignItem]) -> Result<(), ItemError> {
    let by_id: BTreeMap<&str, &CampaignItem> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut seen = BTreeSet::new();
    for row in gold {
        let fail = |reason: String| Err(ItemError { place: row.place.clone(), reason });
        let [first, second] = &row.models;
        let Some(item) = by_id.get(row.item.as_str()) else {
            return fail(format!("no answer is about the item {:?}", row.item));
        };
        if let Some(model) = row.models.iter().find(|model| !item.answers.contains_key(*model)) {
            return fail(format!("item {:?} has no answer of {model:?}", row.item));
        }
        if first == second {
            return fail(format!("both sides are {first:?}: name two models"));
        }
        let key = if first < second { (first, second) } else { (second, first) };
        if !seen.insert((&row.item, key)) {
            return fail(format!("item {:?} has two known answers for {first:?} and {second:?}", row.item));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(place: &str, item: &str, model: &str) -> AnswerRow {
        AnswerRow {
            place: place.into(),
            item: item.into(),
            prompt: format!("prompt of {item}"),
            model: model.into(),
            answer: format!("answer of {model}"),
            reference: String::new(),
            category: String::new(),
            language: String::new(),
        }
    }

    fn error(rows: Vec<AnswerRow>, task: Task) -> String {
        gather(rows, task).unwrap_err().to_string()
    }

    #[test]
    fn rows_become_items_in_the_order_of_their_first_rows() {
        let rows =
            vec![row("line 1", "z", "m"), row("line 2", "a", "m"), row("line 3", "z", "n"), row("line 4", "a", "n")];
        let items = gather(rows, Task::Pairwise).unwrap();
        assert_eq!(items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["z", "a"]);
        assert_eq!(items[0].answers.keys().collect::<Vec<_>>(), ["m", "n"]);
    }

    #[test]
    fn what_cannot_be_judged_is_refused_with_its_place_and_the_way_out() {
        assert!(error(vec![row("line 1", "q", "m")], Task::Pairwise).contains("item \"q\": only \"m\" answers it"));
        assert!(gather(vec![row("line 1", "q", "m")], Task::Score).is_ok(), "one answer can be scored");
        let mut other = row("line 2", "q", "n");
        other.prompt = "another".into();
        assert!(
            error(vec![row("line 1", "q", "m"), other], Task::Pairwise)
                .contains("line 2: item \"q\" has another prompt")
        );
        let twice = vec![row("line 1", "q", "m"), row("line 2", "q", "m")];
        assert!(error(twice, Task::Pairwise).contains("line 2: item \"q\" has two answers of \"m\""));
        let mut empty = row("line 1", "q", "m");
        empty.answer = " \n".into();
        assert!(error(vec![empty], Task::Score).contains("line 1: there is no answer"));
        let mut long = row("line 1", "q", "m");
        long.answer = "x".repeat(1_000_000);
        assert!(error(vec![long], Task::Score).contains("the answer has 1000000 characters"));
        let mut nul = row("line 1", "q", "m");
        nul.answer = "a\0b".into();
        assert!(error(vec![nul], Task::Score).contains("NUL"));
        let six = ["a", "b", "c", "d", "e", "f"].map(|model| row("line", "q", model));
        assert!(error(six.into(), Task::Rank).contains("it has 6 answers"));
        assert!(error(vec![], Task::Score).contains("it has no rows"));
    }

    #[test]
    fn every_question_is_about_some_item_and_a_rubric_knows_every_category() {
        let mut items = gather(vec![row("line 1", "q", "m")], Task::Score).unwrap();
        let plan = |keys: &str| {
            let file = format!("[campaign]\nid = \"a\"\ntitle = \"t\"\nanswers = \"x\"\ntask = \"score\"\n{keys}");
            CampaignPlan::parse(&file).unwrap()
        };
        let asking = "[[questions]]\nid = \"safe\"\ntext = \"Safe?\"\nkind = \"scale\"\ncategories = [\"Safety\"]\n";
        let error = check_categories(&plan(asking), &items).unwrap_err().to_string();
        assert!(error.starts_with("question \"safe\": no item has one of its categories [\"Safety\"]"), "{error}");
        let error = check_categories(&plan("rubric = \"alignbench\"\n"), &items).unwrap_err().to_string();
        assert!(error.starts_with("item \"q\": the rubric \"alignbench\" has no dimensions for the category \"\""));
        items[0].category = "safety".into();
        assert_eq!(check_categories(&plan(asking), &items), Ok(()));
        items[0].category = "翻译".into();
        // Dimensions of a rubric for other categories apply to no item.
        assert_eq!(check_categories(&plan("rubric = \"alignbench\"\n"), &items), Ok(()));
    }

    #[test]
    fn known_answers_are_about_pairs_of_the_items_once() {
        let items = gather(vec![row("line 1", "q", "m"), row("line 2", "q", "n")], Task::Pairwise).unwrap();
        let gold = |item: &str, models: [&str; 2]| GoldRow {
            place: "line 9".into(),
            item: item.into(),
            models: models.map(str::to_owned),
            outcome: Outcome::AWins,
        };
        assert_eq!(check_gold(&[gold("q", ["n", "m"])], &items), Ok(()));
        for (rows, words) in [
            (vec![gold("p", ["n", "m"])], "no answer is about the item \"p\""),
            (vec![gold("q", ["n", "o"])], "has no answer of \"o\""),
            (vec![gold("q", ["n", "n"])], "both sides are"),
            (vec![gold("q", ["n", "m"]), gold("q", ["m", "n"])], "two known answers"),
        ] {
            let error = check_gold(&rows, &items).unwrap_err().to_string();
            assert!(error.contains(words) && error.starts_with("line 9"), "{error}");
        }
    }
}
