//! Battles: questions, replies, modes, images and votes.

pub(super) mod battle;
pub(super) mod canaries;
pub(super) mod cancelled_requests;
pub(super) mod history;
pub(super) mod html_frames;
pub(super) mod images;
pub(super) mod malformed_frames;
pub(super) mod model_speeds;
pub(super) mod modes;
pub(super) mod pairing;
pub(super) mod post_vote_chat;
pub(super) mod prompt_cards;
pub(super) mod queue_bounds;
pub(super) mod repeated_votes;
pub(super) mod tabs;
pub(super) mod voting;
