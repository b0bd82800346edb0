//! Manifest of a run: versions, settings and hashes, so that differences between two runs can be determined years later.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Suite;
use super::super::item::{Answer, Item, request_sha256};
use super::super::scores::judgement::JudgeStep;
use super::canaries::canaries;
use crate::sha256::sha256;

/// Placeholder for an answer in hashed prompts.
const ANSWER_PLACEHOLDER: &str = "{answer}";
/// Name of a change in the use of batches.
pub const BATCH_CHANGE: &str = "batch";
/// Prefix of a change in a participant's settings, before its id.
pub const SETTINGS_CHANGE_PREFIX: &str = "settings of ";
/// Value of a change that is true.
pub const YES: &str = "yes";
/// Value of a change that is false.
pub const NO: &str = "no";

/// Settings of a run beside its suite, data, round and participants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunManifest {
    /// Program with its version; empty for a run that was stored without a manifest.
    pub program: String,
    /// Variant of the suite; empty for the plain one.
    pub variant: String,
    /// Number of items.
    pub items: u64,
    /// Whether the items are only the [canaries](super::canaries).
    pub canaries: bool,
    /// Whether requests were sent in provider batches; null for a run that was stored before this was recorded.
    pub batch: Option<bool>,
    /// SHA-256 of the first questions to the models and their sampling settings; only of the canaries, so that runs over all items and over
    /// canaries can be compared.
    pub questions_sha256: String,
    /// SHA-256 of the judge requests about canaries with a placeholder for each answer: prompt, reference and sampling settings.
    pub prompts_sha256: String,
    /// Random seeds in these requests.
    pub seeds: Vec<u64>,
    /// Settings of all participants, by id.
    pub participants: BTreeMap<String, ParticipantSettings>,
}

/// Settings that determine a model's replies. Its address is only part of the hash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ParticipantSettings {
    /// Protocol of the provider.
    pub provider: String,
    /// Provider's name of the model.
    pub model: String,
    /// SHA-256 of these with address, temperature, maximum reply length, system prompt and further request keys.
    pub settings_sha256: String,
}

/// Run behind a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedRun {
    /// Id of the run, as accepted by `langya bench compare`.
    pub run: String,
    /// Time of the start, in milliseconds since 1970.
    pub started_at: i64,
    /// Ids of the evaluated models.
    pub models: Vec<String>,
    /// Ids of the judges.
    pub judges: Vec<String>,
    /// Id of the baseline model; empty without one.
    pub baseline: String,
    /// Manifest of the run.
    pub manifest: RunManifest,
}

/// Difference between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunChange {
    /// Key of the manifest, with the participant's id for a participant's settings.
    pub what: String,
    /// Value in the first run; empty if absent.
    pub before: String,
    /// Value in the second run; empty if absent.
    pub after: String,
}

impl RunManifest {
    /// Creates the manifest of a run over these items.
    #[must_use]
    pub fn new(suite: &dyn Suite, items: &[Item], participants: BTreeMap<String, ParticipantSettings>) -> Self {
        let number = items.len().try_into().unwrap_or(u64::MAX);
        let ids = canaries(items.iter().map(|item| item.id.as_str()));
        let items: Vec<&Item> = items.iter().filter(|item| ids.contains(&item.id.as_str())).collect();
        let asks: Vec<_> = items.iter().filter_map(|item| suite.asks(item, &[]).into_iter().next()).collect();
        let questions = asks.iter().map(|ask| request_sha256(&ask.messages, &ask.sampling));
        let requests: Vec<_> = items.iter().flat_map(|item| judge_requests(suite, item)).collect();
        let prompts = requests.iter().map(|request| request.request_sha256());
        let samplings = asks.iter().map(|ask| ask.sampling).chain(requests.iter().map(|request| request.sampling));
        let seeds: BTreeSet<u64> = samplings.filter_map(|sampling| sampling.seed).collect();
        Self {
            program: String::new(),
            variant: suite.variant().to_owned(),
            items: number,
            canaries: false,
            batch: None,
            questions_sha256: hash_of(questions),
            prompts_sha256: hash_of(prompts),
            seeds: seeds.into_iter().collect(),
            participants,
        }
    }

    /// Returns the differences to another run.
    #[must_use]
    pub fn changes(&self, other: &Self) -> Vec<RunChange> {
        let seeds = |run: &Self| run.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        // A field that an earlier version did not record is no difference.
        let are_noted = self.batch.is_some() && other.batch.is_some();
        let batch = |run: &Self| match run.batch.filter(|_| are_noted) {
            Some(true) => YES,
            Some(false) => NO,
            None => "",
        };
        let own = |run: &Self| {
            [
                ("program", run.program.clone()),
                ("variant", run.variant.clone()),
                ("items", run.items.to_string()),
                ("questions", run.questions_sha256.clone()),
                ("prompts", run.prompts_sha256.clone()),
                ("seeds", seeds(run)),
                (BATCH_CHANGE, batch(run).to_owned()),
            ]
        };
        let plain =
            own(self).into_iter().zip(own(other)).map(|((what, before), (_, after))| (what.to_owned(), before, after));
        let ids: BTreeSet<&String> = self.participants.keys().chain(other.participants.keys()).collect();
        let settings = ids.into_iter().map(|id| {
            let settings_of =
                |run: &Self| run.participants.get(id).map(ParticipantSettings::to_string).unwrap_or_default();
            (format!("{SETTINGS_CHANGE_PREFIX}{id}"), settings_of(self), settings_of(other))
        });
        let all = plain.chain(settings).filter(|(_, before, after)| before != after);
        all.map(|(what, before, after)| RunChange { what, before, after }).collect()
    }

    /// Whether a model had the same settings in both runs, as far as they are known.
    #[must_use]
    pub fn has_same_settings(&self, other: &Self, model: &str) -> bool {
        let (own, others) = (self.participants.get(model), other.participants.get(model));
        own.is_some() && own == others
    }
}

impl std::fmt::Display for ParticipantSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hash = self.settings_sha256.get(..12).unwrap_or(&self.settings_sha256);
        write!(f, "{} {} ({hash})", self.provider, self.model)
    }
}

/// Returns the judge requests about an item with placeholders for its answers and those of a baseline.
fn judge_requests(suite: &dyn Suite, item: &Item) -> Vec<super::super::scores::judgement::JudgeRequest> {
    let answers: Vec<Answer> =
        item.turn_numbers().map(|turn| Answer { turn, text: ANSWER_PLACEHOLDER.to_owned() }).collect();
    let tasks = suite.judgings(item, &answers, &answers).into_iter();
    tasks.filter_map(|task| if let JudgeStep::Ask(request) = task.step { Some(request) } else { None }).collect()
}

/// Computes the hash of hashes in order; empty without any.
fn hash_of(hashes: impl Iterator<Item = String>) -> String {
    let joined = hashes.collect::<Vec<_>>().join("\n");
    if joined.is_empty() { joined } else { sha256(joined.as_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::SuiteOptions;
    use crate::benchmark::item::Question;
    use crate::benchmark::suites::registry::suite;
    use crate::language::Language;

    fn items(reference: &str) -> Vec<Item> {
        let turns = vec![Question { question: "几？".to_owned(), reference: Some(reference.to_owned()) }];
        let item = |id: &str| Item {
            id: id.to_owned(),
            category: "专业能力".to_owned(),
            subcategory: None,
            language: Language::Chinese,
            turns: turns.clone(),
            choices: None,
        };
        vec![item("1"), item("2")]
    }

    fn manifest(reference: &str, ablation: Option<&str>, settings: &str) -> RunManifest {
        let options = SuiteOptions { ablation: ablation.map(str::to_owned), ..SuiteOptions::default() };
        let suite = suite("alignbench", &options).unwrap();
        let own = ParticipantSettings { settings_sha256: settings.to_owned(), ..ParticipantSettings::default() };
        RunManifest::new(suite.as_ref(), &items(reference), [("m".to_owned(), own)].into())
    }

    fn changed(one: &RunManifest, other: &RunManifest) -> Vec<String> {
        one.changes(other).into_iter().map(|change| change.what).collect()
    }

    #[test]
    fn a_manifest_tells_what_changed_between_two_runs() {
        let one = manifest("三", None, "00");
        assert_eq!(changed(&one, &manifest("三", None, "00")), [] as [&str; 0]);
        assert_eq!(changed(&one, &manifest("四", None, "00")), ["prompts"], "references are in the prompts");
        assert_eq!(changed(&one, &manifest("三", Some("general"), "00")), ["variant", "prompts"]);
        let other = manifest("三", None, "01");
        assert_eq!(changed(&one, &other), ["settings of m"]);
        assert!(!one.has_same_settings(&other, "m") && one.has_same_settings(&one, "m"));
        assert!(!one.has_same_settings(&one, "n"), "nothing is known of it");
        let sent = |batch| RunManifest { batch, ..one.clone() };
        let [batch] = &sent(Some(false)).changes(&sent(Some(true)))[..] else { panic!("one change") };
        assert_eq!((batch.what.as_str(), batch.before.as_str(), batch.after.as_str()), ("batch", "no", "yes"));
        assert_eq!(changed(&sent(None), &sent(Some(true))), [] as [&str; 0], "nobody noted it");
        assert_eq!(changed(&one, &RunManifest { participants: BTreeMap::new(), ..one.clone() }), ["settings of m"]);
    }

    #[test]
    fn a_manifest_of_an_older_program_can_be_read() {
        assert_eq!(serde_json::from_str::<RunManifest>("{}").unwrap(), RunManifest::default());
        let one = manifest("三", None, "00");
        assert_eq!(serde_json::from_str::<RunManifest>(&serde_json::to_string(&one).unwrap()).unwrap(), one);
    }
}
