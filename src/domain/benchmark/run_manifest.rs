//! What a run was made of: versions, settings and hashes, so that a reader can tell years later what differs between two runs.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Suite;
use super::canaries::canaries;
use super::item::{Answer, Item, request_sha256};
use super::judgement::JudgeStep;
use crate::sha256::sha256;

/// Stands for an answer where only the prompt around it counts.
const ANSWER: &str = "{answer}";
/// What a change of sending is called.
pub const BATCH: &str = "batch";
/// What a change of a participant's settings is called, before its id.
pub const SETTINGS_OF: &str = "settings of ";
/// A change's value that holds.
pub const YES: &str = "yes";
/// A change's value that does not hold.
pub const NO: &str = "no";

/// What a run was made of, beside its suite, data, round and participants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunManifest {
    /// The program with its version; empty for a run that was stored without a manifest.
    pub program: String,
    /// How it was asked and judged where that is not the suite's own way.
    pub variant: String,
    /// Its items.
    pub items: u64,
    /// Whether these are only the [canaries](super::canaries).
    pub canaries: bool,
    /// Whether its requests were sent in batches of the providers; null for a run that was stored before this was noted.
    pub batch: Option<bool>,
    /// SHA-256 of the first questions to the models with how they sample; of the canaries, so that runs over all items and over these
    /// alone can be compared.
    pub questions_sha256: String,
    /// SHA-256 of the requests to a judge about canaries with a placeholder for each answer: prompt, reference and sampling.
    pub prompts_sha256: String,
    /// Seeds in these requests.
    pub seeds: Vec<u64>,
    /// Settings of everybody who was asked, by id.
    pub participants: BTreeMap<String, ParticipantSettings>,
}

/// What of a model's settings its replies depend on. Its address is in the hash alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ParticipantSettings {
    /// The protocol of its provider.
    pub provider: String,
    /// Its name there.
    pub model: String,
    /// SHA-256 of these with address, temperature, longest reply, system prompt and further keys of the request.
    pub settings_sha256: String,
}

/// A run behind a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedRun {
    /// Its id, as `langya bench compare` takes it.
    pub run: String,
    /// When it began, in milliseconds since 1970.
    pub started_at: i64,
    /// Who answered or was judged.
    pub models: Vec<String>,
    /// The judges.
    pub judges: Vec<String>,
    /// The model that was compared with; empty where there was none.
    pub baseline: String,
    /// What it was made of.
    pub manifest: RunManifest,
}

/// Something that differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunChange {
    /// What: a key of the manifest, with the participant's id where it is of one.
    pub what: String,
    /// In the first run; empty where it was not there.
    pub before: String,
    /// In the second.
    pub after: String,
}

impl RunManifest {
    /// The manifest of a run over these items.
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

    /// What differs in another run.
    #[must_use]
    pub fn changes(&self, other: &Self) -> Vec<RunChange> {
        let seeds = |run: &Self| run.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        // What an earlier version did not note is no change.
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
                (BATCH, batch(run).to_owned()),
            ]
        };
        let plain =
            own(self).into_iter().zip(own(other)).map(|((what, before), (_, after))| (what.to_owned(), before, after));
        let ids: BTreeSet<&String> = self.participants.keys().chain(other.participants.keys()).collect();
        let settings = ids.into_iter().map(|id| {
            let settings_of =
                |run: &Self| run.participants.get(id).map(ParticipantSettings::to_string).unwrap_or_default();
            (format!("{SETTINGS_OF}{id}"), settings_of(self), settings_of(other))
        });
        let all = plain.chain(settings).filter(|(_, before, after)| before != after);
        all.map(|(what, before, after)| RunChange { what, before, after }).collect()
    }

    /// Whether a model had the same settings in both runs, as far as these are known.
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

/// The requests to a judge about an item whose answers, and those of a baseline, are a placeholder.
fn judge_requests(suite: &dyn Suite, item: &Item) -> Vec<super::judgement::JudgeRequest> {
    let answers: Vec<Answer> = item.turn_numbers().map(|turn| Answer { turn, text: ANSWER.to_owned() }).collect();
    let tasks = suite.judgings(item, &answers, &answers).into_iter();
    tasks.filter_map(|task| if let JudgeStep::Ask(request) = task.step { Some(request) } else { None }).collect()
}

/// A hash of hashes in their order; empty of nothing.
fn hash_of(hashes: impl Iterator<Item = String>) -> String {
    let joined = hashes.collect::<Vec<_>>().join("\n");
    if joined.is_empty() { joined } else { sha256(joined.as_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::SuiteOptions;
    use crate::benchmark::item::Question;
    use crate::benchmark::registry::suite;
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
