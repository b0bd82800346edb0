//! Judge models on the arena's own battles and on the answers of campaigns: which battles they are asked about, how, and how far they agree with people.
//!
//! Pure. [`sample`] draws battles by their ids alone, [`scope`] says which of them a run is about, [`pending`] what is left of these to
//! judge, [`prompt`] puts a whole conversation before a judge, [`verdicts`]
//! puts the two games of a battle together, [`agreement`] compares them with the votes and [`leaderboards`] fits both, [`report`]
//! holds all of it. Asking and keeping is done in `services/battle_judging`.

pub mod agreement;
pub mod leaderboards;
pub mod pending;
pub mod prompt;
pub mod report;
pub mod sample;
pub mod scope;
pub mod subject;
pub mod verdicts;
