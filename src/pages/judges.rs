//! The report on model judges of the arena's battles: a page, and a part that other pages can embed.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};
use crate::domain::battle_judging::agreement::{AgreementBySetup, Rate, Statistic};
use crate::domain::battle_judging::leaderboards::{JudgeLeaderboards, Place};
use crate::domain::battle_judging::report::{BattleJudgingReport, JudgeReport};
use crate::domain::language::Language;
use crate::render::i18n::fill;
use crate::render::i18n::pages::{JudgesTexts, PageTexts, page_texts};

/// Report as embeddable HTML sections with tables.
#[derive(Template)]
#[template(path = "_parts/judges.html")]
pub(crate) struct JudgesPart {
    words: &'static JudgesTexts,
    judges: Vec<JudgePart>,
    /// Agreement between judges, if there are several.
    between: Option<TablePart>,
}

struct JudgePart {
    id: String,
    name: String,
    facts: Vec<(&'static str, String)>,
    tables: Vec<TablePart>,
    notes: Vec<String>,
}

struct TablePart {
    id: String,
    title: &'static str,
    reading: &'static str,
    heads: [&'static str; 5],
    rows: Vec<(String, Vec<AgreementCell>)>,
}

/// Statistic, or the reason why it is missing.
struct AgreementCell {
    text: String,
    reason: String,
}

impl JudgesPart {
    /// Formats the report.
    #[must_use]
    fn new(report: &BattleJudgingReport, language: Language) -> Self {
        let texts = page_texts(language);
        let words = &texts.judges;
        let judges = (1..).zip(&report.judges).map(|(number, judge)| judge_part(texts, number, judge)).collect();
        let rows = report
            .between
            .iter()
            .map(|pair| (pair.judges.join(" · "), agreement_cells(words, pair.battles, &pair.agreement)));
        let rows: Vec<_> = rows.collect();
        let between = (!rows.is_empty()).then(|| TablePart {
            id: "judges-between".to_owned(),
            title: words.between,
            reading: words.between_reading,
            heads: words.between_heads,
            rows,
        });
        Self { words, judges, between }
    }
}

fn judge_part(texts: &'static PageTexts, number: usize, judge: &JudgeReport) -> JudgePart {
    let words = &texts.judges;
    let shares = [
        (words.judged, &judge.judged),
        (words.consistent, &judge.consistent),
        (words.first_position, &judge.first_position),
        (words.second_position, &judge.second_position),
        (words.one_tie, &judge.one_tie),
    ];
    let mut facts = vec![(words.instructions, judge.prompt.clone()), (words.latest, day(judge.latest))];
    facts.extend(shares.map(|(label, found)| (label, AgreementCell::rate(words, found).text)));
    let times = judge.worth.times.map(|times| words.worth_said.replace("{times}", &format!("{times:.2}")));
    facts.extend(times.map(|times| (words.worth, times)));
    let rows = judge.agreements().map(|(slice, battles, found)| {
        let part =
            slice.map_or_else(|| words.all.to_owned(), |slice| words.part(slice.by, &slice.value, &texts.slices));
        (part, agreement_cells(words, battles, found))
    });
    let agreement = TablePart {
        id: format!("judge-{number}-agreement"),
        title: words.agreement,
        reading: words.agreement_reading,
        heads: words.agreement_heads,
        rows: rows.collect(),
    };
    JudgePart {
        id: format!("judge-{number}"),
        name: judge.judge.clone(),
        facts,
        tables: vec![agreement, leaderboards(words, number, &judge.leaderboards)],
        notes: notes(words, judge),
    }
}

fn leaderboards(words: &'static JudgesTexts, number: usize, leaderboards: &JudgeLeaderboards) -> TablePart {
    let places =
        |place: &Place| [AgreementCell::plain(place.rank.to_string()), AgreementCell::plain(rating(words, place))];
    let rows = leaderboards
        .models
        .iter()
        .map(|row| (row.model.clone(), places(&row.votes).into_iter().chain(places(&row.verdicts)).collect()));
    TablePart {
        id: format!("judge-{number}-leaderboards"),
        title: words.leaderboards,
        reading: words.leaderboards_reading,
        heads: words.leaderboard_heads,
        rows: rows.collect(),
    }
}

fn notes(words: &JudgesTexts, judge: &JudgeReport) -> Vec<String> {
    let correlation = |sentence: &str, found: &Statistic| {
        let AgreementCell { text, reason } = AgreementCell::statistic(words, found);
        let reason = if reason.is_empty() { reason } else { format!(" ({reason})") };
        fill(sentence, &[("value", &(text + &reason))])
    };
    let leaderboards = &judge.leaderboards;
    let mut notes =
        vec![correlation(words.spearman, &leaderboards.spearman), correlation(words.kendall, &leaderboards.kendall)];
    notes.extend(leaderboards.pairs.map(|pairs| {
        let all = pairs.same + pairs.otherwise + pairs.equal;
        words.otherwise.replace("{n}", &pairs.otherwise.to_string()).replace("{all}", &all.to_string())
    }));
    if leaderboards.unbounded > 0 {
        notes.push(fill(words.unbounded, &[("n", &leaderboards.unbounded.to_string())]));
    }
    if judge.own_battles > 0 {
        notes.push(fill(words.own_battles, &[("n", &judge.own_battles.to_string())]));
    }
    if judge.by_other_prompts > 0 {
        notes.push(fill(words.by_other_prompts, &[("n", &judge.by_other_prompts.to_string())]));
    }
    notes
}

/// Returns the number of battles and the cells of their agreement.
fn agreement_cells(words: &JudgesTexts, battles: usize, found: &AgreementBySetup) -> Vec<AgreementCell> {
    let AgreementBySetup { with_ties, without_ties, kappa } = found;
    vec![
        AgreementCell::plain(battles.to_string()),
        AgreementCell::rate(words, with_ties),
        AgreementCell::rate(words, without_ties),
        AgreementCell::statistic(words, kappa),
    ]
}

fn rating(words: &JudgesTexts, place: &Place) -> String {
    match (place.unbounded, place.lower, place.upper) {
        (true, ..) => format!("{:.0} ({})", place.rating, words.bound),
        (false, Some(lower), Some(upper)) => format!("{:.0} ({lower:.0}–{upper:.0})", place.rating),
        _ => format!("{:.0}", place.rating),
    }
}

fn day(at: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(at).ok();
    moment.map_or_else(|| "–".to_owned(), |moment| moment.strftime("%Y-%m-%d").to_string())
}

impl AgreementCell {
    fn plain(text: String) -> Self {
        Self { text, reason: String::new() }
    }

    /// Formats a rate as a percentage with interval and sample size.
    fn rate(words: &JudgesTexts, rate: &Rate) -> Self {
        let Some(share) = rate.share.value else { return Self::statistic(words, &rate.share) };
        let ends = rate.share.interval.map(|ends| format!(" ({:.1}–{:.1})", 100.0 * ends.lower, 100.0 * ends.upper));
        Self::plain(format!("{:.1} %{}, {}/{}", 100.0 * share, ends.unwrap_or_default(), rate.of, rate.total))
    }

    fn statistic(words: &JudgesTexts, statistic: &Statistic) -> Self {
        match statistic.value {
            Some(value) => {
                let ends = statistic.interval.map(|ends| format!(" ({:.3} … {:.3})", ends.lower, ends.upper));
                Self::plain(format!("{value:.3}{}", ends.unwrap_or_default()))
            }
            None => Self { text: "–".to_owned(), reason: statistic.reason.map(words.missing).unwrap_or_default() },
        }
    }
}

#[derive(Template)]
#[template(path = "judges.html")]
struct JudgesPage {
    page: Page,
    part: JudgesPart,
}

/// Renders the judges page.
#[must_use]
pub fn judges(request: &HttpRequest, report: &BattleJudgingReport) -> HttpResponse {
    let page = Page::new(request, Section::Correlation);
    let part = JudgesPart::new(report, page.language);
    respond(request, StatusCode::OK, &JudgesPage { page, part })
}
