//! MT-Bench-101's claims: the averages of its main table.

use super::{BilingualText, Claim, Number, most, table, value};
use crate::stats::real_len;

const PAPER: &str = "MT-Bench-101 (Bai et al. 2024, arXiv:2402.14762)";
const SERIES: &str = "mtbench101_gpt4";
/// Last row of the table.
const AVERAGES: [(&str, &str); 13] = [
    ("CM", "7.52"),
    ("SI", "6.37"),
    ("AR", "8.26"),
    ("TS", "7.72"),
    ("CC", "8.24"),
    ("CR", "8.36"),
    ("FR", "8.44"),
    ("SC", "7.98"),
    ("SA", "6.93"),
    ("MR", "3.61"),
    ("GR", "4.84"),
    ("IC", "6.22"),
    ("PI", "5.52"),
];

pub(super) fn claims() -> Vec<Claim> {
    vec![of_models(), of_tasks()]
}

fn of_models() -> Claim {
    let series = table(SERIES);
    let models = series.subjects();
    let far = |subject: &&str| {
        let sum: f64 = AVERAGES.iter().map(|(task, _)| value(series, subject, task)).sum();
        sum / real_len(AVERAGES.len()) - value(series, subject, "overall")
    };
    let says = BilingualText::new("A model's score is the mean of the 13 tasks.", "模型的得分是 13 个任务的平均。");
    let name = BilingualText::new("greatest distance", "最大偏差");
    let numbers = vec![Number::largest_deviation(name, models.len(), most(models.iter().map(far)), 0.00501)];
    Claim::new("M2", (PAPER, "Table 3"), says, numbers)
}

fn of_tasks() -> Claim {
    let series = table(SERIES);
    let models = series.subjects();
    let number = |(task, printed): &(&str, &str)| {
        let sum: f64 = models.iter().map(|model| value(series, model, task)).sum();
        Number::compare_with_printed(BilingualText::new(task, task), printed, sum / real_len(models.len()))
    };
    let says = BilingualText::new(
        "The last row has the mean of each task over the models.",
        "末行是各任务在所有模型上的平均。",
    );
    Claim::new("M3", (PAPER, "Table 3"), says, AVERAGES.iter().map(number).collect()).or_else(BilingualText::new(
        "The printed means of TS, CC, MR and GR do not follow from their columns.",
        "TS、CC、MR、GR 所印的平均与各自的列不符。",
    ))
}
