//! Files of a campaign: its plan, its answers and its gold outcomes.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::domain::battle::Outcome;
use crate::domain::battle::message::Message;
use crate::domain::campaign::items::{
    AnswerRow, CampaignItem, GoldRow, ItemError, check_categories, check_gold, gather,
};
use crate::domain::campaign::plan::{CampaignPlan, PlanError};
use crate::domain::campaign::prompts::{CampaignPrompt, check_prompts};
use crate::domain::campaign::rubric::CampaignRubric;
use crate::read_text;
use crate::standard_input::is_standard_input;
use crate::votes::{TextTable, VoteFileError, read_table};

const ITEM_COLUMNS: [&str; 4] = ["item", "item_id", "question_id", "id"];
const PROMPT_COLUMNS: [&str; 2] = ["prompt", "question"];
const CONVERSATION_COLUMNS: [&str; 2] = ["conversation", "messages"];
const MODEL_COLUMNS: [&str; 2] = ["model", "candidate"];
const ANSWER_COLUMNS: [&str; 2] = ["answer", "response"];
const REFERENCE_COLUMNS: [&str; 1] = ["reference"];
const CATEGORY_COLUMNS: [&str; 1] = ["category"];
const SUBCATEGORY_COLUMNS: [&str; 1] = ["subcategory"];
const LANGUAGE_COLUMNS: [&str; 1] = ["language"];
const MODEL_A_COLUMNS: [&str; 1] = ["model_a"];
const MODEL_B_COLUMNS: [&str; 1] = ["model_b"];
const OUTCOME_COLUMNS: [&str; 2] = ["outcome", "winner"];

/// Error of reading a campaign's files.
#[derive(Debug, thiserror::Error)]
pub enum CampaignFileError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The campaign's plan is invalid.
    #[error("{}: {error}", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// The error in the plan.
        error: PlanError,
    },
    /// A table cannot be read.
    #[error(transparent)]
    Table(#[from] VoteFileError),
    /// A table lacks a column.
    #[error("{} has no column {column}", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// Accepted names of the column.
        column: String,
    },
    /// A row or an item cannot be used.
    #[error("{}: {error}", path.display())]
    Item {
        /// The file.
        path: PathBuf,
        /// The error in the item.
        error: ItemError,
    },
}

/// Contents of a campaign's files.
#[derive(Debug, Clone, PartialEq)]
pub struct CampaignFiles {
    /// Its plan.
    pub plan: CampaignPlan,
    /// Its items with their answers.
    pub items: Vec<CampaignItem>,
    /// Its gold outcomes.
    pub gold: Vec<GoldRow>,
}

/// One turn of a conversation.
#[derive(Deserialize)]
struct ConversationTurn {
    role: String,
    content: String,
}

/// Reads a campaign's plan.
///
/// # Errors
/// [`CampaignFileError`] names the file and the remedy.
pub fn read_plan(path: &Path) -> Result<CampaignPlan, CampaignFileError> {
    let unreadable = |source| CampaignFileError::Unreadable { path: path.to_owned(), source };
    let text = read_text(path).map_err(unreadable)?;
    CampaignPlan::parse(&text).map_err(|error| CampaignFileError::Plan { path: path.to_owned(), error })
}

/// Reads a campaign file and the files that it names, relative to it.
///
/// # Errors
/// [`CampaignFileError`] names the file, the row and the remedy.
pub fn read_campaign(path: &Path) -> Result<CampaignFiles, CampaignFileError> {
    let plan = read_plan(path)?;
    let rows = read_answers(&resolve_path(path, &plan.answers), plan.rubric)?;
    with_answers(path, plan, rows)
}

/// Builds a campaign from rows of answers and the gold outcomes in its files.
///
/// # Errors
/// [`CampaignFileError`] names the row and the remedy.
pub fn with_answers(path: &Path, plan: CampaignPlan, rows: Vec<AnswerRow>) -> Result<CampaignFiles, CampaignFileError> {
    let named = plan.prompts().unwrap_or(&plan.answers);
    let of_answers = |error| CampaignFileError::Item { path: resolve_path(path, named), error };
    let items = gather(rows, plan.task).map_err(of_answers)?;
    check_categories(&plan, &items).map_err(of_answers)?;
    let gold = match &plan.gold {
        None => Vec::new(),
        Some(gold) => {
            let path = resolve_path(path, gold);
            let rows = read_gold(&path)?;
            check_gold(&rows, &items).map_err(|error| CampaignFileError::Item { path, error })?;
            rows
        }
    };
    Ok(CampaignFiles { plan, items, gold })
}

/// Resolves a file name relative to the campaign file at this path; never the standard input.
fn resolve_path(path: &Path, name: &str) -> PathBuf {
    let named = path.parent().unwrap_or(Path::new(".")).join(name);
    if is_standard_input(&named) { Path::new(".").join(named) } else { named }
}

/// Reads the prompts of a campaign.
///
/// # Errors
/// [`CampaignFileError`] names the row and the remedy.
pub fn read_prompts(path: &Path, plan: &CampaignPlan) -> Result<Vec<CampaignPrompt>, CampaignFileError> {
    let path = &resolve_path(path, plan.prompts().unwrap_or(&plan.answers));
    let of_rows = |error| CampaignFileError::Item { path: path.clone(), error };
    let table = CampaignTable::open(path, &item_column_names(&[]))?;
    let about = AboutItems::new(&table, plan.rubric)?;
    let row = |(place, row): &(String, Vec<String>)| {
        let fail = |reason| ItemError { place: place.clone(), reason };
        Ok(CampaignPrompt {
            place: place.clone(),
            item: row[about.item].trim().to_owned(),
            prompt: about.prompt(row),
            messages: about.messages(row).map_err(fail)?,
            reference: cell(row, about.reference),
            category: about.category(row),
            language: cell(row, about.language),
        })
    };
    let rows: Vec<CampaignPrompt> = table.rows.iter().map(row).collect::<Result<_, _>>().map_err(of_rows)?;
    check_prompts(&rows).map_err(of_rows)?;
    Ok(rows)
}

/// Names of the item columns, and of others.
fn item_column_names(others: &[&'static str]) -> Vec<&'static str> {
    [
        &ITEM_COLUMNS[..],
        &PROMPT_COLUMNS,
        &CONVERSATION_COLUMNS,
        &REFERENCE_COLUMNS,
        &CATEGORY_COLUMNS,
        &SUBCATEGORY_COLUMNS,
        &LANGUAGE_COLUMNS,
        others,
    ]
    .concat()
}

fn cell(row: &[String], at: Option<usize>) -> String {
    at.map_or_else(String::new, |at| row[at].clone())
}

/// Positions of the item columns.
struct AboutItems {
    item: usize,
    prompt: Option<usize>,
    conversation: Option<usize>,
    reference: Option<usize>,
    category: Option<usize>,
    /// Present only if the rubric distinguishes items by it.
    subcategory: Option<usize>,
    language: Option<usize>,
}

impl AboutItems {
    fn new(table: &CampaignTable<'_>, rubric: Option<CampaignRubric>) -> Result<Self, CampaignFileError> {
        let [prompt, conversation] = [&PROMPT_COLUMNS, &CONVERSATION_COLUMNS].map(|names| table.place(names));
        if prompt.is_none() && conversation.is_none() {
            return Err(table.missing_column("prompt or conversation"));
        }
        let reads_subcategories = rubric.is_some_and(CampaignRubric::reads_subcategories);
        Ok(Self {
            item: table.needed(&ITEM_COLUMNS)?,
            prompt,
            conversation,
            reference: table.place(&REFERENCE_COLUMNS),
            category: table.place(&CATEGORY_COLUMNS),
            subcategory: table.place(&SUBCATEGORY_COLUMNS).filter(|_| reads_subcategories),
            language: table.place(&LANGUAGE_COLUMNS),
        })
    }

    /// Prompt text shown to annotators.
    fn prompt(&self, row: &[String]) -> String {
        let asked = Some(cell(row, self.prompt)).filter(|text| !text.is_empty());
        asked.unwrap_or_else(|| conversation_text(&cell(row, self.conversation)))
    }

    /// Messages to a model: a prompt, or the messages of a conversation.
    fn messages(&self, row: &[String]) -> Result<Vec<Message>, String> {
        let (prompt, conversation) = (cell(row, self.prompt), cell(row, self.conversation));
        if !prompt.is_empty() || !conversation.trim_start().starts_with('[') {
            return Ok(vec![Message::user(if prompt.is_empty() { conversation } else { prompt })]);
        }
        let reason = "a conversation is a list of turns with a role, system, user or assistant, and its content";
        serde_json::from_str(&conversation).map_err(|error| format!("{reason}: {error}"))
    }

    fn category(&self, row: &[String]) -> String {
        Some(cell(row, self.subcategory)).filter(|text| !text.is_empty()).unwrap_or_else(|| cell(row, self.category))
    }
}

fn read_answers(path: &Path, rubric: Option<CampaignRubric>) -> Result<Vec<AnswerRow>, CampaignFileError> {
    let table = CampaignTable::open(path, &item_column_names(&[&MODEL_COLUMNS[..], &ANSWER_COLUMNS].concat()))?;
    let about = AboutItems::new(&table, rubric)?;
    let [model, answer] = [table.needed(&MODEL_COLUMNS)?, table.needed(&ANSWER_COLUMNS)?];
    let row = |(place, row): &(String, Vec<String>)| AnswerRow {
        place: place.clone(),
        item: row[about.item].trim().to_owned(),
        prompt: about.prompt(row),
        model: row[model].trim().to_owned(),
        answer: row[answer].clone(),
        reference: cell(row, about.reference),
        category: about.category(row),
        language: cell(row, about.language),
    };
    Ok(table.rows.iter().map(row).collect())
}

/// Formats a conversation for annotators, with the role of each turn. A text that is no list of turns stays unchanged.
fn conversation_text(text: &str) -> String {
    let Ok(turns) = serde_json::from_str::<Vec<ConversationTurn>>(text) else { return text.to_owned() };
    if let [ConversationTurn { content, .. }] = turns.as_slice() {
        return content.clone();
    }
    turns.iter().map(|turn| format!("**{}**: {}", turn.role, turn.content)).collect::<Vec<_>>().join("\n\n")
}

fn read_gold(path: &Path) -> Result<Vec<GoldRow>, CampaignFileError> {
    let table =
        CampaignTable::open(path, &[&ITEM_COLUMNS[..], &MODEL_A_COLUMNS, &MODEL_B_COLUMNS, &OUTCOME_COLUMNS].concat())?;
    let [item, a, b] = [table.needed(&ITEM_COLUMNS)?, table.needed(&MODEL_A_COLUMNS)?, table.needed(&MODEL_B_COLUMNS)?];
    let outcome = table.needed(&OUTCOME_COLUMNS)?;
    let row = |(place, row): &(String, Vec<String>)| {
        let fail = |reason| CampaignFileError::Item {
            path: path.to_owned(),
            error: ItemError { place: place.clone(), reason },
        };
        let outcome = Outcome::parse(row[outcome].trim()).map_err(|error| fail(error.to_string()))?;
        let models = [a, b].map(|at| row[at].trim().to_owned());
        Ok(GoldRow { place: place.clone(), item: row[item].trim().to_owned(), models, outcome })
    };
    table.rows.iter().map(row).collect()
}

/// A table whose columns of interest are in memory.
struct CampaignTable<'p> {
    path: &'p Path,
    columns: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

impl<'p> CampaignTable<'p> {
    fn open(path: &'p Path, names: &[&str]) -> Result<Self, CampaignFileError> {
        let TextTable { columns, rows } = read_table(path, names)?;
        Ok(Self { path, columns, rows: rows.into_iter().map(|(place, row)| (place.to_string(), row)).collect() })
    }

    /// Position of the column with the first of these names that the table has.
    fn place(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.columns.iter().position(|column| column == name))
    }

    fn needed(&self, names: &[&str]) -> Result<usize, CampaignFileError> {
        self.place(names).ok_or_else(|| self.missing_column(&names.join(" or ")))
    }

    fn missing_column(&self, column: &str) -> CampaignFileError {
        CampaignFileError::Column { path: self.path.to_owned(), column: column.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "[campaign]\nid = \"pilot\"\ntitle = \"t\"\ntask = \"pairwise\"\nanswers = \"answers.jsonl\"\n";

    fn written(plan: &str, answers: &str, gold: &str) -> Result<CampaignFiles, String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("pilot.toml", plan), ("answers.jsonl", answers), ("gold.jsonl", gold)] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        read_campaign(&folder.path().join("pilot.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_campaign_names_files_and_never_the_standard_input() {
        let named = |path: &str| resolve_path(Path::new(path), "-");
        assert_eq!([named("pilot.toml"), named("folder/pilot.toml")], ["./-", "folder/-"].map(PathBuf::from));
    }

    #[test]
    fn a_campaign_is_read_from_its_file_and_those_beside_it() {
        let answers = "{\"item\":1,\"prompt\":\"Why?\",\"model\":\"m\",\"answer\":\"So.\"}\n\n\
             {\"item\":1,\"prompt\":\"Why?\",\"model\":\"n\",\"answer\":\"Because.\",\"reference\":\"R\"}\n";
        let gold = "{\"item\":1,\"model_a\":\"n\",\"model_b\":\"m\",\"outcome\":\"a\"}\n";
        let files = written(&format!("{PLAN}gold = \"gold.jsonl\"\n"), answers, gold).unwrap();
        assert_eq!((files.items.len(), files.items[0].id.as_str()), (1, "1"));
        assert_eq!(files.items[0].reference, "R");
        assert_eq!(files.gold[0].models, ["n", "m"].map(str::to_owned));
        assert_eq!(files.gold[0].outcome, Outcome::AWins);
    }

    #[test]
    fn a_rubric_reads_the_subcategory_and_refuses_one_that_it_does_not_know() {
        let plan = PLAN.replace("\"pairwise\"", "\"score\"\nrubric = \"alignbench\"");
        let line = |category: &str, subcategory: &str| {
            format!(
                "{{\"item\":\"q\",\"prompt\":\"p\",\"model\":\"m\",\"answer\":\"x\",\"category\":\"{category}\",\"subcategory\":\"\
                 {subcategory}\"}}\n"
            )
        };
        assert_eq!(written(&plan, &line("基本任务", "翻译"), "").unwrap().items[0].category, "翻译");
        assert_eq!(written(&plan, &line("基本任务", ""), "").unwrap().items[0].category, "基本任务");
        let error = written(&plan, &line("基本任务", "cooking"), "").unwrap_err();
        assert!(error.contains("answers.jsonl: item \"q\": the rubric \"alignbench\" has no dimensions"), "{error}");
        let pairs = "{\"item\":\"q\",\"prompt\":\"p\",\"model\":\"n\",\"answer\":\"x\"}\n";
        let plain = written(PLAN, &(line("facts", "翻译") + pairs), "").unwrap();
        assert_eq!(plain.items[0].category, "facts", "without a rubric the category stays");
    }

    #[test]
    fn a_conversation_is_shown_turn_by_turn() {
        let line = |model: &str| {
            format!(
                "{{\"item\":\"q\",\"conversation\":[{{\"role\":\"user\",\"content\":\"Hi\"}},{{\"role\":\"assistant\",\
                 \"content\":\"Yes?\"}},{{\"role\":\"user\",\"content\":\"Why?\"}}],\"model\":\"{model}\",\"answer\":\"x\"}}\n"
            )
        };
        let files = written(PLAN, &(line("m") + &line("n")), "").unwrap();
        assert_eq!(files.items[0].prompt, "**user**: Hi\n\n**assistant**: Yes?\n\n**user**: Why?");
        assert_eq!(conversation_text("[{\"role\":\"user\",\"content\":\"Why?\"}]"), "Why?");
        assert_eq!(conversation_text("plain"), "plain");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_file_and_row() {
        let rows = "{\"item\":\"q\",\"prompt\":\"p\",\"model\":\"m\",\"answer\":\"x\"}\n";
        for (plan, answers, gold, words) in [
            (PLAN, rows, "", "answers.jsonl: item \"q\": only \"m\" answers it"),
            (
                PLAN,
                "{\"item\":\"q\",\"model\":\"m\",\"answer\":\"x\"}\n",
                "",
                "answers.jsonl has no column prompt or conversation",
            ),
            (PLAN, "{\"prompt\":\"q\",\"model\":\"m\",\"answer\":\"x\"}\n", "", "answers.jsonl has no column item"),
            (PLAN, "no JSON\n", "", "answers.jsonl"),
            ("[campaign]\n", rows, "", "pilot.toml: TOML parse error"),
        ] {
            let error = written(plan, answers, gold).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        let two = rows.to_owned() + &rows.replace("\"m\"", "\"n\"");
        let plan = format!("{PLAN}gold = \"gold.jsonl\"\n");
        let gold = "{\"item\":\"q\",\"model_a\":\"m\",\"model_b\":\"n\",\"outcome\":\"left\"}\n";
        assert!(written(&plan, &two, gold).unwrap_err().contains("gold.jsonl: line 1: unknown outcome"));
    }
}
