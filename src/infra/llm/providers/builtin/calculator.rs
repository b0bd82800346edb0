//! Practice model that is exact within its field: arithmetic, units and dates, solved with every step. It refuses everything else.

use super::arithmetic::{self, SolvedSum, equals, number};
use super::dates;
use super::units::{self, Conversion};
use super::words::{language_of, question, questions};
use crate::domain::language::Language;
use crate::llm::Message;

pub(super) fn answer(conversation: &[Message]) -> String {
    let asked = question(conversation);
    worked_solution(conversation).unwrap_or_else(|| {
        if language_of(asked) == Language::Chinese {
            "我只会算术、单位换算和日期，例如 `(3+5)×2`、`10公里是多少英里`、\
             `2024年5月1日是星期几`。这个问题我不知道答案。"
                .to_owned()
        } else {
            "I know arithmetic, units and dates only, such as `(3 + 5) * 2`, \
             `10 km in miles` or `what day is 2024-05-01`. I do not know the answer to this."
                .to_owned()
        }
    })
}

/// Returns a worked solution in Markdown; `None` if the question has nothing to compute.
pub(super) fn worked_solution(conversation: &[Message]) -> Option<String> {
    let asked = question(conversation);
    if let Some(answer) = dates::answer(asked) {
        return Some(answer);
    }
    let language = language_of(asked);
    if let Some(conversion) = units::find(asked) {
        return Some(conversion_text(&conversion, language));
    }
    let last = questions(conversation).skip(1).find_map(|earlier| Some(arithmetic::solve(earlier, None)?.value));
    arithmetic::solve(asked, last).map(|solution| solution_text(&solution, language))
}

fn solution_text(solution: &SolvedSum, language: Language) -> String {
    let result = equals(solution.value);
    let headline = format!("$$ {} {result} $$", solution.expression);
    if solution.steps.len() < 2 {
        return headline;
    }
    let steps: Vec<String> =
        solution.steps.iter().enumerate().map(|(index, step)| format!("{}. ${step}$", index + 1)).collect();
    let (working, closing) = if language == Language::Chinese {
        ("步骤：", "所以结果是")
    } else {
        ("Step by step:", "So the result is")
    };
    let end = if language == Language::Chinese { "。" } else { "." };
    format!("{headline}\n\n{working}\n\n{}\n\n{closing} **${}$**{end}", steps.join("\n"), number(solution.value))
}

fn conversion_text(conversion: &Conversion, language: Language) -> String {
    let (from, to) = (conversion.from.symbol, conversion.to.symbol);
    let (value, result) = (number(conversion.value), format_rounded(conversion.result()));
    let colon = if language == Language::Chinese { "：" } else { ":" };
    if conversion.is_proportional() {
        let each = format_rounded(conversion.from.factor / conversion.to.factor);
        let rule = if language == Language::Chinese { "换算关系" } else { "The rule" };
        format!(
            "{rule}{colon} $1\\,\\text{{{from}}} {each}\\,\\text{{{to}}}$\n\n$$ {value}\\,\\text{{{from}}} {result}\\,\\text{{{to}}} $$"
        )
    } else {
        let rule = if to == "°F" { "F = C \\times \\frac{9}{5} + 32" } else { "C = (F - 32) \\times \\frac{5}{9}" };
        let name = if language == Language::Chinese { "公式" } else { "The rule" };
        format!("{name}{colon} ${rule}$\n\n$$ {value}\\,\\text{{{from}}} {result}\\,\\text{{{to}}} $$")
    }
}

/// Rounds to eight decimals: more would only show floating-point error.
fn format_rounded(value: f64) -> String {
    let rounded = if value.abs() < 1e7 { (value * 1e8).round() / 1e8 } else { value };
    let exact = (rounded - value).abs() <= 1e-13 * value.abs();
    if exact { equals(rounded) } else { format!("\\approx {}", number(rounded)) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::asked;
    use super::*;

    #[track_caller]
    fn check(questions: &[&str], expected: &str) {
        let said = answer(&asked(questions));
        assert!(said.contains(expected), "{questions:?}: {said}");
    }

    #[test]
    fn sums_are_worked_out_with_their_steps() {
        check(&["What is (3+5)*2?"], "$$ (3 + 5) \\times 2 = 16 $$");
        check(&["What is (3+5)*2?"], "1. $3 + 5 = 8$\n2. $8 \\times 2 = 16$");
        check(&["请问3加5等于多少"], "3 + 5 = 8");
    }

    #[test]
    fn the_last_result_is_remembered() {
        check(&["2*21", "Now take that plus 1"], "42 + 1 = 43");
    }

    #[test]
    fn units_and_dates_are_known() {
        check(&["10 km in miles"], "\\approx 6.21371192");
        check(&["100 c to f"], "= 212\\,\\text{°F}");
        check(&["Which day was 2000-01-01?"], "Saturday");
    }

    #[test]
    fn everything_else_is_admitted() {
        check(&["Who wrote Hamlet?"], "do not know");
        check(&["李白是谁？"], "不知道");
    }
}
