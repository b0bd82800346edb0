//! Rules and mathematics: no I/O, no async, no clock, no global randomness.

pub mod access;
pub mod admin;
pub mod agreement;
pub mod battle;
pub mod battle_judging;
pub mod benchmark;
pub mod campaign;
pub mod colour_contrast;
pub mod correlation;
pub mod csv_injection;
pub mod doctor;
pub mod hex;
pub mod integrity;
pub mod judging;
pub mod labeling;
pub mod language;
pub mod model_register;
pub mod moderation;
pub mod plural;
pub mod preference_filter;
pub mod preference_pairs;
pub mod public_log;
pub mod rating;
pub mod settings_rule;
pub mod sha256;
pub mod stats;
pub mod text_diff;
pub mod text_direction;
pub mod time;
pub mod visible_text;
pub mod webhook;
pub mod wildcard;

pub(crate) mod confusable_names;
