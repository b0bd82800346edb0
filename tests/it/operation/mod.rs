//! Operation: commands, settings, logs, metrics, backups, restarts.

pub(super) mod api_reading;
pub(super) mod backup;
pub(super) mod bad_input;
pub(super) mod command_line;
pub(super) mod crash;
pub(super) mod database_files;
pub(super) mod deploy;
pub(super) mod graceful;
pub(super) mod logs;
pub(super) mod metrics;
pub(super) mod openapi;
pub(super) mod panics;
pub(super) mod readiness;
pub(super) mod reading_commands;
pub(super) mod reload;
pub(super) mod webhooks;
