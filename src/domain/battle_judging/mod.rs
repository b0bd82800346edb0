//! Judge models on the arena's own battles and on the answers of campaigns: sampling, prompts, and agreement with people.
//!
//! Pure. [`sample`] samples battles by their ids alone, [`scope`] selects those of a run, [`pending`] determines the remaining work,
//! [`prompt`] formats a whole conversation for a judge, [`verdicts`] combines the two games of a battle, [`agreement`] compares verdicts
//! with votes, [`leaderboards`] fits both, and [`report`] has all results. Requests and storage are in `services/battle_judging`.

pub mod agreement;
pub mod leaderboards;
pub mod pending;
pub mod prompt;
pub mod report;
pub mod sample;
pub mod scope;
pub mod subject;
pub mod verdicts;
