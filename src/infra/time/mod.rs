//! Clocks of this process: the system clock, its jumps, and stalls of the process.

pub mod clock;
pub mod clock_jumps;
pub mod process_stalls;
