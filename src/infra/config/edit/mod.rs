//! Text edits of a settings file. Each edit is a splice at a position given by the parser, so that every other byte stays as the operator
//! wrote it: comments, order, spaces, line ends. The result is parsed again and compared with the expected settings.

pub mod actions;
pub mod change;
pub mod settings_file;

use toml_edit::{ArrayOfTables, Document, DocumentMut, Item, Table, value};

use super::ModelSettings;

/// Error of a text edit of the settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text is not TOML.
    #[error("the settings file is not valid TOML: fix it first (`langya models list` shows the line)")]
    NotToml,
    /// The models are an inline array.
    #[error("models is an inline array: write each model as its own [[models]] table, then try again")]
    InlineModels,
    /// No entry has this id.
    #[error("no model has the id \"{id}\": {}", known_ids(.known))]
    UnknownModel {
        /// The requested id.
        id: String,
        /// All ids of the file.
        known: Vec<String>,
    },
    /// The entry is spread over the file, or has a form that is not spliced.
    #[error("the entry of \"{0}\" is written in a form that cannot be edited here: edit the file by hand")]
    UnusualForm(String),
}

fn known_ids(known: &[String]) -> String {
    match known {
        [] => "the settings file has no [[models]], and only models in it can be changed".to_owned(),
        known => format!("the ids here are {}", known.join(", ")),
    }
}

/// A model to add, with its context length in tokens if known.
#[derive(Debug, Clone, PartialEq)]
pub struct NewModel {
    /// Its entry.
    pub entry: ModelSettings,
    /// Context length in tokens; written as a comment for the operator.
    pub context_length: Option<u64>,
}

/// Returns the text with these models appended.
///
/// # Errors
/// [`EditError`]
pub fn with_models(text: &str, models: &[NewModel]) -> Result<String, EditError> {
    let document = parse(text)?;
    let mut edited = match document.get("models") {
        None | Some(Item::ArrayOfTables(_)) => text.to_owned(),
        Some(Item::Value(list)) if list.as_array().is_some_and(|list| list.is_empty()) => {
            without_empty_list(&document)?
        }
        Some(_) => return Err(EditError::InlineModels),
    };
    if !edited.is_empty() && !edited.ends_with('\n') {
        edited.push('\n');
    }
    let written = models.iter().map(toml_value).collect::<String>();
    let written = if edited.is_empty() { written.trim_start() } else { &written };
    edited.push_str(&in_line_ends_of(text, written));
    parse(&edited)?;
    Ok(edited)
}

/// Returns the text without the entry of this model and without the comment right above it. A comment at the start of the file stays.
///
/// # Errors
/// [`EditError`]
pub fn without_model(text: &str, id: &str) -> Result<String, EditError> {
    let document = parse(text)?;
    let (index, entry) = find(&document, id)?;
    let unusual = || EditError::UnusualForm(id.to_owned());
    let header = entry.span().ok_or_else(unusual)?;
    let start = above_comments(text, line_start(text, header.start));
    let end = line_end(text, end_of(entry).unwrap_or_default().max(header.end));
    let (before, mut after) = (&text[..start], &text[end..]);
    // One of the two blank lines around it is enough.
    if before.is_empty() || before.ends_with("\n\n") || before.ends_with("\n\r\n") {
        after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    }
    let edited = match after.trim().is_empty() {
        true if before.trim().is_empty() => String::new(),
        true => format!("{}{}", before.trim_end(), line_ending(text)),
        false => format!("{before}{after}"),
    };
    let mut expected = read(text)?;
    let models = expected.get_mut("models").and_then(toml::Value::as_array_mut).ok_or_else(unusual)?;
    models.remove(index);
    if models.is_empty() {
        expected.remove("models");
    }
    check_edited_text(edited, &expected, id)
}

/// Value of a key of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyValue {
    /// A number.
    Number(f64),
    /// An integer.
    Whole(u32),
    /// A text.
    Text(String),
}

impl KeyValue {
    fn toml_value(&self) -> String {
        let written = match self {
            Self::Number(number) => toml_edit::Value::from(*number),
            Self::Whole(number) => toml_edit::Value::from(i64::from(*number)),
            Self::Text(text) => toml_edit::Value::from(text.as_str()),
        };
        written.to_string()
    }

    fn read(&self) -> toml::Value {
        match self {
            Self::Number(number) => toml::Value::from(*number),
            Self::Whole(number) => toml::Value::from(i64::from(*number)),
            Self::Text(text) => toml::Value::from(text.as_str()),
        }
    }
}

/// Returns the text with a new value for a key of this model, or without the key's line if `value` is `None`.
///
/// # Errors
/// [`EditError`]
pub fn with_value(text: &str, id: &str, key: &str, value: Option<&KeyValue>) -> Result<String, EditError> {
    let document = parse(text)?;
    let (index, entry) = find(&document, id)?;
    let unusual = || EditError::UnusualForm(id.to_owned());
    let edited = match (entry.get_key_value(key), value) {
        (Some((_, item)), Some(value)) => {
            let place = item.span().ok_or_else(unusual)?;
            format!("{}{}{}", &text[..place.start], value.toml_value(), &text[place.end..])
        }
        (Some((name, item)), None) => {
            let (name, item) = name.span().zip(item.span()).ok_or_else(unusual)?;
            format!("{}{}", &text[..line_start(text, name.start)], &text[line_end(text, item.end)..])
        }
        (None, Some(value)) => {
            let header = entry.span().ok_or_else(unusual)?;
            let at = line_end(text, end_of_own_keys(entry).unwrap_or_default().max(header.end));
            let (before, ending) = (&text[..at], line_ending(text));
            let gap = if before.ends_with('\n') { "" } else { ending };
            format!("{before}{gap}{key} = {}{ending}{}", value.toml_value(), &text[at..])
        }
        (None, None) => text.to_owned(),
    };
    let mut expected = read(text)?;
    let model = expected.get_mut("models").and_then(|models| models.get_mut(index)).and_then(toml::Value::as_table_mut);
    let model = model.ok_or_else(unusual)?;
    match value {
        Some(value) => model.insert(key.to_owned(), value.read()),
        None => model.remove(key),
    };
    check_edited_text(edited, &expected, id)
}

/// Returns the edited text if it parses to the expected table.
fn check_edited_text(edited: String, expected: &toml::Table, id: &str) -> Result<String, EditError> {
    if read(&edited).as_ref() == Ok(expected) { Ok(edited) } else { Err(EditError::UnusualForm(id.to_owned())) }
}

fn parse(text: &str) -> Result<Document<&str>, EditError> {
    Document::parse(text).map_err(|_| EditError::NotToml)
}

fn read(text: &str) -> Result<toml::Table, EditError> {
    text.parse().map_err(|_| EditError::NotToml)
}

fn find<'d>(document: &'d Document<&str>, id: &str) -> Result<(usize, &'d Table), EditError> {
    let models = match document.get("models") {
        Some(Item::ArrayOfTables(models)) => models,
        Some(Item::Value(_)) => return Err(EditError::InlineModels),
        _ => &ArrayOfTables::new(),
    };
    let ids: Vec<&str> =
        models.iter().map(|entry| entry.get("id").and_then(Item::as_str).unwrap_or_default()).collect();
    let unknown =
        || EditError::UnknownModel { id: id.to_owned(), known: ids.iter().map(|known| (*known).to_owned()).collect() };
    let index = ids.iter().position(|known| *known == id).ok_or_else(unknown)?;
    match document.get("models") {
        Some(Item::ArrayOfTables(models)) => models.get(index).map(|entry| (index, entry)).ok_or_else(unknown),
        _ => Err(unknown()),
    }
}

/// Removes the line `models = []`, which must not precede `[[models]]`.
fn without_empty_list(document: &Document<&str>) -> Result<String, EditError> {
    let text = document.raw();
    let places = document.as_table().get_key_value("models").and_then(|(key, list)| Some((key.span()?, list.span()?)));
    let (key, list) = places.ok_or(EditError::InlineModels)?;
    Ok(format!("{}{}", &text[..line_start(text, key.start)], &text[line_end(text, list.end)..]))
}

/// Returns the end of the last value of a table, subtables included.
fn end_of(table: &Table) -> Option<usize> {
    table.iter().filter_map(|(_, item)| end_of_item(item)).max()
}

fn end_of_item(item: &Item) -> Option<usize> {
    let below = match item {
        Item::Table(table) => end_of(table),
        Item::ArrayOfTables(tables) => {
            tables.iter().filter_map(|table| end_of(table).max(end_of_span(table.span()))).max()
        }
        Item::None | Item::Value(_) => None,
    };
    below.max(end_of_span(item.span()))
}

/// Returns the end of the last value before any subtable.
fn end_of_own_keys(table: &Table) -> Option<usize> {
    let own = |item: &Item| match item {
        Item::Table(dotted) if dotted.is_dotted() => end_of_own_keys(dotted),
        Item::Value(_) => end_of_span(item.span()),
        Item::None | Item::Table(_) | Item::ArrayOfTables(_) => None,
    };
    table.iter().filter_map(|(_, item)| own(item)).max()
}

fn end_of_span(span: Option<std::ops::Range<usize>>) -> Option<usize> {
    span.map(|span| span.end)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the position after the next line end, or the end of the text.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// Returns the start of the comment lines right above this line; those at the start of the file are left out.
fn above_comments(text: &str, line: usize) -> usize {
    let mut start = line;
    while start > 0 {
        let above = line_start(text, start - 1);
        if !text[above..start].trim_start().starts_with('#') {
            return start;
        }
        start = above;
    }
    line
}

fn line_ending(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn in_line_ends_of(text: &str, written: &str) -> String {
    written.replace('\n', line_ending(text))
}

/// Formats one entry as TOML, after a blank line. Default values are left out.
fn toml_value(model: &NewModel) -> String {
    let ModelSettings { id, name, organization, license, base_url, model: at_provider, api_key_env, .. } = &model.entry;
    let default = ModelSettings::minimal(id.as_str(), model.entry.provider);
    let mut table = Table::new();
    let mut put = |key: &str, text: &str| {
        if !text.is_empty() {
            table.insert(key, value(text));
        }
    };
    put("id", id);
    put("name", name);
    put("organization", organization);
    put("license", license);
    put("provider", model.entry.provider.as_str());
    put("base_url", base_url);
    put("model", at_provider);
    put("api_key_env", api_key_env);
    if model.entry.images {
        table.insert("images", value(true));
    }
    if model.entry.weight.to_bits() != default.weight.to_bits() {
        table.insert("weight", value(model.entry.weight));
    }
    if model.entry.max_tokens != default.max_tokens {
        table.insert("max_tokens", value(i64::from(model.entry.max_tokens)));
    }
    for (key, price) in [("input_price", model.entry.input_price), ("output_price", model.entry.output_price)] {
        if let Some(price) = price {
            table.insert(key, value(price));
        }
    }
    let looked_up = [
        ("price_date", model.entry.price_date.map(String::from)),
        ("price_source", model.entry.price_source.clone().map(String::from)),
    ];
    for (key, text) in looked_up {
        if let Some(text) = text {
            table.insert(key, value(text));
        }
    }
    if let (Some(tokens), Some(Item::Value(written))) = (model.context_length, table.get_mut("model")) {
        written.decor_mut().set_suffix(format!(" # {tokens} tokens of context"));
    }
    let mut document = DocumentMut::new();
    document.insert("models", Item::ArrayOfTables(ArrayOfTables::from_iter([table])));
    format!("\n{}", document.to_string().trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, ProviderKind, Settings};

    const FILE: &str = "# My arena\n\n[server]\nlisten = \"0.0.0.0:80\"   # all\n\n# The first\n# of two\n[[models]]\nid   = \"a\" # short\n\
        provider = 'openai'\nextra_body.top_k = 5\n\n[models.extra_body.more]\nx = [\n  1,\n]\n\n[[models]]\nid = \"b\"\nweight = 2 # often\n\
        provider = \"ollama\"\n\n[pairing] # at last\npolicy = \"uniform\"\n# the end";

    fn model(id: &str) -> NewModel {
        let entry = ModelSettings { model: format!("x/{id}"), ..ModelSettings::minimal(id, ProviderKind::Openai) };
        NewModel { entry, context_length: Some(4096) }
    }

    fn settings(text: &str) -> Settings {
        Settings::parse(text, "test", &Environment::default()).unwrap()
    }

    #[test]
    fn new_models_stand_after_everything_and_nothing_else_changes() {
        let mut hostile = model("d\"]");
        hostile.entry.license = "\"\"\"\n[server]\nlisten = 1\r\n# '''\\".into();
        let edited = with_models(FILE, &[model("c"), hostile.clone()]).unwrap();
        assert!(edited.starts_with(&format!("{FILE}\n\n[[models]]\nid = \"c\"\n")), "{edited}");
        assert!(edited.contains("model = \"x/c\" # 4096 tokens of context\n"), "{edited}");
        let models = settings(&edited).models;
        assert_eq!(models.len(), 4);
        assert_eq!((&models[2], &models[3]), (&model("c").entry, &hostile.entry));
    }

    #[test]
    fn the_first_model_of_a_file_is_written_like_any_other() {
        let bare = "[[models]]\nid = \"c\"\nprovider = \"openai\"\nmodel = \"x/c\" # 4096 tokens of context\n";
        assert_eq!(with_models("", &[model("c")]).unwrap(), bare);
        assert_eq!(with_models("# empty", &[model("c")]).unwrap(), format!("# empty\n\n{bare}"));
        let emptied = with_models("models = [] # none yet\n[log]\nformat = \"json\"\n", &[model("c")]).unwrap();
        assert_eq!(emptied, format!("[log]\nformat = \"json\"\n\n{bare}"));
        let windows = with_models("# x\r\n", &[model("c")]).unwrap();
        assert_eq!(windows, format!("# x\n\n{bare}").replace('\n', "\r\n"));
        let inline = "models = [{ id = \"a\", provider = \"ollama\" }]\n";
        assert_eq!(with_models(inline, &[model("c")]), Err(EditError::InlineModels));
        assert_eq!(with_models("= 1", &[]), Err(EditError::NotToml));
    }

    #[test]
    fn a_removed_model_goes_with_its_own_comment_and_its_tables() {
        let (start, end) = (FILE.find("# The first").unwrap(), FILE.find("[[models]]\nid = \"b\"").unwrap());
        assert_eq!(without_model(FILE, "a").unwrap(), format!("{}{}", &FILE[..start], &FILE[end..]));
        let (start, end) = (end, FILE.find("[pairing]").unwrap());
        assert_eq!(without_model(FILE, "b").unwrap(), format!("{}{}", &FILE[..start], &FILE[end..]));
        let last = without_model("# My arena\n[[models]]\nid = \"a\"\nprovider = \"ollama\"", "a").unwrap();
        assert_eq!(last, "# My arena\n");
        let unknown = without_model(FILE, "z").unwrap_err().to_string();
        assert!(unknown.contains("\"z\"") && unknown.contains("a, b"), "{unknown}");
    }

    #[test]
    fn what_was_added_can_be_removed_again() {
        let file = format!("{FILE}\n");
        assert_eq!(without_model(&with_models(&file, &[model("c")]).unwrap(), "c").unwrap(), file);
    }

    #[test]
    fn an_entry_whose_tables_stand_apart_is_left_to_the_operator() {
        let apart =
            "[[models]]\nid = \"a\"\nprovider = \"ollama\"\n[log]\nformat = \"json\"\n[models.extra_body]\nx = 1\n";
        assert_eq!(without_model(apart, "a"), Err(EditError::UnusualForm("a".into())));
        assert!(with_weight(apart, "a", 0.0).unwrap().contains("\"ollama\"\nweight = 0.0\n[log]"));
    }

    fn with_weight(text: &str, id: &str, weight: f64) -> Result<String, EditError> {
        with_value(text, id, "weight", Some(&KeyValue::Number(weight)))
    }

    #[test]
    fn a_weight_is_written_in_its_place() {
        assert_eq!(with_weight(FILE, "b", 0.0).unwrap(), FILE.replace("weight = 2 ", "weight = 0.0 "));
        let added = FILE.replace("top_k = 5\n", "top_k = 5\nweight = 0.0\n");
        assert_eq!(with_weight(FILE, "a", 0.0).unwrap(), added);
        let bare = "[[models]]\nid = \"a\"\nprovider = \"ollama\"";
        assert_eq!(with_weight(bare, "a", 1.5).unwrap(), format!("{bare}\nweight = 1.5\n"));
    }
    #[test]
    fn a_key_that_is_taken_out_goes_with_its_line_and_no_other() {
        let priced = FILE.replace("weight = 2 # often\n", "weight = 2 # often\ninput_price = 1 # a million\n");
        assert_eq!(with_value(&priced, "b", "input_price", None).unwrap(), FILE);
        assert_eq!(with_value(FILE, "a", "input_price", None).unwrap(), FILE, "nothing to take out");
        let long = "[[models]]\nid = \"a\"\nreason = \"\"\"one\ntwo\"\"\"\nprovider = \"ollama\"\n";
        let short = "[[models]]\nid = \"a\"\nprovider = \"ollama\"\n";
        assert_eq!(with_value(long, "a", "reason", None).unwrap(), short);
    }

    #[test]
    fn a_file_without_models_says_so_where_one_is_to_be_changed() {
        let said = with_weight("# nothing\n", "a", 1.0).unwrap_err().to_string();
        assert!(said.contains("no model has the id \"a\"") && said.contains("has no [[models]]"), "{said}");
    }

    #[test]
    fn a_text_of_a_value_stays_a_text() {
        let hostile = "\"\"\"\n[server]\nlisten = 1\r\n# '''\\";
        let edited = with_value(FILE, "b", "reason", Some(&KeyValue::Text(hostile.to_owned()))).unwrap();
        let parsed: toml::Table = edited.parse().unwrap();
        assert_eq!(
            (parsed["models"][1]["reason"].as_str(), parsed["server"]["listen"].as_str()),
            (Some(hostile), Some("0.0.0.0:80"))
        );
        let whole = with_value(FILE, "a", "max_tokens", Some(&KeyValue::Whole(512))).unwrap();
        assert_eq!((settings(&whole).models[0].max_tokens, whole.contains("max_tokens = 512\n")), (512, true));
    }
}
