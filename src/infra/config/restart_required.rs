//! Keys that need a restart to change: addresses that are bound or connected to once.

use super::Settings;

impl Settings {
    /// Restores the keys that need a restart to their values in `running`, and returns the names of those that differed.
    pub fn keep_until_restart(&mut self, running: &Self) -> Vec<&'static str> {
        let mut kept = Vec::new();
        let mut keep = |key, differs: bool| {
            if differs {
                kept.push(key);
            }
        };
        keep("server.listen", self.server.listen != running.server.listen);
        keep("server.workers", self.server.workers != running.server.workers);
        keep("storage", self.storage != running.storage);
        keep("redis", self.redis != running.redis);
        keep("log", self.log != running.log);
        keep("webhooks", self.webhooks != running.webhooks);
        let endpoint = |settings: &Self| {
            let moderation = &settings.moderation;
            [&moderation.base_url, &moderation.model, &moderation.api_key_env].map(Clone::clone)
        };
        keep("moderation.base_url, model and api_key_env", endpoint(self) != endpoint(running));
        [self.moderation.base_url, self.moderation.model, self.moderation.api_key_env] = endpoint(running);
        self.server.listen.clone_from(&running.server.listen);
        self.server.workers = running.server.workers;
        self.storage = running.storage.clone();
        self.redis = running.redis.clone();
        self.log = running.log.clone();
        self.webhooks.clone_from(&running.webhooks);
        kept
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Environment, Settings};

    #[test]
    fn keys_that_need_a_restart_are_named_and_stay_as_they_are() {
        let parse = |text: &str| Settings::parse(text, "langya.toml", &Environment::default()).unwrap();
        let running = parse("[server]\nlisten = \"127.0.0.1:1\"\n[redis]\nprefix = \"one\"");
        let mut edited = parse("[server]\nlisten = \"127.0.0.1:2\"\nmax_sockets = 7\n[storage]\ndata_dir = \"else\"");
        assert_eq!(edited.keep_until_restart(&running), ["server.listen", "storage", "redis"]);
        assert_eq!((edited.server.listen.as_str(), edited.server.max_sockets), ("127.0.0.1:1", 7));
        assert_eq!((&edited.storage, &edited.redis), (&running.storage, &running.redis));
        assert!(edited.clone().keep_until_restart(&running).is_empty());
    }
}
