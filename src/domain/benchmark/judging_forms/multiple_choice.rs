//! Shared code of multiple-choice suites: questions, parsing without a judge, and accuracy.
//!
//! Accuracy is 100 · correct / answered. An answer without a single letter is wrong; an empty or missing one is left out and lowers the
//! coverage.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::super::item::{Answer, AnswerRequest, Choices, Item, ItemSampling, answer_of};
use super::super::scores::judgement::{Game, JudgeStep, JudgeTask, Status};
use super::super::scores::score::{Part, Score, Verdicts};
use super::super::suite_data_file::DataProblem;
use super::super::suite_options::SuiteError;
use crate::judging::judge_prompt::{JudgePrompt, JudgePromptFields};
use crate::judging::prompt_file::PromptFile;
use crate::judging::verdict::{OptionLetter, Verdict, option_letter};

/// Variant of a prompt file with the question to the models.
const QUESTION_VARIANT: &str = "ask";
const FIELDS: JudgePromptFields =
    JudgePromptFields { required: &["question", "a", "b", "c", "d"], optional: &["capability"] };

/// Question template for models.
pub(in crate::benchmark) struct ChoicePrompt(JudgePrompt);

impl ChoicePrompt {
    pub(in crate::benchmark) fn new(file: &PromptFile) -> Result<Self, SuiteError> {
        Ok(Self(JudgePrompt::new(QUESTION_VARIANT, &file.variant(QUESTION_VARIANT), FIELDS)?))
    }

    /// Returns the question with its options, unless it is answered.
    pub(in crate::benchmark) fn ask(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        let (Some(question), Some(choices), None) = (item.turn(1), &item.choices, answer_of(answers, 1)) else {
            return Vec::new();
        };
        let [a, b, c, d] = &choices.options;
        let values = [
            ("capability", item.category.as_str()),
            ("question", &question.question),
            ("a", a),
            ("b", b),
            ("c", c),
            ("d", d),
        ];
        vec![AnswerRequest { turn: 1, messages: self.0.messages(&values), sampling: ItemSampling::default() }]
    }
}

/// Parses an answer and compares it with the correct letter.
pub(in crate::benchmark) fn read(item: &Item, answer: &str) -> Verdict {
    let choice = option_letter::parse(answer);
    let right = item.choices.as_ref().map(|choices| choices.correct);
    Verdict::Choice { choice, correct: choice.is_some() && choice == right }
}

/// Returns the parsed answer as a judgement.
pub(in crate::benchmark) fn judgings(item: &Item, answers: &[Answer]) -> Vec<JudgeTask> {
    let step = |answer: &str| match answer.trim() {
        "" => JudgeStep::Failed(Status::EmptyAnswer),
        _ => JudgeStep::Read(read(item, answer)),
    };
    let judging = answer_of(answers, 1).map(|answer| JudgeTask { turn: 1, game: Game::First, step: step(answer) });
    judging.into_iter().collect()
}

/// Returns 100 for a correct answer, 0 for a wrong one.
pub(in crate::benchmark) fn item_score(item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
    match verdicts.get(&item.id, 1, Game::First)? {
        Verdict::Choice { correct, .. } => Some(if *correct { 100.0 } else { 0.0 }),
        _ => None,
    }
}

/// Computes the accuracy overall and by part.
pub(in crate::benchmark) fn scores(
    items: &[Item],
    verdicts: &Verdicts<'_>,
    parts: &[(Part, Vec<&Item>)],
) -> Vec<Score> {
    let whole = (Part::overall(), items.iter().collect());
    let accuracy = |(part, items): &(Part, Vec<&Item>)| {
        let score = verdicts.mean(items.iter().copied(), |item| item_score(item, verdicts)).score(part.clone())?;
        Some(Score { std_dev: None, ..score })
    };
    std::iter::once(&whole).chain(parts).filter_map(accuracy).collect()
}

/// Options as in data files: a list, an object by letter, or one text with the letters in it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "the options are neither a list, nor an object with each letter once, nor a text")]
pub(in crate::benchmark) enum OptionTexts {
    List(Vec<String>),
    ByLetter(#[serde(deserialize_with = "deserialize_unique_keys")] BTreeMap<String, String>),
    Text(String),
}

/// Deserializes an object whose keys differ; JSON itself allows the same key twice.
fn deserialize_unique_keys<'de, D: Deserializer<'de>>(object: D) -> Result<BTreeMap<String, String>, D::Error> {
    struct UniqueKeysVisitor;
    impl<'de> Visitor<'de> for UniqueKeysVisitor {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object with each letter once")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut texts = BTreeMap::new();
            while let Some((letter, text)) = map.next_entry()? {
                if texts.insert(letter, text).is_some() {
                    return Err(A::Error::custom("a letter stands twice"));
                }
            }
            Ok(texts)
        }
    }
    object.deserialize_map(UniqueKeysVisitor)
}

/// Parses the options and the correct letter.
///
/// # Errors
/// [`DataProblem`] unless there are four different options and a valid letter.
pub(in crate::benchmark) fn choices(texts: OptionTexts, answer: &str) -> Result<Choices, DataProblem> {
    let four = || DataProblem::Record("it needs four different options A to D that are not empty".to_owned());
    let texts: Vec<String> = match texts {
        OptionTexts::List(texts) => texts.iter().map(|text| without_letter(text).to_owned()).collect(),
        OptionTexts::ByLetter(mut texts) => {
            let known = OptionLetter::ALL.iter().filter_map(|letter| texts.remove(letter.as_str())).collect();
            if !texts.is_empty() {
                return Err(four());
            }
            known
        }
        OptionTexts::Text(text) => split_by_letters(&text),
    };
    let options: [String; 4] = texts.try_into().map_err(|_| four())?;
    let repeated = (0..4).any(|place| options[..place].iter().any(|other| other.trim() == options[place].trim()));
    if repeated || options.iter().any(|option| option.trim().is_empty()) {
        return Err(four());
    }
    let correct = option_letter::parse(answer);
    let correct = correct.ok_or_else(|| DataProblem::unknown("answer", answer, ["A", "B", "C", "D"]))?;
    Ok(Choices { options, correct })
}

/// Strips the letter of "A. 李白".
fn without_letter(text: &str) -> &str {
    let rest = text.trim().strip_prefix(['A', 'B', 'C', 'D']);
    let rest = rest.and_then(|rest| rest.strip_prefix(['.', '．', '、', ':', '：', ')', '）']));
    rest.unwrap_or(text).trim()
}

/// Splits "A. … B. … C. … D. …" into four texts; fewer if a letter is missing.
fn split_by_letters(text: &str) -> Vec<String> {
    let mut rest = text;
    let mut texts = Vec::new();
    for letter in ["A", "B", "C", "D"] {
        let marks = [".", "．", "、", ":", "：", ")", "）"];
        let found = marks.iter().filter_map(|mark| Some((rest.find(&format!("{letter}{mark}"))?, *mark))).min();
        let Some((place, mark)) = found else { return texts };
        if letter != "A" {
            texts.push(rest[..place].trim().to_owned());
        }
        rest = &rest[place + letter.len() + mark.len()..];
    }
    texts.push(rest.trim().to_owned());
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, answer: &str, expected: Option<[&str; 4]>) {
        let texts: OptionTexts = serde_json::from_str(json).unwrap();
        let read = choices(texts, answer).ok().map(|choices| choices.options);
        assert_eq!(read, expected.map(|options| options.map(str::to_owned)), "{json}");
    }

    #[test]
    fn options_come_in_three_forms() {
        let poets = Some(["李白", "欧阳修", "梁实秋", "朱自清"]);
        check(r#"["李白", "欧阳修", "梁实秋", "朱自清"]"#, "B", poets);
        check(r#"["A. 李白", "B. 欧阳修", "C. 梁实秋", "D. 朱自清"]"#, "B", poets);
        check(r#"{"B": "欧阳修", "A": "李白", "D": "朱自清", "C": "梁实秋"}"#, "B", poets);
        check(r#""A. 李白 B. 欧阳修 C. 梁实秋 D. 朱自清""#, "答案：B", poets);
        check(r#""A、李白\nB、欧阳修\nC、梁实秋\nD、朱自清""#, "Ｂ", poets);
    }

    #[test]
    fn other_than_four_different_options_and_one_letter_are_refused() {
        check(r#"["甲", "乙", "丙"]"#, "A", None);
        check(r#"["甲", "乙", "丙", "甲"]"#, "A", None);
        check(r#"["甲", "乙", "丙", " "]"#, "A", None);
        check(r#"["甲", "乙", "丙", "丁"]"#, "E", None);
        check(r#"["甲", "乙", "丙", "丁"]"#, "A和B", None);
        check(r#""A. 甲 C. 丙""#, "A", None);
        check(r#"{"A": "甲", "B": "乙", "C": "丙", "D": "丁", "E": "戊"}"#, "A", None);
    }
}
