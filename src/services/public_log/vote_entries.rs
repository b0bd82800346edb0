//! Makes log entries of stored votes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rand::Rng;

use super::PublicLogError;
use super::promises::PromisedVote;
use crate::domain::battle::VisitorId;
use crate::domain::integrity::pseudonym::voter_pseudonym;
use crate::domain::public_log::bundle::EntryTooLong;
use crate::domain::public_log::commitment::{PrivateParts, PrivateTurn, SALT_BYTES};
use crate::domain::public_log::entry::{LogEntry, RuleApplied, VoteEntry, short_reason};
use crate::formats::tables::export_columns::winner;
use crate::infra::rng::{SharedRng, hex};
use crate::infra::storage::{LogSubject, NewLogEntry, NewSalt, Store, VoteRow, VotedPrompt, VotedReply};

/// Hexadecimal digits of a voter's name in the log.
const TAG_DIGITS: usize = 16;

/// Entries of votes, and the voters that had no name in the log before.
pub(super) struct VoteEntries {
    pub(super) entries: Vec<NewLogEntry>,
    pub(super) voters: Vec<(VisitorId, String)>,
}

/// The hashes in an entry.
pub(super) struct Hashes {
    /// Of what is not shown.
    pub(super) commitment: String,
    /// Of the promise, where there was one.
    pub(super) promise: Option<String>,
}

/// The entries of votes that follow the vote with the number `after`, for the log of this name.
pub(super) async fn entries_of_votes(
    log: &str,
    store: &Store,
    rng: &SharedRng,
    after: i64,
    votes: &[VoteRow],
) -> Result<VoteEntries, PublicLogError> {
    let upto = votes.last().map_or(after, |vote| vote.seq);
    let (prompts, replies) = (store.voted_prompts(after, upto).await?, store.voted_replies(after, upto).await?);
    let texts = Texts::new(&prompts, &replies);
    let rules = store.exclusions_cast_with(after, upto).await?;
    let (tags, voters) = tags_of(store, rng, votes).await?;
    let entry = |vote: &VoteRow| {
        let mut salt = [0; SALT_BYTES];
        rng.with(|rng| rng.fill_bytes(&mut salt));
        let tag = vote.visitor.as_ref().and_then(|visitor| tags.get(visitor.as_str())).map_or("", String::as_str);
        let promise = PromisedVote::of_row(vote).map(|promised| promised.promise().hash(log));
        let body = body_of(vote, tag, &rules, &Hashes { commitment: commitment_of(vote, &texts, &salt), promise })?;
        let texts_of = texts.has(vote.battle.as_str()).then(|| vote.battle.clone());
        let salt = Some(NewSalt { digits: hex(&salt), texts_of });
        Ok(NewLogEntry { kind: LogSubject::Vote, subject: vote.id.clone(), body, salt })
    };
    Ok(VoteEntries { entries: votes.iter().map(entry).collect::<Result<_, PublicLogError>>()?, voters })
}

/// What a vote's entry commits to, with this salt.
pub(super) fn commitment_of(vote: &VoteRow, texts: &Texts<'_>, salt: &[u8; SALT_BYTES]) -> String {
    let voter = voter_pseudonym(vote.visitor.as_ref().map_or("", VisitorId::as_str));
    let (battle, turns) = (vote.battle.as_str(), texts.of_battle(vote.battle.as_str()));
    PrivateParts { vote: &vote.id, battle, voter: &voter, turns }.commit(salt)
}

/// The entry of a vote; `rules` are those of several votes, in the order of votes.
pub(super) fn body_of(
    vote: &VoteRow,
    tag: &str,
    rules: &[(i64, String, String)],
    hashes: &Hashes,
) -> Result<String, EntryTooLong> {
    let entry = VoteEntry {
        seq: vote.seq,
        time: vote.created_at.0,
        model_a: vote.models[0].as_str().into(),
        model_b: vote.models[1].as_str().into(),
        winner: winner(vote.outcome).into(),
        turn: vote.turn,
        language: vote.language.as_str().into(),
        category: vote.category.as_deref().map(Into::into),
        intent: vote.intent.as_deref().map(Into::into),
        satisfaction: vote.satisfaction,
        pairing_policy: vote.pairing_policy.as_str().into(),
        pair_probability: vote.pair_probability,
        voter: tag.into(),
        excluded: applied(rules, vote.seq),
        commitment: hashes.commitment.as_str().into(),
        promise: hashes.promise.as_deref().map(Into::into),
    };
    LogEntry::Vote(Box::new(entry)).to_json()
}

/// The rules that excluded a vote when it was cast; `rules` are in the order of votes.
fn applied(rules: &[(i64, String, String)], seq: i64) -> Vec<RuleApplied<'_>> {
    let first = rules.partition_point(|(vote, ..)| *vote < seq);
    let of_vote = rules[first..].iter().take_while(|(vote, ..)| *vote == seq);
    of_vote.map(|(_, rule, reason)| RuleApplied { rule: rule.into(), reason: short_reason(reason) }).collect()
}

/// The names of the voters in the log, and which of them are new.
async fn tags_of(
    store: &Store,
    rng: &SharedRng,
    votes: &[VoteRow],
) -> Result<(HashMap<String, String>, Vec<(VisitorId, String)>), PublicLogError> {
    let visitors: BTreeSet<&str> =
        votes.iter().filter_map(|vote| vote.visitor.as_ref()).map(VisitorId::as_str).collect();
    let asked: Vec<&str> = visitors.iter().copied().collect();
    let mut tags: HashMap<String, String> = store.log_voters(&asked).await?.into_iter().collect();
    let mut new = Vec::new();
    for visitor in visitors {
        if !tags.contains_key(visitor) {
            let tag = rng.token()[..TAG_DIGITS].to_owned();
            new.push((VisitorId::new(visitor), tag.clone()));
            tags.insert(visitor.to_owned(), tag);
        }
    }
    Ok((tags, new))
}

/// What was asked and answered, by battle and turn.
pub(super) struct Texts<'t>(BTreeMap<(&'t str, i64), PrivateTurn<'t>>);

impl<'t> Texts<'t> {
    pub(super) fn new(prompts: &'t [VotedPrompt], replies: &'t [VotedReply]) -> Self {
        let mut turns = BTreeMap::<_, PrivateTurn<'t>>::new();
        for row in prompts {
            turns.entry((row.battle_id.as_str(), row.turn)).or_default().prompt = &row.prompt;
        }
        for row in replies {
            let turn = turns.entry((row.battle_id.as_str(), row.turn)).or_default();
            *(if row.side == "a" { &mut turn.a } else { &mut turn.b }) = &row.text;
        }
        Self(turns)
    }

    fn has(&self, battle: &str) -> bool {
        self.0.range((battle, i64::MIN)..=(battle, i64::MAX)).next().is_some()
    }

    fn of_battle(&self, battle: &str) -> Vec<PrivateTurn<'t>> {
        self.0.range((battle, i64::MIN)..=(battle, i64::MAX)).map(|(_, turn)| turn.clone()).collect()
    }
}
