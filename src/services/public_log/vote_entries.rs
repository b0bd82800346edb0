//! Creates log entries from stored votes.

use std::collections::{BTreeSet, HashMap};

use rand::Rng;

use super::PublicLogError;
use crate::domain::battle::VisitorId;
use crate::domain::hex::hex;
use crate::domain::public_log::commitment::SALT_BYTES;
use crate::domain::public_log::promised_vote::PromisedVote;
use crate::domain::public_log::vote_entry::{Hashes, PrivateTexts, commitment_of, vote_entry};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{LogSubject, NewLogEntry, NewSalt, Store, VoteRow, VotedPrompt, VotedReply};

/// Number of hexadecimal digits of a voter's pseudonym in the log.
const TAG_DIGITS: usize = 16;

/// Entries of votes, with the voters that are new to the log.
pub(super) struct VoteEntries {
    pub(super) entries: Vec<NewLogEntry>,
    pub(super) voters: Vec<(VisitorId, String)>,
}

/// Creates the entries of votes after sequence number `after`, for the log of this name.
pub(super) async fn entries_of_votes(
    log: &str,
    store: &Store,
    rng: &SharedRng,
    after: i64,
    votes: &[VoteRow],
) -> Result<VoteEntries, PublicLogError> {
    let upto = votes.last().map_or(after, |vote| vote.seq);
    let (prompts, replies) = (store.voted_prompts(after, upto).await?, store.voted_replies(after, upto).await?);
    let texts = texts(&prompts, &replies);
    let rules = store.exclusions_cast_with(after, upto).await?;
    let (tags, voters) = tags_of(store, rng, votes).await?;
    let entry = |vote: &VoteRow| {
        let mut salt = [0; SALT_BYTES];
        rng.with(|rng| rng.fill_bytes(&mut salt));
        let tag = vote.visitor.as_ref().and_then(|visitor| tags.get(visitor.as_str())).map_or("", String::as_str);
        let promise = PromisedVote::of_row(vote).map(|promised| promised.promise().hash(log));
        let body = vote_entry(vote, tag, &rules, &Hashes { commitment: commitment_of(vote, &texts, &salt), promise })?;
        let texts_of = texts.has(vote.battle.as_str()).then(|| vote.battle.clone());
        let salt = Some(NewSalt { digits: hex(&salt), texts_of });
        Ok(NewLogEntry { kind: LogSubject::Vote, subject: vote.id.clone(), body, salt })
    };
    Ok(VoteEntries { entries: votes.iter().map(entry).collect::<Result<_, PublicLogError>>()?, voters })
}

/// Returns the voters' pseudonyms in the log, and which of them are new.
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

/// Returns the texts of votes.
pub(super) fn texts<'t>(prompts: &'t [VotedPrompt], replies: &'t [VotedReply]) -> PrivateTexts<'t> {
    let mut texts = PrivateTexts::default();
    for row in prompts {
        texts.turn(&row.battle_id, row.turn).prompt = &row.prompt;
    }
    for row in replies {
        let turn = texts.turn(&row.battle_id, row.turn);
        *(if row.side == "a" { &mut turn.a } else { &mut turn.b }) = &row.text;
    }
    texts
}
