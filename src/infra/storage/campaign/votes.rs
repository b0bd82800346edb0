//! Judgements of a rated campaign as battles and votes of this arena. A judgement's vote has its id, and is committed with it; a withdrawn
//! judgement, or one of an excluded annotator, has its vote excluded in the same commit.

use crate::domain::battle::{Outcome, VisitorId};
use crate::storage::VoteExclusion;

pub(in crate::storage) const INSERT_MODEL: &str = "INSERT INTO models (id, name, organization, license, practice, first_seen_at) \
     VALUES ($1, $1, '', '', FALSE, $2) ON CONFLICT (id) DO NOTHING";
pub(in crate::storage) const INSERT_BATTLE: &str = "INSERT INTO battles (id, visitor, model_a, model_b, turn, language, category, pair_probability, \
     created_at, updated_at, mode, stage, pairing_policy, policy_version) \
     VALUES ($1, $2, $3, $4, 1, $5, $6, 0, $7, $7, 'anonymous', 'voted', 'campaign', 0)";
pub(in crate::storage) const INSERT_VOTE: &str = "INSERT INTO votes (id, battle_id, visitor, model_a, model_b, turn, language, category, \
     pair_probability, outcome, text_counts, created_at, duration_ms_a, duration_ms_b, anonymous, pairing_policy, policy_version, \
     receipt) VALUES ($1, $1, $2, $3, $4, 1, $5, $6, 0, $7, $8, $9, 0, 0, TRUE, 'campaign', 0, '{}')";
pub(in crate::storage) const EXCLUDE: &str = "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at, with_vote) \
     SELECT id || ' ' || $2, seq, $2, $3, 'langya', created_at, TRUE FROM votes WHERE battle_id = $1";
pub(in crate::storage) const EXCLUDE_TAKEN_BACK: &str = "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at) \
     SELECT id || ' taken_back', seq, 'taken_back', 'the annotator took the judgement back', 'langya', CAST($2 AS BIGINT) \
     FROM votes WHERE battle_id IN (SELECT id FROM campaign_judgements WHERE assignment = $1 AND withdrawn_at = $2) \
     ON CONFLICT (vote_seq, rule) WHERE withdrawn_at IS NULL DO NOTHING";

/// Excludes all votes of a deleted campaign.
pub(in crate::storage) const EXCLUDE_DELETED: &str = "INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at) \
     SELECT id || ' left_out', seq, 'left_out', 'the campaign was deleted', 'langya', CAST($2 AS BIGINT) FROM votes \
     WHERE battle_id IN (SELECT j.id FROM campaign_judgements j JOIN campaign_assignments a ON a.id = j.assignment \
     WHERE a.campaign = $1) ON CONFLICT (vote_seq, rule) WHERE withdrawn_at IS NULL DO NOTHING";

/// Vote data of a judgement in a rated campaign.
#[derive(Debug, Clone)]
pub struct CampaignVote {
    /// Pseudonym of the voter: the same for all votes of an annotator, who cannot be identified from published votes.
    pub voter: VisitorId,
    /// The models on sides A and B.
    pub models: [String; 2],
    /// Outcome chosen by the annotator.
    pub outcome: Outcome,
    /// Language of the item; empty if unknown.
    pub language: String,
    /// Category of the item, if known.
    pub category: Option<String>,
    /// Text counts of both answers, as JSON.
    pub text_counts: String,
    /// Exclusions committed with the vote.
    pub exclusions: Vec<VoteExclusion>,
}

/// Inserts the battle and the vote of a judgement in an open transaction of either database.
macro_rules! insert_vote {
    ($tx:expr, $new:expr, $vote:expr) => {{
        let vote: &$crate::storage::CampaignVote = $vote;
        let [a, b] = &vote.models;
        for model in &vote.models {
            sqlx::query($crate::storage::campaign::votes::INSERT_MODEL)
                .bind(model)
                .bind($new.now.0)
                .execute(&mut *$tx)
                .await?;
        }
        let query = sqlx::query($crate::storage::campaign::votes::INSERT_BATTLE)
            .bind($new.id)
            .bind(vote.voter.as_str())
            .bind(a)
            .bind(b);
        query.bind(&vote.language).bind(&vote.category).bind($new.now.0).execute(&mut *$tx).await?;
        let query = sqlx::query($crate::storage::campaign::votes::INSERT_VOTE)
            .bind($new.id)
            .bind(vote.voter.as_str())
            .bind(a)
            .bind(b)
            .bind(&vote.language);
        let query = query.bind(&vote.category).bind(vote.outcome.as_str()).bind(&vote.text_counts);
        query.bind($new.now.0).execute(&mut *$tx).await?;
        for exclusion in &vote.exclusions {
            let query = sqlx::query($crate::storage::campaign::votes::EXCLUDE)
                .bind($new.id)
                .bind(exclusion.rule.name())
                .bind(&exclusion.reason);
            query.execute(&mut *$tx).await?;
        }
    }};
}

pub(in crate::storage) use insert_vote;
