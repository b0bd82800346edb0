//! Several instances with PostgreSQL and Redis.

pub(super) mod battles_across_instances;
pub(super) mod instances;
pub(super) mod redis_bus;
pub(super) mod shared_breakers;
