//! Benchmarks from end to end: the real program, models and judges scripted over real HTTP, scores computed a second time by the test.

mod arena_votes;
mod attempts;
mod batch_faults;
mod batches;
mod construction;
mod dry_runs;
pub(crate) mod faults;
mod five_levels;
mod imported_files;
mod kills;
mod limits;
mod logprob_weighted;
mod mtbench101;
mod official_prompts;
mod other_suites;
mod planned_runs;
mod reasoning;
mod references;
mod run_comparison;
mod runs;
mod server_batches;
mod server_plans;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use langya::infra::config::StorageSettings;
use langya::infra::storage::{AnswerRound, IfMissing, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::{Run, langya_beside};
use crate::support::upstream::{Gate, Received, Script, Upstream};

/// Short waits between attempts, so that faults cost a test little, and long ones for a reply, as a busy machine needs.
const SETTINGS: &str = "[server]\nworkers = 1\n[providers]\npractice = \"never\"\nfirst_token_timeout_ms = 30000\n\
     idle_timeout_ms = 30000\n[bench]\nattempts = 3\nbackoff_ms = 1\ngive_up_after = 4\n";
/// Requests of one model under way at the same time.
pub(crate) const AT_ONCE: usize = 3;

/// A number made of a text, the same on every machine (FNV-1a).
fn number(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What a scripted model answers to a question: a text that a judge can find again in its prompt.
fn answer(model: &str, question: &str) -> String {
    format!("I say «{:016x}» {{answer}}", number(&format!("{model} {question}")))
}

/// The answer that is quoted last in a prompt.
fn quoted(prompt: &str) -> &str {
    prompt.rsplit_once('«').and_then(|(_, rest)| Some(rest.split_once('»')?.0)).unwrap_or_default()
}

/// The score that the scripted judge gives to an answer.
fn score(answer: &str) -> u64 {
    1 + number(quoted(answer)) % 10
}

/// The last message of a request.
pub(crate) fn question(request: &Received) -> &str {
    request.body["messages"].as_array().and_then(|messages| messages.last()?["content"].as_str()).unwrap_or_default()
}

/// A whole reply, with what it cost.
pub(crate) fn reply(text: &str) -> Script {
    finish(Script::stream(), text)
}

/// The same, once the gate is open.
pub(crate) fn reply_behind(gate: &Gate, text: &str) -> Script {
    finish(Script::stream().wait(gate), text)
}

fn finish(begun: Script, text: &str) -> Script {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}).to_string();
    begun.text(text).event(&usage).event("[DONE]").end()
}

/// A folder with settings, a model server, and what it was asked.
pub(crate) struct Field {
    folder: TempDir,
    pub(crate) upstream: Upstream,
    /// How often each model was asked each question.
    asked: Arc<Mutex<BTreeMap<(String, String), usize>>>,
}

impl Field {
    /// Models that answer, and a judge that rates, without any fault.
    async fn new(models: &[&str]) -> Self {
        Self::with_judge(models, |request, _| reply(&format!("Fine. Rating: [[{}]]", score(question(request))))).await
    }

    /// Models that answer, and a judge of the test's own: it learns how often the question has come.
    pub(crate) async fn with_judge(
        models: &[&str],
        judge: impl Fn(&Received, usize) -> Script + Send + Sync + 'static,
    ) -> Self {
        let field = Self::empty(models).await;
        for model in models {
            let name = (*model).to_owned();
            field.respond(model, move |request, _| reply(&answer(&name, question(request))));
        }
        field.respond("judge", judge);
        field
    }

    pub(crate) async fn empty(models: &[&str]) -> Self {
        let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
        let entry = |id: &str| {
            format!(
                "[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\nmax_concurrent = {AT_ONCE}\n\
                 input_price = 10.0\noutput_price = 100.0\n",
                upstream.url()
            )
        };
        let entries: String = models.iter().chain(&["judge"]).map(|id| entry(id)).collect();
        std::fs::write(folder.path().join("langya.toml"), format!("{SETTINGS}{entries}")).unwrap();
        Self { folder, upstream, asked: Arc::default() }
    }

    /// Scripts a model; every request is counted.
    pub(crate) fn respond(&self, model: &str, responder: impl Fn(&Received, usize) -> Script + Send + Sync + 'static) {
        let (name, asked) = (model.to_owned(), Arc::clone(&self.asked));
        self.upstream.respond(model, move |request| {
            let key = (name.clone(), question(request).to_owned());
            let times = {
                let mut asked = asked.lock().unwrap();
                let times = asked.entry(key).or_default();
                *times += 1;
                *times
            };
            responder(request, times)
        });
    }

    /// Lets the program give up soon on a reply that does not come, where a model is silent.
    pub(crate) fn with_short_timeouts(self) -> Self {
        self.edit("_timeout_ms = 30000", "_timeout_ms = 2000");
        self
    }

    /// Replaces every `old` of the settings by `new`, in one step, so that a running server may read them.
    pub(crate) fn edit(&self, old: &str, new: &str) {
        let settings = std::fs::read_to_string(self.path().join("langya.toml")).unwrap();
        let edited = self.write("edited", settings.replace(old, new));
        std::fs::rename(edited, self.path().join("langya.toml")).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file beside the settings.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs the program to its end.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Run {
        langya_beside(self.path(), arguments).await
    }

    /// Runs the program, which has to succeed, and returns what it printed.
    pub(crate) async fn done(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments).await;
        assert_eq!(run.code, Some(0), "{arguments:?}: {}{}", run.stdout, run.stderr);
        run.stdout
    }

    /// Runs the program, which has to say that no verdict can be read, and returns what it said.
    pub(crate) async fn unreadable(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments).await;
        assert_eq!(run.code, Some(1), "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains("contains a verdict"), "{}", run.stderr);
        run.stderr
    }

    /// Runs the program, which has to refuse its input, and returns what it said.
    pub(crate) async fn refused(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments).await;
        assert_eq!(run.code, Some(2), "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "one line: {}", run.stderr);
        run.stderr
    }

    /// The scores as the report has them, by model and part; none where a part has no value.
    async fn scores(&self, suite: &str) -> BTreeMap<(String, String), Option<f64>> {
        let rows: Value =
            serde_json::from_str(&self.done(&["bench", "report", suite, "--format", "json"]).await).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| ((text(&row["model"]), text(&row["part"])), row["score"].as_f64())).collect()
    }

    /// How often a model was asked, over all questions.
    pub(crate) fn requests(&self, model: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|((name, _), _)| name == model).map(|(_, times)| times).sum()
    }

    /// Questions that a model was asked more than once.
    pub(crate) fn repeated(&self, model: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|((name, _), _)| name == model).map(|(_, times)| times - 1).sum()
    }

    pub(crate) async fn store(&self) -> Store {
        let settings = StorageSettings { data_dir: self.path().join("data"), ..StorageSettings::default() };
        Store::open(&settings, IfMissing::Fail).await.unwrap()
    }

    /// The first round of answers over the latest data of a suite.
    async fn set(&self, store: &Store, suite: &str) -> AnswerRound {
        let suites = store.bench_suites().await.unwrap();
        let latest = suites.into_iter().find(|row| row.suite.as_str() == suite).unwrap();
        AnswerRound { suite: latest.suite, version: latest.version, sample: 1 }
    }
}
