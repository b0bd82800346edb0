//! Columns of the exported tables, under LMArena's names where they exist.

use super::Column;
use super::ValueKind::{Flag, Json, Number, Real, Text};

/// The columns of benchmark scores.
pub const SCORE_COLUMNS: [Column; 15] = [
    Column::needed("suite", Text),
    Column::needed("suite_version", Text),
    Column::needed("variant", Text),
    Column::needed("sample", Number),
    Column::needed("model", Text),
    Column::needed("judge", Text),
    Column::needed("baseline", Text),
    Column::needed("part", Text),
    Column::optional("score", Real),
    Column::optional("deviation", Real),
    Column::needed("judged", Number),
    Column::needed("total", Number),
    Column::needed("flagged", Flag),
    Column::needed("judge_is_evaluated", Flag),
    Column::needed("judged_at", Number),
];

/// The columns of the scores of single items.
pub const ITEM_SCORE_COLUMNS: [Column; 9] = [
    Column::needed("suite", Text),
    Column::needed("suite_version", Text),
    Column::needed("variant", Text),
    Column::needed("sample", Number),
    Column::needed("item", Text),
    Column::needed("model", Text),
    Column::needed("judge", Text),
    Column::needed("baseline", Text),
    Column::needed("score", Real),
];

/// The columns of the vote log, without the conversations.
pub const VOTE_COLUMNS: [Column; 44] = [
    Column::needed("seq", Number),
    Column::needed("battle_id", Text),
    Column::needed("model_a", Text),
    Column::needed("model_b", Text),
    Column::needed("winner", Text),
    Column::needed("judge", Text),
    Column::needed("turn", Number),
    Column::needed("anony", Flag),
    Column::needed("language", Text),
    Column::needed("tstamp", Real),
    Column::optional("conv_metadata.sum_assistant_a_tokens", Number),
    Column::optional("conv_metadata.sum_assistant_b_tokens", Number),
    Column::optional("conv_metadata.header_count_a.h1", Number),
    Column::optional("conv_metadata.header_count_a.h2", Number),
    Column::optional("conv_metadata.header_count_a.h3", Number),
    Column::optional("conv_metadata.header_count_a.h4", Number),
    Column::optional("conv_metadata.header_count_a.h5", Number),
    Column::optional("conv_metadata.header_count_a.h6", Number),
    Column::optional("conv_metadata.header_count_b.h1", Number),
    Column::optional("conv_metadata.header_count_b.h2", Number),
    Column::optional("conv_metadata.header_count_b.h3", Number),
    Column::optional("conv_metadata.header_count_b.h4", Number),
    Column::optional("conv_metadata.header_count_b.h5", Number),
    Column::optional("conv_metadata.header_count_b.h6", Number),
    Column::optional("conv_metadata.list_count_a.ordered", Number),
    Column::optional("conv_metadata.list_count_a.unordered", Number),
    Column::optional("conv_metadata.list_count_b.ordered", Number),
    Column::optional("conv_metadata.list_count_b.unordered", Number),
    Column::optional("conv_metadata.bold_count_a.**", Number),
    Column::optional("conv_metadata.bold_count_a.__", Number),
    Column::optional("conv_metadata.bold_count_b.**", Number),
    Column::optional("conv_metadata.bold_count_b.__", Number),
    Column::optional("category", Text),
    Column::optional("intent", Text),
    Column::optional("satisfaction", Number),
    Column::optional("reasons_a", Text),
    Column::optional("reasons_b", Text),
    Column::needed("pairing_policy", Text),
    Column::needed("pair_probability", Real),
    Column::optional("first_token_ms_a", Number),
    Column::optional("first_token_ms_b", Number),
    Column::optional("duration_ms_a", Number),
    Column::optional("duration_ms_b", Number),
    Column::needed("rated", Flag),
];
/// The last column of the vote log: rule that excludes a vote from the ratings.
pub const EXCLUSION: Column = Column::optional("exclusion", Text);
/// Conversation of each side, in exports with conversations.
pub const CONVERSATIONS: [Column; 2] = [Column::needed("conversation_a", Json), Column::needed("conversation_b", Json)];

/// The columns of a battle.
pub const BATTLE_COLUMNS: [Column; 13] = [
    Column::needed("battle_id", Text),
    Column::needed("judge", Text),
    Column::needed("mode", Text),
    Column::needed("stage", Text),
    Column::needed("model_a", Text),
    Column::needed("model_b", Text),
    Column::needed("turn", Number),
    Column::needed("language", Text),
    Column::optional("category", Text),
    Column::optional("intent", Text),
    Column::needed("pairing_policy", Text),
    Column::needed("pair_probability", Real),
    Column::needed("tstamp", Real),
];

/// The columns of a reply.
pub const REPLY_COLUMNS: [Column; 10] = [
    Column::needed("battle_id", Text),
    Column::needed("turn", Number),
    Column::needed("side", Text),
    Column::needed("model", Text),
    Column::needed("prompt", Text),
    Column::needed("text", Text),
    Column::needed("reasoning", Text),
    Column::needed("ending", Text),
    Column::optional("first_token_ms", Number),
    Column::needed("duration_ms", Number),
];

/// The columns of a leaderboard from `langya fit --format csv`.
pub const LEADERBOARD_COLUMNS: [Column; 29] = [
    Column::needed("model", Text),
    Column::needed("rank", Number),
    Column::optional("rating", Real),
    Column::optional("lower", Real),
    Column::optional("upper", Real),
    Column::needed("elo", Real),
    Column::needed("battles", Number),
    Column::needed("wins", Number),
    Column::needed("losses", Number),
    Column::needed("ties", Number),
    Column::needed("both_bad", Number),
    Column::needed("win_tie_rate", Real),
    Column::optional("average_win_rate", Real),
    Column::needed("component", Number),
    Column::needed("provisional", Flag),
    Column::optional("unbounded", Text),
    Column::optional("at_least", Real),
    Column::optional("at_most", Real),
    Column::optional("standard_error", Real),
    Column::optional("empirical_win_rate", Real),
    Column::optional("effective_voters", Real),
    Column::optional("best_rank", Number),
    Column::optional("worst_rank", Number),
    Column::optional("good_enough", Real),
    Column::optional("good_enough_lower", Real),
    Column::optional("good_enough_upper", Real),
    Column::optional("good_enough_change", Real),
    Column::optional("good_enough_change_lower", Real),
    Column::optional("good_enough_change_upper", Real),
];
