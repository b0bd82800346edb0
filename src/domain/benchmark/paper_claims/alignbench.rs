//! AlignBench's claims: composition of its scores, agreement of two judges, and preferred explanations.

use super::{BilingualText, Claim, Number, WHOLE, column, most, table, value};
use crate::benchmark::published::Published;
use crate::stats::agreement::wins::WinCounts;
use crate::stats::correlation::Coefficient;
use crate::stats::real_len;

const PAPER: &str = "AlignBench (Liu et al. 2023, arXiv:2311.18743)";
const GPT4_SERIES: &str = "alignbench_gpt4";
const CRITIQUELLM_SERIES: &str = "alignbench_critiquellm";
/// Planned number of comparisons in each row of Table 5; some comparisons failed.
const PLANNED_COMPARISONS: u64 = 500;

pub(super) fn claims() -> Vec<Claim> {
    vec![overall(), judges(), win_rates(), explanation_delta_claim()]
}

fn overall() -> Claim {
    let says = BilingualText::new(
        "Overall is the mean of reasoning and language, and each of these the mean of its categories.",
        "总分是推理与语言两组的平均，每组是其各类别的平均。",
    );
    let far: Vec<f64> = [GPT4_SERIES, CRITIQUELLM_SERIES].into_iter().flat_map(|id| from_parts(table(id))).collect();
    let numbers = vec![Number::largest_deviation(
        BilingualText::new("greatest distance", "最大偏差"),
        far.len(),
        most(far.into_iter()),
        0.00501,
    )];
    Claim::new("A2", (PAPER, "Tables 6 and 7"), says, numbers)
}

/// Computes the deviation of each printed total and group from the value of its printed parts.
fn from_parts(series: &Published) -> Vec<f64> {
    const REASONING: [&str; 2] = ["数学计算", "逻辑推理"];
    const LANGUAGE: [&str; 6] = ["基本任务", "中文理解", "综合问答", "文本写作", "角色扮演", "专业能力"];
    let of = |subject: &str| {
        let mean =
            |parts: &[&str]| parts.iter().map(|part| value(series, subject, part)).sum::<f64>() / real_len(parts.len());
        [
            mean(&["reasoning", "language"]) - value(series, subject, "overall"),
            mean(&REASONING) - value(series, subject, "reasoning"),
            mean(&LANGUAGE) - value(series, subject, "language"),
        ]
    };
    series.subjects().into_iter().flat_map(of).collect()
}

fn judges() -> Claim {
    let models = table(GPT4_SERIES).subjects();
    let [gpt4, critique] = [GPT4_SERIES, CRITIQUELLM_SERIES].map(|id| column(id, "overall", &models));
    let number = |coefficient: Coefficient| {
        let name = match coefficient {
            Coefficient::Pearson => BilingualText::new("Pearson's r", "Pearson r"),
            Coefficient::Spearman => BilingualText::new("Spearman's ρ", "Spearman ρ"),
            Coefficient::Kendall => BilingualText::new("Kendall's τ-b", "Kendall τ-b"),
        };
        Number::unprinted(name, coefficient.correlate(&gpt4, &critique).expect(WHOLE).r)
    };
    let says = BilingualText::new(
        "How the scores of 17 models by GPT-4 go with those by CritiqueLLM.",
        "17 个模型由 GPT-4 评分与由 CritiqueLLM 评分的相关。",
    );
    Claim::new("A3", (PAPER, "Tables 6 and 7"), says, Coefficient::ALL.into_iter().map(number).collect())
}

/// Row of Table 5: preferences between explanations.
struct ExplanationRow {
    who: &'static str,
    counts: WinCounts,
    win_rate: &'static str,
    delta: &'static str,
}

const TABLE_5: [ExplanationRow; 3] = [
    ExplanationRow {
        who: "ours : general",
        counts: WinCounts { wins: 217, ties: 94, losses: 155, both_bad: 0 },
        win_rate: "58.30",
        delta: "12.40",
    },
    ExplanationRow {
        who: "ours : rules",
        counts: WinCounts { wins: 241, ties: 102, losses: 139, both_bad: 0 },
        win_rate: "63.42",
        delta: "20.40",
    },
    ExplanationRow {
        who: "rules : general",
        counts: WinCounts { wins: 186, ties: 167, losses: 147, both_bad: 0 },
        win_rate: "55.86",
        delta: "7.80",
    },
];

fn win_rates() -> Claim {
    let number = |row: &ExplanationRow| {
        let ours = 100.0 * row.counts.win_rate_without_ties().expect(WHOLE);
        Number { decimals: 2, ..Number::compare_with_printed(BilingualText::new(row.who, row.who), row.win_rate, ours) }
    };
    let says = BilingualText::new(
        "Win rates without ties, A/(A+B), of the explanations of three ways to judge.",
        "三种评判方式的解释之间不计平局的胜率 A/(A+B)。",
    );
    Claim::new("A7", (PAPER, "Table 5"), says, TABLE_5.iter().map(number).collect()).or_else(BilingualText::new(
        "217 wins and 155 losses are 58.33 %, not the printed 58.30.",
        "217 胜 155 负为 58.33 %，而非所印的 58.30。",
    ))
}

fn explanation_delta_claim() -> Claim {
    let number = |row: &ExplanationRow| {
        let ours = 100.0 * row.counts.delta_of_planned(PLANNED_COMPARISONS).expect(WHOLE);
        Number { decimals: 2, ..Number::compare_with_printed(BilingualText::new(row.who, row.who), row.delta, ours) }
    };
    let says = BilingualText::new(
        "ΔWR = (A − B)/500: of the comparisons that were planned, though two rows have fewer votes.",
        "ΔWR = (A − B)/500：分母为计划的比较数，尽管其中两行的票数更少。",
    );
    Claim::new("A8", (PAPER, "Table 5"), says, TABLE_5.iter().map(number).collect())
}
