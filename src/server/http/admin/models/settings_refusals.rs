//! Why models and their settings are refused, in the language of whoever changes them.

use crate::infra::config::ConfigError;
use crate::infra::config::edit::EditError;
use crate::infra::config::edit::change::InvalidChange;
use crate::infra::config::edit::settings_file::SettingsFileError;
use crate::infra::llm::model_list::ListError;
use crate::render::i18n::fill;
use crate::render::i18n::pages::{ModelAdminTexts, SettingsRefusalTexts};
use crate::services::model_entries::ModelEntryError;
use crate::watched_settings_file::SettingsProblem;

/// Why models were not added or changed.
pub(super) fn refused_entry(error: &ModelEntryError, words: &ModelAdminTexts) -> String {
    let texts = &words.refusals;
    match error {
        ModelEntryError::NotAVariable => words.add.not_a_variable.to_owned(),
        ModelEntryError::List(ListError::Refused(status)) => {
            fill(words.add.wants_key, &[("status", &status.to_string())])
        }
        ModelEntryError::List(error) => refused_list(error, texts),
        ModelEntryError::Config(ConfigError::TooFewModels(left)) => fill(words.too_few, &[("n", &left.to_string())]),
        ModelEntryError::Config(ConfigError::MissingKey { variable, .. }) => {
            fill(words.key_missing, &[("variable", variable)])
        }
        ModelEntryError::Config(error) => refused_settings(error, texts),
        ModelEntryError::NoMatch(listed) => fill(words.add.no_match, &[("n", &listed.to_string())]),
        ModelEntryError::NoModels => words.add.no_models.to_owned(),
        ModelEntryError::TooMany(listed) => fill(texts.too_many_chosen, &[("n", &listed.to_string())]),
        ModelEntryError::Duplicates(reason) => fill(texts.nothing_added, &[("reason", reason)]),
        ModelEntryError::Outdated => words.outdated.to_owned(),
        ModelEntryError::Change(InvalidChange::Nothing) => words.nothing_to_change.to_owned(),
        ModelEntryError::Change(InvalidChange::Weight) => texts.weight.to_owned(),
        ModelEntryError::Change(InvalidChange::Price) => texts.price.to_owned(),
        ModelEntryError::Edit(error) => refused_edit(error, texts),
        ModelEntryError::File(error) => refused_file(error, texts),
        ModelEntryError::Audit(_) | ModelEntryError::Thread(_) => texts.not_edited.to_owned(),
    }
}

/// Why the settings file as it stands is not in force. Nothing of the inside of the database is said.
pub(super) fn settings_problem(problem: &SettingsProblem, texts: &SettingsRefusalTexts) -> String {
    match problem {
        SettingsProblem::Blank => texts.blank.to_owned(),
        SettingsProblem::Settings(error) => refused_settings(error, texts),
        SettingsProblem::Store(_) => texts.not_registered.to_owned(),
    }
}

/// Why a settings file was not edited, or cannot be.
pub(super) fn refused_file(error: &SettingsFileError, texts: &SettingsRefusalTexts) -> String {
    match error {
        SettingsFileError::Io { path, source } => {
            let (path, reason) = (path.display().to_string(), source.to_string());
            fill(texts.not_written, &[("path", &path), ("reason", &reason)])
        }
        SettingsFileError::Invalid { path, source } => {
            let (path, reason) = (path.display().to_string(), refused_settings(source, texts));
            fill(texts.left_as_it_was, &[("path", &path), ("reason", &reason)])
        }
    }
}

/// Why settings cannot be used.
pub(super) fn refused_settings(error: &ConfigError, texts: &SettingsRefusalTexts) -> String {
    match error {
        ConfigError::Unreadable { path, source } => {
            let (path, reason) = (path.display().to_string(), source.to_string());
            fill(texts.unreadable, &[("path", &path), ("reason", &reason)])
        }
        ConfigError::Invalid { origin, reason } => fill(texts.invalid, &[("origin", origin), ("reason", reason)]),
        ConfigError::MissingKey { model, variable } => {
            fill(texts.key_missing, &[("model", model), ("variable", variable)])
        }
        ConfigError::DuplicateModel(model) => fill(texts.same_id, &[("model", model)]),
        ConfigError::OutOfRange { key, value, rule } => texts.out_of_range(key, value, rule),
        ConfigError::TooFewModels(drawn) => fill(texts.too_few, &[("n", &drawn.to_string())]),
        ConfigError::NoHttpClient { reason } => fill(texts.no_http_client, &[("reason", reason)]),
    }
}

fn refused_edit(error: &EditError, texts: &SettingsRefusalTexts) -> String {
    match error {
        EditError::NotToml => texts.not_toml.to_owned(),
        EditError::InlineModels => texts.inline_models.to_owned(),
        EditError::UnknownModel { id, .. } => fill(texts.unknown_model, &[("model", id)]),
        EditError::UnusualForm(id) => fill(texts.unusual_form, &[("model", id)]),
    }
}

fn refused_list(error: &ListError, texts: &SettingsRefusalTexts) -> String {
    let with = |text: &str, name: &str, value: &dyn ToString| fill(text, &[(name, &value.to_string())]);
    match error {
        ListError::Address(rule) => with(texts.address, "reason", &texts.rule(rule)),
        ListError::Key(variable) => with(texts.unusable_key, "variable", variable),
        ListError::Unreached(reason) => with(texts.unreached, "reason", reason),
        ListError::Slow(seconds) => with(texts.slow, "n", seconds),
        ListError::Moved(status) => with(texts.moved, "status", status),
        ListError::Refused(status) | ListError::Status(status) => with(texts.status, "status", status),
        ListError::TooLong(megabytes) => with(texts.too_long, "n", megabytes),
        ListError::NoList => texts.no_list.to_owned(),
        ListError::TooMany(most) => with(texts.too_many_listed, "n", most),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use super::*;
    use crate::domain::language::Language;
    use crate::infra::config::{Environment, Settings};
    use crate::render::i18n::pages::page_texts;

    fn words(language: Language) -> &'static ModelAdminTexts {
        &page_texts(language).admin.models
    }

    #[test]
    fn every_refusal_of_models_is_said_in_chinese() {
        let (path, variable) = (PathBuf::from("langya.toml"), "OUR_KEY".to_owned());
        let lists = [
            ListError::Address("write it without what follows a ? or #"),
            ListError::Key(variable),
            ListError::Unreached("refused".to_owned()),
            ListError::Slow(10),
            ListError::Refused(401),
            ListError::Moved(301),
            ListError::Status(404),
            ListError::TooLong(16),
            ListError::NoList,
            ListError::TooMany(5_000),
        ];
        let changes = [InvalidChange::Weight, InvalidChange::Price, InvalidChange::Nothing];
        let edits = [
            EditError::NotToml,
            EditError::InlineModels,
            EditError::UnknownModel { id: "one".to_owned(), known: String::new() },
            EditError::UnusualForm("one".to_owned()),
        ];
        let not_written = SettingsFileError::Io { path, source: io::Error::other("full") };
        let all = lists.into_iter().map(ModelEntryError::List);
        let all = all.chain(changes.map(ModelEntryError::Change)).chain(edits.map(ModelEntryError::Edit));
        let others = [
            ModelEntryError::File(not_written),
            ModelEntryError::Config(ConfigError::DuplicateModel("one".to_owned())),
            ModelEntryError::Config(ConfigError::NoHttpClient { reason: "no certificates".to_owned() }),
            ModelEntryError::TooMany(300),
            ModelEntryError::Duplicates("one is configured".to_owned()),
        ];
        for error in all.chain(others) {
            let [english, chinese] =
                [Language::English, Language::Chinese].map(|language| refused_entry(&error, words(language)));
            assert!(!english.is_empty() && !english.contains(['{', '}']), "{english}");
            assert!(!chinese.is_ascii() && !chinese.contains(['{', '}']), "{chinese}");
        }
    }

    #[test]
    fn every_rule_of_the_settings_is_said_in_chinese_with_its_key() {
        for (text, key) in [
            ("[server]\ndrain_seconds = 26", "server.drain_seconds"),
            ("[server]\npublic_url = \"x\"", "server.public_url"),
            ("[site]\naccent = \"x\"", "site.accent"),
            ("[site]\nembed_on = [\"x\"]", "site.embed_on"),
            ("[battle]\nmax_reply_bytes = 0", "battle.max_reply_bytes"),
            ("[battle]\nmax_prompt_bytes = 0", "battle.max_prompt_bytes"),
            ("[battle]\nmodes = []", "battle.modes"),
            ("[battle]\ntempo_classes = []", "battle.tempo_classes"),
            ("[integrity]\nleak_judge = \"x\"\nleaks = \"off\"", "integrity.leak_judge"),
            ("[pairing]\nelo_width = 0.0", "pairing.elo_width"),
            ("[rating]\nconfidence = 1.0", "rating.confidence"),
            ("[rating]\noptimal_at_battles = 0", "rating.optimal_at_battles"),
            ("[limits]\nturns = [3, 2, 1]", "limits.turns"),
            ("[retention]\ntext_days = 40000", "retention.text_days"),
            ("[bench]\nattempts = 1", "bench.attempts"),
            ("[judge]\nmodels = [\"j\", \"j\"]", "judge.models"),
            ("[api]\ncors_origins = [\"x\"]", "api.cors_origins"),
            ("[access]\nmode = \"passphrase\"", "access.passphrase_hash"),
            ("[oidc]\nadmins = true", "oidc.issuer"),
            ("[[models]]\nid = \"\"\nprovider = \"openai\"", "models.id"),
            ("[[models]]\nid = \"m\"\nprovider = \"openai\"\ninput_price = -1.0", "models.input_price"),
            ("[[models]]\nid = \"m\"\nprovider = \"openai\"\napi_key_env = \"a b\"", "models.api_key_env"),
        ] {
            let problem = Settings::parse(text, "langya.toml", &Environment::default()).unwrap_err();
            let ConfigError::OutOfRange { rule, .. } = &problem else { panic!("{text}: {problem}") };
            let (rule, english) = (*rule, problem.to_string());
            let problem = SettingsProblem::Settings(problem);
            assert_eq!(settings_problem(&problem, &words(Language::English).refusals), english);
            let chinese = settings_problem(&problem, &words(Language::Chinese).refusals);
            assert!(chinese.starts_with(key) && !chinese.contains(rule), "{chinese}");
        }
    }
}
