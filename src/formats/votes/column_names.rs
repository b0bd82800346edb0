//! Mapping of column names to fields: known names of public vote logs, and names given by flags.

use std::collections::HashMap;

use super::error::HeaderError;

/// Field of a vote that a column can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    ModelA,
    ModelB,
    /// A word for the outcome, or the name of the winning model.
    Winner,
    /// LMArena's 55k file has one column of zeros and ones for each outcome.
    WinnerA,
    WinnerB,
    WinnerTie,
    /// ComparIA: whether neither model was chosen because both were equal.
    BothEqual,
    Voter,
    /// Seconds since 1970, milliseconds if the number is too large for seconds, or a date.
    Time,
    Millis,
    Language,
    Category,
    /// LMArena's tags: nested flags.
    CategoryTags,
    IsCode,
    Intent,
    Turn,
    PromptTokens,
    Satisfaction,
    ReasonsA,
    ReasonsB,
    PairProbability,
    PairingPolicy,
    FirstTokenA,
    FirstTokenB,
    DurationA,
    DurationB,
    Rated,
    Exclusion,
    Anonymous,
    /// LMArena's nested counts of tokens, headings, lists and bold.
    Metadata,
    /// Open WebUI: the nested rating.
    Feedback,
    /// Open WebUI: metadata of the rating.
    FeedbackMeta,
    /// The id of the battle in the arena that exported the vote.
    BattleId,
}

/// ComparIA's column for the model on side A.
pub(super) const COMPARIA_MODEL_A: &str = "model_a_name";

/// Known names of each field in order of preference. Those of the two models correspond by position.
const KNOWN_NAMES: [(Field, &[&str]); 33] = [
    (Field::ModelA, &["model_a", "left", COMPARIA_MODEL_A]),
    (Field::ModelB, &["model_b", "right", "model_b_name"]),
    (Field::Winner, &["winner", "chosen_model_name"]),
    (Field::WinnerA, &["winner_model_a"]),
    (Field::WinnerB, &["winner_model_b"]),
    (Field::WinnerTie, &["winner_tie"]),
    (Field::BothEqual, &["both_equal"]),
    (
        Field::Voter,
        &[
            "judge",
            "judge_hash",
            "voter_id",
            "voter",
            "visitor_id",
            "user_id",
            "worker",
            "evaluation_session_id",
            "session_hash",
        ],
    ),
    (Field::Time, &["tstamp", "timestamp", "created_at"]),
    (Field::Millis, &["ts_ms"]),
    (Field::Language, &["language", "languages"]),
    (Field::Category, &["category", "categories", "selected_category"]),
    (Field::CategoryTags, &["category_tag"]),
    (Field::IsCode, &["is_code"]),
    (Field::Intent, &["intent"]),
    (Field::Turn, &["turn", "conv_turns", "conv_metadata.turns"]),
    (Field::PromptTokens, &["prompt_tokens", "conv_metadata.sum_user_tokens"]),
    (Field::Satisfaction, &["satisfaction"]),
    (Field::ReasonsA, &["reasons_a"]),
    (Field::ReasonsB, &["reasons_b"]),
    (Field::PairProbability, &["pair_probability"]),
    (Field::PairingPolicy, &["pairing_policy"]),
    (Field::FirstTokenA, &["first_token_ms_a"]),
    (Field::FirstTokenB, &["first_token_ms_b"]),
    (Field::DurationA, &["duration_ms_a"]),
    (Field::DurationB, &["duration_ms_b"]),
    (Field::Rated, &["rated"]),
    (Field::Exclusion, &["exclusion"]),
    (Field::Anonymous, &["anony"]),
    (Field::Metadata, &["conv_metadata"]),
    (Field::Feedback, &["data"]),
    (Field::FeedbackMeta, &["meta"]),
    (Field::BattleId, &["battle_id"]),
];

/// Columns of the reply times of each side in milliseconds: until the first token, and until the end.
pub(super) const TIMINGS: [[Field; 2]; 2] =
    [[Field::FirstTokenA, Field::DurationA], [Field::FirstTokenB, Field::DurationB]];

/// Columns of counts for style control, by feature: tokens, headings, lists, bold. `@` is the side.
const STYLE_COUNT_COLUMNS: [&[&str]; 4] = [
    &["tokens_@", "conv_metadata.sum_assistant_@_tokens"],
    &[
        "headers_@",
        "headings_@",
        "conv_metadata.header_count_@.h1",
        "conv_metadata.header_count_@.h2",
        "conv_metadata.header_count_@.h3",
        "conv_metadata.header_count_@.h4",
        "conv_metadata.header_count_@.h5",
        "conv_metadata.header_count_@.h6",
    ],
    &["lists_@", "conv_metadata.list_count_@.ordered", "conv_metadata.list_count_@.unordered"],
    &["bold_@", "conv_metadata.bold_count_@.**", "conv_metadata.bold_count_@.__"],
];

/// Columns of vote multiplicities. Each row is one vote, so they are not read.
const MULTIPLICITY_COLUMNS: [&str; 3] = ["weight", "count", "n_votes"];

/// Column names given by flags, for files that do not use the known ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnNames {
    /// The model on side A.
    pub model_a: Option<String>,
    /// The model on side B.
    pub model_b: Option<String>,
    /// The outcome.
    pub winner: Option<String>,
    /// The voter.
    pub voter: Option<String>,
    /// The time of the vote.
    pub time: Option<String>,
    /// The language.
    pub language: Option<String>,
    /// The category.
    pub category: Option<String>,
    /// The intent.
    pub intent: Option<String>,
    /// The number of turns.
    pub turn: Option<String>,
}

impl ColumnNames {
    /// The column that a flag gives for this field.
    fn flag_column(&self, field: Field) -> Option<&str> {
        let given = match field {
            Field::ModelA => &self.model_a,
            Field::ModelB => &self.model_b,
            Field::Winner => &self.winner,
            Field::Voter => &self.voter,
            Field::Time => &self.time,
            Field::Language => &self.language,
            Field::Category => &self.category,
            Field::Intent => &self.intent,
            Field::Turn => &self.turn,
            _ => return None,
        };
        given.as_deref()
    }

    /// Whether a column of this name holds multiplicities.
    fn is_multiple(&self, name: &str) -> bool {
        MULTIPLICITY_COLUMNS.contains(&name) && !self.all_given().any(|given| given == name)
    }

    /// The columns that flags give.
    pub(super) fn all_given(&self) -> impl Iterator<Item = &str> {
        KNOWN_NAMES.iter().filter_map(|(field, _)| self.flag_column(*field))
    }

    /// Accepted names of a field. A name given by a flag replaces all others.
    fn names(&self, field: Field) -> Vec<&str> {
        let replaced = (field == Field::Millis && self.time.is_some())
            || (matches!(field, Field::WinnerA | Field::WinnerB | Field::WinnerTie | Field::BothEqual)
                && self.winner.is_some());
        if replaced {
            return Vec::new();
        }
        self.flag_column(field).map_or_else(|| KNOWN_NAMES[field as usize].1.to_vec(), |given| vec![given])
    }
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnMapping {
    pub(super) at: usize,
    pub(super) name: String,
}

/// Positions of the columns of one file.
#[derive(Debug, Clone)]
pub(super) struct Header {
    columns: Vec<Vec<ColumnMapping>>,
    /// Columns that count towards a feature of style: their position, the feature and the side.
    pub(super) style: Vec<(usize, usize, usize)>,
    /// Columns of vote multiplicities, which are not read.
    pub(super) multiples: Vec<ColumnMapping>,
    /// Whether votes have times: then every vote must have one.
    pub(super) timed: bool,
}

impl Header {
    /// Finds the columns in the header of a file; an error names a missing or duplicate one.
    pub(super) fn find(names: &[&str], given: &ColumnNames) -> Result<Self, HeaderError> {
        let place = |name: &str| names.iter().position(|column| column.trim() == name);
        let columns = KNOWN_NAMES.map(|(field, _)| {
            let candidates = given.names(field);
            let found =
                candidates.iter().filter_map(|name| Some(ColumnMapping { at: place(name)?, name: (*name).to_owned() }));
            found.collect::<Vec<_>>()
        });
        for (field, _) in KNOWN_NAMES {
            if let Some(name) = given.flag_column(field)
                && columns[field as usize].is_empty()
            {
                return Err(HeaderError::not_there(name, names.iter().copied()));
            }
        }
        let multiples = names.iter().map(|name| name.trim()).enumerate().filter(|(_, name)| given.is_multiple(name));
        let multiples = multiples.map(|(at, name)| ColumnMapping { at, name: name.to_owned() }).collect();
        let mut header = Self { columns: columns.into(), style: style_columns(names), multiples, timed: false };
        header.choose_models(given)?;
        let has = |field| header.one(field).is_some();
        let has_winner = has(Field::Winner) || (has(Field::WinnerA) && has(Field::WinnerB));
        if !has_winner {
            return Err(HeaderError::Missing("winner"));
        }
        header.timed = has(Field::Time) || has(Field::Millis);
        header.refuse_doubles(names)?;
        Ok(header)
    }

    /// Refuses two columns with one name, which are ambiguous.
    fn refuse_doubles(&self, names: &[&str]) -> Result<(), HeaderError> {
        let known = self.columns.iter().flatten().map(|column| column.at);
        let mut used = known.chain(self.style.iter().map(|(at, ..)| *at));
        let is_double = |at: &usize| names.iter().filter(|name| name.trim() == names[*at].trim()).count() > 1;
        used.find(is_double).map_or(Ok(()), |at| Err(HeaderError::Twice(names[at].trim().to_owned())))
    }

    /// Header of all known names with their positions, for a file in which each row names its own columns. Whether such a file has times is
    /// known only after all rows were read.
    pub(super) fn of_any(given: &ColumnNames) -> (Self, HashMap<String, usize>) {
        let mut positions = HashMap::new();
        let columns = KNOWN_NAMES.map(|(field, _)| {
            let mut column = |name: &str| {
                let next = positions.len();
                ColumnMapping { at: *positions.entry(name.to_owned()).or_insert(next), name: name.to_owned() }
            };
            given.names(field).into_iter().map(&mut column).collect()
        });
        let style = STYLE_COUNT_COLUMNS.iter().enumerate().flat_map(|(feature, names)| {
            names
                .iter()
                .flat_map(move |name| [("a", 0), ("b", 1)].map(|(side, at)| (name.replace('@', side), feature, at)))
        });
        let style = style.filter(|(name, ..)| !name.contains('.')).map(|(name, feature, side)| {
            let next = positions.len();
            (*positions.entry(name).or_insert(next), feature, side)
        });
        let style = style.collect();
        let multiples = MULTIPLICITY_COLUMNS.into_iter().filter(|name| given.is_multiple(name)).map(|name| {
            let next = positions.len();
            ColumnMapping { at: *positions.entry(name.to_owned()).or_insert(next), name: name.to_owned() }
        });
        let multiples = multiples.collect();
        (Self { columns: columns.into(), style, multiples, timed: false }, positions)
    }

    /// The columns that may hold a field, in order of preference.
    pub(super) fn all(&self, field: Field) -> &[ColumnMapping] {
        &self.columns[field as usize]
    }

    /// The preferred column of a field.
    pub(super) fn one(&self, field: Field) -> Option<&ColumnMapping> {
        self.all(field).first()
    }

    /// Chooses the first pair of model columns that the file has.
    fn choose_models(&mut self, given: &ColumnNames) -> Result<(), HeaderError> {
        let (a, b) = (given.names(Field::ModelA), given.names(Field::ModelB));
        let find = |field, name: &str| self.all(field).iter().find(|column| column.name == name).cloned();
        let pairs = if a.len() == b.len() { a.into_iter().zip(b).collect() } else { cross_product(&a, &b) };
        let pair = pairs.into_iter().find_map(|(a, b)| find(Field::ModelA, a).zip(find(Field::ModelB, b)));
        let Some((a, b)) = pair else {
            let missing = if find(Field::ModelA, "model_a").is_some() { "model_b" } else { "model_a" };
            return Err(HeaderError::Missing(missing));
        };
        self.columns[Field::ModelA as usize] = vec![a];
        self.columns[Field::ModelB as usize] = vec![b];
        Ok(())
    }
}

fn cross_product<'n>(a: &[&'n str], b: &[&'n str]) -> Vec<(&'n str, &'n str)> {
    a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b))).collect()
}

/// The columns of a file that count towards style.
fn style_columns(names: &[&str]) -> Vec<(usize, usize, usize)> {
    let slot = |name: &str| {
        STYLE_COUNT_COLUMNS.iter().enumerate().find_map(|(feature, known)| {
            let side = [("a", 0), ("b", 1)];
            let find = |(letter, at): (&str, usize)| known.iter().any(|k| k.replace('@', letter) == name).then_some(at);
            Some((feature, side.into_iter().find_map(find)?))
        })
    };
    let found = names.iter().enumerate().filter_map(|(at, name)| {
        let (feature, side) = slot(name.trim())?;
        Some((at, feature, side))
    });
    found.collect()
}
