//! Simulated votes as a file: the columns of the vote log, and the true strengths beside it.
//!
//! JSON lines have the nested counts of LMArena's log, as an export has them; CSV has a plain column for each.

use std::io::{self, Write};

use serde::Serialize;

use crate::battle::Outcome;
use crate::rating::simulate::{SimulatedModel, SimulatedVote, Simulation};

/// The first vote's time: 2025-01-01. The others follow second by second.
const FIRST_SECOND: u64 = 1_735_689_600;
/// Votes between two calls of `progress`.
const STEP: u64 = 10_000;

/// How votes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulationFormat {
    /// With a header.
    Csv,
    /// One object a line.
    Jsonl,
}

/// Draws and writes votes, which are never held together; `progress` hears how many there are.
///
/// # Errors
/// `out` cannot be written.
pub fn write_votes(
    simulation: &mut Simulation,
    votes: u64,
    pairing_policy: &'static str,
    format: SimulationFormat,
    out: impl Write,
    mut progress: impl FnMut(u64),
) -> io::Result<()> {
    let mut rows = Rows::new(format, out);
    for seq in 1..=votes {
        let vote = simulation.vote();
        rows.write(seq, &vote, simulation.models(), pairing_policy)?;
        if seq % STEP == 0 {
            progress(seq);
        }
    }
    progress(votes);
    rows.finish()
}

/// Writes models with their strengths and ratings as CSV, best first.
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

enum Rows<W: Write> {
    Csv(Box<csv::Writer<W>>),
    Jsonl(W),
}

impl<W: Write> Rows<W> {
    fn new(format: SimulationFormat, out: W) -> Self {
        match format {
            SimulationFormat::Csv => Self::Csv(Box::new(csv::Writer::from_writer(out))),
            SimulationFormat::Jsonl => Self::Jsonl(out),
        }
    }

    fn write(&mut self, seq: u64, vote: &SimulatedVote, models: &[SimulatedModel], policy: &str) -> io::Result<()> {
        let row = Row {
            seq,
            model_a: &models[vote.a].name,
            model_b: &models[vote.b].name,
            winner: winner(vote.outcome),
            judge: format!("voter-{:06}", vote.voter),
            turn: 1,
            anony: true,
            tstamp: FIRST_SECOND + seq,
        };
        let end = End { pairing_policy: policy, pair_probability: vote.pair_probability, rated: true };
        match self {
            Self::Csv(writer) => Ok(writer.serialize((row, FlatCounts::of(vote), end))?),
            Self::Jsonl(out) => {
                serde_json::to_writer(&mut *out, &JsonRow { row, conv_metadata: NestedCounts::of(vote), end })?;
                out.write_all(b"\n")
            }
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Csv(mut writer) => writer.flush(),
            Self::Jsonl(mut out) => out.flush(),
        }
    }
}

/// What both forms have before the counts.
#[derive(Serialize)]
struct Row<'a> {
    seq: u64,
    model_a: &'a str,
    model_b: &'a str,
    winner: &'static str,
    judge: String,
    turn: u32,
    anony: bool,
    tstamp: u64,
}

/// What both forms have after the counts.
#[derive(Serialize)]
struct End<'a> {
    pairing_policy: &'a str,
    pair_probability: f64,
    rated: bool,
}

#[derive(Serialize)]
struct FlatCounts {
    tokens_a: u32,
    tokens_b: u32,
    headings_a: u32,
    headings_b: u32,
    lists_a: u32,
    lists_b: u32,
    bold_a: u32,
    bold_b: u32,
}

impl FlatCounts {
    fn of(vote: &SimulatedVote) -> Self {
        let [[tokens_a, tokens_b], [headings_a, headings_b], [lists_a, lists_b], [bold_a, bold_b]] = vote.counts;
        Self { tokens_a, tokens_b, headings_a, headings_b, lists_a, lists_b, bold_a, bold_b }
    }
}

#[derive(Serialize)]
struct JsonRow<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    conv_metadata: NestedCounts,
    #[serde(flatten)]
    end: End<'a>,
}

/// Counts under LMArena's names.
#[derive(Serialize)]
struct NestedCounts {
    sum_assistant_a_tokens: u32,
    sum_assistant_b_tokens: u32,
    header_count_a: HeaderCount,
    header_count_b: HeaderCount,
    list_count_a: ListCount,
    list_count_b: ListCount,
    bold_count_a: BoldCount,
    bold_count_b: BoldCount,
}

#[derive(Serialize)]
struct HeaderCount {
    h1: u32,
    h2: u32,
    h3: u32,
    h4: u32,
    h5: u32,
    h6: u32,
}

#[derive(Serialize)]
struct ListCount {
    ordered: u32,
    unordered: u32,
}

#[derive(Serialize)]
struct BoldCount {
    #[serde(rename = "**")]
    stars: u32,
    #[serde(rename = "__")]
    underscores: u32,
}

impl NestedCounts {
    fn of(vote: &SimulatedVote) -> Self {
        let counts = FlatCounts::of(vote);
        let header = |h2| HeaderCount { h1: 0, h2, h3: 0, h4: 0, h5: 0, h6: 0 };
        let list = |unordered| ListCount { ordered: 0, unordered };
        let bold = |stars| BoldCount { stars, underscores: 0 };
        Self {
            sum_assistant_a_tokens: counts.tokens_a,
            sum_assistant_b_tokens: counts.tokens_b,
            header_count_a: header(counts.headings_a),
            header_count_b: header(counts.headings_b),
            list_count_a: list(counts.lists_a),
            list_count_b: list(counts.lists_b),
            bold_count_a: bold(counts.bold_a),
            bold_count_b: bold(counts.bold_b),
        }
    }
}

fn winner(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::AWins => "model_a",
        Outcome::BWins => "model_b",
        Outcome::Tie => "tie",
        Outcome::BothBad => "both_bad",
    }
}
