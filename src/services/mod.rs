//! Use cases: the only place where rules and adapters meet.

pub mod vote_file;
