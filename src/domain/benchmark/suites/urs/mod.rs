//! URS: 1,846 questions reported by users, English and Chinese, each judged by five criteria of the user's intent with a reference worth 8.
//!
//! The overall score is the mean over cases. API calls are a seventh label in the data, which the paper's tables count under problem
//! solving. Sources: the paper, `src/evaluation.py` and `src/evaluation.ipynb`.

mod intents;

use serde::Deserialize;

use crate::benchmark::item::{Answer, AnswerRequest, Item, ItemSampling, Question};
use crate::benchmark::judging_forms::logprob_weighted::LOGPROB_WEIGHTED;
use crate::benchmark::judging_forms::pointwise;
use crate::benchmark::scores::judgement::{JudgeRequest, JudgeTask};
use crate::benchmark::scores::score::{ItemUnit, Part, PartKind, Score, Scores, Verdicts};
use crate::benchmark::suite_data_file::{DataError, DataProblem, RecordLines, checked, text};
use crate::benchmark::suite_options::{SuiteError, SuiteOptions};
use crate::benchmark::{JudgeMode, Suite};
use crate::judging::judge_prompt::{JudgePrompt, JudgePromptFields};
use crate::judging::prompt_file::{PromptFile, PromptText};
use crate::judging::verdict::{Rating, Verdict, VerdictError, dimension_scores, original_parsers};
use crate::language::Language;
use intents::criteria_in;
pub use intents::{API, CRITERIA, INTENTS, Intent, OBJECTIVE, SUBJECTIVE, intent_of};

/// Switch: the judge is always asked in Chinese, as in `evaluation.py`.
const CHINESE_PROMPT: &str = "urs.chinese_prompt";
/// Switch: replies are parsed like in the notebook.
const OFFICIAL_PARSER: &str = "urs.official_parser";

const PROMPT: &str = include_str!("../../prompts/urs.toml");
const FIELDS: JudgePromptFields =
    JudgePromptFields { required: &["criteria", "question", "reference", "answer"], optional: &["intent"] };

/// URS with its options.
pub struct Urs {
    variant: String,
    english: Prompt,
    chinese: Prompt,
    chinese_prompt: bool,
    official_parser: bool,
}

/// Prompt in one language.
struct Prompt {
    text: PromptText,
    judge_prompt: JudgePrompt,
}

/// Row of the data file.
#[derive(Deserialize)]
struct UrsRecord {
    question: String,
    reference_ans: String,
    user_intent: String,
    language: String,
}

impl Urs {
    /// Creates the suite with its options.
    ///
    /// # Errors
    /// [`SuiteError`] if an option is unknown or the prompt lacks a field.
    pub fn new(options: &SuiteOptions) -> Result<Self, SuiteError> {
        options.check("urs", &[LOGPROB_WEIGHTED], &[CHINESE_PROMPT, OFFICIAL_PARSER])?;
        let file = PromptFile::parse(options.prompt.as_deref().unwrap_or(PROMPT));
        let prompt = |language: Language| {
            let text = file.variant(language.code());
            JudgePrompt::new(language.code(), &text, FIELDS).map(|judge_prompt| Prompt { text, judge_prompt })
        };
        Ok(Self {
            variant: options.variant(),
            english: prompt(Language::English)?,
            chinese: prompt(Language::Chinese)?,
            chinese_prompt: options.has(CHINESE_PROMPT),
            official_parser: options.has(OFFICIAL_PARSER),
        })
    }

    /// Returns the language in which the judge is asked about an item.
    fn language(&self, item: &Item) -> Language {
        if self.chinese_prompt { Language::Chinese } else { item.language }
    }

    fn request(&self, item: &Item, answer: &str) -> JudgeRequest {
        let (language, intent) = (self.language(item), intent_of(&item.category));
        let (prompt, name) = match language {
            Language::English => (&self.english, intent.title),
            Language::Chinese => (&self.chinese, intent.chinese),
        };
        let criteria = pointwise::numbered(&criteria_in(language, intent), &prompt.text);
        let (question, reference) = pointwise::question_and_reference(item);
        let values = [
            ("intent", name),
            ("criteria", criteria.as_str()),
            ("question", question),
            ("reference", reference),
            ("answer", answer),
        ];
        JudgeRequest { messages: prompt.judge_prompt.messages(&values), sampling: ItemSampling::default() }
    }
}

impl Suite for Urs {
    fn name(&self) -> &'static str {
        "urs"
    }

    fn title(&self) -> &'static str {
        "URS"
    }

    fn mode(&self) -> JudgeMode {
        JudgeMode::PointwiseRefMultidim
    }

    fn variant(&self) -> &str {
        &self.variant
    }

    fn category_title<'n>(&'n self, category: &'n str) -> &'n str {
        INTENTS.iter().find(|intent| intent.name == category).map_or(category, |intent| intent.title)
    }

    fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError> {
        let text = text(bytes)?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headers = reader.headers().map_err(|error| DataProblem::Record(error.to_string()).on(1))?.clone();
        let (mut items, mut lines) = (Vec::new(), RecordLines::new(text));
        for (number, record) in (1..).zip(reader.records()) {
            let record = record.map_err(|error| DataProblem::Record(reason(&error)).on(lines.at(error.position())))?;
            let line = lines.at(record.position());
            let row =
                record.deserialize(Some(&headers)).map_err(|error| DataProblem::Record(reason(&error)).on(line))?;
            items.push((line, item(row, number).map_err(|problem| problem.on(line))?));
        }
        checked(items)
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        pointwise::ask(item, answers, ItemSampling::default())
    }

    fn judgings(&self, item: &Item, answers: &[Answer], _baseline: &[Answer]) -> Vec<JudgeTask> {
        pointwise::judging(answers, |answer| self.request(item, answer))
    }

    fn parse(&self, item: &Item, reply: &str) -> Result<Verdict, VerdictError> {
        let intent = intent_of(&item.category);
        let mut names = criteria_in(Language::Chinese, intent);
        let rating = match self.official_parser {
            true => original_parsers::urs(reply, &names),
            false => {
                names.extend(intent.criteria);
                dimension_scores::parse(reply, &names)
            }
        };
        rating.map(|rating| Verdict::Rating(in_english(rating)))
    }

    fn reminder(&self, item: &Item) -> String {
        let intent = intent_of(&item.category);
        match self.language(item) {
            Language::English => pointwise::dictionary_reminder(&intent.criteria, "Final Score", Language::English),
            Language::Chinese => {
                pointwise::dictionary_reminder(&criteria_in(Language::Chinese, intent), "综合得分", Language::Chinese)
            }
        }
    }

    fn item_score(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
        verdicts.rating(&item.id, 1).map(|rating| rating.score)
    }

    fn score_verdicts(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Scores {
        let cases: Vec<Case<'_>> = items.iter().map(|item| Case::new(item, verdicts)).collect();
        let over = |part: Part, belongs: &dyn Fn(&Case<'_>) -> bool| {
            verdicts.mean_of(cases.iter().filter(|case| belongs(case)).map(|case| case.unit)).score(part)
        };
        let mut scores = Vec::new();
        for (part, belongs) in parts() {
            scores.extend(over(part.clone(), &*belongs));
            for language in Language::ALL {
                let part = by_language(&part, language);
                scores.extend(over(part, &|case| case.item.language == language && belongs(case)));
            }
        }
        scores.extend((0..CRITERIA.len()).filter_map(|criterion| criterion_score(criterion, &cases, verdicts)));
        Scores(scores)
    }
}

/// Case with its scores: looked up once for all of its parts.
struct Case<'v> {
    item: &'v Item,
    intent: &'static Intent,
    unit: ItemUnit<'v>,
    /// Scores by criterion, in the order of [`CRITERIA`]; `None` for one that the judge left out.
    criteria: [Option<f64>; CRITERIA.len()],
}

impl<'v> Case<'v> {
    fn new(item: &'v Item, verdicts: &Verdicts<'v>) -> Self {
        let rating = verdicts.rating(&item.id, 1);
        let unit = verdicts.unit(item, rating.map(|rating| rating.score));
        let mut criteria = [None; CRITERIA.len()];
        for (name, score) in rating.into_iter().flat_map(|rating| &rating.dimensions) {
            if let Some(place) = CRITERIA.iter().position(|(criterion, _)| criterion == name) {
                criteria[place] = Some(*score);
            }
        }
        Self { item, intent: intent_of(&item.category), unit, criteria }
    }
}

/// Part with the filter of its cases.
type PartWithFilter = (Part, Box<dyn Fn(&Case<'_>) -> bool>);

/// Returns the parts: overall, two blocks, six intents, and the API cases, which are in one of them.
fn parts() -> Vec<PartWithFilter> {
    let mut parts: Vec<PartWithFilter> = vec![(Part::overall(), Box::new(|_: &Case<'_>| true))];
    for block in [OBJECTIVE, SUBJECTIVE] {
        let belongs = move |case: &Case<'_>| case.intent.block == block;
        parts.push((Part::new(PartKind::Group, block), Box::new(belongs)));
    }
    for intent in INTENTS {
        let belongs = move |case: &Case<'_>| case.intent.name == intent.name;
        parts.push((Part::new(PartKind::Category, intent.name), Box::new(belongs)));
    }
    parts.push((Part::new(PartKind::Category, API), Box::new(|case: &Case<'_>| case.item.category == API)));
    parts
}

fn by_language(part: &Part, language: Language) -> Part {
    let own = Part::new(PartKind::Language, language.code());
    if part.kind == PartKind::Overall { own } else { own.within(&part.name) }
}

/// Converts the criteria of a rating to their English names, whatever the judge's language.
fn in_english(mut rating: Rating) -> Rating {
    let english = |name: &str| CRITERIA.iter().find(|(_, chinese)| *chinese == name).map(|(english, _)| *english);
    let named = std::mem::take(&mut rating.dimensions).into_iter().map(|(name, score)| match english(&name) {
        Some(english) => (english.to_owned(), score),
        None => (name, score),
    });
    Rating { dimensions: named.collect(), ..rating }
}

/// Computes the mean of a criterion, by its position in [`CRITERIA`], over the cases that are judged by it.
fn criterion_score(place: usize, cases: &[Case<'_>], verdicts: &Verdicts<'_>) -> Option<Score> {
    let (criterion, _) = CRITERIA[place];
    let having = cases.iter().filter(|case| case.intent.criteria.contains(&criterion));
    let units = having.map(|case| case.unit.worth(case.criteria[place]));
    verdicts.mean_of(units).score(Part::new(PartKind::Dimension, criterion))
}

/// Converts a record into an item, with the record's number as its id, since the file has none.
fn item(row: UrsRecord, number: u64) -> Result<Item, DataProblem> {
    let labels = || INTENTS.iter().map(|intent| intent.name).chain([API]);
    if !labels().any(|label| label == row.user_intent) {
        return Err(DataProblem::unknown("user_intent", &row.user_intent, labels()));
    }
    let language = match row.language.as_str() {
        "EN" => Language::English,
        "CN" => Language::Chinese,
        other => return Err(DataProblem::unknown("language", other, ["EN", "CN"])),
    };
    if row.reference_ans.trim().is_empty() {
        return Err(DataProblem::Empty("reference_ans"));
    }
    Ok(Item {
        id: number.to_string(),
        category: row.user_intent,
        subcategory: None,
        language,
        turns: vec![Question { question: row.question, reference: Some(row.reference_ans) }],
        choices: None,
    })
}

/// Formats a parser error without its position.
fn reason(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("it has {len} fields instead of {expected_len}; a quote may be missing")
        }
        _ => error.to_string(),
    }
}
