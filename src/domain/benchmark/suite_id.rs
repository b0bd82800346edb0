//! Id of a suite.

use crate::battle::ids::text_id;

text_id! {
    /// Name of a suite, its key in commands, settings, files and the database.
    SuiteId
}
