//! Layout of a suite's tables: tables and columns in the order of its paper. A custom suite has its groups and categories in the
//! order of its scores.

use std::collections::BTreeMap;

use super::{PublishedScore, ReportCell, ReportColumn, ReportHead, ReportRow, ReportTable, ScoreEntry};
use crate::domain::benchmark::Suite;
use crate::domain::benchmark::judging_forms::pairwise::{THREE_ONE_ZERO, TIES_HALF, WINS_AND_TIES};
use crate::domain::benchmark::scores::score::{Part, PartKind};
use crate::domain::benchmark::suites::alignbench::{self, LANGUAGE, REASONING};
use crate::domain::benchmark::suites::mtbench101::{ABILITIES, MEAN_OVER_TURNS, TASKS, TIERS};
use crate::domain::benchmark::suites::superclue;
use crate::domain::benchmark::suites::superclue::CAPABILITIES;
use crate::domain::benchmark::suites::urs::{CRITERIA, INTENTS, OBJECTIVE, SUBJECTIVE};
use crate::domain::benchmark::table_layout::{self, TableKind};
use crate::domain::language::Language;
use crate::i18n::published_notes::published_source;
use crate::i18n::reports::{ReportTexts, named, report_texts};

/// Layout of a table.
pub(super) struct ReportLayout {
    key: &'static str,
    title: String,
    columns: Vec<Part>,
    /// Rows of headings: for each column, the heading above it.
    heads: Vec<Vec<String>>,
}

impl ReportLayout {
    fn new(key: &'static str, title: &str, columns: Vec<Part>) -> Self {
        Self { key, title: title.to_owned(), columns, heads: Vec::new() }
    }

    fn under(mut self, head: impl Fn(&Part) -> String) -> Self {
        self.heads.push(self.columns.iter().map(head).collect());
        self
    }
}

/// Builds the tables of entries, without empty columns and tables.
pub(super) fn tables(suite: &dyn Suite, entries: &[&ScoreEntry], language: Language) -> Vec<ReportTable> {
    let layouts = layouts(suite, entries, language);
    let has = |part: &Part| entries.iter().any(|entry| entry.scores.of(part).is_some());
    let row = |layout: &[Part], entry: &ScoreEntry| ReportRow {
        model: entry.model.clone(),
        baseline: entry.baseline.clone(),
        judged_itself: entry.judges.contains(&entry.model),
        cells: layout.iter().map(|part| entry.scores.of(part).map(ReportCell::from)).collect(),
    };
    let tables = layouts.into_iter().filter_map(|layout| {
        let (table, columns) = frame(suite, layout, &has, language)?;
        let rows = entries.iter().map(|entry| row(&columns, entry)).collect();
        Some(ReportTable { rows, ..table })
    });
    tables.collect()
}

/// Builds the tables of published scores, each series in the layout of the suite's first table that it has scores for; the remaining
/// scores follow in a separate table.
pub(super) fn published(suite: &dyn Suite, scores: &[PublishedScore], language: Language) -> Vec<ReportTable> {
    let mut series: BTreeMap<(&str, &str), Vec<&PublishedScore>> = BTreeMap::new();
    for score in scores {
        series.entry((&score.series, &score.source)).or_default().push(score);
    }
    let tables = series.into_iter().flat_map(|((name, source), of)| of_series(suite, name, source, &of, language));
    let keyed = |(number, table): (usize, ReportTable)| ReportTable {
        key: format!("published-{number}-{}", table.key),
        ..table
    };
    tables.enumerate().map(keyed).collect()
}

fn of_series(
    suite: &dyn Suite,
    name: &str,
    source: &str,
    scores: &[&PublishedScore],
    language: Language,
) -> Vec<ReportTable> {
    let key_of = |score: &PublishedScore| if score.part.is_empty() { "overall".to_owned() } else { score.part.clone() };
    let mut models: Vec<&str> = Vec::new();
    for score in scores {
        if !models.contains(&score.model.as_str()) {
            models.push(&score.model);
        }
    }
    let value = |model: &str, part: &str| {
        scores.iter().find(|score| score.model == model && key_of(score) == part).map(|score| score.score)
    };
    let best = |model: &str| value(model, "overall").unwrap_or(f64::NEG_INFINITY);
    models.sort_by(|one, other| best(other).total_cmp(&best(one)).then_with(|| one.cmp(other)));
    let has = |part: &Part| scores.iter().any(|score| key_of(score) == part.key());
    let tables = layouts(suite, &[], language).into_iter().filter_map(|layout| {
        let (table, columns) = frame(suite, layout, &has, language)?;
        let cell = |score| ReportCell { score: Some(score), std_dev: None, coverage: None, flagged: false };
        let row = |model: &&str| ReportRow {
            model: (*model).to_owned(),
            baseline: String::new(),
            judged_itself: false,
            cells: columns.iter().map(|part| value(model, &part.key()).map(cell)).collect(),
        };
        let rows = models.iter().map(row).filter(|row| row.cells.iter().any(Option::is_some)).collect();
        Some(ReportTable {
            title: format!("{} · {}", named(name, language), table.title),
            source: Some(published_source(source, language)),
            rows,
            ..table
        })
    });
    // The first table already has the overall score.
    tables
        .filter(|table| table.key == "scores" || table.columns.iter().any(|column| column.part != "overall"))
        .collect()
}

/// Creates a table without rows, with its columns; `None` if it would be empty.
fn frame(
    suite: &dyn Suite,
    layout: ReportLayout,
    has: &dyn Fn(&Part) -> bool,
    language: Language,
) -> Option<(ReportTable, Vec<Part>)> {
    let kept: Vec<usize> = (0..layout.columns.len()).filter(|&at| has(&layout.columns[at])).collect();
    let columns: Vec<Part> = kept.iter().map(|&at| layout.columns[at].clone()).collect();
    let heads = layout.heads.iter().map(|row| joined(kept.iter().map(|&at| row[at].as_str())));
    let heads = heads.filter(|row: &Vec<ReportHead>| row.iter().any(|head| !head.label.is_empty())).collect();
    let table = ReportTable {
        key: layout.key.to_owned(),
        title: layout.title,
        source: None,
        heads,
        columns: columns.iter().map(|part| column(suite, part, language)).collect(),
        rows: Vec::new(),
    };
    (!columns.is_empty()).then_some((table, columns))
}

/// Merges neighbouring equal headings.
fn joined<'h>(labels: impl Iterator<Item = &'h str>) -> Vec<ReportHead> {
    let mut heads: Vec<ReportHead> = Vec::new();
    for label in labels {
        match heads.last_mut() {
            Some(last) if last.label == label && !label.is_empty() => last.span += 1,
            _ => heads.push(ReportHead { label: label.to_owned(), span: 1 }),
        }
    }
    heads
}

/// Creates the column of a part.
pub(super) fn column(suite: &dyn Suite, part: &Part, language: Language) -> ReportColumn {
    let name = name(suite, part, language);
    let label = match (part.kind, &part.within) {
        // Two letters, as in the paper.
        (PartKind::Category, _) if suite.name() == "mtbench101" => part.name.clone(),
        (PartKind::Rule, task) if suite.name() == "mtbench101" => {
            task.clone().unwrap_or_else(|| report_texts(language).overall.to_owned())
        }
        _ => name.clone(),
    };
    ReportColumn { part: part.key(), label, name }
}

fn name(suite: &dyn Suite, part: &Part, language: Language) -> String {
    let words = report_texts(language);
    let own = match (part.kind, part.name.as_str()) {
        (PartKind::Overall, _) => words.overall,
        (PartKind::Turn | PartKind::Rule, _) if part.within.is_some() => {
            named(suite.category_title(part.within.as_deref().unwrap_or_default()), language)
        }
        (PartKind::Turn, turn) => return words.turn.replace("{n}", turn),
        (PartKind::Category, name) => named(suite.category_title(name), language),
        (PartKind::Language, "en") => named("English", language),
        (PartKind::Language, "zh") => named("Chinese", language),
        (PartKind::Group, REASONING) => named("Reasoning avg.", language),
        (PartKind::Group, LANGUAGE) => named("Language avg.", language),
        (PartKind::Group, OBJECTIVE) => named("Objective", language),
        (PartKind::Group, SUBJECTIVE) => named("Subjective", language),
        (_, name) => named(name, language),
    };
    own.to_owned()
}

fn layouts(suite: &dyn Suite, entries: &[&ScoreEntry], language: Language) -> Vec<ReportLayout> {
    let words = report_texts(language);
    match suite.name() {
        "alignbench" => of_alignbench(words, language),
        "mtbench101" => of_mtbench101(words, language),
        "urs" => of_urs(suite, words, language),
        "superclue-open" | "superclue-close" => of_superclue(words, language),
        _ => of_any(suite, entries, words, language),
    }
}

/// All parts with a column in a built-in suite.
#[cfg(test)]
pub(super) fn all_parts(suite: &dyn Suite) -> Vec<Part> {
    layouts(suite, &[], Language::English).into_iter().flat_map(|layout| layout.columns).collect()
}

fn category(name: &str) -> Part {
    Part::new(PartKind::Category, name)
}

fn group(name: &str) -> Part {
    Part::new(PartKind::Group, name)
}

/// The paper's ReportTable 6, and its ReportTable 10 of dimensions.
fn of_alignbench(words: &ReportTexts, language: Language) -> Vec<ReportLayout> {
    let group_of = |part: &Part| match alignbench::category_of(&part.name) {
        Some(category) if part.kind == PartKind::Category => category.group.to_owned(),
        _ => part.name.clone(),
    };
    let head = |part: &Part| match group_of(part).as_str() {
        REASONING => named("Reasoning", language).to_owned(),
        LANGUAGE => named("Language", language).to_owned(),
        _ => String::new(),
    };
    let in_group = |wanted: &'static str| {
        let categories = alignbench::CATEGORIES.iter().filter(move |category| category.group == wanted);
        std::iter::once(group(wanted)).chain(categories.map(|known| category(known.name)))
    };
    let columns = std::iter::once(Part::overall()).chain(in_group(REASONING)).chain(in_group(LANGUAGE));
    let dimensions = alignbench::DIMENSIONS.map(|name| Part::new(PartKind::Dimension, name));
    vec![
        ReportLayout::new("scores", words.tasks, columns.collect()).under(head),
        ReportLayout::new("dimensions", words.dimensions, dimensions.to_vec()),
    ]
}

/// The paper's ReportTable 3, then its abilities and tiers, and its ablation without the minimum.
fn of_mtbench101(words: &ReportTexts, language: Language) -> Vec<ReportLayout> {
    let task = |part: &Part| TASKS.iter().find(|task| task.code == part.name);
    let tier = |part: &Part| task(part).map_or_else(String::new, |task| named(task.tier, language).to_owned());
    let ability = |part: &Part| task(part).map_or_else(String::new, |task| named(task.ability, language).to_owned());
    let tasks = || TASKS.iter().map(|task| category(task.code));
    let all: Vec<Part> = std::iter::once(Part::overall()).chain(tasks()).collect();
    let rule = Part::new(PartKind::Rule, MEAN_OVER_TURNS);
    let by_mean = std::iter::once(rule.clone()).chain(TASKS.iter().map(|task| rule.clone().within(task.code)));
    vec![
        ReportLayout::new("scores", words.tasks, all).under(tier).under(ability),
        ReportLayout::new("abilities", words.groups, TIERS.iter().chain(&ABILITIES).map(|name| group(name)).collect()),
        ReportLayout::new("mean-over-turns", words.mean_over_turns, by_mean.collect()),
    ]
}

/// The paper's ReportTable 4, then Tables 12 and 13 by language, and the criteria.
fn of_urs(suite: &dyn Suite, words: &ReportTexts, language: Language) -> Vec<ReportLayout> {
    const TABLE_4: [&str; 6] =
        ["Solve_Professional_Problem", "Factual_QA", "Text_Assistant", "Ask_for_Advice", "Seek_Creativity", "Leisure"];
    let intents = TABLE_4.iter().map(|intent| category(intent)).chain([Part::overall()]);
    let tongues = |whole: &str| {
        Language::ALL.map(|tongue| {
            let own = Part::new(PartKind::Language, tongue.code());
            if whole.is_empty() { own } else { own.within(whole) }
        })
    };
    let wholes = [""].into_iter().chain(INTENTS.iter().map(|intent| intent.name)).chain([OBJECTIVE, SUBJECTIVE]);
    let languages: Vec<Part> = wholes.flat_map(tongues).collect();
    let head = |part: &Part| match part.within.as_deref() {
        None => words.overall.to_owned(),
        Some(OBJECTIVE | SUBJECTIVE) => name(suite, &group(part.within.as_deref().unwrap_or_default()), language),
        Some(intent) => named(suite.category_title(intent), language).to_owned(),
    };
    let criteria = CRITERIA.map(|(criterion, _)| Part::new(PartKind::Dimension, criterion));
    vec![
        ReportLayout::new("scores", words.intents, intents.collect()),
        ReportLayout::new("groups", words.blocks, vec![group(OBJECTIVE), group(SUBJECTIVE)]),
        ReportLayout::new("languages", words.languages, languages).under(head),
        ReportLayout::new("dimensions", words.dimensions, criteria.to_vec()),
    ]
}

/// The paper's ReportTable 2 (both turns, the first, the second), then its ReportTable 3 by capability.
fn of_superclue(words: &ReportTexts, language: Language) -> Vec<ReportLayout> {
    let turn = |turn: &str| Part::new(PartKind::Turn, turn);
    let group_of = |part: &Part| {
        let name = part.within.as_deref().unwrap_or(&part.name);
        superclue::capability_of(name).map_or_else(String::new, |known| named(known.group, language).to_owned())
    };
    let capabilities: Vec<Part> = CAPABILITIES.iter().map(|known| category(known.name)).collect();
    let in_turn = |number: &'static str| CAPABILITIES.iter().map(move |known| turn(number).within(known.name));
    vec![
        ReportLayout::new("scores", words.by_turn, vec![turn("1"), turn("2"), Part::overall()]),
        ReportLayout::new("capabilities", words.capabilities, capabilities).under(group_of),
        ReportLayout::new("first-turn", words.first_turn, in_turn("1").collect()).under(group_of),
        ReportLayout::new("second-turn", words.second_turn, in_turn("2").collect()).under(group_of),
        ReportLayout::new(
            "rules",
            words.rules,
            [WINS_AND_TIES, TIES_HALF, THREE_ONE_ZERO].map(|rule| Part::new(PartKind::Rule, rule)).to_vec(),
        ),
    ]
}

/// Layouts of a custom suite.
fn of_any(suite: &dyn Suite, entries: &[&ScoreEntry], words: &ReportTexts, language: Language) -> Vec<ReportLayout> {
    let whole = |part: &Part| {
        part.within.as_deref().map_or_else(String::new, |whole| named(suite.category_title(whole), language).to_owned())
    };
    let layout = |own: table_layout::TableLayout| {
        let (key, title) = match own.kind {
            TableKind::Scores => ("scores", words.tasks),
            TableKind::Dimensions => ("dimensions", words.dimensions),
            TableKind::Turns => ("turns", words.by_turn),
            TableKind::Languages => ("languages", words.languages),
            TableKind::Rules => ("rules", words.rules),
        };
        ReportLayout::new(key, title, own.parts).under(whole)
    };
    table_layout::layouts(entries.iter().map(|entry| &entry.scores)).into_iter().map(layout).collect()
}
