use std::collections::BTreeSet;

use super::search::search;
use super::*;

fn guide(language: Language) -> Guide {
    Guide::new(language, &Generated::default())
}

/// The destinations of links of a page's HTML.
fn links(html: &str) -> Vec<&str> {
    html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn pages_of_both_languages_have_the_same_sections_and_figures() {
    let [english, chinese] = Language::ALL.map(guide);
    let shape = |guide: &Guide| -> Vec<_> {
        let page = |page: &DocPage| {
            let headings: Vec<(u8, String)> =
                page.headings().map(|heading| (heading.level, heading.id.clone())).collect();
            let figures: usize = page.sections.iter().map(|section| section.markdown.matches("](chart:").count()).sum();
            (page.name, headings, figures)
        };
        guide.pages.iter().map(page).collect()
    };
    assert_eq!(shape(&english), shape(&chinese));
    for page in english.pages.iter().chain(&chinese.pages) {
        let ids: BTreeSet<&str> = page.headings().map(|heading| heading.id.as_str()).collect();
        assert_eq!(ids.len(), page.headings().count(), "{}: two sections of one id", page.name);
        assert!(!page.title.is_empty() && !ids.contains(""), "{}", page.name);
    }
}

#[test]
fn code_of_both_languages_is_the_same_but_for_its_comments() {
    let [english, chinese] = Language::ALL.map(guide);
    for (one, other) in english.pages.iter().zip(&chinese.pages) {
        assert_eq!(code(one), code(other), "{}", one.name);
    }
}

/// The lines of code of a page, without comments.
fn code(page: &DocPage) -> Vec<String> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in page.sections.iter().flat_map(|section| section.markdown.lines()) {
        let fence = line.starts_with("```");
        is_code ^= fence;
        let line = line.split(" # ").next().unwrap_or_default().trim_end();
        if (is_code || fence) && !line.starts_with("# ") {
            lines.push(line.to_owned());
        }
    }
    lines
}

#[test]
fn links_between_pages_lead_to_pages_and_sections() {
    let settings = reference::settings(include_str!("../../../deploy/langya.example.toml"));
    let generated = Generated { settings, ..Generated::default() };
    for language in Language::ALL {
        let guide = Guide::new(language, &generated);
        for page in &guide.pages {
            for link in links(page.html()) {
                let Some(target) = link.strip_prefix("/docs/").or_else(|| link.strip_prefix('#')) else { continue };
                let (name, id) = match link.starts_with('#') {
                    true => (page.name, Some(target)),
                    false => target.split_once('#').map_or((target, None), |(name, id)| (name, Some(id))),
                };
                let found = guide.page(name).unwrap_or_else(|| panic!("{} links to {link}", page.name));
                assert!(
                    id.is_none_or(|id| found.headings().any(|heading| heading.id == id)),
                    "{} links to {link}",
                    page.name
                );
            }
        }
    }
}

#[test]
fn every_figure_is_drawn_and_nothing_is_left_of_how_pages_are_written() {
    for language in Language::ALL {
        for page in &guide(language).pages {
            let html = page.html();
            let figures =
                page.sections.iter().map(|section| section.markdown.matches("](chart:").count()).sum::<usize>();
            assert_eq!(html.matches("<svg").count(), figures, "{}", page.name);
            for left in ["arena.invalid", "](chart:", "{#", "style=\"", "<img"] {
                assert!(!html.contains(left), "{}: {left}", page.name);
            }
        }
    }
}

#[test]
fn links_within_the_arena_open_here_and_others_in_a_tab_of_their_own() {
    let text =
        "# T\n\nSee [votes](/docs/votes#a) and [a site](https://example.org/). `](/x)`\n\n## A **b** {#x}\n\n1 < 2\n";
    let page = DocPage::parse("t", text, Language::English);
    let html = page.html();
    assert!(html.contains("<a href=\"/docs/votes#a\">votes</a>"), "{html}");
    assert!(html.contains("https://example.org/\"") && html.contains("target=\"_blank\""), "{html}");
    assert!(html.contains("<code translate=\"no\">](/x)</code>"), "{html}");
    assert!(html.contains("<h2 id=\"x\"><a class=\"anchor\" href=\"#x\">A **b**</a></h2>"), "{html}");
}

#[test]
fn a_search_finds_the_sections_that_hold_every_word() {
    let [english, chinese] = Language::ALL.map(guide);
    let found = search(&english, "INTERVAL votes");
    assert!(found.iter().any(|hit| hit.href.starts_with("/docs/votes")), "{found:?}");
    assert!(found.iter().all(|hit| !hit.excerpt.contains("```")));
    assert!(!search(&chinese, "置信区间").is_empty());
    assert!(search(&english, "  ").is_empty() && search(&english, "xyzzy").is_empty());
}

#[test]
fn settings_are_listed_by_section() {
    let text = reference::settings("# Head.\n\n[a]\n# Why.\nx = 1\n\n[b]\ny = 2\n\n# [[models]]\n# id = \"m\"\n");
    let expected = "### [a]\n\n```toml\n[a]\n# Why.\nx = 1\n\n```\n\n### [b]\n\n```toml\n[b]\ny = 2\n\n```\n\n\
                    ### [models]\n\n```toml\n# [[models]]\n# id = \"m\"\n```\n";
    assert_eq!(text, expected);
}

#[test]
fn the_api_is_listed_with_parameters_and_fields() {
    let document = serde_json::json!({
        "paths": {"/x": {"get": {
            "summary": "Reads.",
            "parameters": [{"name": "q", "schema": {"type": "string"}, "description": "a|b"}],
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/X"}}}}},
        }}},
        "components": {"schemas": {"X": {"properties": {
            "n": {"type": ["integer", "null"], "description": "Count."},
            "of": {"type": "array", "items": {"$ref": "#/components/schemas/X"}},
        }}}},
    });
    let words = reference::ApiWords {
        name: "Name",
        kind: "Type",
        meaning: "Meaning",
        parameters: "Parameters:",
        body: "Body:",
        answer: "Answer:",
    };
    let text = reference::api(&document, words);
    for part in
        ["### GET /x\n\nReads.", "| `q` | string | a\\|b |", "| `n` | integer or null | Count. |", "| `of` | X[] |"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}
