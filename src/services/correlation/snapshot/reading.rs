//! Reads the series of a snapshot.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::battle_judging::reports::BattleJudgingError;
use crate::benchmark::error::BenchError;
use crate::correlation::{ReadSeriesError, SeriesReader};
use crate::domain::correlation::snapshot::{UnusableReason, UnusableSeries};
use crate::domain::correlation::{Series, SeriesError, SeriesName};
use crate::infra::storage::PublishedScoreRow;

/// Reads the series that have values. Adds to `unusable_series` those with errors that the operator can fix.
pub(super) async fn read(
    reader: &mut SeriesReader<'_>,
    names: &[SeriesName],
    unusable_series: &mut Vec<UnusableSeries>,
) -> Result<Vec<Series>, ReadSeriesError> {
    reader.read_votes(names).await?;
    let mut series = Vec::new();
    for name in names {
        match reader.read(name).await {
            Ok(found) if found.points.is_empty() => {}
            Ok(found) => series.push(found),
            // There are no votes or judgements.
            Err(
                ReadSeriesError::Slice(_)
                | ReadSeriesError::NoSatisfaction
                | ReadSeriesError::NotJudged { .. }
                | ReadSeriesError::BattleJudging(BattleJudgingError::NoVerdicts(..)),
            ) => {}
            Err(error) if error.is_input() => unusable_series.push(unusable(&error)),
            Err(error) => return Err(error),
        }
    }
    Ok(series)
}

/// Describes the error of a series.
pub(super) fn unusable(error: &ReadSeriesError) -> UnusableSeries {
    let reason = match error {
        ReadSeriesError::Series(SeriesError::SameModel { series, one, other, model }) => UnusableReason::SameModel {
            series: series.clone(),
            names: [one.clone(), other.clone()],
            model: model.clone(),
        },
        ReadSeriesError::Bench(BenchError::NoData { suite }) => UnusableReason::NoData { suite: suite.clone() },
        _ => UnusableReason::Other,
    };
    UnusableSeries { message: error.to_string(), reason }
}

/// Computes a hash of the imported scores.
pub(super) fn fingerprint(rows: &[PublishedScoreRow]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for row in rows {
        (&row.series, &row.part, &row.model, row.score.to_bits()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_series_has_its_message_and_its_reason() {
        let names = ["A", "B"].map(str::to_owned);
        let [one, other] = names.clone();
        let error = SeriesError::SameModel { series: "published:x".into(), one, other, model: "m".into() };
        let found = unusable(&ReadSeriesError::Series(error));
        assert!(found.message.starts_with("published:x has both"), "{}", found.message);
        assert_eq!(found.reason, UnusableReason::SameModel { series: "published:x".into(), names, model: "m".into() });
    }

    #[test]
    fn imported_scores_change_the_fingerprint() {
        let row = |score| PublishedScoreRow {
            series: "theirs".into(),
            suite: "urs".into(),
            part: String::new(),
            model: "m".into(),
            score,
            source: "web".into(),
        };
        let of = |rows: &[f64]| fingerprint(&rows.iter().map(|&score| row(score)).collect::<Vec<_>>());
        assert_eq!(of(&[1.0]), of(&[1.0]));
        assert!(of(&[1.0]) != of(&[2.0]) && of(&[1.0]) != of(&[1.0, 1.0]) && of(&[]) != of(&[1.0]));
    }
}
