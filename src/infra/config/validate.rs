//! Checks each value against what it may be.

use super::sections::{
    BattleSettings, BenchSettings, IntegritySettings, JudgeSettings, LeakPolicy, ModelSettings, PairingSettings,
    RatingSettings, StorageSettings, WebhookSettings,
};
use super::value_checks::{is_variable_name, require};
use super::{ConfigError, Settings};
use crate::domain::battle::mode::BattleMode;
use crate::domain::text_direction;

impl Settings {
    /// The settings, if every value can be used.
    pub(super) fn checked(self) -> Result<Self, ConfigError> {
        self.check_models()?;
        self.server.check()?;
        self.site.check()?;
        self.storage.check()?;
        self.bench.check()?;
        self.judge.check(&self.models)?;
        self.integrity.check()?;
        self.models.iter().try_for_each(ModelSettings::check)?;
        self.battle.check()?;
        self.pairing.check()?;
        self.rating.check()?;
        self.access.check(&self.oidc)?;
        self.admin.check()?;
        self.api.check()?;
        WebhookSettings::check_all(&self.webhooks)?;
        self.oidc.check(&self.server.public_url)?;
        self.public_log.check()?;
        self.moderation.check()?;
        self.retention.check()?;
        let above = self.limits.proof_above;
        require((0.0..=1.0).contains(&above), "limits.proof_above", above, "0 to 1, where 1 means never")?;
        let timeout = self.redis.timeout_ms;
        require((10..=60_000).contains(&timeout), "redis.timeout_ms", timeout, "10 to 60000")?;
        Ok(self)
    }

    fn check_models(&self) -> Result<(), ConfigError> {
        let mut seen = std::collections::BTreeSet::new();
        for model in &self.models {
            if !seen.insert(&model.id) {
                return Err(ConfigError::DuplicateModel(model.id.clone()));
            }
            require(model.weight.is_finite() && model.weight >= 0.0, "models.weight", model.weight, "0 or more")?;
            require(
                model.api_key_env.is_empty() || is_variable_name(&model.api_key_env),
                "models.api_key_env",
                // What stands there may be the key.
                format!("unusable for model {:?}", model.id),
                "write the name of an environment variable such as OPENAI_API_KEY, and never the key",
            )?;
        }
        Ok(())
    }
}

impl BattleSettings {
    fn check(&self) -> Result<(), ConfigError> {
        self.check_pacing()?;
        let modes = self.modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>().join(", ");
        let anonymous = self.modes.contains(&BattleMode::Anonymous);
        require(anonymous, "battle.modes", modes, "a list with \"anonymous\" in it")?;
        require(self.max_turns >= 1, "battle.max_turns", self.max_turns, "1 or more")?;
        require(
            (1..=60_000).contains(&self.max_prompt_bytes),
            "battle.max_prompt_bytes",
            self.max_prompt_bytes,
            "1 to 60000, so that a frame of 64 KiB holds it",
        )?;
        require(self.max_images <= 10, "battle.max_images", self.max_images, "0 to 10")?;
        require(
            (1..=32 << 20).contains(&self.max_image_bytes),
            "battle.max_image_bytes",
            self.max_image_bytes,
            "1 to 33554432, since an image is read in memory",
        )?;
        require(self.max_reply_bytes >= 1, "battle.max_reply_bytes", self.max_reply_bytes, "1 or more")?;
        require(self.max_live >= 1, "battle.max_live", self.max_live, "1 or more")?;
        Ok(())
    }
}

impl PairingSettings {
    /// Refuses numbers that no pairing can have.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub fn check(&self) -> Result<(), ConfigError> {
        require((0.0..=1.0).contains(&self.uniform_share), "pairing.uniform_share", self.uniform_share, "0 to 1")?;
        require(self.elo_width > 0.0, "pairing.elo_width", self.elo_width, "more than 0")?;
        let boost = self.new_model_boost;
        require(boost.is_finite() && boost >= 1.0, "pairing.new_model_boost", boost, "1 or more")?;
        Ok(())
    }
}

impl RatingSettings {
    fn check(&self) -> Result<(), ConfigError> {
        require(
            self.confidence > 0.0 && self.confidence < 1.0,
            "rating.confidence",
            self.confidence,
            "between 0 and 1, for example 0.95",
        )?;
        let within = self.equal_within;
        require(within.is_finite() && within >= 0.0, "rating.equal_within", within, "0 or more, in rating points")?;
        require(self.group_votes >= 1, "rating.group_votes", self.group_votes, "1 or more")?;
        let seconds = self.group_seconds;
        require((1..=3_600).contains(&seconds), "rating.group_seconds", seconds, "1 to 3600")?;
        require(self.tuned_battles >= 1, "rating.tuned_battles", self.tuned_battles, "1 or more")?;
        Ok(())
    }
}

impl StorageSettings {
    fn check(&self) -> Result<(), ConfigError> {
        require(self.max_connections >= 1, "storage.max_connections", self.max_connections, "1 or more")?;
        require(self.acquire_timeout_ms >= 1, "storage.acquire_timeout_ms", self.acquire_timeout_ms, "1 or more")
    }
}

impl BenchSettings {
    fn check(&self) -> Result<(), ConfigError> {
        require(self.attempts >= 3, "bench.attempts", self.attempts, "3 or more")?;
        require(self.give_up_after >= 1, "bench.give_up_after", self.give_up_after, "1 or more")
    }
}

impl JudgeSettings {
    fn check(&self, models: &[ModelSettings]) -> Result<(), ConfigError> {
        require((0.0..=1.0).contains(&self.share), "judge.share", self.share, "0 to 1")?;
        let budget = self.budget_per_day;
        require(budget.is_finite() && budget >= 0.0, "judge.budget_per_day", budget, "0 or more")?;
        let twice = (1..self.models.len()).find(|at| self.models[..*at].contains(&self.models[*at]));
        let name = twice.map_or("", |at| &self.models[at]);
        require(twice.is_none(), "judge.models", format!("{name:?} twice"), "each judge once")?;
        let has_prices = |judge: &String| {
            models.iter().any(|model| model.id == *judge && model.input_price.is_some() && model.output_price.is_some())
        };
        let unpriced = self.models.iter().find(|judge| budget > 0.0 && !has_prices(judge));
        require(
            unpriced.is_none(),
            "judge.budget_per_day",
            budget,
            "0 unless every judge is one of [[models]] with input_price and output_price",
        )
    }
}

impl IntegritySettings {
    fn check(&self) -> Result<(), ConfigError> {
        let has_use = self.leak_judge.is_empty() || self.leaks == LeakPolicy::Exclude;
        require(has_use, "integrity.leak_judge", &self.leak_judge, "a model beside leaks = \"exclude\", or \"\"")
    }
}

impl ModelSettings {
    fn check(&self) -> Result<(), ConfigError> {
        require(
            !self.id.contains(char::is_control) && text_direction::in_name(&self.id) == self.id,
            "models.id",
            format!("{:?}", self.id),
            "a name without control characters",
        )?;
        require(
            self.reason.chars().count() <= 500
                && !self.reason.contains(char::is_control)
                && text_direction::in_name(&self.reason) == self.reason,
            "models.reason",
            format!("unusable for model {:?}", self.id),
            "one line of at most 500 characters",
        )?;
        require(self.max_concurrent >= 1, "models.max_concurrent", self.max_concurrent, "1 or more")?;
        for (key, price) in [("models.input_price", self.input_price), ("models.output_price", self.output_price)] {
            let price = price.unwrap_or(0.0);
            require(price.is_finite() && price >= 0.0, key, price, "0 or more, the price of a million tokens")?;
        }
        let share = self.batch_price.unwrap_or(0.0);
        require((0.0..=1.0).contains(&share), "models.batch_price", share, "0 to 1, a share of the prices")?;
        Ok(())
    }
}
