//! Whatever a model writes, the page gets only harmless HTML, and a reply that is shown while it is written ends as the
//! one that is shown as a whole.

#![no_main]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use langya::render::markdown::{Renderer, render};
use libfuzzer_sys::fuzz_target;

const TAGS: &str = "a blockquote br code del div em h1 h2 h3 h4 h5 h6 hr li ol p pre span strong table tbody td th thead tr \
                    ul math mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt \
                    mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none";
const ATTRIBUTES: &str = "accent accentunder align class columnspan depth dir display displaystyle fence form height largeop \
                          linethickness lspace mathvariant maxsize minsize movablelimits rel rowspan rspace scriptlevel \
                          separator start stretchy symmetric tabindex target translate voffset width";

/// What a page may be given, written down a second time: nothing of the renderer is used here.
static POLICY: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut policy = Builder::empty();
    policy
        .tags(TAGS.split_whitespace().collect())
        .generic_attributes(ATTRIBUTES.split_whitespace().collect())
        .tag_attributes(HashMap::from([("a", HashSet::from(["href"]))]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(None);
    policy
});

fuzz_target!(|text: &str| {
    let whole = render(text);
    for html in &whole {
        assert_eq!(
            same_spelling(&POLICY.clean(html).to_string()),
            same_spelling(html),
            "the sanitizer found something"
        );
    }
    assert_eq!(whole, streamed(text, 1 + text.len() % 61), "shown while it was written");
});

/// Characters that the two writers of HTML escape differently, with the same meaning.
fn same_spelling(html: &str) -> String {
    html.replace("&#39;", "'").replace("&quot;", "\"").replace('\u{a0}', "&nbsp;")
}

/// The blocks after the text has come in pieces of about this many bytes.
fn streamed(text: &str, piece: usize) -> Vec<String> {
    let mut renderer = Renderer::new();
    let mut blocks = BTreeMap::new();
    for end in (0..text.len()).step_by(piece).chain([text.len()]) {
        let changes = renderer.update(&text[..text.floor_char_boundary(end)]);
        blocks.extend(changes.into_iter().map(|change| (change.block, change.html)));
    }
    blocks.into_values().filter(|html| !html.is_empty()).collect()
}
