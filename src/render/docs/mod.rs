//! The documentation of this version: Markdown of `web/docs`, built into the program, in every language.
//!
//! A [`Guide`] has the pages of one language. Settings, commands and the API are written by the code that knows them
//! ([`Generated`]), so that they cannot be out of date. [`search`] looks through a guide.

mod figures;
mod page;
pub mod reference;
pub mod search;

use crate::domain::language::Language;
pub use page::{DocPage, Heading};

/// Name, English text and Chinese text of each page, in reading order.
macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        [$((
            $name,
            include_str!(concat!("../../../web/docs/en/", $name, ".md")),
            include_str!(concat!("../../../web/docs/zh/", $name, ".md")),
        )),*]
    };
}

const PAGES: [(&str, &str, &str); 11] = pages![
    "start",
    "models",
    "battles",
    "votes",
    "campaigns",
    "benchmarks",
    "correlations",
    "operating",
    "api",
    "settings",
    "commands",
];

/// Markdown that the program writes itself: what stands in place of `{{settings}}`, `{{commands}}` and `{{api}}`.
#[derive(Debug, Clone, Default)]
pub struct Generated {
    /// Every setting.
    pub settings: String,
    /// Every command.
    pub commands: String,
    /// Every address of the API.
    pub api: String,
}

/// The documentation in one language.
#[derive(Debug)]
pub struct Guide {
    /// The pages, in reading order.
    pub pages: Vec<DocPage>,
}

impl Guide {
    /// Reads the pages of a language.
    #[must_use]
    pub fn new(language: Language, generated: &Generated) -> Self {
        let text = |english: &'static str, chinese: &'static str| match language {
            Language::English => english,
            Language::Chinese => chinese,
        };
        let filled = |text: &str| {
            let text = text.replace("{{settings}}", &generated.settings);
            text.replace("{{commands}}", &generated.commands).replace("{{api}}", &generated.api)
        };
        let page = |(name, english, chinese)| DocPage::parse(name, &filled(text(english, chinese)), language);
        Self { pages: PAGES.into_iter().map(page).collect() }
    }

    /// The page of this name.
    #[must_use]
    pub fn page(&self, name: &str) -> Option<&DocPage> {
        self.pages.iter().find(|page| page.name == name)
    }
}

#[cfg(test)]
mod tests;
