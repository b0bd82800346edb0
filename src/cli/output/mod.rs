//! What commands print and write: tables, progress, files, terminal text.

pub mod charts;
pub(super) mod name_table;
pub(super) mod out_file;
pub mod output_format;
pub(super) mod progress;
pub(super) mod report_files;
pub(super) mod robustness_table;
pub mod standard_output;
pub mod table;
pub mod terminal_text;
pub(super) mod times;
