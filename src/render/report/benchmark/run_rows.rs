//! Table of the runs behind a report.

use super::analysis_rows::table;
use super::{Analysis, Datum};
use crate::domain::benchmark::runs::run_manifest::{ParticipantSettings, ReportedRun};
use crate::domain::language::Language;
use crate::i18n::findings::finding_texts;
use crate::i18n::reports::yes_or_no;

/// Number of displayed characters of a hash.
const SHOWN_HASH_CHARS: usize = 12;

/// Builds the table with a row for each run; `None` without runs.
pub(super) fn runs(runs: &[ReportedRun], language: Language) -> Option<Analysis> {
    let rows = || runs.iter().map(|run| row(run, language)).collect();
    (!runs.is_empty()).then(|| table("runs", &finding_texts(language).runs, rows()))
}

fn row(run: &ReportedRun, language: Language) -> Vec<Datum> {
    let manifest = &run.manifest;
    let named = |ids: &[String]| {
        let settings = |id: &String| manifest.participants.get(id).map(short_settings);
        let one = |id: &String| settings(id).map_or_else(|| id.clone(), |hash| format!("{id} ({hash})"));
        ids.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let seeds: Vec<String> = manifest.seeds.iter().map(u64::to_string).collect();
    vec![
        Datum::Text(run.run.clone()),
        Datum::Text(time(run.started_at)),
        Datum::Text(or_dash(manifest.program.clone())),
        Datum::Count(manifest.items),
        Datum::Text(named(&run.models)),
        Datum::Text(or_dash(named(&run.judges))),
        Datum::Text(or_dash(run.baseline.clone())),
        Datum::Text(or_dash(short_hash(&manifest.questions_sha256))),
        Datum::Text(or_dash(short_hash(&manifest.prompts_sha256))),
        Datum::Text(or_dash(seeds.join(", "))),
        Datum::Text(
            manifest.batch.map_or_else(|| or_dash(String::new()), |batch| yes_or_no(batch, language).to_owned()),
        ),
    ]
}

fn short_settings(settings: &ParticipantSettings) -> String {
    short_hash(&settings.settings_sha256)
}

fn short_hash(hash: &str) -> String {
    hash.chars().take(SHOWN_HASH_CHARS).collect()
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "–".to_owned() } else { text }
}

/// Formats a time in UTC to the minute.
fn time(at: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(at).map(|moment| moment.strftime("%Y-%m-%d %H:%M").to_string());
    moment.unwrap_or_else(|_| "–".to_owned())
}
