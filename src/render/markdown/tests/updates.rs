//! Blocks returned by updates of a growing text.

use super::streamed;
use crate::markdown::{BlockChange, Renderer, render};

#[test]
fn an_update_gives_only_what_changed() {
    let mut renderer = Renderer::new();
    let change = |block, kept: &str, rest: &str| {
        let html = format!("<div dir=\"auto\">{kept}{rest}</div>");
        BlockChange { block, html, kept: if kept.is_empty() { 0 } else { "<div dir=\"auto\">".len() + kept.len() } }
    };
    assert_eq!(renderer.update("one"), [change(0, "", "<p>one</p>")]);
    assert_eq!(renderer.update("one"), []);
    assert_eq!(renderer.update("one\n\ntw"), [change(1, "", "<p>tw</p>")]);
    assert_eq!(renderer.update("one\n\ntwo"), [change(1, "<p>tw", "o</p>")]);
    assert_eq!(renderer.update("one\n\ntwo\n---"), [change(1, "<", "h4>two</h4>")]);
}

#[test]
fn a_block_that_is_no_more_is_removed() {
    let mut renderer = Renderer::new();
    assert_eq!(renderer.update("a\n\n[b]").len(), 2);
    let changes = renderer.update("a\n\n[b]: https://example.org\n");
    assert_eq!(changes, [BlockChange { block: 1, html: String::new(), kept: 0 }]);
}

#[test]
fn headings_of_a_growing_reply_have_the_levels_of_the_whole() {
    let text = "### a\n\none\n\n#### b\n\ntwo\n\n# c\n\nthree\n\n> ## d\n\nfour\n";
    let all = render(text).concat();
    for heading in ["<h4>a</h4>", "<h5>b</h5>", "<h4>c</h4>", "<h5>d</h5>"] {
        assert!(all.contains(heading), "{heading} is not in {all}");
    }
    let cuts: Vec<usize> = (0..text.len()).collect();
    assert_eq!(streamed(text, &cuts).concat(), all);
}

#[test]
fn a_late_definition_reaches_an_early_block() {
    let mut renderer = Renderer::new();
    renderer.update("see [docs]\n\nmore\n\n");
    let changes = renderer.update("see [docs]\n\nmore\n\n[docs]: https://example.org\n");
    assert!(changes.len() == 1 && changes[0].block == 0 && changes[0].html.contains("href"), "{changes:?}");
}

#[test]
fn what_is_kept_ends_between_characters() {
    let mut renderer = Renderer::new();
    renderer.update("中");
    // 丮 begins with two of the three bytes of 中.
    let changes = renderer.update("丮");
    assert_eq!(&changes[0].html[..changes[0].kept], "<div dir=\"auto\"><p>");
}
