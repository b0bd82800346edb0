//! Settings of the server, the storage, Redis and the log.

use std::net::SocketAddr;
use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::config::value_checks::{is_site_address, networks, require, require_as};
use crate::config::{ConfigError, ServiceUrl};
use crate::domain::settings_rule::{AddressRule, NumberRule, RefusedValue};

/// `[server]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSettings {
    /// Listen address and port.
    pub listen: String,
    /// Public address if a proxy is in front: `https://arena.example.org`.
    pub public_url: String,
    /// Number of threads that serve requests; 0 means one per core.
    pub workers: usize,
    /// Maximum number of open websockets; visitors of one network may have a quarter.
    pub max_sockets: usize,
    /// Seconds for which running battles may continue after SIGTERM.
    pub drain_seconds: u64,
    /// Networks of the reverse proxies whose `X-Forwarded-For` is trusted.
    #[serde(deserialize_with = "networks")]
    pub trusted_proxies: Vec<IpNet>,
    /// Networks that may read `/metrics`, only without a proxy in between.
    #[serde(deserialize_with = "networks")]
    pub metrics_allow: Vec<IpNet>,
}

impl ServerSettings {
    /// Checks each value.
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        require(
            self.listen.parse::<SocketAddr>().is_ok(),
            "server.listen",
            format!("{:?}", self.listen),
            AddressRule::Listen,
        )?;
        require(self.max_sockets >= 1, "server.max_sockets", self.max_sockets, NumberRule::AtLeast(1))?;
        let seconds = self.drain_seconds;
        require(seconds <= 25, "server.drain_seconds", seconds, NumberRule::Between(0, 25))?;
        require_as(
            self.public_url.is_empty() || is_site_address(&self.public_url),
            "server.public_url",
            RefusedValue::NotASite,
            AddressRule::PublicUrl,
        )
    }
}

/// Whether visitors connect by TLS, according to the public address.
#[must_use]
pub fn is_public_by_tls(public_url: &str) -> bool {
    public_url.starts_with("https://")
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8717".into(),
            public_url: String::new(),
            workers: 0,
            max_sockets: 10_000,
            drain_seconds: 20,
            trusted_proxies: Vec::new(),
            metrics_allow: ["127.0.0.0/8", "::1/128"].map(|net| net.parse().expect("a network")).to_vec(),
        }
    }
}

/// `[storage]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StorageSettings {
    /// Folder of the embedded database.
    pub data_dir: PathBuf,
    /// Database address: `postgres://…` or `sqlite:PATH`; empty means `langya.db` in `data_dir`.
    pub database: ServiceUrl,
    /// Maximum connections to PostgreSQL; of two or more, one is reserved for votes.
    pub max_connections: u32,
    /// Maximum wait for a connection, in milliseconds.
    pub acquire_timeout_ms: u64,
    /// Statement timeout on PostgreSQL, in milliseconds.
    pub statement_timeout_ms: u64,
}

impl Default for StorageSettings {
    fn default() -> Self {
        Self {
            data_dir: "data".into(),
            database: ServiceUrl::default(),
            max_connections: 16,
            acquire_timeout_ms: 5_000,
            statement_timeout_ms: 10_000,
        }
    }
}

/// `[redis]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RedisSettings {
    /// Address: `redis://…` or `rediss://…`; empty for a single instance.
    pub url: ServiceUrl,
    /// Prefix of every key and channel.
    pub prefix: String,
    /// Response timeout in milliseconds.
    pub timeout_ms: u64,
}

impl Default for RedisSettings {
    fn default() -> Self {
        Self { url: ServiceUrl::default(), prefix: "langya".into(), timeout_ms: 1_000 }
    }
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoggingFormat {
    /// Human-readable text.
    Text,
    /// One JSON object per line.
    Json,
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoggingSettings {
    /// `text` or `json`.
    pub format: LoggingFormat,
}

impl Default for LoggingSettings {
    fn default() -> Self {
        Self { format: LoggingFormat::Text }
    }
}

impl StorageSettings {
    /// Whether the database is PostgreSQL, which several instances can share, rather than SQLite.
    #[must_use]
    pub fn is_postgres(&self) -> bool {
        let address = self.database.expose();
        address.starts_with("postgres://") || address.starts_with("postgresql://")
    }

    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        let one_or_more = NumberRule::AtLeast(1);
        require(self.max_connections >= 1, "storage.max_connections", self.max_connections, one_or_more)?;
        require(self.acquire_timeout_ms >= 1, "storage.acquire_timeout_ms", self.acquire_timeout_ms, one_or_more)?;
        // A fifth of it limits idle transactions, and 0 would be no limit.
        let timeout = self.statement_timeout_ms;
        require(timeout >= 100, "storage.statement_timeout_ms", timeout, NumberRule::AtLeast(100))
    }
}
