//! The latest leaderboard as a view, shared by its page and the websocket frame, so that they are identical.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use actix_web::HttpRequest;
use bytestring::ByteString;
use parking_lot::Mutex;
use serde::Serialize;

use super::super::request::error::PageError;
use crate::domain::battle::ModelId;
use crate::domain::language::Language;
use crate::domain::rating::intervals::sequential_testing::{NeighbourPair, NeighbourState};
use crate::domain::rating::leaderboards::leaderboard::{Leaderboard, RankedModel};
use crate::domain::rating::leaderboards::leaderboard_filter::LeaderboardFilter;
use crate::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use crate::domain::rating::notes::RatingNote;
use crate::domain::rating::pooling::PooledSlices;
use crate::domain::rating::strengths::fit::Direction;
use crate::domain::rating::style::{FEATURES, StyleEffect};
use crate::infra::llm::roster::Roster;
use crate::pages::leaderboards::charts::ChartView;
use crate::pages::leaderboards::leaderboard::{self, EarlyVotes, LeaderboardRow, LeaderboardView, TopTwo};
use crate::pages::leaderboards::robustness_details::RobustnessDetails;
use crate::pages::requested_language;
use crate::render::chart::{self, Setting};
use crate::services::arena::models::Models;
use crate::services::leaderboard::filtered::FilteredLeaderboard;
use crate::state::AppState;

pub(super) fn frame_of(request: &HttpRequest) -> chart::Frame {
    chart::Frame { language: requested_language(request), setting: Setting::Page }
}

/// Returns the chart of style effects, if they were fitted.
pub(super) fn style_chart(leaderboard: &Leaderboard, frame: chart::Frame) -> Option<ChartView> {
    let of_style = |effect: &&StyleEffect| FEATURES.contains(&effect.feature.as_str());
    let effects: Vec<StyleEffect> = leaderboard.style.iter().filter(of_style).cloned().collect();
    (!effects.is_empty()).then(|| ChartView::new(chart::style_effects::draw(&effects, frame)))
}

/// Returns the filtered leaderboard, with the votes of the latest leaderboard or slightly fewer.
pub(in crate::http) async fn answer(
    app: &AppState,
    filter: &LeaderboardFilter,
) -> Result<Arc<FilteredLeaderboard>, PageError> {
    Ok(app.filtered.get(filter, app.leaderboard.latest().last_public_seq()).await?)
}

#[derive(Serialize)]
struct LeaderboardFrame {
    #[serde(rename = "type")]
    kind: &'static str,
    as_of: Option<i64>,
    votes: u64,
    notes: String,
    html: String,
}

/// Latest frame of `/ws/leaderboard` in each language: rendered once, and shared by all sockets.
#[derive(Default)]
pub(in crate::http) struct Frames([Latest<FrameKey, ByteString>; Language::ALL.len()]);

/// Cache key: all inputs of a frame.
struct FrameKey {
    snapshot: Arc<LeaderboardSnapshot>,
    roster: Arc<Roster>,
}

impl PartialEq for FrameKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.snapshot, &other.snapshot) && Arc::ptr_eq(&self.roster, &other.roster)
    }
}

/// Cache of the last rendered value, with its key.
pub(in crate::http) struct Latest<K, V>(Mutex<Option<(K, V)>>);

impl<K, V> Default for Latest<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, V: Clone> Latest<K, V> {
    /// Returns the cached value for this key, or renders it; concurrent callers wait for it.
    pub(in crate::http) fn get(&self, of: K, render: impl FnOnce() -> V) -> V {
        let mut latest = self.0.lock();
        if let Some((known, rendered)) = &*latest
            && *known == of
        {
            return rendered.clone();
        }
        let rendered = render();
        *latest = Some((of, rendered.clone()));
        rendered
    }
}

impl Frames {
    /// Returns the frame of `/ws/leaderboard`.
    pub(in crate::http) fn frame(&self, app: &AppState, language: Language) -> ByteString {
        let key = FrameKey { snapshot: app.leaderboard.latest(), roster: app.models.current() };
        self.0[language as usize].get(key, || frame(app, language).into())
    }
}

fn frame(app: &AppState, language: Language) -> String {
    let view = view(app);
    let (notes, html) = (leaderboard::notes_html(&view, language), leaderboard::rows_html(&view, language));
    let frame = LeaderboardFrame { kind: "leaderboard", as_of: view.as_of_ms, votes: view.votes, notes, html };
    serde_json::to_string(&frame).expect("a frame is text and whole numbers")
}

pub(in crate::http) fn view(app: &AppState) -> LeaderboardView {
    let snapshot = app.leaderboard.latest();
    let leaderboard = &snapshot.leaderboard;
    let models = compared_models(&app.models.current(), leaderboard);
    let early = EarlyVotes::new(leaderboard.votes.rated, models, app.settings.now().rating.min_votes);
    LeaderboardView { as_of_ms: snapshot.fitted_at.map(|time| time.0), early, ..shown(app, leaderboard) }
}

/// Returns the number of models to compare: those of the leaderboard, and active ones without battles.
fn compared_models(roster: &Roster, leaderboard: &Leaderboard) -> u64 {
    let paired = roster.all().iter().filter(|model| model.weight > 0.0).map(|model| model.card.id.as_str());
    let rated = leaderboard.models.iter().map(|model| model.model.as_str());
    paired.chain(rated).collect::<BTreeSet<&str>>().len() as u64
}

/// Returns the robustness of the latest leaderboard; `None` before the first report, and if no votes compare two models.
pub(super) fn robustness_details(app: &AppState, language: Language) -> Option<RobustnessDetails> {
    let latest = app.robustness.latest();
    let name = |model: &str| app.models.card(&ModelId::new(model)).name;
    let report = &latest.report;
    RobustnessDetails::new(&report.overall, &report.rigging, report.computed_at?, language, name)
}

pub(in crate::http) fn shown(app: &AppState, leaderboard: &Leaderboard) -> LeaderboardView {
    LeaderboardView {
        confidence: leaderboard.confidence,
        votes: leaderboard.votes.rated,
        early: EarlyVotes::new(
            leaderboard.votes.rated,
            leaderboard.models.len() as u64,
            app.settings.now().rating.min_votes,
        ),
        notes: notes(leaderboard, &app.models),
        top: top_two(leaderboard, &app.models),
        rows: rows(leaderboard, &app.models),
        slice_votes: app.leaderboard.slice_votes(),
        pooled: leaderboard.pooled.as_ref().map(|pooled| named(pooled, &app.models)),
        levels: levels(leaderboard, &app.models),
        side: leaderboard.style.iter().find(|effect| effect.feature == "side").cloned(),
        priced: app.settings.now().price_list().models.len(),
        ..LeaderboardView::default()
    }
}

/// Returns the two best models with a rating in one component.
fn top_two(leaderboard: &Leaderboard, models: &Models) -> Option<TopTwo> {
    let mut rated = leaderboard.models.iter().filter(|model| model.rating.is_some() && model.component == 0);
    let (first, second) = (rated.next()?, rated.next()?);
    let is_pair = |pair: &&NeighbourPair| pair.upper == first.model && pair.lower == second.model;
    let apart = leaderboard.neighbours.iter().find(is_pair).map(|pair| pair.state);
    Some(TopTwo {
        names: [first, second].map(|model| name_of(&model.model, models)),
        lead: first.rating? - second.rating?,
        apart: apart.is_none_or(|state| state == NeighbourState::Separated),
    })
}

/// Returns the models by share of acceptable replies, with their names; empty if unknown.
fn levels(leaderboard: &Leaderboard, models: &Models) -> Vec<RankedModel> {
    let named =
        |model: &RankedModel| RankedModel { model: models.card(&ModelId::new(&model.model)).name, ..model.clone() };
    let mut levels: Vec<RankedModel> =
        leaderboard.models.iter().filter(|model| model.good_enough.is_some()).map(named).collect();
    levels.sort_by(|x, y| y.good_enough.partial_cmp(&x.good_enough).unwrap_or(Ordering::Equal));
    levels
}

/// Replaces model ids by display names in the pooled slices.
fn named(pooled: &PooledSlices, models: &Models) -> PooledSlices {
    let mut named = pooled.clone();
    for rated in named.slices.iter_mut().flat_map(|slice| &mut slice.models) {
        rated.model = models.card(&ModelId::new(&rated.model)).name;
    }
    named
}

/// Returns the notes with model names. Without any vote, a text replaces the table instead.
fn notes(leaderboard: &Leaderboard, models: &Models) -> Vec<RatingNote> {
    let notes = leaderboard.notes.iter().filter(|note| **note != RatingNote::NoVotes);
    notes.map(|note| note.clone().with_names(|model| name_of(model, models))).collect()
}

pub(in crate::http) fn name_of(model: &str, models: &Models) -> String {
    models.card(&ModelId::new(model)).name
}

/// Returns the rows: models with a rating, best first, then those with only wins, then those with only losses.
fn rows(leaderboard: &Leaderboard, models: &Models) -> Vec<LeaderboardRow> {
    let mut shown: Vec<&RankedModel> = leaderboard.models.iter().collect();
    shown.sort_by_key(|model| match model.unbounded {
        None => 0,
        Some(Direction::Above) => 1,
        Some(Direction::Below) => 2,
    });
    let following = shown.iter().skip(1).map(Some).chain([None]);
    shown.iter().zip(following).map(|(model, next)| row(model, next.copied(), leaderboard, models)).collect()
}

fn row(model: &RankedModel, next: Option<&RankedModel>, leaderboard: &Leaderboard, models: &Models) -> LeaderboardRow {
    let card = models.card(&ModelId::new(&model.model));
    let is_pair =
        |pair: &&NeighbourPair| pair.upper == model.model && next.is_some_and(|next| pair.lower == next.model);
    let rank = model.shown_rank(leaderboard.interval);
    LeaderboardRow {
        rank: rank.and_then(|rank| u32::try_from(rank).ok()),
        ranks: model.best_rank.zip(model.worst_rank).filter(|_| rank.is_some()),
        next: leaderboard.neighbours.iter().find(is_pair).map(|pair| pair.state),
        model: model.model.clone(),
        name: card.name,
        organization: card.organization,
        license: card.license,
        practice: card.practice,
        rating: model.rating,
        at_least: model.at_least,
        at_most: model.at_most,
        lower: model.lower,
        upper: model.upper,
        elo: model.elo,
        battles: model.battles,
        win_tie_rate: Some(model.win_tie_rate),
        record: [model.wins, model.ties, model.losses, model.both_bad],
        provisional: model.provisional,
        group: leaderboard.group_of(model).map(|_| model.component + 1),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering as AtomicOrdering};

    use super::*;

    #[test]
    fn many_sockets_cost_one_rendering_of_each_leaderboard() {
        let (latest, renderings) = (Latest::default(), AtomicUsize::new(0));
        let get = |fit: u32| {
            latest.get(fit, || {
                renderings.fetch_add(1, AtomicOrdering::Relaxed);
                ByteString::from(format!("fit {fit}"))
            })
        };
        for fit in 1..=3 {
            let frames: Vec<ByteString> = std::thread::scope(|scope| {
                let sockets: Vec<_> = (0..8).map(|_| scope.spawn(|| [get(fit), get(fit)])).collect();
                sockets.into_iter().flat_map(|socket| socket.join().unwrap()).collect()
            });
            assert!(frames.iter().all(|frame| *frame == format!("fit {fit}")));
            assert!(frames.iter().all(|frame| frame.as_ptr() == frames[0].as_ptr()), "the same bytes");
            assert_eq!(renderings.load(AtomicOrdering::Relaxed), fit as usize);
        }
    }
}
