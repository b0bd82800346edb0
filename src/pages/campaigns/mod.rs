//! Pages of campaigns: annotation and the report.

pub mod campaign;
pub mod campaign_report;
