//! Joining a campaign by a shared link: each annotator takes one of its places and gets a personal link.

use sha2::{Digest, Sha256};

use super::annotating::{AnnotatingError, token_hash};
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{CampaignState, JoiningAnnotator, Store, is_storable};

/// Length of a link's token in characters.
const TOKEN_CHARS: usize = 32;
/// Maximum length of a participant's name in characters.
const MAX_PARTICIPANT_CHARS: usize = 100;

/// Identity of a joining person, which makes repeated requests idempotent.
#[derive(Debug, Clone, Copy, Default)]
pub struct JoinIdentity<'j> {
    /// Random number of the person's device, the same for every request. Without it, every request takes a place.
    pub request: Option<&'j str>,
    /// Participant id at a recruitment platform, also the same for every request.
    pub participant: Option<&'j str>,
}

impl JoinIdentity<'_> {
    /// Drops an invalid participant name.
    fn checked(self) -> Self {
        let is_name = |name: &&str| {
            let characters = name.chars().count();
            (1..=MAX_PARTICIPANT_CHARS).contains(&characters) && is_storable(name) && !name.contains(char::is_control)
        };
        Self { participant: self.participant.map(str::trim).filter(is_name), ..self }
    }

    /// Derives the token of the personal link: the same for the same person, and secret without the shared link.
    fn token(self, shared: &str, rng: &SharedRng) -> String {
        let known = self.participant.map(|name| format!("participant {name}"));
        let known = known.or_else(|| self.request.map(|request| format!("request {request}")));
        match known {
            None => rng.token(),
            Some(known) => {
                hex(&Sha256::digest(format!("langya campaign place {shared} {known}")))[..TOKEN_CHARS].to_owned()
            }
        }
    }
}

/// Takes a place of a shared link, and returns the token of the annotator's personal link; a repeated request gets the same.
///
/// # Errors
/// [`AnnotatingError`] with the reason why the link is unusable.
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
