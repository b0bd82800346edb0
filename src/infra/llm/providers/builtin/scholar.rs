//! The strongest practice model: worked solutions, passages and code combined under headings, with a table of sources. It has no more
//! knowledge than the retriever and the calculator, and states its limits.

use std::fmt::Write as _;

use super::calculator::worked_solution;
use super::retriever::{RankedPassage, search};
use super::words::{excerpt, language_of, question};
use crate::domain::language::Language;
use crate::llm::Message;

/// A program for a task with its keywords.
struct Snippet {
    words: &'static [&'static str],
    title: &'static str,
    code: &'static str,
    note: &'static str,
}

const SNIPPETS: [Snippet; 5] = [
    Snippet {
        words: &["fizzbuzz"],
        title: "FizzBuzz",
        code: "for n in range(1, 101):\n    word = \"Fizz\" * (n % 3 == 0) + \"Buzz\" * (n % 5 == 0)\n    print(word or n)",
        note: "A string times `False` is empty, so `word or n` prints the number where neither rule holds.",
    },
    Snippet {
        words: &["factorial", "阶乘"],
        title: "Factorial",
        code: "def factorial(n: int) -> int:\n    product = 1\n    for factor in range(2, n + 1):\n        product *= factor\n    return product",
        note: "A loop needs no deep stack, unlike the recursive form. `factorial(0)` is 1.",
    },
    Snippet {
        words: &["fibonacci", "斐波那契"],
        title: "Fibonacci numbers",
        code: "def fibonacci(n: int) -> int:\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a",
        note: "It takes n additions; the naive recursion takes exponentially many.",
    },
    Snippet {
        words: &["reverse", "反转"],
        title: "Reversing a string",
        code: "def reverse(text: str) -> str:\n    return text[::-1]",
        note: "The slice `[::-1]` walks from the end to the beginning.",
    },
    Snippet {
        words: &["binary search", "二分查找"],
        title: "Binary search",
        code: "def find(values: list[int], wanted: int) -> int | None:\n    low, high = 0, len(values)\n    while low < high:\n        middle = (low + high) // 2\n        if values[middle] < wanted:\n            low = middle + 1\n        else:\n            high = middle\n    return low if low < len(values) and values[low] == wanted else None",
        note: "The list must be sorted. Each round halves what is left.",
    },
];

/// Words that request a program rather than an explanation.
const CODE_WORDS: [&str; 9] = ["code", "function", "program", "python", "write", "implement", "代码", "函数", "程序"];

pub(super) fn answer(conversation: &[Message]) -> String {
    let asked = question(conversation);
    let language = language_of(asked);
    let mut text = String::new();
    if let Some(snippet) = snippet_for(asked) {
        section(&mut text, snippet.title, &format!("```python\n{}\n```\n\n{}", snippet.code, snippet.note));
    } else if let Some(worked) = worked_solution(conversation) {
        section(&mut text, if language == Language::Chinese { "计算" } else { "Working" }, &worked);
    } else {
        let hits = search(conversation);
        if let Some((best, others)) = hits.split_first() {
            passages(&mut text, *best, others, language);
        }
    }
    if text.is_empty() { unknown_topic_answer(asked, language) } else { text }
}

fn snippet_for(asked: &str) -> Option<&'static Snippet> {
    let lower = asked.to_lowercase();
    let wants_code = CODE_WORDS.iter().any(|word| lower.contains(word));
    SNIPPETS.iter().filter(|_| wants_code).find(|snippet| snippet.words.iter().any(|word| lower.contains(word)))
}

fn section(text: &mut String, title: &str, body: &str) {
    // Writing to a string cannot fail.
    let _ = write!(text, "## {title}\n\n{body}");
}

/// Writes the best passage as a summary and its sentences as points; other passages in a table.
fn passages(text: &mut String, best: RankedPassage, others: &[RankedPassage], language: Language) {
    let sentences = sentences(best.passage.text);
    let (first, rest) = sentences.split_first().map_or((best.passage.text, &[][..]), |(first, rest)| (*first, rest));
    section(text, best.passage.title, &format!("**{first}**"));
    if !rest.is_empty() {
        let points: Vec<String> = rest.iter().map(|sentence| format!("- {sentence}")).collect();
        let _ = write!(text, "\n\n{}", points.join("\n"));
    }
    let related: Vec<&RankedPassage> = others.iter().filter(|hit| hit.score > 0.5 * best.score).collect();
    if !related.is_empty() {
        let head = if language == Language::Chinese { "| 相关内容 | 要点 |" } else { "| See also | In short |" };
        let rows: Vec<String> = related
            .iter()
            .map(|hit| format!("| {} | {} |", hit.passage.title, excerpt(hit.passage.text, 90).replace('|', "/")))
            .collect();
        let _ = write!(text, "\n\n{head}\n| --- | --- |\n{}", rows.join("\n"));
    }
}

/// Splits after `.`, `?` or `!` before a blank, and after their Chinese forms.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (index, c) in text.char_indices() {
        let end = index + c.len_utf8();
        let next_is_blank = text[end..].starts_with(char::is_whitespace);
        if matches!(c, '。' | '！' | '？') || (matches!(c, '.' | '?' | '!') && next_is_blank) {
            sentences.push(text[start..end].trim());
            start = end;
        }
    }
    sentences.extend(Some(text[start..].trim()).filter(|rest| !rest.is_empty()));
    sentences
}

fn unknown_topic_answer(asked: &str, language: Language) -> String {
    let asked = excerpt(asked, 100);
    if language == Language::Chinese {
        format!(
            "关于“{asked}”，我的资料里没有可靠的内容，我不想编造。\n\n我能做的是：\n\n- 算术、单位换算和日期\n\
             - 回答一些地理、历史和科学常识\n- 写几个简单的程序"
        )
    } else {
        format!(
            "I have nothing reliable about “{asked}”, and I would rather not make something up.\n\nWhat I can do:\n\n\
             - arithmetic, units and dates\n- some general knowledge of geography, history and science\n\
             - a few short programs"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::asked;
    use super::*;

    #[track_caller]
    fn check(question: &str, expected: &[&str]) {
        let said = answer(&asked(&[question]));
        for part in expected {
            assert!(said.contains(part), "{question:?} lacks {part:?}: {said}");
        }
    }

    #[test]
    fn each_kind_of_question_gets_its_own_form() {
        check("What is 12*(3+4)?", &["## Working", "= 84 $$", "1. "]);
        check("Write a Python function for the factorial", &["## Factorial", "```python\ndef factorial"]);
        check("What is the capital of Germany?", &["## Germany and Berlin", "**Berlin", "\n- The city was divided"]);
        check("太阳系有哪些行星？", &["## 太阳系", "- 木星最大"]);
        check("Who won the game last night?", &["rather not make something up"]);
        check("我家的猫叫什么？", &["不想编造"]);
    }

    #[test]
    fn sentences_end_at_their_signs_and_not_within_numbers() {
        assert_eq!(sentences("It is 9.81. Yes! No"), ["It is 9.81.", "Yes!", "No"]);
        assert_eq!(sentences("你好。再见。"), ["你好。", "再见。"]);
    }
}
