//! Use cases: the only place where rules and adapters meet. Each takes the parts that it uses.

pub mod agreement;
pub mod annotation;
pub mod battles;
pub mod benchmark;
pub mod correlation;
pub mod crowd;
pub mod export;
pub mod final_labels;
pub mod fleet;
pub mod import;
pub mod language;
pub mod leaderboard;
pub mod live;
mod live_battles;
pub mod matchmaking;
pub mod models;
pub mod relay;
pub mod sessions;
pub mod simulation;
pub mod single_flight;
pub mod studies;
pub mod tasks;
mod turn;
pub mod vote_file;
pub mod vote_log;
pub mod vote_tally;
pub mod voting;
