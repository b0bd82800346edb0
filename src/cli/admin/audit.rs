//! `langya admin audit`

use clap::Args;
use serde::Serialize;

use super::Admin;
use crate::domain::time::Timestamp;
use crate::error::CommandResult;
use crate::infra::storage::{AuditFilter, AuditRow};
use crate::output::output_format::OutputFormat;
use crate::output::standard_output::print;
use crate::output::table::{TableRow, render};
use crate::output::terminal_text::printable;
use crate::output::times::show_time;

/// Flags of `langya admin audit`.
#[derive(Debug, Args)]
pub(super) struct AuditOptions {
    /// Only actions of this account
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Only this action, such as `exclude_votes`
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,
    /// Only what was done before the entry with this id
    #[arg(long, value_name = "ID")]
    before: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

#[derive(Serialize)]
struct AuditLine {
    id: String,
    acted_at: String,
    actor: String,
    action: String,
    subject: String,
    /// JSON.
    before: Option<String>,
    /// JSON.
    after: Option<String>,
    via: String,
    address: String,
}

impl AuditLine {
    fn new(row: AuditRow) -> Self {
        Self {
            id: row.id,
            acted_at: show_time(Timestamp(row.acted_at)),
            actor: row.actor,
            action: row.action,
            subject: row.subject,
            before: row.former,
            after: row.latter,
            via: row.via,
            address: row.address,
        }
    }
}

impl TableRow for AuditLine {
    const HEADS: &'static [&'static str] = &["when", "who", "action", "on", "before", "after", "from"];

    fn cells(&self) -> Vec<String> {
        let text = |text: &Option<String>| printable(text.as_deref().unwrap_or("-")).to_string();
        let from = format!("{} {}", self.via, self.address);
        vec![
            self.acted_at.clone(),
            printable(&self.actor).to_string(),
            self.action.clone(),
            printable(&self.subject).to_string(),
            text(&self.before),
            text(&self.after),
            from.trim_end().to_owned(),
        ]
    }
}

/// Prints audit log entries.
pub(super) async fn run(admin: &Admin, options: &AuditOptions) -> CommandResult<()> {
    let AuditOptions { actor, action, before, limit, format } = options;
    let filter = AuditFilter { actor: actor.clone(), action: action.clone(), before: before.clone() };
    let entries = admin.store.audit_entries(&filter, *limit).await?;
    let lines: Vec<AuditLine> = entries.into_iter().map(AuditLine::new).collect();
    print(&render(&lines, *format)?)?;
    Ok(())
}
