//! Holds the direction of the folders of `src/`, `domain ← formats, render ← infra ← services, pages ← server, cli`, and that a name
//! stands for one type.

use std::collections::BTreeMap;

use regex::Regex;

use crate::support::module_graph::{Module, modules};

/// Each folder, and the folders that its modules may use beside their own.
const USES: [(&str, &[&str]); 8] = [
    ("domain", &[]),
    ("formats", &["domain"]),
    ("render", &["domain"]),
    ("infra", &["domain", "formats"]),
    ("services", &["domain", "formats", "render", "infra"]),
    ("pages", &["domain", "render", "infra"]),
    ("server", &["domain", "formats", "render", "infra", "services", "pages"]),
    ("cli", &["domain", "formats", "render", "infra", "services"]),
];
/// Crates that talk to the outside world, which only `infra` and what lies above it may name.
const OUTSIDE: [&str; 7] = ["tokio::", "sqlx::", "actix_web::", "actix_ws::", "reqwest::", "redis::", "futures_util::"];

#[test]
fn folders_use_only_folders_below_them() {
    let modules = modules();
    let mut broken = Vec::new();
    for (folder, allowed) in USES {
        let own: Vec<&Module> =
            modules.iter().filter(|module| module.path.first().is_some_and(|top| top == folder)).collect();
        assert!(!own.is_empty(), "src/{folder} is gone: update this test");
        for module in own {
            for used in module.uses.iter().filter_map(|path| path.first()) {
                if used != folder && !allowed.contains(&used.as_str()) {
                    broken.push(format!("{} uses crate::{used}, which lies above {folder}", module.file.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn domain_formats_and_render_name_no_outside_world() {
    let pure = |module: &&Module| {
        ["domain", "formats", "render"].iter().any(|folder| module.path.first().is_some_and(|top| top == folder))
    };
    let named = |module: &Module| {
        let crates = OUTSIDE.iter().filter(|name| module.code.contains(**name));
        crates.map(|name| format!("{} names {name}: move I/O to infra", module.file.display())).collect::<Vec<_>>()
    };
    let broken: Vec<String> = modules().iter().filter(pure).flat_map(named).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_name_stands_for_one_type() {
    let declaration =
        r"(?m)^(?:\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union)|(?:pub(?:\([^)]*\))? )?type) (\w+)";
    let declaration = Regex::new(declaration).unwrap();
    let modules = modules();
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for module in &modules {
        for found in declaration.captures_iter(&module.code) {
            files.entry(found.get(1).unwrap().as_str()).or_default().push(module.file.display().to_string());
        }
    }
    assert!(files.len() > 1_000, "{} types are found: the expression reads no declarations", files.len());
    files.retain(|_, files| files.len() > 1);
    assert!(files.is_empty(), "names of several types: {files:#?}");
}
