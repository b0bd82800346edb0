//! What holds while everything around two instances fails.

mod checker;
