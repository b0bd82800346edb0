//! Suites of the papers, suites of one's own, and the registry that loads them.

pub mod alignbench;
pub mod custom;
pub mod mtbench101;
pub mod registry;
pub mod seeded_suite;
pub mod superclue;
pub mod urs;
