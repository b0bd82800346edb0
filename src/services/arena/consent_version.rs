//! What visitors agree to before their first battle on the page, and who agreed to which version.
//!
//! The text follows the settings, and says that models judge battles also where only `langya judge run` has had one do so. Its version is
//! a hash of it in all languages, so no text changes without a new version.

use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::domain::hex::hex;
use crate::domain::language::Language;
use crate::infra::clock::Clock;
use crate::infra::config::{AccessMode, CurrentSettings, LimitSettings, Settings, WindowLimits};
use crate::infra::sessions::Session;
use crate::infra::storage::{ConsentVersion, Store, StoreError};
use crate::render::i18n::pages::{ConsentFacts, ConsentText, ModelVerdicts, StorageInForce};

/// What visitors agree to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Names exactly this text.
    pub version: String,
    /// The text in every language.
    pub texts: Vec<ConsentText>,
    /// The same as JSON.
    body: String,
}

impl Consent {
    /// The text that these settings make.
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

    /// The text in a language.
    #[must_use]
    pub fn text(&self, language: Language) -> &ConsentText {
        &self.texts[language as usize]
    }
}

/// Whether the settings have models judge battles.
fn judging_by_settings(settings: &Settings) -> ModelVerdicts {
    if settings.judge.models.is_empty() { ModelVerdicts::None } else { ModelVerdicts::ByModels }
}

/// What is stored under these settings.
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

/// Keeps who agreed.
pub struct Consents {
    store: Store,
    settings: CurrentSettings,
    clock: Arc<dyn Clock>,
    /// What the database said last: whether it has verdicts.
    has_verdicts: Mutex<Option<bool>>,
}

impl Consents {
    /// Keeps them in this database.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings, clock: Arc<dyn Clock>) -> Self {
        Self { store, settings, clock, has_verdicts: Mutex::default() }
    }

    /// The text in force.
    ///
    /// # Errors
    /// As [`judging`](Self::judging).
    pub async fn current(&self) -> Result<Consent, StoreError> {
        Ok(Consent::new(&self.settings.now(), self.judging().await?))
    }

    /// Whether models judge battles, by the settings or by hand. While the database fails, its last answer holds.
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

    /// Verdicts are never deleted: once there is one, the database is not asked again.
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

    /// Whether the person of a session agreed to the text in force.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn is_given(&self, session: &Session) -> Result<bool, StoreError> {
        self.store.has_consent(session.consent_id(), &self.current().await?.version).await
    }

    /// Keeps that the person of a session agreed to this version: for the session, so that they are not asked again, and for the visitor,
    /// whose export lists it. Of another version than that of the text in force nothing is kept, so who agreed to it is asked again.
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
