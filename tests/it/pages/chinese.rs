//! The Chinese texts use one term for one thing, that of Chinese papers where they have one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use langya::domain::language::Language;
use langya::infra::llm::ChatError;
use langya::infra::llm::http::connection_error_texts;
use langya::render::i18n::pages::page_texts;
use regex::Regex;

/// What was written before, and the term in use.
const TERMS: [(&str, &str); 20] = [
    ("管理者", "运营者"),
    ("访问者", "访客"),
    ("提供方", "服务商"),
    ("供应商", "服务商"),
    ("供应方", "服务商"),
    ("题集", "评测集"),
    ("基准测试", "评测"),
    ("基准运行", "评测运行"),
    ("基准计划", "评测计划"),
    ("基准模型", "基线模型"),
    ("评审模型", "裁判模型"),
    ("评判模型", "裁判模型"),
    ("练习模型", "陪练模型"),
    ("假名", "化名"),
    ("胜平率", "胜和率"),
    ("风格校正", "风格控制"),
    ("戴维森", "Davidson"),
    ("皮尔逊", "Pearson"),
    ("每百万 token", "每百万词元"),
    ("您", "你"),
];

/// What a reply is waited for, as [`ChatError::kind`] knows it.
const TIMEOUTS: [&str; 3] = ["first token", "next token", "end of the reply"];

/// The texts of pages and reports, and the guides.
fn texts() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths = [root.join("src/render/i18n"), root.join("web/docs/zh")].into_iter().flat_map(|folder| files(&folder));
    paths.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn one_thing_has_one_name() {
    let texts = texts();
    assert!(texts.len() > 50, "{} files: the texts are elsewhere now", texts.len());
    let mut wrong = Vec::new();
    for (path, text) in &texts {
        let found = TERMS.iter().filter(|(term, _)| text.contains(term));
        wrong.extend(found.map(|(term, used)| format!("{}: {term}, write {used}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sentences_have_full_width_punctuation_and_a_space_before_the_percent_sign() {
    let slips = Regex::new(r"\p{Han}[,;:!?]|\p{Han}.*[0-9}]%|[0-9}]%.*\p{Han}").unwrap();
    let is_code = |line: &str| line.trim_start().starts_with("//");
    let mut wrong = Vec::new();
    for (path, text) in texts() {
        // A block of code in a guide may hold anything.
        let prose = text.split("```").step_by(2);
        let lines = prose.flat_map(str::lines).filter(|line| !is_code(line) && slips.is_match(line));
        wrong.extend(lines.map(|line| format!("{}: {line}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_failure_of_a_model_is_said_in_chinese_as_the_program_words_it_now() {
    let connections = connection_error_texts::CONNECTION_FAILURES.map(|words| ChatError::Connection(words.to_owned()));
    let unreached = connection_error_texts::CONNECTION_FAILURES.map(|words| ChatError::Unreached(words.to_owned()));
    let bodies = connection_error_texts::BODY_FAILURES.map(|words| ChatError::Malformed(words.to_owned()));
    let after = Duration::from_millis(1_500);
    let timeouts = TIMEOUTS.map(|awaited| ChatError::Timeout { awaited, after });
    let others = [
        ChatError::Status { status: 503, retry_after: None },
        ChatError::Reported,
        ChatError::Empty,
        ChatError::BreakerOpen,
    ];
    let words = &page_texts(Language::Chinese).admin.overview;
    let english = Regex::new("[a-z]{2,}").unwrap();
    for error in connections.into_iter().chain(unreached).chain(bodies).chain(timeouts).chain(others) {
        let text = words.failure(&error.to_string()).unwrap_or_else(|| panic!("no Chinese of: {error}"));
        let rest = text.replace("https://", "").replace("http://", "");
        assert!(!english.is_match(&rest), "{error}: {text}");
    }
}
