//! The key of a suite.

use crate::battle::ids::text_id;

text_id! {
    /// The name of a suite: its key in commands, settings, files and the database.
    SuiteId
}
