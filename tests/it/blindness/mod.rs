//! Before the vote neither the frames nor their times say which model is which.

mod frame_contents;
mod frame_times;
