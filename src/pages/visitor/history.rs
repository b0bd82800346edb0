//! A visitor's own battles: the list, and a page for each battle, which can also be shared by link.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::frame::time::ShownTime;
use super::super::{Page, Section, respond};
use crate::domain::battle::mode::BattleMode;
use crate::domain::battle::past_battle::{PastBattle, PastTurn, PastVote};
use crate::domain::battle::progress::Stage;
use crate::domain::battle::vote_receipt::{ExclusionNotice, Revealed};
use crate::domain::battle::{ImageId, Outcome};
use crate::domain::labeling::final_labels::QuestionLabel;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::rating::leaderboards::own_leaderboard::OwnLeaderboard;
use crate::infra::storage::HistoryEntry;
use crate::render::i18n::fill;
use crate::render::i18n::pages::{HistoryTexts, PageTexts};
use crate::render::link_preview::preview_file;
use crate::render::markdown;

/// Maximum length of a question in the list, in characters.
const MAX_EXCERPT_CHARS: usize = 160;
/// Maximum length of a question in a link preview, in characters.
const MAX_PREVIEW_CHARS: usize = 200;

/// Data of the list of battles.
pub struct HistoryView {
    /// Leaderboard of the visitor's rated votes with model names; only on the first page.
    pub own: Option<(OwnLeaderboard, Vec<String>)>,
    /// Battles, latest first.
    pub entries: Vec<HistoryEntry>,
    /// Address of the next page.
    pub older: Option<String>,
    /// Whether this is the first page.
    pub is_first: bool,
    /// Search text; may be empty.
    pub search: String,
    /// Number of battles whose texts the last request deleted.
    pub deleted: Option<u64>,
    /// CSRF token of the forms; `None` for a browser without a session.
    pub token: Option<String>,
    /// Whether deleting the texts also deletes the visitor's session.
    pub forgets_browser: bool,
}

#[derive(Template)]
#[template(path = "history.html")]
struct HistoryPage {
    page: Page,
    words: &'static HistoryTexts,
    rows: Vec<HistoryRow>,
    own: Option<OwnLeaderboardView>,
    view: HistoryView,
}

/// Leaderboard of the visitor's own votes.
struct OwnLeaderboardView {
    lead: String,
    crowd: String,
    rows: Vec<OwnRowView>,
}

struct OwnRowView {
    name: String,
    share: String,
    battles: u64,
    wins: u64,
    even: u64,
    losses: u64,
}

impl OwnLeaderboardView {
    fn new(leaderboard: &OwnLeaderboard, names: &[String], texts: &PageTexts) -> Self {
        let words = &texts.own_leaderboard;
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let rows = leaderboard.models.iter().zip(names).map(|(row, name)| OwnRowView {
            name: name.clone(),
            share: percent(row.share()),
            battles: row.battles,
            wins: row.wins,
            even: row.even,
            losses: row.losses,
        });
        Self {
            lead: fill(words.lead, &[("votes", &leaderboard.votes.to_string())]),
            crowd: leaderboard.crowd.map_or_else(
                || words.no_crowd.to_owned(),
                |crowd| fill(words.crowd, &[("share", &percent(crowd.share)), ("votes", &crowd.votes.to_string())]),
            ),
            rows: rows.collect(),
        }
    }
}

/// Row of a battle.
struct HistoryRow {
    id: String,
    began: ShownTime,
    /// First question, shortened; `None` if the texts are deleted.
    excerpt: Option<String>,
    turns: u64,
    /// Label of a battle whose models the visitor chose.
    mode: Option<&'static str>,
    /// Names of the models revealed to the visitor.
    names: Vec<String>,
    outcome: &'static str,
    shared: bool,
}

/// `GET /history`
#[must_use]
pub fn history(request: &HttpRequest, view: HistoryView) -> HttpResponse {
    let page = Page::new(request, Section::History);
    let words = &page.t().history;
    let rows = view.entries.iter().map(|entry| row(entry, page.t())).collect();
    let own = view.own.as_ref().map(|(leaderboard, names)| OwnLeaderboardView::new(leaderboard, names, page.t()));
    respond(request, StatusCode::OK, &HistoryPage { words, rows, own, view, page })
}

fn row(entry: &HistoryEntry, texts: &'static PageTexts) -> HistoryRow {
    let mode = entry.row.mode;
    let without_vote = if mode.reveals_all_models() { texts.modes.without_vote } else { texts.history.without_vote };
    HistoryRow {
        id: entry.row.id.to_string(),
        began: ShownTime::new(entry.row.created_at.0),
        excerpt: entry.row.prompt.as_deref().map(|prompt| shortened(prompt, MAX_EXCERPT_CHARS)),
        turns: entry.row.turns,
        mode: mode_label(texts, mode),
        names: entry.names.clone(),
        outcome: entry.row.outcome.map_or(without_vote, |outcome| chosen(texts, mode, outcome)),
        shared: entry.row.share.is_some(),
    }
}

/// Returns the label of a mode; `None` for anonymous battles.
fn mode_label(texts: &'static PageTexts, mode: BattleMode) -> Option<&'static str> {
    (mode != BattleMode::Anonymous).then(|| texts.modes.of(mode).name)
}

/// Options that only the visitor of the battle has.
pub struct OwnerView {
    /// CSRF token of the forms.
    pub token: String,
    /// Address of the share link, if the battle is shared.
    pub share: Option<String>,
    /// Category and intent in force for the first question; `None` if the visitor may not change them.
    pub labels: Option<[Option<QuestionLabel>; 2]>,
}

/// Label of a question under one scheme, with buttons to correct it.
struct LabelView {
    scheme: &'static str,
    title: &'static str,
    /// Description of the label's source.
    source: &'static str,
    /// Key, name and whether the label is in force.
    choices: Vec<(&'static str, &'static str, bool)>,
}

/// Options of a reader with the share link.
pub struct RemovalView {
    /// Token of the share link.
    pub token: String,
    /// Whether the reader has just requested removal.
    pub asked: bool,
    /// Absolute base address of the preview images, which other sites load.
    pub pictures: String,
}

/// Reader of a battle page.
pub enum BattleReader {
    /// Visitor of the battle.
    Owner(OwnerView),
    /// Reader with the share link.
    Anybody(RemovalView),
}

impl BattleReader {
    /// Returns the navigation entry of the page.
    pub fn section(&self) -> Section {
        match self {
            Self::Owner(_) => Section::History,
            Self::Anybody(_) => Section::None,
        }
    }
}

/// Data of a battle's page.
#[derive(Template)]
#[template(path = "past_battle.html")]
pub struct BattleView {
    page: Page,
    words: &'static HistoryTexts,
    id: String,
    title: String,
    /// Label of a battle whose models the visitor chose.
    mode: Option<&'static str>,
    /// Beginning of the first question, for link previews.
    preview: String,
    /// Address of the preview image; `None` for a battle of one model.
    picture: Option<String>,
    turns: Vec<TurnView>,
    vote: Option<VoteView>,
    /// Reason why the model names are hidden.
    without_vote: &'static str,
    /// Whether the battle still waits for replies or a vote.
    is_open: bool,
    owner: Option<OwnerView>,
    /// Labels of the first question; only for its visitor.
    labels: Vec<LabelView>,
    removal: Option<RemovalView>,
}

struct TurnView {
    title: String,
    prompt: String,
    /// Addresses and alternative texts of the images.
    images: Vec<(String, String)>,
    /// Safe HTML of each answering side; `None` without a reply.
    replies: Vec<Option<String>>,
}

struct VoteView {
    cast: ShownTime,
    outcome: &'static str,
    /// Description of the exclusion rule applied to the vote.
    rule: Option<String>,
    /// Description of a later decision about the vote.
    decided_since: Option<String>,
    cards: Vec<CardView>,
}

struct CardView {
    name: String,
    origin: String,
    practice: bool,
    chosen: bool,
    rating: String,
    change: String,
    direction: &'static str,
    first: String,
    whole: String,
    speed: String,
    reasoning: Vec<String>,
}

/// `GET /battle/ID` and `GET /shared/TOKEN`
#[must_use]
pub fn battle(request: &HttpRequest, view: &BattleView) -> HttpResponse {
    respond(request, StatusCode::OK, view)
}

impl BattleView {
    /// Creates the view for the battle's visitor, or for a reader with the link.
    pub fn new(page: Page, battle: &PastBattle, reader: BattleReader) -> Self {
        let (owner, removal) = match reader {
            BattleReader::Owner(owner) => (Some(owner), None),
            BattleReader::Anybody(removal) => (None, Some(removal)),
        };
        let texts = page.t();
        let words = &texts.history;
        let vote = battle.vote.as_ref().map(|vote| VoteView::new(vote, battle.mode, texts, owner.is_some()));
        let title = match vote.as_ref().map_or(&[][..], |vote| &vote.cards) {
            [a, b] => fill(words.versus, &[("a", a.name.as_str()), ("b", b.name.as_str())]),
            [alone] => fill(texts.modes.one_model, &[("a", alone.name.as_str())]),
            _ => words.battle_title.to_owned(),
        };
        let picture = removal.as_ref().filter(|_| battle.mode.sides().len() == 2).map(|link| {
            let outcome = battle.vote.as_ref().map(|vote| vote.receipt.outcome);
            format!("{}/{}", link.pictures, preview_file(outcome))
        });
        let many = battle.turns.len() > 1;
        let turns = battle.turns.iter().enumerate();
        Self {
            id: battle.id.to_string(),
            title,
            preview: battle.turns.first().map(|turn| shortened(&turn.prompt, MAX_PREVIEW_CHARS)).unwrap_or_default(),
            picture,
            mode: mode_label(texts, battle.mode),
            turns: turns
                .map(|(at, turn)| TurnView {
                    images: if at == 0 { images(battle, removal.as_ref(), texts) } else { Vec::new() },
                    ..TurnView::new(turn, battle.mode, at + 1, many, texts)
                })
                .collect(),
            vote,
            without_vote: match battle.stage {
                Stage::Voided if battle.mode.reveals_all_models() => texts.modes.voided,
                _ if battle.mode.reveals_all_models() => texts.modes.no_vote,
                Stage::Voided => words.voided,
                Stage::Answering | Stage::Ready => words.open,
                Stage::Voted | Stage::Abandoned => words.no_vote,
            },
            is_open: matches!(battle.stage, Stage::Answering | Stage::Ready),
            labels: owner.as_ref().map(|owner| label_views(owner, texts)).unwrap_or_default(),
            owner,
            removal,
            words,
            page,
        }
    }

    /// Returns the model names, or A and B.
    fn names(&self) -> Vec<&str> {
        let texts = &self.page.t().battle;
        match &self.vote {
            Some(vote) => vote.cards.iter().map(|card| card.name.as_str()).collect(),
            None => vec![texts.model_a, texts.model_b],
        }
    }
}

fn label_views(owner: &OwnerView, texts: &'static PageTexts) -> Vec<LabelView> {
    let Some([category, intent]) = &owner.labels else { return Vec::new() };
    let (words, columns) = (&texts.labels, &texts.leaderboard);
    let schemes = [(Scheme::Superclue, columns.category, category), (Scheme::Urs, columns.intent, intent)];
    schemes
        .into_iter()
        .map(|(scheme, title, now)| LabelView {
            scheme: scheme.as_str(),
            title,
            source: words.source(now.as_ref().map(|now| now.source)),
            choices: scheme
                .labels()
                .map(|key| (key, texts.slices.name(key), now.as_ref().is_some_and(|now| now.label == key)))
                .collect(),
        })
        .collect()
}

impl TurnView {
    fn new(turn: &PastTurn, mode: BattleMode, number: usize, many: bool, texts: &PageTexts) -> Self {
        let title = fill(texts.script.turn, &[("n", &number.to_string())]);
        Self {
            title: if many { title } else { texts.battle.conversation.to_owned() },
            prompt: turn.prompt.clone(),
            images: Vec::new(),
            replies: mode.sides().iter().map(|side| turn.replies[side.index()].as_deref().map(html)).collect(),
        }
    }
}

/// Returns addresses and alternative texts of the images for this reader.
fn images(battle: &PastBattle, link: Option<&RemovalView>, texts: &PageTexts) -> Vec<(String, String)> {
    let address = |number: usize, image: &ImageId| match link {
        Some(link) => format!("/shared/{}/images/{number}", link.token),
        None => format!("/images/{image}"),
    };
    let named = |(number, image): (usize, &ImageId)| {
        (address(number, image), fill(texts.images.image, &[("n", &number.to_string())]))
    };
    (1..).zip(&battle.images).map(named).collect()
}

/// Renders a reply as safe HTML.
fn html(reply: &str) -> String {
    markdown::render(reply).iter().map(|block| format!("<div class=\"block\">{block}</div>")).collect()
}

impl VoteView {
    fn new(vote: &PastVote, mode: BattleMode, texts: &'static PageTexts, own: bool) -> Self {
        let receipt = &vote.receipt;
        let [a, b] = [Outcome::AWins, Outcome::BWins].map(|wins| receipt.outcome == wins);
        let said = if own { chosen } else { chosen_by_other };
        let outcome = said(texts, mode, receipt.outcome);
        let cards = [(Some(&receipt.a), a), (receipt.b.as_ref(), b)];
        let cards = cards.into_iter().filter_map(|(model, chosen)| Some(CardView::new(model?, chosen, texts)));
        Self {
            cast: ShownTime::new(vote.cast_at.0),
            outcome,
            rule: rule(texts, receipt.excluded.as_ref(), receipt.marked.as_ref()).filter(|_| own),
            decided_since: decided_since(texts, vote).filter(|_| own),
            cards: cards.collect(),
        }
    }
}

impl CardView {
    fn new(model: &Revealed, chosen: bool, texts: &PageTexts) -> Self {
        let script = &texts.script;
        let seconds = |ms: u64| {
            #[expect(clippy::cast_precision_loss, reason = "a reply lasts less than 285,000 years")]
            let seconds = ms as f64 / 1_000.0;
            fill(script.seconds, &[("n", &format!("{seconds:.1}"))])
        };
        let speed = |speed: f64| fill(script.characters_per_second, &[("n", &format!("{speed:.0}"))]);
        let origin = [&model.card.organization, &model.card.license].map(String::as_str);
        let (change, direction) = signed(model.rating_change);
        Self {
            name: model.card.name.clone(),
            origin: origin.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "),
            practice: model.card.practice,
            chosen,
            rating: format!("{:.1} → {:.1}", model.rating, model.rating + model.rating_change),
            change,
            direction,
            first: model.first_token_ms.map_or_else(|| "–".to_owned(), seconds),
            whole: seconds(model.duration_ms),
            speed: model.chars_per_second.map_or_else(|| "–".to_owned(), speed),
            reasoning: model.reasoning.iter().filter(|text| !text.is_empty()).cloned().collect(),
        }
    }
}

/// Formats points with sign and one decimal, with the CSS class of the direction; a rounded zero has no sign.
fn signed(points: f64) -> (String, &'static str) {
    match format!("{:.1}", points.abs()) {
        zero if zero == "0.0" => ("±0.0".to_owned(), "none"),
        size if points < 0.0 => (format!("−{size}"), "down"),
        size => (format!("+{size}"), "up"),
    }
}

fn chosen(texts: &PageTexts, mode: BattleMode, outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::AWins if mode == BattleMode::Direct => texts.modes.script.alone.chose_a,
        Outcome::BothBad if mode == BattleMode::Direct => texts.modes.script.alone.chose_both_bad,
        Outcome::AWins => texts.script.chose_a,
        Outcome::BWins => texts.script.chose_b,
        Outcome::Tie => texts.script.chose_tie,
        Outcome::BothBad => texts.script.chose_both_bad,
    }
}

fn chosen_by_other(texts: &PageTexts, mode: BattleMode, outcome: Outcome) -> &'static str {
    let words = if mode == BattleMode::Anonymous { texts.history.shared_outcomes } else { texts.modes.shared_outcomes };
    match outcome {
        Outcome::AWins if mode == BattleMode::Direct => texts.modes.shared_alone[0],
        Outcome::BothBad if mode == BattleMode::Direct => texts.modes.shared_alone[1],
        Outcome::AWins => words[0],
        Outcome::BWins => words[1],
        Outcome::Tie => words[2],
        Outcome::BothBad => words[3],
    }
}

fn rule(texts: &PageTexts, excluded: Option<&ExclusionNotice>, marked: Option<&ExclusionNotice>) -> Option<String> {
    let script = &texts.script;
    match (excluded, marked) {
        (Some(notice), _) if notice.rule == "identity_leak" => Some(script.excluded_identity_leak.to_owned()),
        (Some(notice), _) if notice.rule == "named_mode" => Some(texts.modes.excluded.to_owned()),
        (Some(notice), _) => Some(fill(script.excluded, &[("rule", &notice.rule)])),
        (None, Some(notice)) if notice.rule == "identity_leak" => Some(script.marked_identity_leak.to_owned()),
        (None, _) => None,
    }
}

/// Returns the decision made about a vote after its receipt.
fn decided_since(texts: &PageTexts, vote: &PastVote) -> Option<String> {
    let words = &texts.history;
    match (&vote.receipt.excluded, &vote.exclusion) {
        (None, Some(rule)) => Some(fill(words.excluded_since, &[("rule", texts.exclusions.rule(rule))])),
        (Some(_), None) => Some(words.rated_since.to_owned()),
        (None, None) | (Some(_), Some(_)) => None,
    }
}

/// Shortens a text to one line.
fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => line[..end].trim_end().to_owned() + "…",
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_question_is_cut_between_characters_and_put_on_one_line() {
        assert_eq!(shortened("one\n\ttwo  三四", 9), "one two 三…");
        assert_eq!(shortened("one two", 7), "one two");
        assert_eq!(shortened(" \n ", 7), "");
    }

    #[test]
    fn points_carry_their_sign_unless_they_round_to_nothing() {
        assert_eq!(signed(1.96), ("+2.0".to_owned(), "up"));
        assert_eq!(signed(-1.96), ("−2.0".to_owned(), "down"));
        assert_eq!(signed(-0.04), ("±0.0".to_owned(), "none"));
    }
}
