//! Participants of a run over a suite, with their roles.

use super::batches::SuiteBatches;
use super::loading::LoadedSuite;
use super::model_clients::ModelClients;
use super::run_error::{RunError, RunRole};
use crate::benchmark::error::BenchError;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::JudgeMode;
use crate::domain::benchmark::runs::participants;
use crate::domain::benchmark::runs::run_plan::PlannedRoles;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::judging::budget::Budget;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::storage::{Store, StoreError};

/// Phases of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phases {
    /// Judging of the stored answers.
    Judging,
    /// Answering, then judging.
    Both,
}

/// Models by role.
pub struct RunRoles {
    /// Evaluated models.
    pub models: Vec<ModelId>,
    /// Baseline model of comparisons.
    pub baseline: Option<ModelId>,
    /// Models that answer first; empty if the run only judges.
    pub answering: Vec<ModelClient>,
    /// The judges.
    pub judges: Vec<ModelClient>,
    /// Judges that are also evaluated and may favour themselves.
    pub partial: Vec<String>,
}

/// Participant ids, for the row of the run.
#[derive(Default)]
pub(super) struct RoleIds {
    pub(super) models: Vec<String>,
    pub(super) judges: Vec<String>,
    pub(super) baseline: String,
}

impl RunRoles {
    pub(super) fn ids(&self) -> RoleIds {
        RoleIds {
            models: self.models.iter().map(ToString::to_string).collect(),
            judges: self.judges.iter().map(|judge| judge.id.to_string()).collect(),
            baseline: self.baseline.as_ref().map(ToString::to_string).unwrap_or_default(),
        }
    }
}

/// Assigns the roles of a run.
pub(super) struct RoleAssignment<'c> {
    pub(super) store: &'c Store,
    pub(super) clients: &'c ModelClients,
    pub(super) batches: &'c SuiteBatches,
    pub(super) loaded: &'c LoadedSuite,
    /// Round of answers.
    pub(super) sample: u32,
    pub(super) phases: Phases,
}

impl RoleAssignment<'_> {
    /// Assigns models to roles, if the roles fit the suite.
    pub(super) async fn assign(&self, roles: &PlannedRoles, budget: Budget) -> Result<RunRoles, RunError> {
        let mode = self.loaded.suite.mode();
        self.check_roles(roles)?;
        let baseline = roles.baseline.as_ref().map(ModelId::new);
        let judges: Vec<ModelId> = roles.judges.iter().map(ModelId::new).collect();
        let check = |models: &[String]| {
            let plan =
                participants::Participants { models, judges: &roles.judges, baseline: roles.baseline.as_deref() };
            plan.check(mode).map_err(|error| RunError::Participants { suite: self.suite(), error })
        };
        check(&roles.models)?;
        let models = self.evaluated_models(roles, &judges, baseline.as_ref()).await?;
        let partial = check(&models.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        let answering: Vec<ModelId> = match self.phases {
            Phases::Judging => Vec::new(),
            Phases::Both => models.iter().chain(&baseline).cloned().collect(),
        };
        Ok(RunRoles {
            answering: self.batches.attach(self.clients.asked(&answering, budget)?)?,
            judges: self.batches.attach(self.clients.asked(&judges, budget)?)?,
            partial,
            models,
            baseline,
        })
    }

    fn suite(&self) -> String {
        self.loaded.suite.name().to_owned()
    }

    /// Rejects roles that the suite does not have, and duplicates within a role.
    fn check_roles(&self, roles: &PlannedRoles) -> Result<(), RunError> {
        let mode = self.loaded.suite.mode();
        if roles.baseline.is_some() && mode != JudgeMode::PairwiseBaseline {
            return Err(RunError::NeedsNoBaseline { suite: self.suite() });
        }
        if !roles.judges.is_empty() && mode == JudgeMode::MultipleChoice {
            return Err(RunError::NeedsNoJudge { suite: self.suite() });
        }
        named_once(RunRole::Judge, &roles.judges)?;
        named_once(RunRole::Model, &roles.models)
    }

    async fn evaluated_models(
        &self,
        roles: &PlannedRoles,
        judges: &[ModelId],
        baseline: Option<&ModelId>,
    ) -> Result<Vec<ModelId>, RunError> {
        let named: Vec<ModelId> = roles.models.iter().map(ModelId::new).collect();
        let all = match self.phases {
            Phases::Judging => {
                let answered = self.answered().await?;
                self.check_answered(&answered, named.iter().chain(baseline))?;
                if named.is_empty() { answered } else { named }
            }
            Phases::Both if !named.is_empty() => named,
            // A judge is evaluated only if it is named as a model.
            Phases::Both => self.clients.all().into_iter().filter(|model| !judges.contains(model)).collect(),
        };
        let models: Vec<ModelId> = all.into_iter().filter(|model| Some(model) != baseline).collect();
        match self.phases {
            _ if !models.is_empty() => Ok(models),
            Phases::Judging => Err(RunError::NothingToJudge { suite: self.suite() }),
            Phases::Both => Err(RunError::NoModelLeft { suite: self.suite() }),
        }
    }

    /// Returns the models with answers in this round.
    async fn answered(&self) -> Result<Vec<ModelId>, StoreError> {
        let suite = SuiteId::new(self.loaded.suite.name());
        let answered = self.store.answered(&suite, &self.loaded.data.sha256).await?;
        Ok(answered.into_iter().filter(|row| row.sample == self.sample).map(|row| ModelId::new(row.model)).collect())
    }

    /// Rejects models without answers.
    fn check_answered<'m>(
        &self,
        answered: &[ModelId],
        mut models: impl Iterator<Item = &'m ModelId>,
    ) -> Result<(), RunError> {
        match models.find(|model| !answered.contains(model)) {
            None => Ok(()),
            Some(model) => Err(BenchError::Unanswered { suite: self.suite(), model: model.to_string() }.into()),
        }
    }
}

/// Rejects duplicate names, which would be queried and paid for each time.
///
/// # Errors
/// [`RunError::NamedTwice`].
pub fn named_once(role: RunRole, names: &[String]) -> Result<(), RunError> {
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        Some((_, name)) => Err(RunError::NamedTwice { role, name: name.clone() }),
        None => Ok(()),
    }
}
