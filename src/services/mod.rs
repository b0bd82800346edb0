//! Use cases that need a database or a network. Each receives its dependencies as arguments.

pub mod admin;
pub mod arena;
pub mod battle_judging;
pub mod benchmark;
pub mod campaign;
pub mod correlation;
pub mod deletion_requests;
pub mod doctor;
pub mod exclusions;
pub mod import_export;
pub mod judging_rounds;
pub mod labeling;
pub mod leaderboard;
pub mod model_check;
pub mod model_register;
pub mod model_settings;
pub mod moderation_reviews;
pub mod public_log;
pub mod retention;
pub mod start_check;
pub mod webhooks;

use langya_domain as domain;
use langya_formats as formats;
use langya_infra as infra;
use langya_render as render;
