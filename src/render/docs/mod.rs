//! Documentation of this version: Markdown of `web/docs`, embedded in the binary, in every language.
//!
//! A [`Guide`] has the pages of one language. The references of settings, commands and the API are generated ([`Generated`]), so that
//! they are never out of date. [`search`] searches a guide.

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

/// Generated Markdown that replaces `{{settings}}`, `{{commands}}` and `{{api}}`.
#[derive(Debug, Clone, Default)]
pub struct Generated {
    /// Reference of the settings.
    pub settings: String,
    /// Reference of the commands.
    pub commands: String,
    /// Reference of the API.
    pub api: String,
}

/// The documentation in one language.
#[derive(Debug)]
pub struct Guide {
    /// The pages, in reading order.
    pub pages: Vec<DocPage>,
}

impl Guide {
    /// Parses the pages of a language.
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
