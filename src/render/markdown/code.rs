//! Code blocks: highlighted by CSS classes once closed, plain text while they are being written.
//!
//! Classes instead of colours, so that the page's style sheet decides for light and dark. Eight classes are enough: each piece takes the
//! class of its innermost scope that has one. They have Pygments' short names, since they occur for almost every word of code.

use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::escape;

/// Maximum bytes of a highlighted block: the work of highlighting is not bounded by the syntax definitions.
const MAX_CODE_BYTES: usize = 32 * 1024;
/// Maximum bytes of a line in a highlighted block.
const MAX_LINE_BYTES: usize = 1024;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

/// Scope prefixes and their classes; the first match counts.
static CLASSES: LazyLock<Vec<(Scope, &'static str)>> = LazyLock::new(|| {
    [
        ("comment", "c"),
        ("string", "s"),
        ("constant", "m"),
        ("keyword", "k"),
        ("storage", "k"),
        ("entity.name.tag", "k"),
        ("entity.name.function", "nf"),
        ("support.function", "nf"),
        ("variable.function", "nf"),
        ("entity.name", "nc"),
        ("entity.other", "nc"),
        ("support.type", "nc"),
        ("support.class", "nc"),
        ("markup.inserted", "gi"),
        ("markup.deleted", "gd"),
    ]
    .into_iter()
    .filter_map(|(prefix, class)| Some((Scope::new(prefix).ok()?, class)))
    .collect()
});

/// Renders a block without highlighting.
pub(super) fn plain(language: &str, text: &str) -> String {
    framed(language, &escape(text))
}

/// Renders a closed block, highlighted if its language is known and it is not too large.
pub(super) fn highlighted(language: &str, text: &str) -> String {
    let small = text.len() <= MAX_CODE_BYTES && text.lines().all(|line| line.len() <= MAX_LINE_BYTES);
    let coloured = syntax(language).filter(|_| small).and_then(|syntax| colour(syntax, text));
    framed(language, &coloured.unwrap_or_else(|| escape(text)))
}

/// Wraps a block in a region that is scrollable by keyboard and excluded from browser translation.
fn framed(language: &str, html: &str) -> String {
    let label: String = language.chars().filter(|c| c.is_alphanumeric() || "+#-_.".contains(*c)).take(24).collect();
    format!(
        "<div class=\"code\" dir=\"ltr\"><div class=\"code-language\">{label}</div>\
         <pre tabindex=\"0\" translate=\"no\"><code>{html}</code></pre></div>"
    )
}

fn syntax(language: &str) -> Option<&'static SyntaxReference> {
    let token = match language.to_ascii_lowercase().as_str() {
        "typescript" | "ts" | "tsx" | "jsx" | "mjs" | "node" => "js".to_owned(),
        "python3" | "py3" | "ipython" => "python".to_owned(),
        "shell" | "console" | "zsh" | "shellscript" => "bash".to_owned(),
        "jsonc" | "json5" => "json".to_owned(),
        "golang" => "go".to_owned(),
        "csharp" | "c#" => "cs".to_owned(),
        "vue" | "svelte" => "html".to_owned(),
        "patch" => "diff".to_owned(),
        other => other.to_owned(),
    };
    SYNTAXES.find_syntax_by_token(&token)
}

fn colour(syntax: &SyntaxReference, text: &str) -> Option<String> {
    let mut state = ParseState::new(syntax);
    let mut scopes = ScopeStack::new();
    let mut pieces = Pieces::default();
    for line in text.split_inclusive('\n') {
        let mut from = 0;
        for (at, operation) in state.parse_line(line, &SYNTAXES).ok()? {
            pieces.push(class_of(&scopes), line.get(from..at)?);
            scopes.apply(&operation).ok()?;
            from = at;
        }
        pieces.push(class_of(&scopes), line.get(from..)?);
    }
    Some(pieces.finish())
}

/// The class of the innermost scope that has one.
fn class_of(scopes: &ScopeStack) -> &'static str {
    let class = |scope: &Scope| CLASSES.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, class)| *class);
    scopes.as_slice().iter().rev().find_map(class).unwrap_or_default()
}

/// Joins neighbouring pieces of one class into one element.
#[derive(Default)]
struct Pieces {
    html: String,
    open: &'static str,
}

impl Pieces {
    fn push(&mut self, class: &'static str, text: &str) {
        if text.is_empty() {
            return;
        }
        if class != self.open {
            self.close();
            if !class.is_empty() {
                self.html.push_str(&format!("<span class=\"{class}\">"));
            }
            self.open = class;
        }
        self.html.push_str(&escape(text));
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.html.push_str("</span>");
        }
    }

    fn finish(mut self) -> String {
        self.close();
        self.html
    }
}
