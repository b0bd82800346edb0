//! Pages of a visitor: the battle, the history, consent and the sign-in.

pub mod battle;
pub mod consent;
pub mod history;
pub mod sign_in;
