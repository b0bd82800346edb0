//! History checker: pure, so that it can be tested with planted violations and trusted when it finds none.
//!
//! An acknowledged vote is one whose visitor received the `revealed` frame. A vote that was sent and never acknowledged may be in the
//! database or not; everything else is certain: an acknowledged vote is stored once and as acknowledged, a stored one was sent, and the
//! text that a visitor read is, side by side and letter by letter, one model's reply to that question.

pub(crate) mod evidence;
mod leaderboard;
mod replies;
#[cfg(test)]
mod tests;
mod votes;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use evidence::{BattleHistory, Evidence, StoredBattle, StoredReply, StoredTurn, VisitorHistory, Written};
use langya::domain::battle::Side;

/// Violation of an invariant; `battle` is the battle's id throughout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    #[error("battle {battle}: the acknowledged vote is not in the database")]
    VoteLost { battle: String },
    #[error("battle {battle}: {rows} votes are stored")]
    VoteDoubled { battle: String, rows: usize },
    #[error("battle {battle}: a vote for {outcome:?} is stored, and nobody sent it")]
    VoteInvented { battle: String, outcome: String },
    #[error("battle {battle}: {told} was acknowledged and {stored} is stored")]
    OutcomeChanged { battle: String, told: String, stored: String },
    #[error("battle {battle}: a retry was answered with another receipt: {first} and then {later}")]
    ReceiptChanged { battle: String, first: String, later: String },
    #[error("battle {battle}: the receipt as told is not the stored one: {told} and {stored}")]
    ReceiptNotAsStored { battle: String, told: String, stored: String },
    #[error("battle {battle}: {told:?} were revealed and {stored:?} are stored")]
    NamesDiffer { battle: String, told: [String; 2], stored: [String; 2] },
    #[error("battle {battle}: names came before a vote was sent")]
    NamesTooEarly { battle: String },
    #[error("battle {battle}: a vote is stored without both sides ended: {why}")]
    VoteTooEarly { battle: String, why: String },
    #[error("battle {battle}: its rows belong to different visitors")]
    OwnerChanged { battle: String },
    #[error("battle {battle}: {asked} was refused with {code:?}")]
    Refused { battle: String, asked: &'static str, code: String },
    #[error("battle {battle}: its visitor came to no end: {why}")]
    Unfinished { battle: String, why: String },
    #[error("battle {battle}: it is not as the visitor received it: {why}")]
    BattleLost { battle: String, why: String },
    #[error("battle {battle}: stored for a prompt that nobody sent")]
    BattleInvented { battle: String },
    #[error("battle {battle}: voided although no model failed")]
    Voided { battle: String },
    #[error("battle {battle}: event {got} came where {expected} was due")]
    Numbering { battle: String, expected: u64, got: u64 },
    #[error("battle {battle}, turn {turn}, side {side}: no model wrote what was shown: {text:?}")]
    TextBroken { battle: String, turn: u32, side: &'static str, text: String },
    #[error("battle {battle}, turn {turn}, side {side}: shown until ready {shown:?}, stored {stored:?}")]
    TextNotAsStored { battle: String, turn: u32, side: &'static str, shown: String, stored: String },
    #[error("battle {battle}, turn {turn}: the sides were swapped")]
    SidesSwapped { battle: String, turn: u32 },
    #[error("battle {battle}, turn {turn}, side {side}: {model} answered, who is not in this battle")]
    WrongModel { battle: String, turn: u32, side: &'static str, model: String },
    #[error("battle {battle}, turn {turn}: {model} was given another conversation than was shown")]
    ConversationChanged { battle: String, turn: u32, model: String },
    #[error("the exported log differs from the votes at row {row}: {why}")]
    LogDiffers { row: usize, why: String },
    #[error("the leaderboard of {origin} differs from a recount: {why}")]
    LeaderboardDiffers { origin: String, why: String },
}

impl Violation {
    /// Returns the battle concerned, if there is one.
    pub(crate) fn battle(&self) -> Option<&str> {
        match self {
            Self::LogDiffers { .. } | Self::LeaderboardDiffers { .. } => None,
            Self::VoteLost { battle }
            | Self::VoteDoubled { battle, .. }
            | Self::VoteInvented { battle, .. }
            | Self::OutcomeChanged { battle, .. }
            | Self::ReceiptChanged { battle, .. }
            | Self::ReceiptNotAsStored { battle, .. }
            | Self::NamesDiffer { battle, .. }
            | Self::NamesTooEarly { battle }
            | Self::VoteTooEarly { battle, .. }
            | Self::OwnerChanged { battle }
            | Self::Refused { battle, .. }
            | Self::Unfinished { battle, .. }
            | Self::BattleLost { battle, .. }
            | Self::BattleInvented { battle }
            | Self::Voided { battle }
            | Self::Numbering { battle, .. }
            | Self::TextBroken { battle, .. }
            | Self::TextNotAsStored { battle, .. }
            | Self::SidesSwapped { battle, .. }
            | Self::WrongModel { battle, .. }
            | Self::ConversationChanged { battle, .. } => Some(battle),
        }
    }
}

/// Lists all violations; empty for a correct run.
pub(crate) fn violations(evidence: &Evidence) -> Vec<Violation> {
    let index = Index::of(evidence);
    let mut found = votes::check(evidence, &index);
    found.extend(replies::check(evidence, &index));
    found.extend(leaderboard::check(evidence));
    found
}

/// Lists the refused votes, for runs in which none may be refused, even with a retry.
pub(crate) fn refused_votes(evidence: &Evidence) -> Vec<Violation> {
    let histories = evidence.visitors.iter().flat_map(|visitor| &visitor.battles);
    let refused = |history: &'_ BattleHistory| {
        let of_code = |code: &str| Violation::Refused { battle: history.id.clone(), asked: "vote", code: code.into() };
        history.refused_votes().into_iter().map(of_code).collect::<Vec<_>>()
    };
    histories.flat_map(refused).collect()
}

/// Writes the events of the battles with violations and of the `slow` ones into `histories.txt`.
pub(crate) fn keep_histories(
    folder: &Path,
    visitors: &[VisitorHistory],
    violations: &[Violation],
    slow: &[String],
) -> anyhow::Result<()> {
    let mut concerned: BTreeSet<&str> = violations.iter().filter_map(Violation::battle).collect();
    concerned.extend(slow.iter().map(String::as_str));
    let mut text = String::new();
    for history in visitors.iter().flat_map(|visitor| &visitor.battles) {
        if concerned.contains(history.id.as_str()) {
            writeln!(text, "battle {}", history.id)?;
            for violation in violations.iter().filter(|violation| violation.battle() == Some(&history.id)) {
                writeln!(text, "  {violation}")?;
            }
            for event in &history.events {
                writeln!(text, "    {event}")?;
            }
        }
    }
    Ok(std::fs::write(folder.join("histories.txt"), text)?)
}

/// Lists the violations of the exported log and the leaderboards, without the visitors: for checks while battles are in progress.
pub(crate) fn leaderboard_violations(evidence: &Evidence) -> Vec<Violation> {
    leaderboard::check(evidence)
}

/// Evidence indexed by battle, so that checking stays linear.
struct Index<'a> {
    histories: HashMap<&'a str, &'a BattleHistory>,
    battles: HashMap<&'a str, &'a StoredBattle>,
    turns: HashMap<(&'a str, u32), &'a StoredTurn>,
    replies: HashMap<(&'a str, u32, Side), &'a StoredReply>,
    /// Requests by question.
    written: HashMap<&'a str, Vec<&'a Written>>,
    failed: HashSet<(&'a str, Side, &'a str)>,
}

impl<'a> Index<'a> {
    fn of(evidence: &'a Evidence) -> Self {
        let stored = &evidence.stored;
        let mut written: HashMap<&str, Vec<&Written>> = HashMap::new();
        for request in &evidence.written {
            written.entry(request.question()).or_default().push(request);
        }
        let histories = evidence.visitors.iter().flat_map(|visitor| &visitor.battles);
        Self {
            histories: histories.map(|history| (history.id.as_str(), history)).collect(),
            battles: stored.battles.iter().map(|row| (row.id.as_str(), row)).collect(),
            turns: stored.turns.iter().map(|row| ((row.battle.as_str(), row.turn), row)).collect(),
            replies: stored.replies.iter().map(|row| ((row.battle.as_str(), row.turn, row.side), row)).collect(),
            failed: stored.failures.iter().map(|row| (row.battle.as_str(), row.side, row.model.as_str())).collect(),
            written,
        }
    }

    fn written_to(&self, question: &str) -> &[&'a Written] {
        self.written.get(question).map_or(&[], Vec::as_slice)
    }
}
