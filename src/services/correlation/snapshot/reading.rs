//! Reads the series of a snapshot.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::battle_judging::reports::BattleJudgingError;
use crate::correlation::{ReadSeriesError, SeriesReader};
use crate::domain::correlation::{Series, SeriesName};
use crate::infra::storage::PublishedScoreRow;

/// Reads the series that have values. Adds to `unusable` the errors of others that the user can fix.
pub(super) async fn read(
    reader: &mut SeriesReader<'_>,
    names: &[SeriesName],
    unusable: &mut Vec<String>,
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
            Err(error) if error.is_input() => unusable.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(series)
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
