//! The files of `static/`, built into the program.
//!
//! Pages link to `/static/…?v=HASH`, with a hash of the content, so that browsers may keep a file for ever.

use std::borrow::Cow;

use rust_embed::{Embed, EmbeddedFile};

use crate::domain::hex::hex;

#[derive(Embed)]
#[folder = "../../static"]
struct StaticFiles;

/// A file as it is sent.
pub struct StaticFile {
    /// The first 128 bits of the SHA-256 of the file in `static/`.
    pub hash: String,
    /// Its type, with the character set where browsers want one.
    pub content_type: String,
    /// Whether it is worth compressing.
    pub is_text: bool,
    file: EmbeddedFile,
}

impl StaticFile {
    /// Its content. Comments are a sixth of a compressed style sheet, so it goes without them.
    #[must_use]
    pub fn content(&self) -> Cow<'_, [u8]> {
        match std::str::from_utf8(&self.file.data) {
            Ok(sheet) if self.file.metadata.mimetype() == "text/css" => {
                Cow::Owned(without_comments(sheet).into_bytes())
            }
            _ => Cow::Borrowed(self.file.data.as_ref()),
        }
    }
}

/// The file with this path below `static/`.
#[must_use]
pub fn find(path: &str) -> Option<StaticFile> {
    let file = StaticFiles::get(path)?;
    let mime = file.metadata.mimetype();
    let is_text = mime.starts_with("text/") || ["javascript", "json", "xml"].iter().any(|end| mime.ends_with(end));
    let content_type =
        if is_text && !mime.ends_with("xml") { format!("{mime}; charset=utf-8") } else { mime.to_owned() };
    Some(StaticFile { hash: hash_of(&file), content_type, is_text, file })
}

/// The address of a file, with its hash; for templates.
#[must_use]
pub fn url(path: &str) -> String {
    match StaticFiles::get(path) {
        Some(file) => format!("/static/{path}?v={}", hash_of(&file)),
        None => format!("/static/{path}"),
    }
}

fn hash_of(file: &EmbeddedFile) -> String {
    hex(&file.metadata.sha256_hash()[..16])
}

/// A style sheet without its comments. None of ours has their signs in a string.
fn without_comments(sheet: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(sheet.len()), sheet);
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheets_are_sent_whole_but_for_their_comments() {
        assert_eq!(without_comments("/* a */b { c: d; /* e\n * f */ }/**/g/* h"), "b { c: d;  }g");
        let sheets = StaticFiles::iter().filter_map(|path| Some((StaticFiles::get(&path)?, path)));
        for (file, path) in sheets.filter(|(file, _)| file.metadata.mimetype() == "text/css") {
            let source = std::str::from_utf8(&file.data).unwrap();
            let mut quoted = source.lines().flat_map(|line| line.split('"').skip(1).step_by(2));
            assert!(quoted.all(|text| !text.contains("/*")), "{path} has the sign of a comment in a string");
            let sheet = String::from_utf8(find(&path).unwrap().content().into_owned()).unwrap();
            assert!(sheet.len() > 100 && !sheet.contains("/*") && !sheet.contains("*/"), "{path}: {sheet}");
            assert_eq!(sheet.matches('{').count(), sheet.matches('}').count(), "{path}");
        }
    }
}
