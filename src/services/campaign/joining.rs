//! How people come to a campaign by a link that many share: each takes one of its places and gets a link of their own.

use sha2::{Digest, Sha256};

use super::annotating::{AnnotatingError, token_hash};
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{CampaignState, JoiningAnnotator, Store, is_storable};

/// Characters of a link's token.
const TOKEN: usize = 32;
/// Characters of a participant's name at most.
const MAX_PARTICIPANT: usize = 100;

/// What distinguishes a second try of the same person from another person.
#[derive(Debug, Clone, Copy, Default)]
pub struct JoinIdentity<'j> {
    /// The same for every try of one person: a number drawn by their device. Without it, every try takes a place.
    pub request: Option<&'j str>,
    /// As a recruitment platform knows the person; the same for every try, too.
    pub participant: Option<&'j str>,
}

impl JoinIdentity<'_> {
    /// What is no name of a participant is left out.
    fn checked(self) -> Self {
        let is_name = |name: &&str| {
            let characters = name.chars().count();
            (1..=MAX_PARTICIPANT).contains(&characters) && is_storable(name) && !name.contains(char::is_control)
        };
        Self { participant: self.participant.map(str::trim).filter(is_name), ..self }
    }

    /// The token of the link that is this person's own: the same for the same person, and known to nobody without the shared link.
    fn token(self, shared: &str, rng: &SharedRng) -> String {
        let known = self.participant.map(|name| format!("participant {name}"));
        let known = known.or_else(|| self.request.map(|request| format!("request {request}")));
        match known {
            None => rng.token(),
            Some(known) => hex(&Sha256::digest(format!("langya campaign place {shared} {known}")))[..TOKEN].to_owned(),
        }
    }
}

/// Takes a place of a shared link, and returns the token of the link that is the annotator's own; a repeated request gets the same.
///
/// # Errors
/// [`AnnotatingError`] says why the link does not work.
pub async fn join(
    store: &Store,
    rng: &SharedRng,
    campaign: &str,
    (shared, joining): (&str, JoinIdentity<'_>),
    now: Timestamp,
) -> Result<String, AnnotatingError> {
    let link = store.shared_link(campaign, &token_hash(shared)).await?.ok_or(AnnotatingError::UnknownLink)?;
    let row = store.campaign(campaign).await?.ok_or(AnnotatingError::UnknownLink)?;
    if link.revoked_at.is_some() {
        return Err(AnnotatingError::Revoked);
    }
    if link.expires_at.is_some_and(|at| at <= now.0) {
        return Err(AnnotatingError::Expired);
    }
    if row.state != CampaignState::Open {
        return Err(AnnotatingError::NotOpen(row.state));
    }
    let joining = joining.checked();
    let token = joining.token(shared, rng);
    let hash = token_hash(&token);
    let annotator = JoiningAnnotator { token_hash: &hash, participant: joining.participant, now };
    let joined = store.join_campaign(campaign, &link, annotator).await?;
    joined.map(|_| token).ok_or(AnnotatingError::Full)
}
