//! The public log outside the database: signing key, checkpoint file, reader, witnesses.

pub mod reader;
pub mod signed_checkpoint_file;
pub mod signing_key;
pub mod witness;
