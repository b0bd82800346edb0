//! Makers of models, to estimate a judge's preference for models of its own maker.

use std::collections::BTreeMap;

use crate::rating::FitError;
use crate::rating::votes::vote_log::VoteLog;

/// The maker of each model, judges included, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Makers {
    by_model: BTreeMap<String, String>,
}

impl FromIterator<(String, String)> for Makers {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(rows: T) -> Self {
        Self { by_model: rows.into_iter().collect() }
    }
}

impl Makers {
    /// Computes for each vote \[A is of the judge's maker\] − \[B is of the judge's maker\]; 0 where the judge's maker is unknown. The
    /// voters of the log are the judges.
    pub(in crate::rating) fn preferences(&self, log: &VoteLog) -> Result<Vec<i8>, FitError> {
        let judges = log.voters.as_ref().ok_or(FitError::NoVoters)?;
        let of =
            |names: &[String]| -> Vec<Option<&String>> { names.iter().map(|name| self.by_model.get(name)).collect() };
        let (of_models, of_judges) = (of(log.models.as_slice()), of(judges.names.as_slice()));
        let is_own = |judge: &String, model: u32| i8::from(of_models[model as usize] == Some(judge));
        let rows = log.a.iter().zip(&log.b).zip(&judges.rows);
        Ok(rows
            .map(|((&a, &b), &judge)| match of_judges.get(judge as usize).copied().flatten() {
                Some(judge) => is_own(judge, a) - is_own(judge, b),
                _ => 0,
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome;
    use crate::rating::votes::vote_log::Labels;

    #[test]
    fn a_judge_of_the_maker_of_one_side_leans_to_it() {
        let mut log = VoteLog { voters: Some(Labels::default()), ..VoteLog::default() };
        for (a, b, judge) in [
            ("x1", "y1", Some("x-judge")),
            ("y1", "x1", Some("x-judge")),
            ("x1", "x2", Some("x-judge")),
            ("y1", "z", Some("x-judge")),
            ("x1", "y1", Some("unknown")),
            ("x1", "y1", None),
        ] {
            log.push(a, b, Outcome::AWins).unwrap();
            log.voters.as_mut().unwrap().push(judge);
        }
        let makers = [("x1", "X"), ("x2", "X"), ("x-judge", "X"), ("y1", "Y")];
        let makers: Makers = makers.into_iter().map(|(model, maker)| (model.into(), maker.into())).collect();
        assert_eq!(makers.preferences(&log).unwrap(), [1, -1, 0, 0, 0, 0]);
        log.voters = None;
        assert!(matches!(makers.preferences(&log), Err(FitError::NoVoters)));
    }
}
