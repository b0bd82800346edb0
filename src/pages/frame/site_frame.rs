//! Frame parts as separate templates: a parent template would be compiled again for every page.

use askama::Template;

use super::super::{Page, Section};
use crate::domain::language::Language;
use crate::render::i18n::pages::PageTexts;

/// Description, icon and style sheets in the head of a page.
#[derive(Template)]
#[template(path = "_parts/head.html")]
pub(crate) struct PageHead<'p> {
    page: &'p Page,
    t: &'static PageTexts,
}

/// Name, navigation, languages and theme above a page.
#[derive(Template)]
#[template(path = "_parts/masthead.html")]
pub(crate) struct Masthead<'p> {
    page: &'p Page,
    t: &'static PageTexts,
}

/// Operator's links below a page.
#[derive(Template)]
#[template(path = "_parts/site_footer.html")]
pub(crate) struct SiteFooter<'p> {
    page: &'p Page,
    t: &'static PageTexts,
}

impl Page {
    pub(crate) fn head(&self) -> PageHead<'_> {
        PageHead { page: self, t: self.t() }
    }

    pub(crate) fn masthead(&self) -> Masthead<'_> {
        Masthead { page: self, t: self.t() }
    }

    pub(crate) fn footer(&self) -> SiteFooter<'_> {
        SiteFooter { page: self, t: self.t() }
    }
}
