//! Formulas become MathML, or are shown as source.

use super::{assert_harmless, streamed};
use crate::markdown::{escape, render};

#[test]
fn formulas_become_mathml_without_styles() {
    for text in ["$x^2$", "\\(x^2\\)", "$$x^2$$", "\\[x^2\\]", "```math\nx^2\n```"] {
        let html = render(text).concat();
        assert_harmless(&html);
        assert!(html.contains("<math") && html.contains("<msup>"), "{text}: {html}");
    }
    let coloured = render("$\\color{red}{x}\\quad\\begin{matrix}a&b\\\\c&d\\end{matrix}$").concat();
    assert!(coloured.contains("<mtable"), "{coloured}");
    assert_harmless(&coloured);
    assert!(render("it costs $5 or $10").concat().contains("$5 or $10"));
}

#[test]
fn a_formula_that_is_none_is_shown_as_written() {
    for latex in ["\\nosuch{x", "\\frac", "\\def\\a{x}\\a", "\\def\\a{\\a\\a}\\a"] {
        let html = render(&format!("$${latex}$$")).concat();
        assert_eq!(html, format!("<div dir=\"auto\"><p><code class=\"tex\">{}</code></p></div>", escape(latex)));
    }
}

#[test]
fn a_formula_that_would_fill_the_page_is_shown_as_written() {
    let primes = "'".repeat(4_000);
    assert!(render(&format!("$x{}$", &primes[..40])).concat().contains("<math"));
    let html = render(&format!("$x{primes}$")).concat();
    assert!(html.contains("<code class=\"tex\">") && !html.contains("<math"), "{}", html.len());
}

#[test]
fn formulas_far_down_in_a_long_text_are_shown_as_written() {
    let text = format!("{0}{1}{0}", "so $x^2$ it is\n\n", ("word ".repeat(200) + "\n\n").repeat(70));
    let blocks = render(&text);
    let typeset: Vec<bool> =
        blocks.iter().filter(|html| html.contains("so ")).map(|html| html.contains("<math")).collect();
    assert_eq!(typeset, [true, false]);
    assert_eq!(streamed(&text, &[40_000, 66_000]), blocks);
}
