//! Name, appearance and operator of the arena.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::{is_web_address, is_web_origin, require, require_as};
use crate::domain::colour_contrast::{AccentColours, Rgb};
use crate::domain::language::Language;
use crate::domain::settings_rule::{AddressRule, RefusedValue, TextRule};
use crate::domain::text_direction;

/// `[site]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SiteSettings {
    /// Name in the masthead and in titles; empty for the default.
    pub name: String,
    /// Logo in place of the seal: a `.svg`, `.png`, `.webp` or `.jpg` file of at most 512 kB; empty for the seal.
    pub logo: PathBuf,
    /// Colour of links and buttons, such as `"#1d6755"`, which must be readable on light pages; empty for the default.
    pub accent: String,
    /// Contact: `mailto:…` or the address of a page.
    pub contact: String,
    /// Address of the imprint page.
    pub imprint: String,
    /// Address of the privacy page.
    pub privacy: String,
    /// Sites that may show `/embed/leaderboard` in a frame, such as `"https://lab.example.org"`, or `"*"` for all; empty for none.
    pub embed_on: Vec<String>,
    /// Operator's additions to the consent text before a visitor's first battle, by language.
    pub consent: BTreeMap<Language, String>,
}

impl SiteSettings {
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        let name = &self.name;
        require_as(
            name.chars().count() <= 60 && !name.contains(char::is_control) && text_direction::in_name(name) == *name,
            "site.name",
            RefusedValue::Unusable,
            TextRule::OneLine(60),
        )?;
        let kind = self.logo.extension().and_then(|kind| kind.to_str()).unwrap_or_default().to_ascii_lowercase();
        require(
            self.logo.as_os_str().is_empty() || ["svg", "png", "webp", "jpg", "jpeg"].contains(&kind.as_str()),
            "site.logo",
            self.logo.display(),
            TextRule::LogoFile,
        )?;
        let accent = Rgb::parse(&self.accent).and_then(AccentColours::new);
        require(
            self.accent.is_empty() || accent.is_some(),
            "site.accent",
            format!("{:?}", self.accent),
            TextRule::AccentColour,
        )?;
        let is_link = |text: &str| text.is_empty() || is_web_address(text);
        let contact = self.contact.strip_prefix("mailto:").is_some_and(|address| address.contains('@'));
        let is_contact = contact || is_link(&self.contact);
        require_as(is_contact, "site.contact", RefusedValue::Unusable, AddressRule::Contact)?;
        require_as(is_link(&self.imprint), "site.imprint", RefusedValue::Unusable, AddressRule::HttpsPage)?;
        require_as(is_link(&self.privacy), "site.privacy", RefusedValue::Unusable, AddressRule::HttpsPage)?;
        let are_sites = self.embed_on.iter().all(|site| site == "*" || is_web_origin(site));
        require_as(are_sites, "site.embed_on", RefusedValue::NotASiteList, AddressRule::FramingSites)?;
        let is_short = |text: &String| text.chars().count() <= 4_000 && text_direction::in_prose(text) == *text;
        let are_short = self.consent.values().all(is_short);
        require_as(are_short, "site.consent", RefusedValue::Unusable, TextRule::ShortTexts(4_000))
    }
}
