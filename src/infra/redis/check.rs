//! Checks once whether Redis is usable.

use std::time::Duration;

use redis::AsyncConnectionConfig;

use super::handle::{AddressError, client};
use super::problem::Problem;
use crate::config::RedisSettings;

/// Lifetime of the key that the check writes, in milliseconds.
const KEY_LIFETIME_MS: u64 = 1_000;

/// Checks whether an address is valid. Does not connect.
///
/// # Errors
/// [`AddressError`], without the address.
pub fn check_address(settings: &RedisSettings) -> Result<(), AddressError> {
    client(settings).map(drop).map_err(AddressError::from)
}

/// Connects and writes a key that expires at once, like an instance does.
///
/// # Errors
/// Description of the problem, without the address and without text of the server.
pub async fn check(settings: &RedisSettings) -> Result<(), String> {
    let client = client(settings).map_err(|error| AddressError::from(error).to_string())?;
    let within = Some(Duration::from_millis(settings.timeout_ms));
    let config = AsyncConnectionConfig::new().set_connection_timeout(within).set_response_timeout(within);
    let written = async {
        let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        let mut set = redis::cmd("SET");
        set.arg(format!("{}:check", settings.prefix)).arg(1).arg("PX").arg(KEY_LIFETIME_MS);
        set.query_async::<()>(&mut connection).await
    };
    written.await.map_err(|error| Problem::from_error(&error).to_string())
}
