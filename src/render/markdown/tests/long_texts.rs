//! Long, deeply nested or slow texts are shown as plain text from some offset.

use super::{assert_harmless, streamed};
use crate::markdown::render;

#[test]
fn code_far_down_in_a_long_text_has_no_colours() {
    let text = format!("{0}{1}{0}", "```rust\nlet x;\n```\n\n", ("word ".repeat(200) + "\n\n").repeat(70));
    let blocks = render(&text);
    let coloured: Vec<bool> =
        blocks.iter().filter(|html| html.contains("<code>")).map(|html| html.contains("<span")).collect();
    assert_eq!(coloured, [true, false]);
    assert_eq!(streamed(&text, &[40_000, 66_000]), blocks);
}

#[test]
fn text_made_to_be_slow_or_deep_is_shown_as_it_stands() {
    let nested_list: String = (0..200).map(|depth| format!("{}- a\n", "  ".repeat(depth))).collect();
    for text in [
        ">".repeat(10_000),
        "> ".repeat(5_000) + "x",
        "- ".repeat(50) + "x",
        nested_list,
        "*a **b ".repeat(2_000),
        "[".repeat(100_000),
        "![".repeat(50_000),
        "[a](".repeat(20_000),
        "a".repeat(100_000),
        "`a``".repeat(3_000),
        "\\[\n".repeat(30_000),
        "<a ".repeat(5_000),
        "x\n".repeat(60_000),
        "\\[ ".repeat(5_000),
        format!("|{}\n|{}\n{}", "a|".repeat(5_000), "-|".repeat(5_000), "x\n".repeat(10_000)),
        format!("$${}$$", "\\not".repeat(1_000)),
        format!("$${}$$", "{".repeat(4_000)),
        format!("$${}x$$", "\\not %\n".repeat(500)),
        format!("$${}$$", "\\left(".repeat(600)),
    ] {
        let blocks = render(&text);
        blocks.iter().for_each(|html| assert_harmless(html));
        let bytes: usize = blocks.iter().map(String::len).sum();
        assert!(bytes < 20 * text.len() + 600_000, "{bytes} bytes from {}", text.len());
    }
    assert!(render(&"a".repeat(100_000)).concat().starts_with("<pre class=\"plain\""));
    assert!(render(&"- item\n".repeat(12_000)).concat().starts_with("<pre class=\"plain\""));
    assert!(render(&(">".repeat(100) + " x")).concat().starts_with("<pre class=\"plain\""));
}

#[test]
fn what_stands_before_an_overlong_line_is_still_markdown() {
    let blocks = render(&format!("# Title\n\n{}\n\n*later*", "a".repeat(20_000)));
    assert_eq!(blocks[0], "<div dir=\"auto\"><h4>Title</h4></div>");
    assert!(blocks.len() == 2 && blocks[1].ends_with("\n\n*later*</pre>"));
}

#[test]
fn more_blocks_than_a_page_can_lay_out_go_on_as_plain_text() {
    let text: String = (1..=10_000).map(|number| format!("# {number}\n")).collect();
    let blocks = render(&text);
    assert_eq!(blocks[999], "<div dir=\"auto\"><h4>1000</h4></div>");
    assert!(blocks[1000].starts_with("<pre class=\"plain\" dir=\"auto\"># 1001\n# 1002\n"), "{}", blocks[1000]);
    assert!(blocks.len() < 1_010 && blocks.last().unwrap().ends_with("# 10000\n</pre>"), "{}", blocks.len());
    assert_eq!(streamed(&text, &[1, 5_000, 8_000, 8_001, 30_000, 60_000]), blocks);
}
