mod formulas;
mod long_texts;
mod updates;

use proptest::prelude::*;

use super::*;

/// Allowed tags and attributes.
const TAGS: &[&str] = &[
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
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
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
    "math",
    "mfrac",
    "mi",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
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
    "mmultiscripts",
    "mprescripts",
    "none",
];

const ATTRIBUTES: &[&str] = &[
    "accent",
    "align",
    "class",
    "columnspan",
    "depth",
    "dir",
    "display",
    "displaystyle",
    "fence",
    "form",
    "height",
    "href",
    "largeop",
    "linethickness",
    "lspace",
    "mathvariant",
    "maxsize",
    "minsize",
    "movablelimits",
    "rel",
    "role",
    "rowspan",
    "rspace",
    "scriptlevel",
    "separator",
    "start",
    "stretchy",
    "symmetric",
    "tabindex",
    "target",
    "translate",
    "voffset",
    "width",
];

/// Reads HTML strictly: each `<` opens a listed tag with listed, double-quoted attributes.
#[track_caller]
fn assert_harmless(html: &str) {
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').expect("each tag ends");
        let tag = tag.strip_prefix('/').unwrap_or(tag);
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(TAGS.contains(&name), "tag <{tag}> in {html}");
        while let Some((name, after)) = attributes.split_once("=\"") {
            let (value, after) = after.split_once('"').expect("each value ends");
            assert!(ATTRIBUTES.contains(&name.trim()), "attribute {name} in {html}");
            let safe = |scheme: &str| value.to_ascii_lowercase().starts_with(scheme);
            assert!(name.trim() != "href" || ["http:", "https:", "mailto:"].iter().any(|s| safe(s)), "{html}");
            attributes = after;
        }
        assert!(attributes.trim().is_empty(), "left over {attributes:?} in {html}");
        rest = after;
    }
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let blocks = render(text);
    blocks.iter().for_each(|html| assert_harmless(html));
    let wrapped: Vec<String> = expected.iter().map(|html| format!("<div dir=\"auto\">{html}</div>")).collect();
    assert_eq!(blocks, wrapped);
}

#[test]
fn what_reorders_a_reply_is_shown_by_its_number_and_right_to_left_text_stays() {
    let html = render("a\u{202e}b\u{202c}\n\n`\u{2066}x`\n\nשלום\u{200f}!\n").concat();
    assert!(html.contains("a⟨U+202E⟩b⟨U+202C⟩") && html.contains("⟨U+2066⟩x"), "{html}");
    assert!(html.contains("שלום\u{200f}!"), "{html}");
}

#[test]
fn markdown_becomes_one_string_for_each_block() {
    check(
        "# Hi\n\nA *b* **c** ~~d~~ `e<f`\n\n- x\n- y\n\n> q",
        &[
            "<h4>Hi</h4>",
            "<p>A <em>b</em> <strong>c</strong> <del>d</del> <code translate=\"no\">e&lt;f</code></p>",
            "<ul>\n<li>x</li>\n<li>y</li>\n</ul>",
            "<blockquote>\n<p>q</p>\n</blockquote>",
        ],
    );
    check("", &[]);
    check(" \n\n", &[]);
}

#[test]
fn tables_keep_their_alignment_and_lists_their_start() {
    let table = "<table>\n<thead>\n<tr>\n<th align=\"right\">n</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n\
                 <td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>";
    assert_eq!(
        render("| n |\n|--:|\n| 1 |"),
        [format!("<div dir=\"auto\" role=\"group\" tabindex=\"0\">{table}</div>")]
    );
    check("3. three", &["<ol start=\"3\">\n<li>three</li>\n</ol>"]);
    check("- [x] done\n- [ ] open", &["<ul>\n<li>☑ done</li>\n<li>☐ open</li>\n</ul>"]);
}

#[test]
fn a_cell_of_a_table_may_hold_line_breaks_and_formulas() {
    let html = render("| a |\n|---|\n| b<br>$x$ |").concat();
    assert!(html.contains("<td>b<br>") && html.contains("<math"), "{html}");
}

#[test]
fn emphasis_works_beside_chinese_punctuation() {
    check("**“琅琊”**是一座山。", &["<p><strong>“琅琊”</strong>是一座山。</p>"]);
}

#[test]
fn links_open_apart_and_lead_only_to_the_web_and_to_mail() {
    let link =
        |href: &str| format!("<p><a href=\"{href}\" target=\"_blank\" rel=\"nofollow noopener noreferrer\">t</a></p>");
    check("[t](https://example.org/?a=1&b \"title\")", &[&link("https://example.org/?a=1&amp;b")]);
    check("[t](mailto:a@example.org)", &[&link("mailto:a@example.org")]);
    check("[t][1]\n\n[1]: http://example.org/", &[&link("http://example.org/")]);
    for hostile in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example/x",
        "/admin",
        "java&#10;script:alert(1)",
    ] {
        let html = render(&format!("[t](<{hostile}>)")).concat();
        assert_harmless(&html);
        assert!(!html.contains("href"), "{hostile}: {html}");
    }
}

#[test]
fn the_allow_list_holds_by_itself() {
    for hostile in ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "//evil.example/x"] {
        let html = sanitize::prose(&format!("<a href=\"{hostile}\" onclick=\"x\" style=\"color:red\">t</a>"));
        assert_eq!(html, "<a target=\"_blank\" rel=\"nofollow noopener noreferrer\">t</a>");
    }
    for hostile in [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg><g onload=alert(1)></g></svg>",
        "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
        "<iframe src=//evil></iframe>",
    ] {
        assert_harmless(&sanitize::prose(hostile));
        assert_harmless(&sanitize::formula(hostile));
    }
}

#[test]
fn pictures_are_named_and_never_fetched() {
    check("![a *cat*](https://evil.example/pixel.png)", &["<p><em>a <em>cat</em></em></p>"]);
    check("![](https://evil.example/pixel.png)", &["<p><em>🖼</em></p>"]);
    let linked = render("[![alt](https://evil.example/p.png)](https://example.org)").concat();
    assert!(linked.contains(">alt</em></a>") && !linked.contains("evil"), "{linked}");
}

#[test]
fn html_that_a_model_writes_is_shown_as_text() {
    check("a<br>b", &["<p>a<br>\nb</p>"]);
    check("x <b onclick=alert(1)>y</b>", &["<p>x &lt;b onclick=alert(1)&gt;y&lt;/b&gt;</p>"]);
    for hostile in [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<style>*{display:none}</style>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        "<iframe srcdoc='<script>x</script>'>",
        "<a href=javascript:alert(1)>x</a>",
        "<!--<img src=x onerror=alert(1)>-->",
        "<form action=//evil><input>",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
        "<base href=//evil.example>",
        "<meta http-equiv=refresh content=0>",
        "<link rel=stylesheet href=//evil>",
        "</div></div><script>x</script>",
        "<data value=\"0\"></data>",
        "`x`<data value=\"0\"></data> $y$",
        "<x-y style=position:fixed>",
    ] {
        for text in [
            hostile.to_owned(),
            format!("a {hostile}"),
            format!("> - {hostile}"),
            format!("# {hostile}"),
            format!("|a|\n|-|\n|{hostile}|"),
            format!("```\n{hostile}\n```"),
            format!("```html\n{hostile}\n```"),
            format!("```html\n{hostile}"),
            format!("`{hostile}`"),
            format!("$${hostile}$$"),
            format!("$\\text{{{hostile}}}$"),
            format!("[{hostile}](https://a.example \"{hostile}\")"),
            format!("```{hostile}\nx\n```"),
        ] {
            render(&text).iter().for_each(|html| assert_harmless(html));
        }
    }
}

#[test]
fn a_slot_cannot_be_spelled_by_a_model() {
    let html = render("<data value=\"0\"></data> &lt;data value=\"0\"&gt;&lt;/data&gt; $z$").concat();
    assert_eq!(html.matches("<math").count(), 1, "{html}");
}

#[test]
fn closed_code_has_classes_and_open_code_waits_for_them() {
    let closed = render("```rust\nlet x = \"</code>\"; // hi\n```").concat();
    assert_harmless(&closed);
    assert!(closed.contains("<span class=\"k\">let</span>"), "{closed}");
    assert!(closed.contains("<span class=\"s\">&quot;&lt;/code&gt;&quot;</span>"), "{closed}");
    assert!(closed.contains("<span class=\"c\">// hi\n</span>"), "{closed}");
    assert!(closed.contains("<div class=\"code-language\">rust</div>"), "{closed}");
    let open = render("```rust\nlet x").concat();
    assert!(open.contains("let x") && !open.contains("<span"), "{open}");
    let unknown = render("```nosuch\na<b\n```").concat();
    assert!(unknown.contains("<code>a&lt;b\n</code>"), "{unknown}");
}

#[test]
fn a_direction_override_stays_within_its_block() {
    let blocks = render("abc \u{202e}evil\n\nnext");
    assert_eq!(blocks.len(), 2);
    assert!(blocks.iter().all(|html| html.starts_with("<div dir=\"auto\">") && html.ends_with("</div>")));
}

#[test]
fn what_may_have_to_be_scrolled_can_be_focused() {
    assert!(render("$$x^2$$").concat().contains("<math tabindex=\"0\""));
    assert!(!render("$x^2$").concat().contains("tabindex"));
    let long = format!("So ${}$ holds.", ["x_{1}"; 10].join(" + "));
    assert!(render(&long).concat().contains("<math tabindex=\"0\" display=\"block\""), "{}", render(&long).concat());
    assert!(render("| a |\n|---|\n| b |").concat().starts_with("<div dir=\"auto\" role=\"group\" tabindex=\"0\">"));
}

/// Streams a text in pieces to a page that applies changes, and returns the final blocks.
fn streamed(text: &str, cuts: &[usize]) -> Vec<String> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.sort_unstable();
    cuts.push(text.len());
    let mut renderer = Renderer::new();
    let mut page: Vec<String> = Vec::new();
    for cut in cuts.into_iter().filter(|cut| text.is_char_boundary(*cut)) {
        for BlockChange { block, html, kept } in renderer.update(&text[..cut]) {
            page.resize(page.len().max(block + 1), String::new());
            page[block].truncate(kept);
            page[block].push_str(&html[kept..]);
        }
    }
    page.retain(|html| !html.is_empty());
    page
}

/// Pieces of Markdown syntax and plain text.
fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => prop::sample::select(vec![
            "\n", "\n\n", "\n", "    ", "  ", "- ", "1. ", "2) ", "> ", "# ", "---\n", "===\n", "```", "```rust\n",
            "```\n", "~~~\n", "`", "$", "$$", "\\(", "\\)", "\\[", "\\]", "*", "**", "_", "~~", "[", "]", "](", ")",
            "[a]: https://b.example\n", "[a]", "![", "|", "|-|-|\n", "| a | b |\n", "<", ">", "<b>", "</b>", "<!--",
            "-->", "<div>\n", "<script>", "&amp;", "&#x3c;", "\\", "\t", "\r", "\r\n", "\u{feff}", "\0", "\u{202e}",
            "- [ ] ", "- [x] ", "www.a.example", "https://a.example/?q=<", "javascript:", "\\frac{1}{2}", "\\text{<b>}",
            "\"", "'", "中文", "，", "`` ` ``", ":", "+", "0", "<br>", "fn main() { \"x\" }", "\\not", "{", "}", "%",
        ]).prop_map(str::to_owned),
        2 => "[a-z ]{1,6}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn any_text_becomes_harmless_html(text in markdown()) {
        render(&text).iter().for_each(|html| assert_harmless(html));
    }

    #[test]
    fn any_bytes_become_harmless_html(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        render(&String::from_utf8_lossy(&bytes)).iter().for_each(|html| assert_harmless(html));
    }

    #[test]
    fn a_streamed_text_ends_as_the_whole_text(text in markdown(), cuts in prop::collection::vec(any::<usize>(), 0..12)) {
        prop_assert_eq!(streamed(&text, &cuts), render(&text));
    }

    #[test]
    fn any_formula_becomes_harmless_html(latex in "[\\\\{}a-z^_&$%# 0-9\\[\\]()'\"<>]{0,60}") {
        assert_harmless(&math::html(&latex, math::FormulaPlace::Block));
    }
}

#[test]
fn what_differs_is_marked_and_runs_nothing() {
    let part = |text: &str, differs| DiffPart { text: text.to_owned(), differs };
    let html = marked(&[part("a <b>&\n", false), part("<script>'\"</mark>", true)]);
    let expected = "a &lt;b&gt;&amp;\n<mark>&lt;script&gt;&#39;&quot;&lt;/mark&gt;</mark>";
    assert_eq!(html, format!("<p class=\"plain\" dir=\"auto\">{expected}</p>"));
}
