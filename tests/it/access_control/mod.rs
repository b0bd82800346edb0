//! Who may do what: sign-in, sessions, keys, limits, hosts.

pub(super) mod access;
pub(super) mod api_keys;
pub(super) mod asvs;
pub(super) mod default_limits;
pub(super) mod hosts;
pub(super) mod invites;
pub(super) mod limits;
pub(super) mod proof_of_work;
pub(super) mod route_security;
pub(super) mod sessions;
pub(super) mod shared_limits;
