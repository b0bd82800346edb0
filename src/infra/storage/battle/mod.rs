//! Tables of battles: their turns, prompts, images and verdicts, the visitor's history and [`text_deletion`] by visitors, admins and retention.

pub(super) mod battles;
pub(super) mod days;
pub(super) mod history;
pub(super) mod images;
pub(super) mod label_replies;
pub(super) mod moderation_flags;
pub(super) mod prompt_digests;
pub(super) mod prompt_labels;
pub(super) mod text_deletion;
pub(super) mod verdicts;
