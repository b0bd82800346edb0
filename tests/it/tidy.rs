//! Holds the lines between the layers: what is pure names no outside world, and nobody names what is above.

use std::fs;
use std::path::{Path, PathBuf};

const OUTSIDE: [&str; 6] = ["tokio::", "sqlx::", "actix_web::", "actix_ws::", "reqwest::", "redis::"];
/// A folder, and the modules of this crate that it may not name.
const LAYERS: [(&str, &[&str]); 15] = [
    ("battle", &["config", "storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("rating", &["config", "storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("stats", &["config", "storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("judging", &["benchmark", "config", "storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("benchmark", &["config", "storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("crowd", &["config", "storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("annotation", &["config", "storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("markup", &["config", "storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("chart", &["config", "storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("storage", &["services", "jobs", "ws", "http", "cli", "app"]),
    ("shared", &["storage", "llm", "events", "limits", "services", "jobs", "ws", "http", "cli", "app"]),
    ("events", &["storage", "llm", "limits", "services", "jobs", "ws", "http", "cli", "app"]),
    ("limits", &["storage", "llm", "events", "services", "jobs", "ws", "http", "cli", "app"]),
    ("llm", &["storage", "services", "jobs", "ws", "http", "cli", "app"]),
    ("services", &["jobs", "ws", "http", "cli", "app"]),
];
const PURE: [&str; 9] = ["battle", "rating", "stats", "annotation", "judging", "benchmark", "crowd", "markup", "chart"];

#[test]
fn rules_name_no_outside_world_and_no_layer_names_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut broken = Vec::new();
    for (folder, above) in LAYERS {
        let files = rust_files(&source.join(folder));
        assert!(!files.is_empty(), "src/{folder} is gone: mend this test");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let outside = OUTSIDE.iter().filter(|_| PURE.contains(&folder)).filter(|name| text.contains(**name));
            broken.extend(outside.map(|name| format!("{} names {name}: keep I/O in an adapter", file.display())));
            let upward = above.iter().filter(|module| text.contains(&format!("crate::{module}::")));
            broken.extend(upward.map(|module| format!("{} names crate::{module}, a layer above", file.display())));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|kind| kind == "rs"))
        .collect()
}
