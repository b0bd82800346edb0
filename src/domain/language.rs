//! Languages of prompts, pages, charts and reports.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whatlang::Lang;

/// Codes of languages with two letters, and codes of Chinese with three that [`Lang`] does not know.
const CODES: [(&str, Lang); 47] = [
    ("en", Lang::Eng),
    ("zh", Lang::Cmn),
    ("zho", Lang::Cmn),
    ("chi", Lang::Cmn),
    ("de", Lang::Deu),
    ("fr", Lang::Fra),
    ("es", Lang::Spa),
    ("pt", Lang::Por),
    ("it", Lang::Ita),
    ("nl", Lang::Nld),
    ("ru", Lang::Rus),
    ("uk", Lang::Ukr),
    ("be", Lang::Bel),
    ("bg", Lang::Bul),
    ("pl", Lang::Pol),
    ("cs", Lang::Ces),
    ("sk", Lang::Slk),
    ("sl", Lang::Slv),
    ("hr", Lang::Hrv),
    ("sr", Lang::Srp),
    ("ro", Lang::Ron),
    ("hu", Lang::Hun),
    ("el", Lang::Ell),
    ("tr", Lang::Tur),
    ("sv", Lang::Swe),
    ("da", Lang::Dan),
    ("fi", Lang::Fin),
    ("no", Lang::Nob),
    ("nb", Lang::Nob),
    ("et", Lang::Est),
    ("lv", Lang::Lav),
    ("lt", Lang::Lit),
    ("ca", Lang::Cat),
    ("ar", Lang::Ara),
    ("fa", Lang::Pes),
    ("he", Lang::Heb),
    ("ur", Lang::Urd),
    ("hi", Lang::Hin),
    ("bn", Lang::Ben),
    ("ta", Lang::Tam),
    ("te", Lang::Tel),
    ("ja", Lang::Jpn),
    ("ko", Lang::Kor),
    ("th", Lang::Tha),
    ("vi", Lang::Vie),
    ("id", Lang::Ind),
    ("tl", Lang::Tgl),
];

/// Language of langya's texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Language {
    /// English, the default.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Simplified Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

impl Language {
    /// Every language, in the order in which pages offer them.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Returns the language tag: `en` or `zh`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// Parses a language tag such as `zh-CN`; `None` for any other language.
    #[must_use]
    pub fn parse(tag: &str) -> Option<Self> {
        let primary = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
        Self::ALL.into_iter().find(|language| language.code() == primary)
    }

    /// Returns the language's name in the language itself.
    #[must_use]
    pub fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }
}

/// Returns the English name of a detected language, as votes of the arena and of LMArena spell it.
#[must_use]
pub fn english_name(language: Lang) -> &'static str {
    match language {
        Lang::Cmn => "Chinese",
        other => other.eng_name(),
    }
}

/// Returns the English name of the language that a vote names: "English" for `English`, `en`, `en-GB` and `eng`. `None` for other texts.
#[must_use]
pub fn language_name(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let is_named = |language: &Lang| {
        [english_name(*language), language.eng_name()].into_iter().any(|name| name.eq_ignore_ascii_case(text))
    };
    Lang::all().iter().copied().find(is_named).or_else(|| of_tag(text)).map(english_name)
}

/// Parses a language tag such as `zh`, `zh-CN` or `zh_Hant_TW`.
fn of_tag(tag: &str) -> Option<Lang> {
    let mut subtags = tag.split(['-', '_']);
    let code = subtags.next()?.to_ascii_lowercase();
    let is_script_or_region =
        |subtag: &str| (2..=4).contains(&subtag.len()) && subtag.chars().all(|c| c.is_ascii_alphanumeric());
    if !subtags.all(is_script_or_region) {
        return None;
    }
    let known = CODES.iter().find(|(known, _)| *known == code).map(|(_, language)| *language);
    known.or_else(|| Lang::from_code(code))
}

/// Returns whether two texts of votes name the same language.
#[must_use]
pub fn is_same_language(one: &str, other: &str) -> bool {
    one == other || language_name(one).is_some_and(|name| language_name(other) == Some(name))
}

/// Returns for each of these texts of votes the text under which its language is counted: the text itself, or the English name of a language
/// that several of them spell differently.
#[must_use]
pub fn language_groups<'t>(texts: &[&'t str]) -> Vec<&'t str> {
    let mut spellings: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for text in texts {
        spellings.entry(language_name(text).unwrap_or(text)).or_default().insert(text);
    }
    let group = |&text: &&'t str| match language_name(text) {
        Some(name) if spellings[name].len() > 1 => name,
        _ => text,
    };
    texts.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_has_one_name_however_a_vote_spells_it() {
        for (name, spellings) in [
            ("English", &["English", "english", "en", "EN", "en-GB", "en_US", "eng", " en "][..]),
            ("Chinese", &["Chinese", "Mandarin", "zh", "zh-cn", "zh_Hant_TW", "zho", "cmn"]),
            ("Persian", &["Persian", "fa", "pes"]),
        ] {
            for spelling in spellings {
                assert_eq!(language_name(spelling), Some(name), "{spelling:?}");
            }
        }
        for other in ["", "unknown", "xx", "mixed", "en or zh", "en-", "english-speaking", "中文"] {
            assert_eq!(language_name(other), None, "{other:?}");
        }
        assert!(is_same_language("en-GB", "English") && is_same_language("xx", "xx") && !is_same_language("xx", "yy"));
    }

    #[test]
    fn several_spellings_of_a_language_are_one_group_and_a_single_one_stays() {
        assert_eq!(
            language_groups(&["zh", "en", "English", "xx", "unknown"]),
            ["zh", "English", "English", "xx", "unknown"]
        );
    }
}
