//! Simulated votes as a file in the columns of the vote log, and the true strengths as CSV.

use std::io::{self, Write};

use serde::Serialize;

use super::tables::export_columns::VOTE_COLUMNS;
use crate::domain::battle::text_counts::TextCounts;
use crate::domain::rating::simulate::{SimulatedModel, SimulatedVote, Simulation};
use crate::tables::conversation_metadata::ConversationMetadata;
use crate::tables::{Column, Format, TableWriter};

/// Time of the first vote, 2025-01-01; each following vote is one second later.
const FIRST_SECOND: f64 = 1_735_689_600.0;
/// Votes between two calls of `progress`.
const STEP: u32 = 10_000;

/// Draws votes and writes them one by one. Calls `progress` with the number of votes written.
///
/// # Errors
/// `out` cannot be written.
pub fn write_votes(
    simulation: &mut Simulation,
    votes: u32,
    pairing_policy: &str,
    format: Format,
    out: impl Write + Send,
    mut progress: impl FnMut(u32),
) -> io::Result<()> {
    let mut table = TableWriter::begin(format, columns(), out)?;
    for seq in 1..=votes {
        let vote = simulation.vote();
        table.write(&SimulatedRow::new(seq, &vote, simulation.models(), pairing_policy))?;
        if seq % STEP == 0 {
            progress(seq);
        }
    }
    progress(votes);
    table.finish().map(drop)
}

/// Writes the models with their strengths and ratings as CSV, best first.
///
/// # Errors
/// `out` cannot be written.
pub fn write_truth(models: &[SimulatedModel], out: impl Write) -> io::Result<()> {
    let mut models: Vec<&SimulatedModel> = models.iter().collect();
    models.sort_by(|x, y| y.strength.total_cmp(&x.strength).then_with(|| x.name.cmp(&y.name)));
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["model", "strength", "rating"])?;
    for model in models {
        writer.serialize((&model.name, model.strength, model.rating()))?;
    }
    writer.flush()
}

/// The columns of the vote log that a simulated vote fills.
fn columns() -> Vec<Column> {
    VOTE_COLUMNS.into_iter().filter(|column| HELD.contains(&column.root())).collect()
}

const HELD: [&str; 12] = [
    "seq",
    "model_a",
    "model_b",
    "winner",
    "judge",
    "turn",
    "anony",
    "tstamp",
    "conv_metadata",
    "pairing_policy",
    "pair_probability",
    "rated",
];

#[derive(Serialize)]
struct SimulatedRow<'a> {
    seq: u64,
    model_a: &'a str,
    model_b: &'a str,
    winner: &'static str,
    judge: String,
    turn: u32,
    anony: bool,
    tstamp: f64,
    conv_metadata: ConversationMetadata,
    pairing_policy: &'a str,
    pair_probability: f64,
    rated: bool,
}

impl<'a> SimulatedRow<'a> {
    fn new(seq: u32, vote: &SimulatedVote, models: &'a [SimulatedModel], pairing_policy: &'a str) -> Self {
        Self {
            seq: seq.into(),
            model_a: &models[vote.a].name,
            model_b: &models[vote.b].name,
            winner: vote.outcome.winner(),
            judge: format!("voter-{:06}", vote.voter),
            turn: 1,
            anony: true,
            tstamp: FIRST_SECOND + f64::from(seq),
            conv_metadata: ConversationMetadata::new(&[0, 1].map(|side| text_counts(vote, side))),
            pairing_policy,
            pair_probability: vote.pair_probability,
            rated: true,
        }
    }
}

/// All headings, list items and bold spans are of one kind.
fn text_counts(vote: &SimulatedVote, side: usize) -> TextCounts {
    let [tokens, headings, unordered, bold_stars] = vote.counts.map(|sides| sides[side].into());
    TextCounts { tokens, headings: [0, headings, 0, 0, 0, 0], unordered, bold_stars, ..TextCounts::default() }
}
