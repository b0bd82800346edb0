//! Allow-lists of elements and attributes in prose and in formulas.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

/// Elements of prose. `data` marks the slots.
const PROSE_ELEMENTS: &[&str] = &[
    "a",
    "blockquote",
    "br",
    "code",
    "data",
    "del",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// MathML Core elements of formulas.
const MATH_ELEMENTS: &[&str] = &[
    "math",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "ms",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
    "none",
];

/// Attributes of formulas. No `style`, no `href`.
const MATH_ATTRIBUTES: &[&str] = &[
    "accent",
    "accentunder",
    "class",
    "columnspan",
    "depth",
    "display",
    "displaystyle",
    "fence",
    "form",
    "height",
    "largeop",
    "linethickness",
    "lspace",
    "mathvariant",
    "maxsize",
    "minsize",
    "movablelimits",
    "rowspan",
    "rspace",
    "scriptlevel",
    "separator",
    "stretchy",
    "symmetric",
    "voffset",
    "width",
];

static PROSE_POLICY: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut policy = Builder::empty();
    policy
        .tags(PROSE_ELEMENTS.iter().copied().collect())
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("data", HashSet::from(["value"])),
            ("ol", HashSet::from(["start"])),
            ("td", HashSet::from(["align"])),
            ("th", HashSet::from(["align"])),
        ]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("nofollow noopener noreferrer"))
        .set_tag_attribute_value("a", "target", "_blank")
        // Excludes code from browser translation.
        .set_tag_attribute_value("code", "translate", "no");
    policy
});

static MATH_POLICY: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut policy = Builder::empty();
    policy.tags(MATH_ELEMENTS.iter().copied().collect()).generic_attributes(MATH_ATTRIBUTES.iter().copied().collect());
    policy
});

/// Cleans a block of prose.
pub(super) fn prose(html: &str) -> String {
    PROSE_POLICY.clean(html).to_string()
}

/// Cleans a formula.
pub(super) fn formula(mathml: &str) -> String {
    MATH_POLICY.clean(mathml).to_string()
}
