//! Stored judgements, and their conversion for reports.

use std::collections::HashMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::assignment::AssignmentKind;
use super::judgement::UnitJudgement;
use super::questions::QuestionAnswers;
use super::report::JudgedUnit;

/// Stored valid judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedRow<'r> {
    /// Position of the unit.
    pub unit: i64,
    /// Position of the unit's item.
    pub item: i64,
    /// Kind of the assignment.
    pub kind: &'r str,
    /// Models in display order, as JSON.
    pub shown: &'r str,
    /// Judgement, as JSON.
    pub judgement: &'r str,
    /// Answers to questions, as JSON; may be empty.
    pub answers: &'r str,
    /// Time when the unit was shown, in milliseconds since 1970.
    pub given_at: i64,
    /// Time of the judgement, in milliseconds since 1970.
    pub judged_at: i64,
}

/// Parser of one annotator's judgements. Each text is parsed once: an annotator's judgements have few distinct ones.
#[derive(Debug)]
pub struct JudgedRowParser {
    annotator: Arc<str>,
    shown: HashMap<String, Arc<[String]>>,
    said: HashMap<String, UnitJudgement>,
    answers: HashMap<String, Arc<QuestionAnswers>>,
}

impl JudgedRowParser {
    /// Creates a parser for the annotator with this pseudonym.
    #[must_use]
    pub fn new(annotator: &str) -> Self {
        let (shown, said, answers) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { annotator: annotator.into(), shown, said, answers }
    }

    /// Parses a judgement.
    ///
    /// # Errors
    /// A text of the row is not valid JSON of its type.
    pub fn parse(&mut self, row: JudgedRow<'_>) -> Result<JudgedUnit, serde_json::Error> {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a few hours")]
        let seconds = (row.judged_at - row.given_at) as f64 / 1000.0;
        Ok(JudgedUnit {
            annotator: Arc::clone(&self.annotator),
            unit: position(row.unit),
            item: position(row.item),
            shown: parsed(&mut self.shown, row.shown)?,
            kind: AssignmentKind::parse(row.kind).unwrap_or(AssignmentKind::Fresh),
            judgement: parsed(&mut self.said, row.judgement)?,
            answers: parsed(&mut self.answers, if row.answers.is_empty() { "{}" } else { row.answers })?,
            seconds,
        })
    }
}

fn parsed<T: Clone + DeserializeOwned>(known: &mut HashMap<String, T>, text: &str) -> Result<T, serde_json::Error> {
    if let Some(value) = known.get(text) {
        return Ok(value.clone());
    }
    let value: T = serde_json::from_str(text)?;
    known.insert(text.to_owned(), value.clone());
    Ok(value)
}

/// Converts a stored position of a unit or item.
#[must_use]
pub fn position(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome;

    #[test]
    fn a_row_is_parsed_as_it_was_written() {
        let judgement = serde_json::to_string(&UnitJudgement::Outcome(Outcome::AWins)).unwrap();
        let row = JudgedRow {
            unit: 3,
            item: 1,
            kind: AssignmentKind::Repeat.as_str(),
            shown: r#"["two","one"]"#,
            judgement: &judgement,
            answers: "",
            given_at: 1_000,
            judged_at: 3_500,
        };
        let mut parser = JudgedRowParser::new("pilot-1");
        let unit = parser.parse(row).unwrap();
        assert_eq!((&*unit.annotator, unit.unit, unit.item, unit.kind), ("pilot-1", 3, 1, AssignmentKind::Repeat));
        assert_eq!(
            (&*unit.shown, &unit.judgement),
            (["two", "one"].map(String::from).as_slice(), &UnitJudgement::Outcome(Outcome::AWins))
        );
        assert!(unit.answers.is_empty() && (unit.seconds - 2.5).abs() < 1e-12);
        let again = parser.parse(row).unwrap();
        assert!(Arc::ptr_eq(&again.shown, &unit.shown), "each text is parsed once");
        assert!(parser.parse(JudgedRow { judgement: "{", ..row }).is_err());
    }
}
