//! `langya correlate --study FILE`: reads a study and writes its folder of results.

use std::path::Path;

use super::replace_folder::StudyFolder;
use super::{open, warn};
use crate::domain::correlation::Aliases;
use crate::domain::correlation::study::{Results, Study, StudySources, compute};
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::sha256::sha256;
use crate::error::{BadInput, CommandError, CommandResult};
use crate::formats::model_table::ModelTable;
use crate::formats::{read_file, read_text};
use crate::infra::config::Settings;
use crate::output::output_format::OutputFormat;
use crate::output::progress;
use crate::output::standard_output::print;
use crate::render::report::study::{StudyFiles, files};
use crate::services::correlation::{SeriesReader, Sources};

/// Runs a study. The output folder is checked before anything is computed.
///
/// # Errors
/// An invalid study, or a folder with other content.
pub(super) async fn run(
    file: &Path,
    out: Option<&Path>,
    format: OutputFormat,
    settings: &Settings,
) -> CommandResult<()> {
    let study = read(file, settings)?;
    let path = out.map_or_else(|| file.with_extension(""), Path::to_owned);
    let folder = StudyFolder::at(&path)?;
    let table = study.file.table.as_ref().map(|table| file.parent().unwrap_or(Path::new("")).join(table));
    let table = table.map(|table| StudyTable::read(&table, &study.file.key)).transpose()?;
    let (results, files) = compute_study(study, table, settings).await?;
    warn(&results.warnings);
    folder.write(&files)?;
    print(&format_study(&files, &path, format)?)
}

/// Parsed table of a study.
struct StudyTable {
    text: Vec<u8>,
    table: ModelTable,
}

impl StudyTable {
    fn read(path: &Path, key: &str) -> CommandResult<Self> {
        let table = ModelTable::read(path, key)?;
        let text = read_file(path).map_err(|error| BadInput(format!("cannot read {}: {error}", path.display())))?;
        Ok(Self { text, table })
    }
}

fn read(file: &Path, settings: &Settings) -> CommandResult<Study> {
    let cannot = |error: std::io::Error| BadInput(format!("cannot read {}: {error}", file.display()));
    let text = read_text(file).map_err(cannot)?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let study = Study::parse(&text, &name, Aliases::new(&settings.aliases)?);
    study.map_err(|error| CommandError::from(error).context(file.display().to_string()))
}

/// Reads the series and computes the study, with a progress bar on a terminal.
async fn compute_study(
    study: Study,
    table: Option<StudyTable>,
    settings: &Settings,
) -> CommandResult<(Results, StudyFiles)> {
    let names = study.names();
    let store = open(settings, &names).await?;
    let rating = LeaderboardOptions { confidence: study.options.level, ..settings.rating.leaderboard_options()? };
    let mut reader = SeriesReader::new(Sources {
        store: store.as_ref(),
        table: table.as_ref().map(|table| &table.table),
        aliases: study.aliases.clone(),
        rating,
        bootstrap: study.options.bootstrap,
    });
    let bar = progress::bar("series");
    let mut series = Vec::with_capacity(names.len());
    reader.read_votes(&names).await?;
    for name in &names {
        series.push(reader.read(name).await?);
        progress::show(&bar, series.len(), names.len());
    }
    drop(bar);
    let data = StudySources { table_sha256: table.as_ref().map(|table| sha256(&table.text)), used: reader.used() };
    let made = tokio::task::spawn_blocking(move || {
        let bar = progress::bar("comparisons");
        let results = compute(&study, &series, data, |done, all| progress::show(&bar, done, all))?;
        let files = files(&study, &series, &results, table.map(|table| table.text))?;
        CommandResult::Ok((results, files))
    });
    made.await?
}

/// Formats the output: the paths of the files, or the results in a machine-readable format.
fn format_study(files: &StudyFiles, folder: &Path, format: OutputFormat) -> CommandResult<String> {
    let text = |name: &str| String::from_utf8(files.get(name).cloned().unwrap_or_default());
    Ok(match format {
        OutputFormat::Json => text("results.json")?,
        OutputFormat::Csv => text("data/correlations.csv")?,
        OutputFormat::Table => {
            let report = folder.join("report.md");
            format!("{} files are in {}; read {} first\n", files.len() + 1, folder.display(), report.display())
        }
    })
}
