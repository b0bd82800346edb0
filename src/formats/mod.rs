//! File formats: parsing and writing of rows, without a database.

pub mod agreement_files;
pub mod benchmark_records;
pub mod campaign_files;
pub mod data_card;
pub mod dataset;
pub mod draft_review;
pub mod drafts;
pub mod locked_file;
pub mod makers;
pub mod model_table;
pub mod prices;
pub mod prompt_images;
pub mod records;
pub mod rereadable_file;
pub mod scores;
pub mod simulation;
mod standard_input;
pub mod table_error;
pub mod tables;
mod temporary_copy;
mod text_file;
pub mod visitor_data;
pub mod votes;

use langya_domain as domain;

pub use standard_input::{
    StandardInputTwice, check_given_once, input_metadata, input_name, is_standard_input, open_input,
};
pub use text_file::{read_file, read_file_or_pipe, read_text};
