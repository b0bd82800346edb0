//! Writes simulated votes in the columns of the vote log, and the true strengths as CSV.

use std::io::{self, Write};

use serde::Serialize;

use super::tables::export_columns::VOTE_COLUMNS;
use crate::domain::battle::text_counts::TextCounts;
use crate::domain::rating::simulate::{SimulatedModel, SimulatedVote, Simulation};
use crate::tables::conversation_metadata::ConversationMetadata;
use crate::tables::{Column, Format, TableWriter};

/// Time of the first vote, 2025-01-01; each following vote is one second later.
const FIRST_VOTE_SECONDS: f64 = 1_735_689_600.0;

/// Writer of simulated votes.
pub struct SimulatedVotesFile<'p, W: Write + Send> {
    table: TableWriter<W>,
    pairing_policy: &'p str,
    written: u32,
}

impl<'p, W: Write + Send> SimulatedVotesFile<'p, W> {
    /// Begins the file.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn begin(pairing_policy: &'p str, format: Format, out: W) -> io::Result<Self> {
        Ok(Self { table: TableWriter::begin(format, columns(), out)?, pairing_policy, written: 0 })
    }

    /// Draws and writes this number of votes.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&mut self, simulation: &mut Simulation, votes: u32) -> io::Result<()> {
        for _ in 0..votes {
            self.written += 1;
            let vote = simulation.vote();
            self.table.write(&SimulatedRow::new(self.written, &vote, simulation.models(), self.pairing_policy))?;
        }
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.table.finish().map(drop)
    }
}

/// Writes the models with their strengths and ratings as CSV, best first.
///
/// # Errors
/// `out` cannot be written.
pub fn write_true_strengths(models: &[SimulatedModel], out: impl Write) -> io::Result<()> {
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
            tstamp: FIRST_VOTE_SECONDS + f64::from(seq),
            conv_metadata: ConversationMetadata::new(&[0, 1].map(|side| text_counts(vote, side))),
            pairing_policy,
            pair_probability: vote.pair_probability,
            rated: true,
        }
    }
}

/// Counts of a side; all headings, list items and bold spans have the same kind.
fn text_counts(vote: &SimulatedVote, side: usize) -> TextCounts {
    let [tokens, headings, unordered, bold_stars] = vote.counts.map(|sides| sides[side].into());
    TextCounts { tokens, headings: [0, headings, 0, 0, 0, 0], unordered, bold_stars, ..TextCounts::default() }
}
