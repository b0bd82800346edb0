//! SuperCLUE's claims: correlation of CLOSE and OPEN, and the mixture of both that best predicts CArena's votes.

use serde::Deserialize;

use super::{BilingualText, Claim, Number, WHOLE, column, most, table, value};
use crate::stats::convex_mixture::{Search, best};
use crate::stats::correlation::{Correlation, kendall, pearson, spearman_by_t};
use crate::stats::distribution::Summary;
use crate::stats::{real, real_len};

const PAPER: &str = "SuperCLUE (Xu et al. 2023, arXiv:2307.15020)";
/// Models of Chinese makers.
const CHINESE_MODELS: [&str; 8] =
    ["MiniMax", "Wenxin Yiyan", "SparkDesk", "ChatGLM-130B", "ChatGLM2-6B", "360 Brain", "Ziya-13B", "MOSS"];
/// Models of Table 4: no other four or more models of Table 2 yield its numbers.
const TABLE_4_MODELS: [&str; 5] = ["MiniMax", "ChatGLM-130B", "ChatGLM2-6B", "Ziya-13B", "MOSS"];
/// Search grid: the weights of Table 4 are multiples of 1/1000.
const WEIGHT_SEARCH: Search = Search::Grid { steps: 1_000 };
/// Maximum number of questions per capability.
const MAX_QUESTIONS_PER_CAPABILITY: u32 = 30;

pub(super) fn claims() -> Vec<Claim> {
    let mut claims = vec![ranks_of_close_and_open(), line_of_close_and_open(), coefficient_of_variation()];
    claims.extend(single_set_claims());
    claims.extend(mixture_claims());
    claims.extend([pooled(), rwkv_claim(), close_score_range_claim(), open_score_range_claim(), minimax_rank_claim()]);
    claims
}

/// Returns CLOSE, and OPEN's first turns, of the Chinese models.
fn close_and_open() -> [Vec<f64>; 2] {
    [column("superclue_close", "overall", &CHINESE_MODELS), column("superclue_open", "turn:1", &CHINESE_MODELS)]
}

fn ranks_of_close_and_open() -> Claim {
    let [close, open] = close_and_open();
    let found = spearman_by_t(&close, &open).expect(WHOLE);
    let says = BilingualText::new(
        "Over the eight Chinese models CLOSE and OPEN SINGLE have no significant rank correlation.",
        "在八个中文模型上，CLOSE 与 OPEN SINGLE 没有显著的秩相关。",
    );
    let numbers = vec![
        Number::compare_with_printed(BilingualText::new("Spearman's ρ", "Spearman ρ"), "0.5150", found.r),
        Number::compare_with_printed(BilingualText::new("p, by t", "p（t 检验）"), "0.1915", found.p),
    ];
    Claim::new("S1", (PAPER, "Analysis"), says, numbers)
}

fn line_of_close_and_open() -> Claim {
    let [close, open] = close_and_open();
    let found = pearson(&close, &open).expect(WHOLE);
    let tau = kendall(&close, &open).expect(WHOLE);
    let says = BilingualText::new("Nor have they a significant linear correlation.", "二者也没有显著的线性相关。");
    let numbers = vec![
        Number::compare_with_printed(BilingualText::new("Pearson's r", "Pearson r"), "0.5547", found.r),
        Number::compare_with_printed(BilingualText::new("p", "p"), "0.1536", found.p),
        Number::unprinted(BilingualText::new("Kendall's τ-b", "Kendall τ-b"), tau.r),
    ];
    Claim::new("S2", (PAPER, "Analysis"), says, numbers)
}

fn coefficient_of_variation() -> Claim {
    let of = |values: &[f64]| Summary::new(values).and_then(|summary| summary.coefficient_of_variation()).expect(WHOLE);
    let [close, open] = close_and_open();
    let says = BilingualText::new(
        "The models lie closer together on CLOSE than on OPEN SINGLE (coefficient of variation, of a sample).",
        "模型在 CLOSE 上比在 OPEN SINGLE 上更集中（样本变异系数）。",
    );
    let numbers = vec![
        Number::compare_with_printed(BilingualText::new("CLOSE", "CLOSE"), "0.11", of(&close)),
        Number::compare_with_printed(BilingualText::new("OPEN SINGLE", "OPEN SINGLE"), "0.34", of(&open)),
    ];
    Claim::new("S3", (PAPER, "Figure 7"), says, numbers)
}

/// Returns a set of questions by its name in the paper, for the models of Table 4.
fn set(name: &str) -> Vec<f64> {
    match name {
        "CLOSE" => column("superclue_close", "overall", &TABLE_4_MODELS),
        "OPEN SINGLE" => column("superclue_open", "turn:1", &TABLE_4_MODELS),
        _ => column("superclue_open", "turn:2", &TABLE_4_MODELS),
    }
}

fn votes() -> Vec<f64> {
    column("superclue_arena", "overall", &TABLE_4_MODELS)
}

/// Computes the rows of Table 4 with one set.
fn single_set_claims() -> Vec<Claim> {
    let rows = [
        ("S4", "CLOSE", "0.7950", false),
        ("S5", "OPEN SINGLE", "0.8747", false),
        ("S6", "OPEN MULTI", "0.8985", true),
    ];
    let claim = |(id, name, printed, under): (&'static str, &str, &str, bool)| {
        let found = pearson(&set(name), &votes()).expect(WHOLE);
        let says = BilingualText::new(
            &format!("How {name} goes with the votes of CArena, over five models."),
            &format!("五个模型上 {name} 与 CArena 投票的相关。"),
        );
        Claim::new(id, (PAPER, "Table 4"), says, correlation(printed, under, &found))
    };
    rows.into_iter().map(claim).collect()
}

fn correlation(printed: &str, under: bool, found: &Correlation) -> Vec<Number> {
    vec![
        Number::compare_with_printed(BilingualText::new("Pearson's r", "Pearson r"), printed, found.r),
        Number::significance(BilingualText::new("p", "p"), under, found.p),
    ]
}

/// Row of Table 4 with several sets.
struct Mixed {
    id: &'static str,
    sets: &'static [&'static str],
    weights: &'static [&'static str],
    r: &'static str,
}

fn mixture_claims() -> Vec<Claim> {
    let rows = [
        Mixed { id: "S7", sets: &["CLOSE", "OPEN SINGLE"], weights: &["0.5440", "0.4560"], r: "0.9132" },
        Mixed { id: "S8", sets: &["CLOSE", "OPEN MULTI"], weights: &["0.4900", "0.5100"], r: "0.9397" },
        Mixed { id: "S9", sets: &["OPEN SINGLE", "OPEN MULTI"], weights: &["0", "1"], r: "0.8985" },
        Mixed {
            id: "S10",
            sets: &["CLOSE", "OPEN SINGLE", "OPEN MULTI"],
            weights: &["0.4900", "0", "0.5100"],
            r: "0.9397",
        },
    ];
    rows.iter().map(mixture).collect()
}

fn mixture(row: &Mixed) -> Claim {
    let series: Vec<Vec<f64>> = row.sets.iter().map(|name| set(name)).collect();
    let series: Vec<&[f64]> = series.iter().map(Vec::as_slice).collect();
    let found = best(&series, &votes(), WEIGHT_SEARCH).expect(WHOLE);
    let weight = |((name, printed), ours): ((&&str, &&str), &f64)| {
        let number = Number::compare_with_printed(
            BilingualText::new(&format!("weight of {name}"), &format!("{name} 的权重")),
            printed,
            *ours,
        );
        Number { decimals: 3, ..number }
    };
    let mut numbers: Vec<Number> = row.sets.iter().zip(row.weights).zip(&found.weights).map(weight).collect();
    numbers.extend(correlation(row.r, true, &found.pearson));
    let sets = row.sets.join(" + ");
    let says = BilingualText::new(
        &format!("The mixture of {sets} that follows the votes best, fitted to the same five models."),
        &format!("在同样五个模型上拟合、最贴近投票的 {sets} 组合。"),
    );
    Claim::new(row.id, (PAPER, "Table 4"), says, numbers)
}

/// Valid and counted answers of a capability, which yield the shares of Table 3.
#[derive(Debug, Deserialize)]
pub(super) struct ValidCounts {
    pub(super) subject: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "only a test asks which capability a row is of"))]
    pub(super) part: String,
    pub(super) first_good: u32,
    pub(super) first_all: u32,
    pub(super) second_good: u32,
    pub(super) second_all: u32,
}

pub(super) fn open_counts() -> Vec<ValidCounts> {
    let rows = csv::Reader::from_reader(include_str!("superclue_open_counts.csv").as_bytes()).into_deserialize();
    rows.collect::<Result<_, _>>().expect(WHOLE)
}

/// Recomputes Table 2 by pooling Table 3's counts over all capabilities.
fn pooled() -> Claim {
    let says = BilingualText::new(
        "The totals of Table 2 are the capabilities of Table 3 pooled: all valid answers in one pot.",
        "表 2 的总分是表 3 各能力的合并计数：所有有效回答一起计。",
    );
    let (open, close) = (open_cells(), close_cells());
    let numbers = vec![
        Number::largest_deviation(
            BilingualText::new("OPEN, greatest distance", "OPEN 最大偏差"),
            open.len(),
            most(open.into_iter()),
            0.005,
        ),
        Number::largest_deviation(
            BilingualText::new("CLOSE, greatest distance", "CLOSE 最大偏差"),
            close.len(),
            most(close.into_iter()),
            0.005,
        ),
    ];
    Claim::new("S12", (PAPER, "Tables 2 and 3"), says, numbers)
}

/// Computes the deviations of OPEN's totals from the pooled counts.
fn open_cells() -> Vec<f64> {
    let (open, counts) = (table("superclue_open"), open_counts());
    let of = |subject: &str| {
        let mine = counts.iter().filter(|row| row.subject == subject);
        let [a, b, c, d] = mine.fold([0, 0, 0, 0], |[a, b, c, d], row| {
            [a + row.first_good, b + row.first_all, c + row.second_good, d + row.second_all]
        });
        let share = |good: u32, all: u32| 100.0 * f64::from(good) / f64::from(all);
        [("turn:1", share(a, b)), ("turn:2", share(c, d)), ("overall", share(a + c, b + d))]
            .map(|(part, ours)| ours - value(open, subject, part))
    };
    open.subjects().into_iter().flat_map(of).collect()
}

/// Computes the deviations of CLOSE's totals from the pooled counts of its capabilities' shares.
fn close_cells() -> Vec<f64> {
    let close = table("superclue_close");
    let of = |subject: &str| {
        let parts = close.points.iter().filter(|point| point.subject == subject && point.part != "overall");
        let (right, all) = parts.map(|point| counted(point.value)).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
        100.0 * f64::from(right) / f64::from(all) - value(close, subject, "overall")
    };
    close.subjects().into_iter().map(of).collect()
}

/// Finds the numbers of correct and of all answers, up to [`MAX_QUESTIONS_PER_CAPABILITY`], whose share is nearest to the printed one;
/// the largest on a tie.
fn counted(percent: f64) -> (u32, u32) {
    let of = |all: u32| {
        let right = (0..=all).min_by(|&one, &other| {
            let far = |right: u32| (100.0 * f64::from(right) / f64::from(all) - percent).abs();
            far(one).total_cmp(&far(other))
        });
        let right = right.unwrap_or_default();
        // Shares are printed with four digits: shares that round to the same value are equally near.
        let far = ((100.0 * f64::from(right) / f64::from(all) - percent).abs() * 100.0).round();
        (far, right, all)
    };
    let near = (MAX_QUESTIONS_PER_CAPABILITY / 2..=MAX_QUESTIONS_PER_CAPABILITY).rev().map(of);
    let (_, right, all) = near.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or_default();
    (right, all)
}

fn rwkv_claim() -> Claim {
    let arena = table("superclue_arena");
    let capabilities = arena.points.iter().filter(|point| point.subject == "RWKV-world-7B");
    let says = BilingualText::new(
        "RWKV-world-7B's share of wins and ties in CArena; a total cannot exceed the highest of its ten capabilities.",
        "RWKV-world-7B 在 CArena 的胜和率；总体不可能高于十项能力中的最高者。",
    );
    let ours = most(capabilities.map(|point| point.value));
    let number = Number::compare_with_printed(BilingualText::new("total, at most", "总体上限"), "80.15", ours);
    let number = Number { agrees: Some(80.15 <= ours + number.tolerance), decimals: 2, ..number };
    Claim::new("S24", (PAPER, "Tables 2 and 3"), says, vec![number]).or_else(BilingualText::new(
        "Table 2 prints a total above every one of the ten capabilities in Table 3, which is impossible.",
        "表 2 的总体高于表 3 全部十项能力，这是不可能的。",
    ))
}

fn close_score_range_claim() -> Claim {
    let close = column("superclue_close", "overall", &CHINESE_MODELS);
    let ours = close.iter().filter(|value| (55.0..=60.0).contains(*value)).count();
    let says = BilingualText::new(
        "Seven of the eight Chinese models score between 55 and 60 on CLOSE.",
        "八个中文模型中有七个在 CLOSE 上得 55 至 60 分。",
    );
    let number = Number::compare_with_printed(BilingualText::new("models", "模型数"), "7", real_len(ours));
    let numbers = vec![Number { decimals: 0, ..number }];
    Claim::new("S25", (PAPER, "Results, beside Table 2"), says, numbers).or_else(BilingualText::new(
        "It is six: MiniMax has 60.67 and MOSS 41.00.",
        "实为六个：MiniMax 为 60.67，MOSS 为 41.00。",
    ))
}

fn open_score_range_claim() -> Claim {
    let all = column("superclue_open", "overall", &CHINESE_MODELS);
    let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
    let says = BilingualText::new(
        "The Chinese models' OPEN scores go from 12.50 to 41.48.",
        "中文模型的 OPEN 得分由 12.50 到 41.48。",
    );
    let numbers = vec![
        Number::compare_with_printed(BilingualText::new("lowest, OPEN ALL", "最低（OPEN ALL）"), "12.50", low),
        Number::compare_with_printed(BilingualText::new("highest, OPEN ALL", "最高（OPEN ALL）"), "41.48", high),
    ];
    let numbers = numbers.into_iter().map(|number| Number { decimals: 2, ..number }).collect();
    Claim::new("S26", (PAPER, "Results, beside Table 2"), says, numbers).or_else(BilingualText::new(
        "No OPEN column of Table 2 has these ends: SINGLE goes from 27.00 to 65.32, MULTI from 14.12 to 47.34.",
        "表 2 没有一列 OPEN 有此范围：SINGLE 为 27.00 至 65.32，MULTI 为 14.12 至 47.34。",
    ))
}

fn minimax_rank_claim() -> Claim {
    let place = |id: &str| {
        let all = table(id).part("overall");
        real(1 + all.values().filter(|value| **value > all["MiniMax"]).map(|_| 1).sum::<u64>())
    };
    let says = BilingualText::new("MiniMax is the second-best model overall.", "MiniMax 总体排名第二。");
    let numbers = vec![
        Number::compare_with_printed(BilingualText::new("place on CLOSE", "CLOSE 名次"), "2", place("superclue_close")),
        Number::compare_with_printed(
            BilingualText::new("place on OPEN ALL", "OPEN ALL 名次"),
            "2",
            place("superclue_open"),
        ),
    ];
    let numbers = numbers.into_iter().map(|number| Number { decimals: 0, ..number }).collect();
    Claim::new("S27", (PAPER, "Results, beside Table 2"), says, numbers).or_else(BilingualText::new(
        "It is the third: Claude-instant-v1 is before it on both.",
        "实为第三：Claude-instant-v1 在两项上都领先于它。",
    ))
}
