//! Messages for refused models and settings, in the user's language. In English they are the errors' own texts, unless these name
//! command-line flags.

use crate::infra::config::ConfigError;
use crate::infra::config::edit::EditError;
use crate::infra::config::edit::change::InvalidChange;
use crate::infra::config::edit::settings_file::SettingsFileError;
use crate::infra::llm::model_list::ListError;
use crate::infra::llm::model_list_merge::{AddedModel, Addition, MAX_DUPLICATES_NAMED, duplicates};
use crate::render::i18n::fill;
use crate::render::i18n::pages::{ModelAdminTexts, SettingsRefusalTexts};
use crate::services::model_settings::ModelEntryError;
use crate::watched_settings_file::SettingsProblem;

/// Returns why models were not added or changed.
pub(super) fn refused_entry(error: &ModelEntryError, words: &ModelAdminTexts) -> String {
    let not_changed = |reason: String| fill(words.not_changed, &[("reason", &reason)]);
    let not_added = |reason: String| fill(words.add.not_added, &[("reason", &reason)]);
    match error {
        ModelEntryError::NotAVariable => words.add.not_a_variable.to_owned(),
        ModelEntryError::List(ListError::Refused(status)) => {
            fill(words.add.wants_key, &[("status", &status.to_string())])
        }
        ModelEntryError::List(error) => not_added(refused_list(error, words.refusals)),
        ModelEntryError::Config(ConfigError::TooFewModels(left)) => fill(words.too_few, &[("n", &left.to_string())]),
        ModelEntryError::Config(ConfigError::MissingKey { variable, .. }) => {
            fill(words.key_missing, &[("variable", variable)])
        }
        ModelEntryError::Config(error) => not_changed(refused_settings(error, words.refusals)),
        ModelEntryError::NoMatch(listed) => fill(words.add.no_match, &[("n", &listed.to_string())]),
        ModelEntryError::NoModels => words.add.no_models.to_owned(),
        ModelEntryError::TooMany(listed) => fill(words.add.too_many, &[("n", &listed.to_string())]),
        ModelEntryError::Duplicates(models) => not_added(why_duplicates(models, words.refusals)),
        ModelEntryError::Outdated => words.outdated.to_owned(),
        ModelEntryError::Change(InvalidChange::Nothing) => words.nothing_to_change.to_owned(),
        ModelEntryError::Change(InvalidChange::Weight) => words.invalid_weight.to_owned(),
        ModelEntryError::Change(InvalidChange::Price) => words.invalid_price.to_owned(),
        ModelEntryError::Edit(error) => not_changed(refused_edit(error, words.refusals)),
        ModelEntryError::File(error) => not_changed(refused_file(error, words.refusals)),
        ModelEntryError::Audit(_) | ModelEntryError::Thread(_) => words.not_edited.to_owned(),
    }
}

/// Returns why the current settings file is not in force, without database internals.
pub(super) fn settings_problem(problem: &SettingsProblem, words: &ModelAdminTexts) -> String {
    match problem {
        SettingsProblem::Blank => words.refusals.map_or_else(|| problem.to_string(), |texts| texts.blank.to_owned()),
        SettingsProblem::Settings(error) => refused_settings(error, words.refusals),
        SettingsProblem::Store(_) => words.not_registered.to_owned(),
    }
}

/// Returns why a settings file was not or cannot be edited.
pub(super) fn refused_file(error: &SettingsFileError, refusals: Option<&SettingsRefusalTexts>) -> String {
    let Some(texts) = refusals else { return error.to_string() };
    match error {
        SettingsFileError::Io { path, source } => {
            let (path, reason) = (path.display().to_string(), source.to_string());
            fill(texts.not_written, &[("path", &path), ("reason", &reason)])
        }
        SettingsFileError::Invalid { path, source } => {
            let (path, reason) = (path.display().to_string(), refused_settings(source, refusals));
            fill(texts.left_as_it_was, &[("path", &path), ("reason", &reason)])
        }
    }
}

/// Returns why settings are invalid.
pub(super) fn refused_settings(error: &ConfigError, refusals: Option<&SettingsRefusalTexts>) -> String {
    let Some(texts) = refusals else { return error.to_string() };
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
        ConfigError::OutOfRange { key, value, rule } => texts.out_of_range(key, value, *rule),
        ConfigError::TooFewModels(drawn) => fill(texts.too_few, &[("n", &drawn.to_string())]),
        ConfigError::NoHttpClient { reason } => fill(texts.no_http_client, &[("reason", reason)]),
    }
}

fn refused_edit(error: &EditError, refusals: Option<&SettingsRefusalTexts>) -> String {
    let Some(texts) = refusals else { return error.to_string() };
    match error {
        EditError::NotToml => texts.not_toml.to_owned(),
        EditError::InlineModels => texts.inline_models.to_owned(),
        EditError::UnknownModel { id, known } if known.is_empty() => fill(texts.no_models, &[("model", id)]),
        EditError::UnknownModel { id, known } => {
            fill(texts.unknown_model, &[("model", id), ("known", &known.join(", "))])
        }
        EditError::UnusualForm(id) => fill(texts.unusual_form, &[("model", id)]),
    }
}

fn refused_list(error: &ListError, refusals: Option<&SettingsRefusalTexts>) -> String {
    let Some(texts) = refusals else { return error.to_string() };
    let with = |text: &str, name: &str, value: &dyn ToString| fill(text, &[(name, &value.to_string())]);
    match error {
        ListError::Address(rule) => texts.address((*rule).into()),
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

/// Returns why none of these models can be added.
fn why_duplicates(models: &[AddedModel], refusals: Option<&SettingsRefusalTexts>) -> String {
    let Some(texts) = refusals else { return duplicates(models) };
    let why = |model: &AddedModel| match &model.addition {
        Addition::Configured(id) => fill(texts.configured, &[("model", &model.entry.model), ("id", id)]),
        Addition::IdTaken | Addition::Added => fill(texts.id_taken, &[("id", &model.entry.id)]),
    };
    let named: Vec<String> = models.iter().take(MAX_DUPLICATES_NAMED).map(why).collect();
    let (more, named) = (models.len().saturating_sub(named.len()), named.join(texts.separator));
    if more > 0 { fill(texts.and_more, &[("models", &named), ("n", &more.to_string())]) } else { named }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use super::*;
    use crate::domain::language::Language;
    use crate::domain::settings_rule::AddressRule;
    use crate::infra::config::{Environment, ModelSettings, ProviderKind, Settings};
    use crate::infra::llm::roster::Roster;
    use crate::render::i18n::pages::page_texts;

    fn words(language: Language) -> &'static ModelAdminTexts {
        &page_texts(language).admin.models
    }

    fn in_both(error: &ModelEntryError) -> [String; 2] {
        [Language::English, Language::Chinese].map(|language| refused_entry(error, words(language)))
    }

    fn lists() -> impl Iterator<Item = ModelEntryError> {
        let lists = [
            ListError::Address(AddressRule::WithoutQuery),
            ListError::Key("OUR_KEY".to_owned()),
            ListError::Unreached("refused".to_owned()),
            ListError::Slow(10),
            ListError::Refused(401),
            ListError::Moved(301),
            ListError::Status(404),
            ListError::TooLong(16),
            ListError::NoList,
            ListError::TooMany(5_000),
        ];
        lists.into_iter().map(ModelEntryError::List)
    }

    fn edits() -> impl Iterator<Item = ModelEntryError> {
        let changes = [InvalidChange::Weight, InvalidChange::Price, InvalidChange::Nothing];
        let edits = [
            EditError::NotToml,
            EditError::InlineModels,
            EditError::UnknownModel { id: "one".to_owned(), known: Vec::new() },
            EditError::UnknownModel { id: "one".to_owned(), known: vec!["two".to_owned()] },
            EditError::UnusualForm("one".to_owned()),
        ];
        changes.map(ModelEntryError::Change).into_iter().chain(edits.map(ModelEntryError::Edit))
    }

    fn configs() -> impl Iterator<Item = ModelEntryError> {
        let (path, full) = (PathBuf::from("langya.toml"), || io::Error::other("full"));
        let same_id = || ConfigError::DuplicateModel("one".to_owned());
        let files = [
            SettingsFileError::Io { path: path.clone(), source: full() },
            SettingsFileError::Invalid { path: path.clone(), source: same_id() },
        ];
        let configs = [
            ConfigError::Unreadable { path, source: full() },
            ConfigError::Invalid { origin: "langya.toml".to_owned(), reason: "unknown field".to_owned() },
            ConfigError::MissingKey { model: "one".to_owned(), variable: "OUR_KEY".to_owned() },
            same_id(),
            ConfigError::TooFewModels(1),
            ConfigError::NoHttpClient { reason: "no certificates".to_owned() },
        ];
        files.map(ModelEntryError::File).into_iter().chain(configs.map(ModelEntryError::Config))
    }

    #[test]
    fn refusals_of_models_are_said_in_chinese_and_all_places_are_filled() {
        let others = [
            ModelEntryError::NotAVariable,
            ModelEntryError::NoMatch(3),
            ModelEntryError::NoModels,
            ModelEntryError::TooMany(300),
            ModelEntryError::Outdated,
        ];
        for error in lists().chain(edits()).chain(configs()).chain(others) {
            let [english, chinese] = in_both(&error);
            assert!(!english.is_empty() && !english.contains(['{', '}']), "{english}");
            assert!(!chinese.is_ascii() && !chinese.contains(['{', '}']), "{chinese}");
        }
    }

    #[test]
    fn refusals_of_the_form_are_sentences_and_say_that_nothing_was_changed() {
        let form = edits().filter(|error| !matches!(error, ModelEntryError::Change(InvalidChange::Nothing)));
        for error in form.chain(configs()) {
            let [english, chinese] = in_both(&error);
            let is_sentence = english.starts_with(char::is_uppercase) && english.ends_with('.');
            assert!(is_sentence && english.contains("Nothing was changed"), "{english}");
            assert!(chinese.ends_with('。') && chinese.contains("未作任何更改"), "{chinese}");
        }
    }

    #[test]
    fn an_unknown_model_is_refused_with_the_ids_of_the_file() {
        let error = EditError::UnknownModel { id: "z".to_owned(), known: vec!["a".to_owned(), "b".to_owned()] };
        for said in in_both(&ModelEntryError::Edit(error)) {
            assert!(said.contains("\"z\"") && said.contains("a, b"), "{said}");
        }
    }

    #[test]
    fn models_that_are_there_already_are_named_with_the_reason_of_each() {
        let model = |id: &str, addition| AddedModel {
            entry: ModelSettings { model: format!("x/{id}"), ..ModelSettings::minimal(id, ProviderKind::Openai) },
            context_length: None,
            addition,
        };
        let configured = model("crane", Addition::Configured("kranich".to_owned()));
        let mut models = vec![configured, model("heron", Addition::IdTaken)];
        let error = |models: &[AddedModel]| in_both(&ModelEntryError::Duplicates(models.to_vec()));
        let [english, chinese] = error(&models);
        assert!(english.contains("\"x/crane\" is configured already as \"kranich\""), "{english}");
        assert!(chinese.contains("\"x/crane\" 已配置为 \"kranich\"；ID \"heron\" 已被另一个模型占用"), "{chinese}");
        models.extend(["c", "d"].map(|id| model(id, Addition::IdTaken)));
        let [english, chinese] = error(&models);
        assert!(english.contains("and 1 more") && chinese.contains("另有 1 个"), "{english} {chinese}");
    }

    #[track_caller]
    fn check(problem: ConfigError, said: &str) {
        let (english, problem) = (problem.to_string(), SettingsProblem::Settings(problem));
        assert_eq!(settings_problem(&problem, words(Language::English)), english);
        let chinese = settings_problem(&problem, words(Language::Chinese));
        let SettingsProblem::Settings(ConfigError::OutOfRange { rule, .. }) = &problem else { panic!("{problem}") };
        assert!(chinese.contains(said) && !chinese.contains(&rule.to_string()), "{chinese}");
    }

    #[test]
    fn rules_that_a_settings_file_breaks_are_said_in_chinese_with_their_key() {
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
            check(Settings::parse(text, "langya.toml", &Environment::default()).unwrap_err(), key);
        }
    }

    #[test]
    fn what_a_model_cannot_be_asked_with_is_said_in_chinese_with_the_name_of_the_model() {
        let env = Environment::of([("OUR_KEY", "sk\nsecond")]);
        for (entry, said) in [
            ("provider = \"builtin\"\nmodel = \"echo\"", "模型 \"crane\" 的 models.model 为 \"echo\""),
            ("provider = \"openai\"\nbase_url = \"file:///x\"", "模型 \"crane\" 的 models.base_url"),
            ("provider = \"openai\"\nbase_url = \"http://169.254.169.254\"", "模型 \"crane\" 的 models.base_url"),
            ("provider = \"openai\"\napi_key_env = \"OUR_KEY\"", "models.api_key_env 为 OUR_KEY，应为：值中只有密钥"),
        ] {
            let text = format!("[[models]]\nid = \"crane\"\n{entry}\n");
            let settings = Settings::parse(&text, "langya.toml", &env).unwrap();
            check(Roster::build(&settings, &env, 0).err().expect("it is refused"), said);
        }
    }
}
