//! Applies reviewers' decisions to drafts and returns the accepted items.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::records::{BenchFileError, Record, read, records};
use crate::domain::benchmark::suites::superclue::construction::{Draft, ReviewProgress};
use crate::domain::benchmark::suites::superclue::drafts::{self, DraftLine, close_line};
use crate::domain::benchmark::suites::superclue::review::{ReviewDecision, Reviewed};

/// Result of the reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The accepted drafts as a data file of superclue-close, in the order of the drafts; empty where there are none.
    pub items: String,
    /// Review status of every readable draft.
    pub statuses: Vec<DraftReviewStatus>,
    /// Number of replies that are no valid drafts and are not reviewed.
    pub unreadable: u64,
}

/// Review status of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftReviewStatus {
    /// Its id.
    pub id: String,
    /// Its progress.
    pub progress: ReviewProgress,
    /// Reviewers with a missing decision; empty unless the draft is open.
    pub waits_for: Vec<String>,
}

/// Reviewers by stage.
type ReviewersByStage = BTreeMap<u32, BTreeSet<String>>;

/// Applies the decisions of files, in their order, to a file of drafts: records of `id`, `stage`, `reviewer` and `decision`
/// (accept, revise or reject), with `question`, `options` and `answer` where they are revised. A record without a decision
/// is ignored.
///
/// # Errors
/// [`BenchFileError`] with the line and the reason.
pub fn review(drafts: &Path, decisions: &[PathBuf]) -> Result<Review, BenchFileError> {
    let lines = read(drafts)?;
    let lines = drafts::read(&lines).map_err(|error| BenchFileError::Data { path: drafts.to_owned(), error })?;
    let lines = latest(lines);
    let mut reviewed: HashMap<&str, Reviewed> = lines.iter().filter_map(unreviewed_draft).collect();
    let unreadable = (lines.len() - reviewed.len()) as u64;
    let mut teams = ReviewersByStage::new();
    for path in decisions {
        for record in records(path)? {
            take(path, &record, &mut reviewed, &mut teams)?;
        }
    }
    let (mut items, mut statuses) = (String::new(), Vec::new());
    for (line, reviewed) in lines.iter().filter_map(|line| Some((line, reviewed.get(line.id.as_str())?))) {
        let status = DraftReviewStatus::new(&line.id, reviewed, &teams);
        if status.progress == ReviewProgress::Accepted {
            items += &close_line(&line.id, &line.capability, reviewed.draft());
        }
        statuses.push(status);
    }
    Ok(Review { items, statuses, unreadable })
}

/// Draft without decisions, by its id; `None` if the reply is no valid draft.
fn unreviewed_draft(line: &DraftLine) -> Option<(&str, Reviewed)> {
    Some((line.id.as_str(), Reviewed::new(line.draft.clone().ok()?)))
}

/// Keeps the last line of each id, at the position of its first one.
fn latest(lines: Vec<DraftLine>) -> Vec<DraftLine> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut latest: Vec<DraftLine> = Vec::new();
    for line in lines {
        match places.get(&line.id) {
            Some(place) => latest[*place] = line,
            None => {
                places.insert(line.id.clone(), latest.len());
                latest.push(line);
            }
        }
    }
    latest
}

fn take(
    path: &Path,
    record: &Record,
    reviewed: &mut HashMap<&str, Reviewed>,
    teams: &mut ReviewersByStage,
) -> Result<(), BenchFileError> {
    let Some(decision) = record.text(&["decision"]).filter(|text| !text.trim().is_empty()) else { return Ok(()) };
    let id = record.needed(path, &["id"])?;
    let reviewed = reviewed.get_mut(id.trim()).ok_or_else(|| {
        let reason = "leave the ids as the drafts have them, and ask again for replies that could not be read";
        record.refuse(path, format!("there is no draft {id:?}: {reason}"))
    })?;
    let stage = record.number(path, "stage")?.ok_or_else(|| record.refuse(path, "it has no stage: write 1 to 3"))?;
    let reviewer = record.needed(path, &["reviewer"])?.trim().to_owned();
    let decision = parse_decision(path, record, decision.trim(), reviewed.draft())?;
    reviewed.take(stage, &reviewer, decision).map_err(|error| record.refuse(path, error.to_string()))?;
    teams.entry(stage).or_default().insert(reviewer);
    Ok(())
}

fn parse_decision(
    path: &Path,
    record: &Record,
    decision: &str,
    draft: &Draft,
) -> Result<ReviewDecision, BenchFileError> {
    let filled = |name: &str| record.text(&[name]).filter(|text| !text.trim().is_empty());
    match decision {
        "accept" => Ok(ReviewDecision::Accept),
        "reject" => Ok(ReviewDecision::Reject),
        "revise" => {
            let revised = draft.revised(filled("question"), record.value(&["options"]), filled("answer").as_deref());
            revised.map(ReviewDecision::Revise).map_err(|error| record.refuse(path, error.to_string()))
        }
        other => Err(record.refuse(path, format!("decision is {other:?}: write accept, revise or reject"))),
    }
}

impl DraftReviewStatus {
    fn new(id: &str, reviewed: &Reviewed, teams: &ReviewersByStage) -> Self {
        let progress = reviewed.progress();
        let waits_for = match progress {
            ReviewProgress::Open { stage } => {
                let nobody = BTreeSet::new();
                reviewed.waits_for(stage, teams.get(&stage.into()).unwrap_or(&nobody))
            }
            ReviewProgress::Accepted | ReviewProgress::Rejected { .. } => Vec::new(),
        };
        Self { id: id.to_owned(), progress, waits_for }
    }
}
