//! Models: settings, probes, discovery, providers and their faults.

pub(super) mod faulty_models;
pub(super) mod model_entries;
pub(super) mod model_health;
pub(super) mod model_probes;
pub(super) mod model_register;
pub(super) mod providers;
pub(super) mod upstream_faults;
