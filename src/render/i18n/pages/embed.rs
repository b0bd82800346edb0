//! The leaderboard in a frame on another site.

/// Its texts.
pub struct EmbedTexts {
    pub all: &'static str,
}

pub(super) const ENGLISH: EmbedTexts = EmbedTexts { all: "The whole leaderboard ({n} {n:model|models})" };

pub(super) const CHINESE: EmbedTexts = EmbedTexts { all: "完整排行榜（{n} 个模型）" };
