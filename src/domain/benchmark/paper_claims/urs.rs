//! URS's claims: the composition of a service's scores from those of the intents.

use super::{BilingualText, Claim, Number, most, table, value};

const PAPER: &str = "URS (arXiv:2404.13940)";
/// First row of the table: number of cases by intent.
const CASES_BY_INTENT: [(&str, f64); 6] = [
    ("Solve_Professional_Problem", 404.0),
    ("Factual_QA", 259.0),
    ("Text_Assistant", 82.0),
    ("Ask_for_Advice", 116.0),
    ("Seek_Creativity", 86.0),
    ("Leisure", 83.0),
];

pub(super) fn claims() -> Vec<Claim> {
    vec![overall(), cases()]
}

fn all_cases() -> f64 {
    CASES_BY_INTENT.iter().map(|(_, cases)| cases).sum()
}

fn overall() -> Claim {
    let series = table("urs");
    let far = |subject: &&str| {
        let sum: f64 = CASES_BY_INTENT.iter().map(|(intent, cases)| cases * value(series, subject, intent)).sum();
        sum / all_cases() - value(series, subject, "overall")
    };
    let far: Vec<f64> = series.subjects().iter().map(far).collect();
    let rounded = far.iter().filter(|far| far.abs() <= 0.005 + super::ROUNDING).count();
    let says = BilingualText::new(
        &format!(
            "All is the mean of the intents weighted by their cases: {rounded} of 10 rows within rounding, ERNIE-Bot-4 (7.3035, printed 7.31) a little beyond."
        ),
        &format!(
            "“All” 是各意图按题数加权的平均：10 行中 {rounded} 行在舍入之内，ERNIE-Bot-4（7.3035，印作 7.31）略超出。"
        ),
    );
    let name = BilingualText::new("greatest distance", "最大偏差");
    Claim::new(
        "U4",
        (PAPER, "Table 4"),
        says,
        vec![Number::largest_deviation(name, far.len(), most(far.into_iter()), 0.0066)],
    )
}

fn cases() -> Claim {
    let says = BilingualText::new("The benchmark has 1024 cases.", "评测集共有 1024 道题。");
    let number =
        Number::compare_with_printed(BilingualText::new("sum of the intents", "各意图之和"), "1024", all_cases());
    let numbers = vec![Number { decimals: 0, ..number }];
    Claim::new("U5", (PAPER, "Table 4"), says, numbers).or_else(BilingualText::new(
        "The six intents of the same table have 1030 cases together.",
        "同一表中六个意图的题数合计为 1030。",
    ))
}
