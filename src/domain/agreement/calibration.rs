//! Calibration of a judge's scores on people's: isotonic regression, cross-validated by question.
//!
//! A judge can order answers as people do and still score two points too high, or use another scale. The non-decreasing function that
//! minimises the distance of its scores from people's (Zadrozny and Elkan 2002) corrects the scale and keeps the order. A function
//! evaluated on the answers that it was fitted on is optimistic, so questions are split into folds, and each answer is calibrated by a
//! function that was fitted on the other folds: the answers to one question are never in both the training and the test set.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::metrics::MetricValue;
use crate::stats::Undefined;
use crate::stats::agreement::scores::{AnswerScores, ScoredQuestion};
use crate::stats::correlation::Coefficient;
use crate::stats::distribution::mean;
use crate::stats::isotonic::{Isotonic, Observation};

/// Minimum number of questions for a calibration; with fewer, the folds are dominated by chance.
const MIN_QUESTIONS: usize = 10;

/// Options of the cross-validation split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalibrationOptions {
    /// Number of folds, 2 or more; with fewer questions than folds, each question is a fold.
    pub folds: usize,
    /// Seed of the split.
    pub seed: u64,
}

impl Default for CalibrationOptions {
    fn default() -> Self {
        Self { folds: 5, seed: 0 }
    }
}

/// A judge's scores beside people's, raw and calibrated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// Description of the method.
    pub method: &'static str,
    /// Number of folds.
    pub folds: usize,
    /// Seed of the split.
    pub seed: u64,
    /// Number of questions with an answer that both people and the judge scored.
    pub questions: usize,
    /// Metrics of the judge's uncalibrated scores.
    pub raw: CalibrationMetrics,
    /// Metrics of the judge's scores, each calibrated by the folds that do not have it.
    pub calibrated: CalibrationMetrics,
    /// Mean absolute difference of people's scores from their mean in the other folds: the baseline without any judge.
    pub without_judge: MetricValue,
    /// Calibration function fitted on all answers, for scores that people have not given. It is in sample: none of the metrics above is
    /// computed from it.
    pub curve: Vec<CurvePoint>,
}

/// Agreement of a judge's scores with people's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationMetrics {
    /// Mean absolute difference, in points of people's scale.
    pub mean_absolute_error: MetricValue,
    /// Pearson's r over all answers.
    pub pearson: MetricValue,
    /// Spearman's ρ over all answers.
    pub spearman: MetricValue,
}

/// Point of the calibration function.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The judge's score.
    pub judge: f64,
    /// Calibrated score on people's scale.
    pub people: f64,
}

/// Calibrates a judge's scores, cross-validated by question.
pub(super) fn calibrate(questions: &[ScoredQuestion], options: CalibrationOptions) -> CalibrationReport {
    let folds = folds(questions, options);
    let scored: Vec<AnswerScores> = folds.iter().flatten().flat_map(|question| scores(question)).collect();
    let enough = match questions.len() {
        found if found < MIN_QUESTIONS => Err(Undefined::TooFew { found, needed: MIN_QUESTIONS }),
        _ => Ok(()),
    };
    let calibrated = enough.and_then(|()| out_of_fold(&folds));
    let curve = Isotonic::fit(&observations(&scored)).map(|fitted| fitted.points().to_vec()).unwrap_or_default();
    CalibrationReport {
        method: "isotonic regression (pool adjacent violators), cross-validated by question",
        folds: folds.len(),
        seed: options.seed,
        questions: questions.len(),
        raw: CalibrationMetrics::new(Ok(&scored)),
        calibrated: CalibrationMetrics::new(calibrated.as_deref().map_err(|why| *why)),
        without_judge: enough.and_then(|()| error(&without_judge(&folds))).into(),
        curve: curve.into_iter().map(|(judge, people)| CurvePoint { judge, people }).collect(),
    }
}

type Fold<'q> = Vec<&'q ScoredQuestion>;

/// Shuffles the questions and splits them into folds.
fn folds(questions: &[ScoredQuestion], options: CalibrationOptions) -> Vec<Fold<'_>> {
    let mut shuffled: Vec<&ScoredQuestion> = questions.iter().collect();
    shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(options.seed));
    let folds = options.folds.max(2).min(shuffled.len());
    (0..folds).map(|fold| shuffled.iter().skip(fold).step_by(folds).copied().collect()).collect()
}

fn scores(question: &ScoredQuestion) -> impl Iterator<Item = AnswerScores> {
    question.iter().flatten().copied()
}

fn observations(scored: &[AnswerScores]) -> Vec<Observation> {
    scored.iter().map(|scores| Observation::new(scores.judge, scores.human)).collect()
}

/// Returns each answer with the judge's score replaced by the prediction of the other folds.
fn out_of_fold(folds: &[Fold<'_>]) -> Result<Vec<AnswerScores>, Undefined> {
    let of_fold = |own: usize| {
        let fitted = Isotonic::fit(&observations(&others(folds, own)))?;
        let answers = folds[own].iter().flat_map(|question| scores(question));
        Ok(answers.map(|answer| AnswerScores { judge: fitted.at(answer.judge), ..answer }).collect::<Vec<_>>())
    };
    let all: Vec<Vec<AnswerScores>> = (0..folds.len()).map(of_fold).collect::<Result<_, Undefined>>()?;
    Ok(all.concat())
}

fn others(folds: &[Fold<'_>], own: usize) -> Vec<AnswerScores> {
    let others = folds.iter().enumerate().filter(|(fold, _)| *fold != own);
    others.flat_map(|(_, questions)| questions.iter().flat_map(|question| scores(question))).collect()
}

/// Returns people's scores beside their mean in the other folds.
fn without_judge(folds: &[Fold<'_>]) -> Vec<AnswerScores> {
    let of_fold = |own: usize| {
        let human: Vec<f64> = others(folds, own).iter().map(|scores| scores.human).collect();
        let expected = mean(&human).unwrap_or(f64::NAN);
        folds[own]
            .iter()
            .flat_map(|question| scores(question))
            .map(move |answer| AnswerScores { judge: expected, ..answer })
    };
    (0..folds.len()).flat_map(of_fold).filter(|scores| scores.judge.is_finite()).collect()
}

fn error(scored: &[AnswerScores]) -> Result<f64, Undefined> {
    mean(&scored.iter().map(|scores| (scores.human - scores.judge).abs()).collect::<Vec<_>>())
}

impl CalibrationMetrics {
    fn new(scored: Result<&[AnswerScores], Undefined>) -> Self {
        let correlation = |coefficient: Coefficient| {
            let scored = scored?;
            let of = |score: fn(&AnswerScores) -> f64| scored.iter().map(score).collect::<Vec<f64>>();
            coefficient.correlate(&of(|scores| scores.human), &of(|scores| scores.judge)).map(|found| found.r)
        };
        Self {
            mean_absolute_error: scored.and_then(error).into(),
            pearson: correlation(Coefficient::Pearson).into(),
            spearman: correlation(Coefficient::Spearman).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    fn question(answers: &[(f64, f64)]) -> ScoredQuestion {
        answers.iter().map(|&(human, judge)| Some(AnswerScores { human, judge })).collect()
    }

    fn value(number: &MetricValue) -> f64 {
        number.value.unwrap_or_else(|| panic!("{number:?}"))
    }

    #[test]
    fn a_judge_on_another_scale_is_brought_onto_that_of_people() {
        // Each question has the same answers: whatever the folds, the function is the same.
        let all = vec![question(&[(1.0, 2.0), (2.0, 6.0), (4.0, 7.0), (5.0, 10.0)]); 10];
        let found = calibrate(&all, CalibrationOptions::default());
        assert!((value(&found.raw.mean_absolute_error) - (1.0 + 4.0 + 3.0 + 5.0) / 4.0).abs() < 1e-12);
        assert!(value(&found.calibrated.mean_absolute_error) < 1e-12 && value(&found.calibrated.pearson) > 1.0 - 1e-9);
        assert!((value(&found.without_judge) - 1.5).abs() < 1e-12, "the mean of people is 3");
        let curve: Vec<(f64, f64)> = found.curve.iter().map(|point| (point.judge, point.people)).collect();
        assert_eq!(curve, [(2.0, 1.0), (6.0, 2.0), (7.0, 4.0), (10.0, 5.0)]);
        assert_eq!((found.folds, found.questions), (5, 10));
    }

    #[test]
    fn a_judge_that_knows_nothing_gains_nothing_by_calibration() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut any = |most: u8| f64::from(rng.random_range(1..=most));
        let all: Vec<ScoredQuestion> = (0..200).map(|_| question(&[(any(5), any(10)), (any(5), any(10))])).collect();
        let found = calibrate(&all, CalibrationOptions::default());
        // In sample it would seem to know something; out of fold it is no better than people's mean.
        let (calibrated, without) = (value(&found.calibrated.mean_absolute_error), value(&found.without_judge));
        assert!((calibrated - without).abs() < 0.05, "{calibrated} {without}");
        assert!(value(&found.calibrated.pearson).abs() < 0.12, "{found:?}");
        let in_sample = Isotonic::fit(&observations(&all.iter().flat_map(scores).collect::<Vec<_>>())).unwrap();
        assert!(in_sample.points().last().unwrap().1 > in_sample.points()[0].1);
    }

    #[test]
    fn no_answer_calibrates_its_own_question() {
        // The judge's score is unrelated to people's: nothing learnt on the other questions can be of use.
        let all: Vec<ScoredQuestion> =
            (0..10_u8).map(|at| question(&[(f64::from(at % 2) * 4.0 + 1.0, f64::from(at))])).collect();
        let found = calibrate(&all, CalibrationOptions { folds: 10, seed: 3 });
        assert!(value(&found.calibrated.mean_absolute_error) > 1.5, "{found:?}");
        assert_eq!(found, calibrate(&all, CalibrationOptions { folds: 10, seed: 3 }));
    }

    #[test]
    fn few_questions_say_so() {
        let found = calibrate(&vec![question(&[(1.0, 2.0), (3.0, 4.0)]); 9], CalibrationOptions::default());
        let undefined = found.calibrated.mean_absolute_error.undefined.unwrap();
        assert_eq!(undefined, "there are only 9 of the 10 values needed");
        assert!(found.raw.mean_absolute_error.value.is_some() && found.without_judge.value.is_none());
        let none = calibrate(&[], CalibrationOptions::default());
        assert!(none.raw.mean_absolute_error.value.is_none() && none.curve.is_empty() && none.folds == 0);
    }
}
