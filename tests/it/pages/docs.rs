//! The documentation of the arena: its pages, its links, and every example in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use langya::cli::command_reference::parse;
use regex::Regex;

use crate::support::arena::TestArena;
use crate::support::program::{langya, program};
use crate::support::visitor::get;

const PAGES: [&str; 11] = [
    "start",
    "models",
    "battles",
    "votes",
    "campaigns",
    "benchmarks",
    "correlations",
    "operating",
    "api",
    "settings",
    "commands",
];

/// The files of a language, English here: another test holds the code of both languages to be the same.
fn files() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/docs/en");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The code of a text whose fence says exactly this.
fn blocks<'t>(text: &'t str, fence: &str) -> Vec<&'t str> {
    let opening = format!("```{fence}\n");
    text.split(opening.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The words of a line of shell, up to what is no argument: a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#' | '|' | '<' | '>') if word.is_none() => return words,
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words
}

#[test]
fn every_link_between_the_files_leads_to_one() {
    let link = Regex::new(r"\]\(([^/)#:\s][^)#:\s]*)[)#]").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = 0;
    for file in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "DESIGN.md",
        "CHANGELOG.md",
        "deploy/README.md",
        "benches/README.md",
    ] {
        let file = root.join(file);
        let text = std::fs::read_to_string(&file).unwrap();
        for link in link.captures_iter(&text) {
            let leads_to = file.parent().unwrap().join(&link[1]);
            assert!(leads_to.exists(), "{}: {} is not there", file.display(), &link[1]);
            found += 1;
        }
    }
    assert!(found > 5, "{found} links are found: the expression reads none");
}

#[test]
fn every_command_of_the_docs_is_understood() {
    let others = ["README.md", "deploy/COMMANDS.md", "deploy/README.md"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let others = others.map(|path| (root.join(path), std::fs::read_to_string(root.join(path)).unwrap()));
    let mut count = 0;
    for (path, text) in files().into_iter().chain(others) {
        for block in [blocks(&text, "sh"), blocks(&text, "sh run")].concat() {
            let lines =
                block.lines().map(|line| line.trim_start_matches(|c: char| c.is_ascii_uppercase() || "_".contains(c)));
            let lines = lines.map(|line| {
                line.split_once(" langya ")
                    .filter(|(first, _)| first.starts_with('='))
                    .map_or(line.to_owned(), |(_, rest)| format!("langya {rest}"))
            });
            for line in lines.filter(|line| line.starts_with("langya ")) {
                let understood = parse(&words(&line));
                assert!(understood.is_ok(), "{}: {line}: {}", path.display(), understood.unwrap_err());
                count += 1;
            }
        }
    }
    assert!(count > 60, "only {count} commands were found");
}

/// The commands that the program has.
fn command_names() -> Vec<String> {
    let help = langya(std::env::temp_dir().as_path(), ["help"]).stdout;
    let listed = help.split("Commands:\n").nth(1).unwrap().lines().take_while(|line| !line.is_empty());
    let names = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.trim().split(' ').next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

#[test]
fn the_list_of_commands_names_every_command() {
    let listed = include_str!("../../../deploy/COMMANDS.md");
    let names = command_names();
    assert!(names.len() > 20, "only {names:?} were found");
    for name in names {
        assert!(listed.contains(&format!("langya {name}")), "deploy/COMMANDS.md does not name langya {name}");
    }
}

#[test]
fn every_example_that_is_to_be_run_runs() {
    let folder = Path::new(&program()).parent().unwrap().to_owned();
    let mut count = 0;
    for (path, text) in files() {
        for block in blocks(&text, "sh run") {
            let place = tempfile::tempdir().unwrap();
            let mut shell = Command::new("sh");
            shell.env_clear().env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
            shell.env("LANGYA__PROVIDERS__DISCOVER", "false").current_dir(place.path());
            let run = shell.args(["-euc", block]).output().unwrap();
            let said = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{}: {block}\n{said}", path.display());
            count += 1;
        }
    }
    assert!(count >= 6, "only {count} examples were found");
}

async fn page(arena: &TestArena, path: &str) -> (u16, String) {
    let response = get(&format!("{}{path}", arena.url)).await;
    (response.status().as_u16(), response.text().await.unwrap())
}

/// The destinations of links of a page.
fn links(html: &str) -> BTreeSet<String> {
    html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn every_page_is_there_in_both_languages_and_every_link_leads_somewhere() {
    let arena = TestArena::start(&[]).await;
    let mut seen = BTreeSet::new();
    for language in ["en", "zh"] {
        for name in PAGES {
            let (status, html) = page(&arena, &format!("/docs/{name}?lang={language}")).await;
            assert_eq!(status, 200, "{name}");
            assert!(html.contains(&format!("<html lang=\"{language}\">")), "{name}");
            assert!(html.contains(&format!("<a href=\"/docs/{name}\" aria-current=\"page\">")), "{name}");
            seen.extend(links(&html).into_iter().filter(|link| link.starts_with('/')));
        }
    }
    for link in seen {
        let path = link.split('#').next().unwrap();
        let (status, html) = page(&arena, path).await;
        assert_eq!(status, 200, "{link}");
        if let Some((_, id)) = link.split_once('#') {
            assert!(html.contains(&format!("id=\"{id}\"")), "{link}");
        }
    }
    assert_eq!(page(&arena, "/docs/nothing").await.0, 404);
    let (_, start) = page(&arena, "/docs?lang=en").await;
    assert!(start.contains("<h1>Start here</h1>") && start.contains("href=\"/docs\" aria-current"), "{start}");
}

#[actix_web::test]
async fn every_setting_command_and_address_is_listed() {
    let arena = TestArena::start(&[]).await;
    let (_, settings) = page(&arena, "/docs/settings").await;
    let example = include_str!("../../../deploy/langya.example.toml");
    for line in example.lines().filter(|line| line.starts_with('[')) {
        let id = line.trim_matches(['[', ']']).replace('_', "-");
        assert!(settings.contains(&format!("<h3 id=\"{id}\">")), "{id}");
    }
    let plain = text_of(&settings);
    for line in example.lines().skip_while(|line| !line.starts_with('[')).filter(|line| !line.trim().is_empty()) {
        assert!(plain.contains(line.trim_end()), "{line}");
    }
    let (_, commands) = page(&arena, "/docs/commands").await;
    for name in command_names() {
        assert!(commands.contains(&format!("<h3 id=\"langya-{name}")), "{name}");
    }
    assert!(commands.contains("langya models add") && commands.contains("--key-env"), "parts of commands with flags");
    let (_, api) = page(&arena, "/docs/api").await;
    for operation in &langya::server::http::openapi::OPERATIONS {
        assert!(text_of(&api).contains(operation.path), "{}", operation.path);
    }
}

/// The text between the tags.
fn text_of(html: &str) -> String {
    let text: String = html.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text)).collect();
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (escaped, plain)| text.replace(escaped, plain))
}

#[actix_web::test]
async fn a_search_names_sections_and_shows_what_was_typed_as_text() {
    let arena = TestArena::start(&[]).await;
    let (status, found) = page(&arena, "/docs?q=confidence+interval&lang=en").await;
    assert_eq!(status, 200);
    assert!(found.contains("href=\"/docs/votes#intervals\"") && found.contains("Sections with"), "{found}");
    assert!(page(&arena, "/docs?q=%E5%8C%BA%E9%97%B4&lang=zh").await.1.contains("href=\"/docs/votes#intervals\""));
    let (status, hostile) = page(&arena, "/docs?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E").await;
    assert!(status == 200 && !hostile.contains("<script>alert"), "{hostile}");
    for query in ["q=a&q=b", "q=%FF", "q="] {
        assert_eq!(page(&arena, &format!("/docs?{query}")).await.0, 200, "{query}");
    }
}
