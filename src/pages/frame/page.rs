//! The frame of every page: section, language, and the operator's name and links.

use actix_web::HttpRequest;

use crate::domain::language::Language;
use crate::frame::language::requested_language;
use crate::frame::static_files;
use crate::infra::config::{CurrentSettings, SiteSettings};
use crate::render::i18n::pages::{PageTexts, page_texts};

/// Entry of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Battle,
    Leaderboard,
    Benchmarks,
    Correlation,
    Register,
    History,
    PublicLog,
    About,
    Docs,
    None,
}

/// Data of the page frame.
#[derive(Debug, Clone)]
pub struct Page {
    pub language: Language,
    pub section: Section,
    path: String,
    /// Rest of the query, kept by the language links.
    query: String,
    /// Operator's name and links.
    pub site: SiteSettings,
}

impl Page {
    pub fn new(request: &HttpRequest, section: Section) -> Self {
        let others = request.query_string().split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("lang="));
        let query = others.map(|pair| format!("{pair}&")).collect();
        let settings = request.app_data::<CurrentSettings>();
        let site = settings.map(|settings| settings.now().site.clone()).unwrap_or_default();
        Self { language: requested_language(request), section, path: request.path().to_owned(), query, site }
    }

    /// Creates the frame for `path`, the address used by the language links.
    pub fn at(request: &HttpRequest, section: Section, path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::new(request, section) }
    }

    pub fn t(&self) -> &'static PageTexts {
        page_texts(self.language)
    }

    /// Returns the address of this page in another language.
    pub(crate) fn in_language(&self, language: &Language) -> String {
        format!("{}?{}lang={}", self.path, self.query, language.code())
    }

    pub fn is(&self, section: Section) -> bool {
        self.section == section
    }

    /// Whether the page is in the navigation's menu.
    pub(crate) fn is_in_menu(&self) -> bool {
        !matches!(self.section, Section::Battle | Section::Leaderboard | Section::None)
    }

    /// Returns the arena's name for titles.
    pub fn site_name(&self) -> &str {
        if self.site.name.is_empty() { "琅琊 Langya" } else { &self.site.name }
    }

    /// Whether the operator's logo replaces the seal.
    pub(crate) fn has_logo(&self) -> bool {
        !self.site.logo.as_os_str().is_empty()
    }

    /// Returns the address of the accent colour's style sheet; `None` for the default colours.
    pub(crate) fn accent(&self) -> Option<String> {
        let digits = self.site.accent.strip_prefix('#')?;
        Some(format!("/site/accent.css?v={digits}"))
    }

    /// Returns the links to contact, imprint and privacy notice, as far as configured.
    pub(crate) fn site_links(&self) -> Vec<(&'static str, &str)> {
        let words = &self.t().arena;
        let all = [
            (words.contact, self.site.contact.as_str()),
            (words.imprint, self.site.imprint.as_str()),
            (words.privacy, self.site.privacy.as_str()),
        ];
        all.into_iter().filter(|(_, href)| !href.is_empty()).collect()
    }

    /// Returns the address of a static file.
    pub fn file(&self, path: &str) -> String {
        static_files::url(path)
    }
}
