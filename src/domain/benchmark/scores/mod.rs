//! Scores from judgements: by model, judge and panel, with resampled intervals.

pub mod answer_index;
pub mod arena_votes;
pub mod evaluated_model;
pub mod item_resampling;
pub mod judgement;
pub mod panel_scores;
pub mod score;
