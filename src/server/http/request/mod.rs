//! Middleware and what every request passes: addresses, hosts, headers, errors, tokens of forms.

pub(super) mod address;
pub(super) mod connections;
pub(super) mod cookie_values;
pub(super) mod draining;
pub(super) mod entity_tags;
pub mod error;
pub(super) mod error_page;
pub mod headers;
pub(super) mod hosts;
pub(super) mod request_id;
pub(super) mod router_errors;
