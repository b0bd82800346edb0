//! Consent text that visitors accept before their first battle on the page, and its record by version.
//!
//! The text depends on the settings, and mentions that models judge battles also if only `langya judge run` has had one do so. The version
//! is a hash of the text in all languages, so every change of the text changes the version.

use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::domain::hex::hex;
use crate::domain::language::Language;
use crate::infra::config::{AccessMode, CurrentSettings, LimitSettings, Settings, WindowLimits};
use crate::infra::sessions::Session;
use crate::infra::storage::{ConsentVersion, Store, StoreError};
use crate::infra::time::clock::Clock;
use crate::render::i18n::pages::{ConsentFacts, ConsentText, ModelVerdicts, StorageInForce};

/// Consent text with its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Hash of the text in all languages.
    pub version: String,
    /// The text in every language.
    pub texts: Vec<ConsentText>,
    /// `texts` as JSON.
    body: String,
}

impl Consent {
    /// Builds the text for these settings.
    #[must_use]
    pub fn new(settings: &Settings, judging: ModelVerdicts) -> Self {
        let host = settings.moderation.host();
        let facts = ConsentFacts {
            storage: storage_in_force(settings),
            images: settings.takes_images(),
            moderation: host.as_deref(),
            moderates_replies: settings.moderation.replies,
            judging,
            leak_judge: &settings.integrity.leak_judge,
            privacy: &settings.site.privacy,
        };
        let added = |language: Language| settings.site.consent.get(&language).map(|text| text.trim());
        let text = |language| ConsentText::new(language, &facts, added(language).filter(|text| !text.is_empty()));
        let texts = Language::ALL.map(text).to_vec();
        let body = serde_json::to_string(&texts).expect("texts are JSON");
        Self { version: hex(&Sha256::digest(&body)[..6]), texts, body }
    }

    /// Returns the text in a language.
    #[must_use]
    pub fn text(&self, language: Language) -> &ConsentText {
        &self.texts[language as usize]
    }
}

/// Whether the settings have models judge battles.
fn judging_by_settings(settings: &Settings) -> ModelVerdicts {
    if settings.judge.models.is_empty() { ModelVerdicts::None } else { ModelVerdicts::ByModels }
}

/// Returns the data storage described by the consent text under these settings.
#[must_use]
pub fn storage_in_force(settings: &Settings) -> StorageInForce {
    let LimitSettings { turns_per_address, votes_per_address, sign_ins_per_address, .. } = &settings.limits;
    let asks_people = settings.access.mode != AccessMode::Open;
    StorageInForce {
        abandon_after_minutes: settings.battle.abandon_after_minutes,
        sign_in_days: asks_people.then_some(settings.access.session_days),
        text_days: Some(settings.retention.text_days).filter(|days| *days > 0),
        counts_networks: [turns_per_address, votes_per_address, sign_ins_per_address]
            .iter()
            .any(|limits| **limits != WindowLimits::NONE),
    }
}

/// Records consents.
pub struct Consents {
    store: Store,
    settings: CurrentSettings,
    clock: Arc<dyn Clock>,
    /// Latest database answer on whether there are verdicts.
    has_verdicts: Mutex<Option<bool>>,
}

impl Consents {
    /// Creates the service.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings, clock: Arc<dyn Clock>) -> Self {
        Self { store, settings, clock, has_verdicts: Mutex::default() }
    }

    /// Returns the text in force.
    ///
    /// # Errors
    /// As [`judging`](Self::judging).
    pub async fn current(&self) -> Result<Consent, StoreError> {
        Ok(Consent::new(&self.settings.now(), self.judging().await?))
    }

    /// Returns whether models judge battles, automatically or by command. While the database fails, its last answer is used.
    ///
    /// # Errors
    /// [`StoreError`] where the database fails and has never said whether it has verdicts.
    pub async fn judging(&self) -> Result<ModelVerdicts, StoreError> {
        let by_settings = judging_by_settings(&self.settings.now());
        match by_settings {
            ModelVerdicts::None if self.has_verdicts().await? => Ok(ModelVerdicts::ByModels),
            judging => Ok(judging),
        }
    }

    /// Whether there are verdicts. Verdicts are never deleted: after the first, the database is not queried again.
    async fn has_verdicts(&self) -> Result<bool, StoreError> {
        let known = *self.has_verdicts.lock();
        if known == Some(true) {
            return Ok(true);
        }
        match self.store.has_verdicts().await {
            Ok(has_verdicts) => {
                *self.has_verdicts.lock() = Some(has_verdicts);
                Ok(has_verdicts)
            }
            Err(error) => known.ok_or(error),
        }
    }

    /// Whether the session has consented to the text in force.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn is_given(&self, session: &Session) -> Result<bool, StoreError> {
        self.store.has_consent(session.consent_id(), &self.current().await?.version).await
    }

    /// Stores consent to this version: for the session, so that it is not asked again, and for the visitor, whose export lists it. Consent
    /// to an outdated version is not stored, so the session is asked again.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn give(&self, session: &Session, version: &str) -> Result<(), StoreError> {
        let Consent { version: current, body, .. } = self.current().await?;
        if version != current || self.store.has_consent(session.consent_id(), version).await? {
            return Ok(());
        }
        let (agreed, now) = (ConsentVersion { version, body: &body }, self.clock.now());
        if session.consent_id() != &session.visitor {
            self.store.put_consent(&session.visitor, agreed, now).await?;
        }
        self.store.put_consent(session.consent_id(), agreed, now).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_the_text_is_a_new_version_and_nothing_else_is() {
        let version = |change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            Consent::new(&settings, judging_by_settings(&settings)).version
        };
        let now = version(&|_| {});
        assert!(now.len() == 12 && now.chars().all(|c| c.is_ascii_hexdigit()), "{now}");
        assert_eq!(version(&|settings| settings.rating.min_votes += 1), now);
        assert_eq!(version(&|settings| drop(settings.site.consent.insert(Language::Chinese, "  ".into()))), now);
        let changes: [&dyn Fn(&mut Settings); 4] = [
            &|settings| settings.retention.text_days = 30,
            &|settings| settings.judge.models = vec!["judge".into()],
            &|settings| settings.site.privacy = "https://example.org/privacy".into(),
            &|settings| drop(settings.site.consent.insert(Language::Chinese, "本研究由实验室进行。".into())),
        ];
        let changed: std::collections::BTreeSet<String> = changes.into_iter().map(version).collect();
        assert!(changed.len() == 4 && !changed.contains(&now), "{changed:?}");
        let judged = |settings: &Settings, judging| Consent::new(settings, judging).version;
        let mut names_judges = Settings::default();
        names_judges.judge.models = vec!["judge".into()];
        let by_hand = judged(&Settings::default(), ModelVerdicts::ByModels);
        let by_settings = judged(&names_judges, judging_by_settings(&names_judges));
        assert!(by_hand != now && by_hand == by_settings, "a verdict is a judge, whoever started it");
    }

    #[test]
    fn each_language_has_the_operators_words_of_that_language() {
        let mut settings = Settings::default();
        settings.site.consent.insert(Language::English, "A study of the lab.".into());
        let consent = Consent::new(&settings, ModelVerdicts::None);
        let [english, chinese] = Language::ALL.map(|language| consent.text(language));
        assert_eq!(english.paragraphs.last().unwrap(), "A study of the lab.");
        assert_eq!((english.paragraphs.len(), chinese.paragraphs.len()), (3, 2));
        assert_eq!(english.stored.len(), chinese.stored.len());
        assert_eq!((english.language, chinese.language), (Language::English, Language::Chinese));
    }
}
