//! Flags of `langya serve`, which is implemented above the command line and the server (`src/serve.rs`).

use std::path::PathBuf;

use clap::Args;

use super::Location;
use crate::infra::config::{ConfigError, DEFAULT_FILE, Environment, Settings};

/// Flags of `langya serve`.
#[derive(Debug, Clone, Args)]
pub struct ServeOptions {
    #[command(flatten)]
    location: Location,
    /// Address and port to listen on; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Address of Redis, needed if several instances serve one arena
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
}

impl ServeOptions {
    /// Reads the settings, overridden by these flags.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn settings(&self, env: &Environment) -> Result<Settings, ConfigError> {
        let mut settings = self.location.settings(env)?;
        if let Some(listen) = &self.listen {
            settings.server.listen.clone_from(listen);
        }
        if let Some(redis) = &self.redis {
            settings.redis.url = redis.as_str().into();
        }
        Ok(settings)
    }

    /// Returns the path of the settings file.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.location.config.clone().unwrap_or_else(|| DEFAULT_FILE.into())
    }
}
