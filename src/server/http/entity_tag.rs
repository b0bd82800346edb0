//! Whether a client has an answer already.

use actix_web::HttpRequest;
use actix_web::http::header::{EntityTag, Header as _, IfNoneMatch};
use sha2::{Digest, Sha256};

use crate::infra::rng::hex;

/// The tag of an answer's bytes. Weak: the same answer is sent compressed or not.
#[must_use]
pub(super) fn weak_tag(body: &[u8]) -> EntityTag {
    EntityTag::new_weak(hex(&Sha256::digest(body)[..16]))
}

/// Whether a request names this tag among those that it has.
#[must_use]
pub(super) fn is_known(request: &HttpRequest, tag: &EntityTag) -> bool {
    IfNoneMatch::parse(request).is_ok_and(|known| match known {
        IfNoneMatch::Any => true,
        IfNoneMatch::Items(tags) => tags.iter().any(|other| other.weak_eq(tag)),
    })
}
