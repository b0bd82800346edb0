//! Prints agreement as text or CSV: one line for each statistic.

use super::{AgreeOutput, AgreementParties};
use crate::domain::agreement::metrics::{
    AgreementMetrics, IntervalReport, KappaReport, MeanKappa, MetricValue, ShareReport,
};
use crate::domain::agreement::{
    AgreementBootstrap, AgreementReport, BiasReport, CalibrationReport, LabelsReport, LabelsSection, PairWins,
    ResampledUnit, ScoresReport, SideShares, SideSharesReport, VotesReport, WinMetrics,
};
use crate::domain::correlation::report::CoefficientReport;
use crate::domain::csv_injection::escape_formula;
use crate::domain::plural::counted;
use crate::domain::rating::verdict_worth_in_votes::WorthReport;
use crate::domain::stats::resample::MIN_CLUSTERS;
use crate::error::CommandResult;
use crate::output::terminal_text::{coefficient, printable, width};

/// Explanation of the lines.
const LEGEND: &str = "agreement: share of the pairs of opinions that are equal; side A: share of the votes for A \
    among those for a side, with p of an exact test, which shows position bias only where sides were assigned at random or every pair was \
    shown in both orders, and takes all votes of a voter together where it says so; kappa and alpha: 1 is perfect agreement, 0 what \
    chance gives, below 0 less than that; in parentheses: what a line is based on; a line without an interval has none\n";

/// Maximum number of pairs of models in the table; more are only in the other formats.
const MAX_PAIRS: usize = 10;

/// Statistic with its number of items.
#[derive(Debug, Default)]
struct StatisticLine {
    name: String,
    share: Option<[u64; 2]>,
    /// Share or other value.
    value: Option<f64>,
    mean: Option<f64>,
    questions: Option<usize>,
    undefined: Option<String>,
    uncertainty: IntervalReport,
    note: String,
    /// Whether the statistic is about the judge.
    of_judge: bool,
}

/// Formats aligned lines under a headline.
pub(super) fn table(found: &AgreeOutput) -> String {
    let mut text = found.report.as_ref().map_or_else(String::new, |report| headline(report, found.between));
    let mut lines = lines(found);
    let pairs = pairs(found);
    if pairs.len() <= MAX_PAIRS {
        lines.extend(pairs.iter().flat_map(wins));
    }
    let widest = lines.iter().map(|line| width(&printable(&line.name))).max().unwrap_or(0);
    for line in &lines {
        text.push_str(row(line, widest).trim_end());
        text.push('\n');
    }
    if pairs.len() > MAX_PAIRS {
        text.push_str(&format!("win rates of {} pairs of models: use --format csv or json to see them\n", pairs.len()));
    }
    let resampled = found.report.as_ref().and_then(bootstrap).map_or_else(String::new, describe_bootstrap);
    text + &resampled + LEGEND
}

fn bootstrap(report: &AgreementReport) -> Option<&AgreementBootstrap> {
    match report {
        AgreementReport::Votes(found) => found.bootstrap.as_ref(),
        AgreementReport::Scores(found) => match &found.labels {
            LabelsSection::Found(labels) => labels.bootstrap.as_ref(),
            LabelsSection::Undefined { .. } => None,
        },
    }
}

/// Describes the bootstrap of the intervals.
fn describe_bootstrap(found: &AgreementBootstrap) -> String {
    let drawn = match found.unit {
        ResampledUnit::Question => {
            format!("{}, each with all votes or scores on it", counted(found.units, "question", "questions"))
        }
        ResampledUnit::Voter => {
            format!("{}, each with all of their questions", counted(found.units, "voter", "voters"))
        }
    };
    let few = if found.units < MIN_CLUSTERS { "; with so few, they are too narrow" } else { "" };
    let same_people = match found.unit {
        ResampledUnit::Question if found.people < MIN_CLUSTERS => {
            format!("; they hold for {}, not for others", counted(found.people, "person", "people"))
        }
        _ => String::new(),
    };
    let (confidence, seed) = (found.confidence, found.seed);
    let resamples = counted(found.replicates, "resample", "resamples");
    format!(
        "intervals: {confidence} confidence, percentiles of {resamples} of {drawn}; means over people: of \
            resampled questions and, from five people on, of resampled people; seed {seed}{few}{same_people}\n"
    )
}

/// Formats the same lines as CSV, with all digits. Names that a spreadsheet would evaluate are escaped.
///
/// # Errors
/// The CSV cannot be written.
pub(super) fn csv(found: &AgreeOutput) -> CommandResult<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = [
        "agreement",
        "agree",
        "total",
        "rate",
        "mean_over_questions",
        "questions",
        "value",
        "lower",
        "upper",
        "undefined",
    ];
    writer.write_record(head)?;
    for line in lines(found).into_iter().chain(p_of_sides(found)).chain(pairs(found).iter().flat_map(wins)) {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let count = |part: usize| line.share.map_or_else(String::new, |share| share[part].to_string());
        let (rate, value) = if line.share.is_some() { (line.value, None) } else { (None, line.value) };
        writer.write_record([
            escape_formula(&line.name).as_ref(),
            &count(0),
            &count(1),
            &number(rate),
            &number(line.mean),
            &line.questions.map_or_else(String::new, |questions| questions.to_string()),
            &number(value),
            &number(line.uncertainty.interval.map(|ends| ends.lower)),
            &number(line.uncertainty.interval.map(|ends| ends.upper)),
            line.undefined.as_deref().unwrap_or_default(),
        ])?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn row(line: &StatisticLine, widest: usize) -> String {
    let name = printable(&line.name);
    let padding = " ".repeat(widest.saturating_sub(width(&name)));
    let share = line.share.map_or_else(String::new, |[of, total]| format!("{of:>7} of {total:>7}"));
    let value = match (line.value, &line.undefined) {
        (Some(value), _) => coefficient(value),
        (None, Some(why)) => why.clone(),
        (None, None) => String::new(),
    };
    let interval = match (line.uncertainty.interval, &line.uncertainty.no_interval) {
        (Some(ends), _) => format!("  {} to {}", coefficient(ends.lower), coefficient(ends.upper)),
        (None, Some(why)) => format!("  no interval: {why}"),
        (None, None) => String::new(),
    };
    format!("{name}{padding}  {share:>18}  {value}{interval}  {}", line.note)
}

fn headline(report: &AgreementReport, between: AgreementParties) -> String {
    let replaced = |replaced: usize| match replaced {
        0 => String::new(),
        replaced => format!(
            ", {} replaced by a later one of the same individual (rows without a column such as rater count as one individual)",
            counted(replaced, "row", "rows")
        ),
    };
    match report {
        AgreementReport::Votes(found) => {
            let judged = match between {
                AgreementParties::People => String::new(),
                AgreementParties::PeopleAndJudge => format!(", {} of them judged", found.judged),
            };
            let questions = counted(found.voted, "question", "questions");
            let merged = match found.merged_orders {
                0 => String::new(),
                merged => format!(
                    ", {} in both orders merged to one, a tie unless both say the same",
                    counted(merged, "pair of verdicts", "pairs of verdicts")
                ),
            };
            format!("{questions} with votes{judged}{merged}{}\n", replaced(found.replaced))
        }
        AgreementReport::Scores(found) if between == AgreementParties::People => {
            let answers = counted(found.unmatched, "answer", "answers");
            format!("{answers} with scores{}\n", replaced(found.replaced))
        }
        AgreementReport::Scores(found) => {
            let (answers, questions) =
                (counted(found.answers, "answer", "answers"), counted(found.questions, "question", "questions"));
            let (unmatched, replaced) = (found.unmatched, replaced(found.replaced));
            format!("{answers} to {questions} with scores of both, {unmatched} of one only{replaced}\n")
        }
    }
}

fn lines(found: &AgreeOutput) -> Vec<StatisticLine> {
    let mut lines = match &found.report {
        None => Vec::new(),
        Some(AgreementReport::Votes(report)) => of_votes(report),
        Some(AgreementReport::Scores(report)) => of_scores(report),
    };
    lines.extend(found.rating_bias.iter().flat_map(of_bias));
    lines.retain(|line| found.between == AgreementParties::PeopleAndJudge || !line.of_judge);
    lines
}

fn of_votes(report: &VotesReport) -> Vec<StatisticLine> {
    let chance = &report.chance;
    let mut lines = vec![
        StatisticLine::new("human-human", &report.human_human.with_ties),
        StatisticLine::new("human-human without ties", &report.human_human.without_ties),
        StatisticLine::new("judge-human", &report.judge_human.with_ties).judge(),
        StatisticLine::new("judge-human without ties", &report.judge_human.without_ties).judge(),
        StatisticLine::kappa("Cohen's kappa, judge and majority", &chance.cohen_majority).judge(),
        StatisticLine::mean_kappa("Cohen's kappa, judge and person", &chance.cohen_people).judge(),
        StatisticLine::kappa("Fleiss' kappa, people", &chance.fleiss),
        StatisticLine::kappa("Randolph's kappa, people", &chance.randolph),
        StatisticLine::number("Krippendorff's alpha (nominal), people", &chance.krippendorff),
        StatisticLine::number("Krippendorff's alpha (nominal), people and judge", &chance.krippendorff_with_judge)
            .judge(),
    ];
    lines.extend(of_sides(&report.sides));
    lines.extend(of_worth(&report.worth));
    lines
}

/// Lines of vote shares by side of the screen: A, B and tie.
fn of_sides(report: &SideSharesReport) -> Vec<StatisticLine> {
    let chance = &report.chance;
    let share = |name: &str, shares: &SideShares| StatisticLine {
        share: Some([shares.a, shares.a + shares.b]),
        note: shares.p.value.map_or_else(String::new, |p| {
            let p = match p {
                p if p <= 0.0 => "p < 1e-300".to_owned(),
                p if p < 1e-4 => format!("p = {p:.1e}"),
                p => format!("p = {p:.4}"),
            };
            let by = |voters: usize| format!("by {}", counted(voters, "voter", "voters"));
            let how = shares.voters.map_or_else(|| "votes as independent".to_owned(), by);
            format!("({}; equal sides, {how}: {p})", counted(shares.ties, "tie", "ties"))
        }),
        ..StatisticLine::number(name, &shares.share_a)
    };
    vec![
        share("side A, people", &report.people),
        share("side A, judge", &report.judge).judge(),
        StatisticLine::kappa("Cohen's kappa by side, judge and majority", &chance.cohen_majority).judge(),
        StatisticLine::kappa("Fleiss' kappa by side, people", &chance.fleiss),
        StatisticLine::number("Krippendorff's alpha by side (nominal), people", &chance.krippendorff),
        StatisticLine::number(
            "Krippendorff's alpha by side (nominal), people and judge",
            &chance.krippendorff_with_judge,
        )
        .judge(),
    ]
}

/// Lines of the p-values that the table has in parentheses.
fn p_of_sides(found: &AgreeOutput) -> Vec<StatisticLine> {
    let Some(AgreementReport::Votes(report)) = &found.report else { return Vec::new() };
    let SideSharesReport { people, judge, .. } = &report.sides;
    let mut lines = vec![
        StatisticLine::number("p of equal sides, people", &people.p),
        StatisticLine::number("p of equal sides, judge", &judge.p).judge(),
    ];
    lines.retain(|line| found.between == AgreementParties::PeopleAndJudge || !line.of_judge);
    lines
}

/// Lines of the worth of a verdict in votes.
fn of_worth(worth: &WorthReport) -> [StatisticLine; 2] {
    let line = |name: &str, value: Option<f64>, note: String| {
        let undefined = worth.undefined.clone();
        StatisticLine { name: name.to_owned(), value, undefined, note, ..StatisticLine::default() }.judge()
    };
    let interval = worth.interval.map_or_else(String::new, |ends| {
        format!("(95 % interval by Fisher's z: {:.4} to {:.4})", ends.lower, ends.upper)
    });
    [
        line("correlation with votes beyond the ratings, judge", worth.residual_correlation, interval),
        line("votes that a verdict on every battle is worth, times", worth.times, String::new()),
    ]
}

fn of_scores(report: &ScoresReport) -> Vec<StatisticLine> {
    let (sample, system) = (&report.sample_level, &report.system_level);
    let defined = format!("({} of {})", sample.defined, counted(sample.questions, "question", "questions"));
    let pearson = StatisticLine::number("sample-level Pearson, mean", &sample.pearson);
    let mut lines = vec![StatisticLine { note: defined, ..pearson }.judge()];
    for (name, found) in [("Pearson", &system.pearson), ("Spearman", &system.spearman), ("Kendall", &system.kendall)] {
        lines.push(StatisticLine::coefficient(&format!("system-level {name}"), found, system.models.len()).judge());
    }
    let pairwise = &report.pairwise;
    lines.push(StatisticLine::share("pairwise, a judge's tie disagrees", &pairwise.judge_ties_disagree).judge());
    lines.push(StatisticLine::share("pairwise, a judge's tie is left out", &pairwise.judge_ties_dropped).judge());
    lines.extend(of_calibration(&report.calibration));
    match &report.labels {
        LabelsSection::Found(labels) => lines.extend(of_labels(labels)),
        LabelsSection::Undefined { undefined } => {
            lines.push(StatisticLine {
                name: "labels".to_owned(),
                undefined: Some(undefined.clone()),
                ..StatisticLine::default()
            });
        }
    }
    lines
}

/// Lines of the judge's raw scores, and of cross-validated calibrated ones.
fn of_calibration(report: &CalibrationReport) -> Vec<StatisticLine> {
    let (raw, calibrated) = (&report.raw, &report.calibrated);
    let folds = format!("(isotonic, out of fold: {} folds of {} questions)", report.folds, report.questions);
    let line = |name: &str, number: &MetricValue, note: &str| {
        StatisticLine { note: note.to_owned(), ..StatisticLine::number(name, number) }.judge()
    };
    let own = "(on the judge's own scale)";
    vec![
        line("mean absolute error, raw scores", &raw.mean_absolute_error, own),
        line("mean absolute error, calibrated scores", &calibrated.mean_absolute_error, &folds),
        line("mean absolute error, people's mean alone", &report.without_judge, "(out of fold, without a judge)"),
        line("Pearson over answers, raw scores", &raw.pearson, ""),
        line("Pearson over answers, calibrated scores", &calibrated.pearson, &folds),
        line("Spearman over answers, raw scores", &raw.spearman, ""),
        line("Spearman over answers, calibrated scores", &calibrated.spearman, &folds),
    ]
}

fn of_labels(labels: &LabelsReport) -> Vec<StatisticLine> {
    let majority = &labels.judge_majority;
    let undecided = format!("({} undecided)", majority.undecided);
    vec![
        StatisticLine::new("human-human labels", &labels.human_human),
        StatisticLine::new("judge-human labels", &labels.judge_human).judge(),
        StatisticLine { note: undecided, ..StatisticLine::share("judge-majority labels", &majority.share) }.judge(),
        StatisticLine::kappa("Fleiss' kappa, people", &labels.fleiss.people),
        StatisticLine::mean_kappa("Fleiss' kappa, judge and person", &labels.fleiss.judge_with_each).judge(),
        StatisticLine::kappa("Fleiss' kappa, judge and majority", &labels.fleiss.judge_with_majority).judge(),
        StatisticLine::kappa("Fleiss' kappa, people and judge", &labels.fleiss.people_and_judge).judge(),
        StatisticLine::kappa("Randolph's kappa, people", &labels.randolph),
        StatisticLine::number("Krippendorff's alpha (interval), people", &labels.krippendorff),
        StatisticLine::number("Krippendorff's alpha (interval), people and judge", &labels.krippendorff_with_judge)
            .judge(),
        StatisticLine::number("Krippendorff's alpha (ordinal), people", &labels.krippendorff_ordinal),
        StatisticLine::number(
            "Krippendorff's alpha (ordinal), people and judge",
            &labels.krippendorff_ordinal_with_judge,
        )
        .judge(),
        StatisticLine::number("Krippendorff's alpha (labels), people", &labels.krippendorff_nominal),
        StatisticLine::number(
            "Krippendorff's alpha (labels), people and judge",
            &labels.krippendorff_nominal_with_judge,
        )
        .judge(),
    ]
}

fn of_bias(report: &BiasReport) -> Vec<StatisticLine> {
    let line = |judge: &crate::domain::agreement::reference_bias::JudgeBias| {
        let name = if judge.judge.is_empty() { "the judge" } else { judge.judge.as_str() };
        let generators = counted(judge.generators.len(), "generator", "generators");
        let note = format!("({generators}, references of {} points)", report.anchor);
        StatisticLine { note, ..StatisticLine::number(&format!("rating bias of {name}"), &judge.bias) }
    };
    report.judges.iter().map(line).collect()
}

fn pairs(found: &AgreeOutput) -> &[PairWins] {
    match &found.report {
        Some(AgreementReport::Votes(report)) => &report.wins,
        _ => &[],
    }
}

fn wins(pair: &PairWins) -> Vec<StatisticLine> {
    let [one, other] = &pair.models;
    let of = |by: &str, metrics: &WinMetrics| {
        let name = |what: &str| format!("{one} against {other} by {by}, {what}");
        let counts = metrics.counts;
        let both_bad = if counts.both_bad > 0 { format!(", {} both bad", counts.both_bad) } else { String::new() };
        let note = format!("({} won, {} tied, {} lost{both_bad})", counts.wins, counts.ties, counts.losses);
        [
            StatisticLine {
                note,
                ..StatisticLine::number(&name("win rate without ties"), &metrics.win_rate_without_ties)
            },
            StatisticLine::number(&name("wins and ties"), &metrics.win_tie_rate),
            StatisticLine::number(&name("difference of win rates"), &metrics.delta),
            StatisticLine {
                note: format!("(of {})", metrics.planned),
                ..StatisticLine::number(&name("difference of the planned"), &metrics.delta_of_planned)
            },
        ]
    };
    [of("votes", &pair.votes), of("verdicts", &pair.verdicts)].into_iter().flatten().collect()
}

impl StatisticLine {
    fn new(name: &str, found: &AgreementMetrics) -> Self {
        Self {
            name: name.to_owned(),
            share: Some([found.agree, found.total]),
            value: found.rate,
            mean: found.mean_over_questions,
            questions: Some(found.questions),
            undefined: found.undefined.clone(),
            uncertainty: found.uncertainty.clone(),
            ..Self::default()
        }
    }

    /// Marks the line as omitted without a judge.
    fn judge(self) -> Self {
        Self { of_judge: true, ..self }
    }

    fn share(name: &str, found: &ShareReport) -> Self {
        let (share, undefined) = (Some([found.agree, found.total]), found.undefined.clone());
        let uncertainty = found.uncertainty.clone();
        Self { name: name.to_owned(), share, value: found.rate, undefined, uncertainty, ..Self::default() }
    }

    fn number(name: &str, found: &MetricValue) -> Self {
        let (undefined, uncertainty) = (found.undefined.clone(), found.uncertainty.clone());
        Self { name: name.to_owned(), value: found.value, undefined, uncertainty, ..Self::default() }
    }

    fn kappa(name: &str, found: &KappaReport) -> Self {
        let raters = found.raters.map_or_else(String::new, |raters| format!(" by {raters}"));
        // Without a kappa, the reason replaces it and its items are counted.
        let items = || format!("({}{raters}, {} left out)", counted(found.items, "item", "items"), found.excluded);
        Self {
            name: name.to_owned(),
            value: found.kappa,
            questions: Some(found.items),
            undefined: found.undefined.clone(),
            uncertainty: found.uncertainty.clone(),
            note: found.kappa.map_or_else(String::new, |_| items()),
            ..Self::default()
        }
    }

    fn mean_kappa(name: &str, found: &MeanKappa) -> Self {
        let of_these = match found.people {
            _ if found.uncertainty.interval.is_none() || found.resamples_people() => "",
            1 => "; the interval is over questions and holds for this person alone",
            _ => "; the interval is over questions and holds for these people alone",
        };
        Self {
            name: name.to_owned(),
            value: found.kappa,
            undefined: found.undefined.clone(),
            uncertainty: found.uncertainty.clone(),
            note: format!("({}, {} left out{of_these})", counted(found.people, "person", "people"), found.excluded),
            ..Self::default()
        }
    }

    fn coefficient(name: &str, found: &CoefficientReport, models: usize) -> Self {
        let p = found.p.map_or_else(String::new, |p| format!("p {p:.4}, "));
        Self {
            name: name.to_owned(),
            value: found.r,
            undefined: found.undefined.clone(),
            note: format!("({p}{})", counted(models, "model", "models")),
            ..Self::default()
        }
    }
}
