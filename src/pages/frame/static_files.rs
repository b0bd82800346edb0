//! The files of `static/`, built into the program.
//!
//! Pages link to `/static/…?v=HASH`, with a hash of the content, so that browsers may cache a file indefinitely.

use std::borrow::Cow;

use rust_embed::{Embed, EmbeddedFile};

use crate::domain::hex::hex;

#[derive(Embed)]
#[folder = "../../static"]
struct StaticFiles;

/// Static file as served.
pub struct StaticFile {
    /// First 128 bits of the SHA-256 of the file in `static/`.
    pub hash: String,
    /// MIME type, with the character set for texts.
    pub content_type: String,
    /// Whether the file is compressible text.
    pub is_text: bool,
    file: EmbeddedFile,
}

impl StaticFile {
    /// Returns the content. Style sheets and scripts are served without comments, which are a sixth of a compressed style sheet and a third
    /// of a compressed script.
    #[must_use]
    pub fn content(&self) -> Cow<'_, [u8]> {
        let mime = self.file.metadata.mimetype();
        match std::str::from_utf8(&self.file.data) {
            Ok(sheet) if mime == "text/css" => Cow::Owned(without_comments(sheet).into_bytes()),
            Ok(script) if mime.ends_with("/javascript") => Cow::Owned(without_comment_lines(script).into_bytes()),
            _ => Cow::Borrowed(self.file.data.as_ref()),
        }
    }
}

/// Returns the file at this path below `static/`.
#[must_use]
pub fn find(path: &str) -> Option<StaticFile> {
    let file = StaticFiles::get(path)?;
    let mime = file.metadata.mimetype();
    let is_text = mime.starts_with("text/") || ["javascript", "json", "xml"].iter().any(|end| mime.ends_with(end));
    let content_type =
        if is_text && !mime.ends_with("xml") { format!("{mime}; charset=utf-8") } else { mime.to_owned() };
    Some(StaticFile { hash: hash_of(&file), content_type, is_text, file })
}

/// Returns the address of a file, with its hash; for templates.
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

/// Removes comments from a style sheet. Assumes that no string contains comment delimiters, as in ours.
fn without_comments(sheet: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(sheet.len()), sheet);
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Blanks the comment lines of a script, keeping line numbers for errors. Assumes, as in ours, that a multi-line comment ends at a line's
/// end and that no string spans lines.
fn without_comment_lines(script: &str) -> String {
    let (mut kept, mut in_comment) = (String::with_capacity(script.len()), false);
    for line in script.lines() {
        let text = line.trim();
        in_comment |= text.starts_with("/*");
        if !in_comment && !text.starts_with("//") {
            kept.push_str(line);
        }
        kept.push('\n');
        in_comment &= !text.ends_with("*/");
    }
    kept
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

    #[test]
    fn scripts_are_sent_whole_but_for_the_lines_that_are_comments_alone() {
        let script = "// a\n  /** b\n   * c */\nd(); // e\n/* f */\ng(\"/*\");\n";
        assert_eq!(without_comment_lines(script), "\n\n\nd(); // e\n\ng(\"/*\");\n");
        for path in StaticFiles::iter().filter(|path| path.ends_with(".js")) {
            let file = StaticFiles::get(&path).unwrap();
            let source = std::str::from_utf8(&file.data).unwrap();
            let sent = String::from_utf8(find(&path).unwrap().content().into_owned()).unwrap();
            assert_eq!(sent.lines().count(), source.lines().count(), "{path}");
            assert!(sent.len() < source.len(), "{path} is sent with its comments");
            for (line, kept) in source.lines().zip(sent.lines()) {
                let is_comment = ["//", "/*", "*"].iter().any(|sign| line.trim().starts_with(sign));
                assert!(kept == line || (kept.is_empty() && is_comment), "{path} lacks {line:?}");
                // A multi-line string could contain a comment delimiter.
                assert_eq!(kept.matches('`').count() % 2, 0, "{path}: {line:?}");
            }
        }
    }
}
