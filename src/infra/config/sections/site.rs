//! What the arena is called and who runs it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// `[site]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SiteSettings {
    /// The name in the masthead and in titles; empty for the arena's own.
    pub name: String,
    /// A picture in place of the seal: a `.svg`, `.png`, `.webp` or `.jpg` file of at most 512 kB; empty for the seal.
    pub logo: PathBuf,
    /// Colour of links and buttons, such as `"#1d6755"`, which has to be readable on light pages; empty for the arena's own.
    pub accent: String,
    /// Where to write to: `mailto:…` or an address of a page.
    pub contact: String,
    /// Address of the page that says who runs the arena.
    pub imprint: String,
    /// Address of the page on privacy.
    pub privacy: String,
}
