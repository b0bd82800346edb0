//! Graph of the modules of `src/` and the modules that each of them uses.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// Folders that are separate crates.
const CRATES: [&str; 8] = ["domain", "formats", "render", "infra", "services", "pages", "server", "cli"];

/// Module of a crate: one file.
pub(crate) struct Module {
    /// Path of names from the crate's root.
    pub(crate) path: Vec<String>,
    /// Path of the file.
    pub(crate) file: PathBuf,
    /// Text without comments and unit tests.
    pub(crate) code: String,
    /// Used modules of the crate, from the root: the longest path that is a module, other than itself.
    pub(crate) uses: BTreeSet<Vec<String>>,
}

/// Lists every module of `src/`, ordered by path.
pub(crate) fn modules() -> Vec<Module> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = rust_files(&source);
    files.sort();
    let paths: BTreeSet<Vec<String>> = files.iter().map(|file| module_path(&source, file)).collect();
    let read = |file: PathBuf| {
        let path = module_path(&source, &file);
        let code = code(&fs::read_to_string(&file).unwrap());
        let uses = named(&code).into_iter().filter_map(|name| resolve(&path, &name, &paths)).collect();
        Module { path, file, code, uses }
    };
    files.into_iter().map(read).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("tests.rs")).collect()
}

fn module_path(source: &Path, file: &Path) -> Vec<String> {
    let path = file.strip_prefix(source).unwrap().with_extension("");
    let mut names: Vec<String> = path.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|last| ["mod", "lib"].contains(&last.as_str())) {
        names.pop();
    }
    names
}

/// Removes comments and the unit tests at the end of a file.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Lists every path in a file: those of `use` with their groups expanded, and those in the code.
fn named(code: &str) -> Vec<String> {
    static USE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\buse\s+([^;]+);").unwrap());
    static PATH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(?:[a-z_][a-z0-9_]*::)+\w+").unwrap());
    let imported =
        USE.captures_iter(code).flat_map(|found| written_out(&found[1].split_whitespace().collect::<String>()));
    let rest = USE.replace_all(code, "");
    imported.chain(PATH.find_iter(&rest).map(|found| found.as_str().to_owned())).collect()
}

/// Expands `a::{b, c::{d, e}}` to `a::b`, `a::c::d` and `a::c::e`.
fn written_out(tree: &str) -> Vec<String> {
    let Some((prefix, group)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let group = group.strip_suffix('}').unwrap_or(group);
    let (mut depth, mut start, mut branches) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                branches.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    branches.push(&group[start..]);
    let branches = branches.into_iter().filter(|branch| !branch.is_empty()).flat_map(written_out);
    branches.map(|branch| format!("{prefix}{branch}")).collect()
}

fn is_crate(folder: &str) -> bool {
    CRATES.contains(&folder)
}

/// Resolves a path from a module to a module; `None` if it is of another crate or the module itself.
fn resolve(from: &[String], name: &str, known: &BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let names: Vec<&str> = name.split("::").collect();
    let supers = names.iter().take_while(|name| **name == "super").count();
    let child = || known.contains(&[from, &[names[0].to_owned()]].concat());
    let (mut path, rest) = match names[0] {
        // A crate refers to the others by an alias in its root.
        "crate" if is_crate(&from[0]) && !names.get(1).is_some_and(|top| is_crate(top)) => {
            (vec![from[0].clone()], &names[1..])
        }
        "crate" => (Vec::new(), &names[1..]),
        "super" => (from[..from.len().saturating_sub(supers)].to_vec(), &names[supers..]),
        "self" => (from.to_vec(), &names[1..]),
        _ if child() => (from.to_vec(), &names[..]),
        _ => return None,
    };
    for next in rest {
        path.push((*next).to_owned());
        if !known.contains(&path) {
            path.pop();
            break;
        }
    }
    (path != from && !path.is_empty()).then_some(path)
}
