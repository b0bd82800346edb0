//! Accuracy of a language model at finding leaks, alone and combined with the rules: replies to the built-in question about each labelled
//! text of four sets, none of which its instructions were written with.
//!
//! With `LANGYA_WRITE_LEAK_QUESTIONS=FILE`, the test writes the questions, one JSON object per line with `set`, `id`, `system` and `user`,
//! so that another model can be evaluated. Its replies, as `tests/data/leaks/judged_replies.jsonl`, are lines with `set`, `id` and `reply`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use super::{LeakCheckPrompt, read_reply};
use crate::integrity::identity_leak::LeakSearch;
use crate::integrity::identity_leak::tests::{
    FIFTH_TEST, FOURTH, HOSTILE, LabeledText, THIRD_TEST, battle_of, is_marked, names, read,
};

const SETS: [(&str, &str); 4] =
    [("third", THIRD_TEST), ("fourth", FOURTH), ("fifth", FIFTH_TEST), ("hostile", HOSTILE)];
const REPLIES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/judged_replies.jsonl"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgedText {
    set: String,
    id: u32,
    reply: String,
}

fn write_questions(path: &str) {
    let (prompt, mut lines) = (LeakCheckPrompt::new().unwrap(), String::new());
    for (set, file) in SETS {
        for row in read(file) {
            let request = prompt.request(&[battle_of(&row).0]);
            let [system, user] = [0, 1].map(|at| request.messages[at].content.clone());
            let line = serde_json::json!({ "set": set, "id": row.id, "system": system, "user": user });
            writeln!(lines, "{line}").unwrap();
        }
    }
    std::fs::write(path, lines).unwrap();
}

/// Number of texts of one kind, and how many of them are found.
#[derive(Debug, Clone, Copy, Default)]
struct FoundCounts {
    texts: u32,
    found: u32,
}

impl FoundCounts {
    fn share(self) -> f64 {
        f64::from(self.found) / f64::from(self.texts)
    }
}

/// Counts all and the found texts, among the leaks and among the harmless texts.
fn count_found(rows: &[LabeledText], is_found: impl Fn(&LabeledText) -> bool) -> [FoundCounts; 2] {
    let mut counts = [FoundCounts::default(); 2];
    for row in rows {
        let of_kind = &mut counts[usize::from(!row.leak)];
        of_kind.texts += 1;
        of_kind.found += u32::from(is_found(row));
    }
    counts
}

fn check(title: &str, [leaks, harmless]: [FoundCounts; 2]) {
    println!(
        "{title}: recall {:.4} of {}, false marks {:.4} of {}",
        leaks.share(),
        leaks.texts,
        harmless.share(),
        harmless.texts
    );
    assert!(leaks.share() >= 0.98 && harmless.share() <= 0.02, "{title}");
}

#[test]
fn a_language_model_finds_what_the_rules_miss() {
    if let Ok(path) = std::env::var("LANGYA_WRITE_LEAK_QUESTIONS") {
        write_questions(&path);
    }
    let replies: Vec<JudgedText> = REPLIES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let replies: BTreeMap<(&str, u32), &str> =
        replies.iter().map(|one| ((one.set.as_str(), one.id), one.reply.as_str())).collect();
    let (names, mut all) = (names(), [FoundCounts::default(); 2]);
    for (set, file) in SETS {
        let rows = read(file);
        let is_found = |row: &LabeledText| {
            let (texts, leak) = battle_of(row);
            // An unparsable reply finds nothing.
            read_reply(replies[&(set, row.id)], &[texts]).is_ok_and(|leaks| leaks.contains(&leak))
        };
        check(&format!("{set} set, the model alone"), count_found(&rows, is_found));
        let both = count_found(&rows, |row| is_found(row) || is_marked(&names, row, LeakSearch::Rules));
        println!("{set} set, the model and the rules: {both:?}");
        if set == "hostile" {
            // Written against a model that reads; it says little about the rules.
            continue;
        }
        for (sum, one) in all.iter_mut().zip(both) {
            *sum = FoundCounts { texts: sum.texts + one.texts, found: sum.found + one.found };
        }
        if set == "fifth" {
            // The only set with which neither rules nor weights were developed.
            check("fifth set, the model and the rules", both);
        }
    }
    check("all sets, the model and the rules", all);
}
