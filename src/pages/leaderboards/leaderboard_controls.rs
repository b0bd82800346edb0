//! Controls of the leaderboard as links and one form: slices as tabs, search, filter chips, sorting and downloads.

use std::collections::BTreeMap;

use crate::domain::labeling::final_labels::{LabelOrigins, LabeledSliceVotes};
use crate::domain::rating::votes::slice::SliceColumn;
use crate::frame::query_string::query_string;
use crate::leaderboards::leaderboard_query::LeaderboardQuery;
use crate::leaderboards::leaderboard_selection::{LeaderboardSelection, ModelFacts, is_open};
use crate::render::i18n::pages::PageTexts;

/// Maximum number of maker chips, those with most models first; the search finds all makers.
const MAX_MAKER_CHIPS: usize = 8;
/// Maximum number of licence chips.
const MAX_LICENSE_CHIPS: usize = 5;

/// Controls of a leaderboard.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeaderboardControls {
    /// Tabs of the slices by language, category and intent, with the label of each column.
    pub tabs: Vec<(&'static str, Vec<ControlLink>)>,
    /// Descriptions of the label sources, for the label columns with tabs.
    pub label_origins: Vec<String>,
    /// Link to the leaderboard of all votes.
    pub all_votes: ControlLink,
    /// Filter chips for openness, makers and licences.
    pub chips: Vec<ControlLink>,
    /// Address without a model selection.
    pub without_choice: String,
    /// Query parameters kept by the search form.
    pub kept: Vec<(&'static str, String)>,
    /// Search text.
    pub search: String,
    /// Sort column; empty for the rating.
    sort: String,
    /// All query parameters except `sort`.
    unsorted: Vec<(&'static str, String)>,
    /// Query parameters of the vote selection, for downloads.
    pub slice: String,
    /// Whether models are filtered or sorted other than by rating.
    pub narrowed: bool,
    /// Number of models on the leaderboard.
    pub models: usize,
}

/// Link with a selected state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ControlLink {
    /// Link text.
    pub text: String,
    /// Count beside the text; `None` for none.
    pub count: Option<u64>,
    /// Address of the link.
    pub href: String,
    /// Whether the option is selected; the link then deselects it.
    pub chosen: bool,
}

/// Heading of a sortable column.
pub(crate) struct SortLink {
    pub(crate) href: String,
    /// Value of `aria-sort`; `None` if another column sorts.
    pub(crate) sorted: Option<&'static str>,
}

impl LeaderboardControls {
    /// Builds the controls for these votes and models, of which `choice` selects some.
    #[must_use]
    pub fn new(
        query: &LeaderboardQuery,
        choice: &LeaderboardSelection,
        LabeledSliceVotes { counts, categories, intents }: &LabeledSliceVotes,
        models: &[ModelFacts<'_>],
        texts: &PageTexts,
    ) -> Self {
        let words = &texts.leaderboard;
        let tab = |column, field: fn(&mut LeaderboardQuery) -> &mut String, slices: &BTreeMap<String, u64>| {
            let mut slices: Vec<(&String, &u64)> = slices.iter().collect();
            slices.sort_by(|(_, one), (_, other)| other.cmp(one));
            let links = slices.into_iter().map(|(slice, votes)| {
                slice_link(query, choice, field, (slice, texts.slices.of(column, slice)), *votes)
            });
            links.collect::<Vec<_>>()
        };
        let tabs = [
            (words.language, tab(SliceColumn::Language, |query| &mut query.language, &counts.languages)),
            (words.category, tab(SliceColumn::Category, |query| &mut query.category, &counts.categories)),
            (words.intent, tab(SliceColumn::Intent, |query| &mut query.intent, &counts.intents)),
        ];
        let whole = LeaderboardQuery {
            language: String::new(),
            category: String::new(),
            intent: String::new(),
            ..query.clone()
        };
        let unsorted = LeaderboardSelection { sort: String::new(), ..choice.clone() };
        let searched = LeaderboardSelection { q: String::new(), ..choice.clone() };
        let origins = |column: &str, slices: usize, origins: &LabelOrigins| {
            (slices > 1).then(|| texts.labels.origins(column, *origins))
        };
        let label_origins = [
            origins(words.category, counts.categories.len(), categories),
            origins(words.intent, counts.intents.len(), intents),
        ];
        Self {
            label_origins: label_origins.into_iter().flatten().collect(),
            tabs: tabs.into_iter().filter(|(_, links)| links.len() > 1).collect(),
            all_votes: ControlLink {
                text: words.all.to_owned(),
                count: None,
                href: address(&whole, choice),
                chosen: whole == *query,
            },
            chips: filter_chips(query, choice, models, texts),
            without_choice: address(query, &LeaderboardSelection::default()),
            kept: parameters(query, &searched),
            search: choice.q.clone(),
            sort: choice.sort.clone(),
            unsorted: parameters(query, &unsorted),
            slice: query.query_string(),
            narrowed: !choice.is_plain(),
            models: models.len(),
        }
    }

    /// Returns the heading of a column; the current sort column links to the reverse order. The rating column has an empty name.
    pub(crate) fn sort_by(&self, column: &str) -> SortLink {
        let descending = column != "name";
        let (ahead, back) = if descending { ("descending", "ascending") } else { ("ascending", "descending") };
        let is_shown = self.sort == column;
        let is_reversed = !column.is_empty() && self.sort.strip_prefix('-') == Some(column);
        let next = if is_shown && !column.is_empty() { format!("-{column}") } else { column.to_owned() };
        let mut parameters: Vec<(&str, &str)> =
            self.unsorted.iter().map(|(name, value)| (*name, value.as_str())).collect();
        parameters.extend(Some(("sort", next.as_str())).filter(|_| !next.is_empty()));
        let sorted = if is_shown { Some(ahead) } else { is_reversed.then_some(back) };
        SortLink { href: format!("/leaderboard{}#board", query_string(&parameters)), sorted }
    }
}

fn slice_link(
    query: &LeaderboardQuery,
    choice: &LeaderboardSelection,
    field: fn(&mut LeaderboardQuery) -> &mut String,
    (slice, name): (&str, &str),
    votes: u64,
) -> ControlLink {
    let mut other = query.clone();
    let chosen = field(&mut other) == slice;
    *field(&mut other) = if chosen { String::new() } else { slice.to_owned() };
    ControlLink { text: name.to_owned(), count: Some(votes), href: address(&other, choice), chosen }
}

/// Returns the filter chips, without those that match all models or none.
fn filter_chips(
    query: &LeaderboardQuery,
    choice: &LeaderboardSelection,
    models: &[ModelFacts<'_>],
    texts: &PageTexts,
) -> Vec<ControlLink> {
    let link = |text: &str, count: usize, chosen: bool, other: LeaderboardSelection| ControlLink {
        text: text.to_owned(),
        count: Some(count as u64),
        href: address(query, &other),
        chosen,
    };
    let toggled = |value: &str, chosen: bool| if chosen { String::new() } else { value.to_owned() };
    let open = models.iter().filter(|model| is_open(model.license)).count();
    let by_openness = [
        ("yes", texts.leaderboard_controls.open, open),
        ("no", texts.leaderboard_controls.closed, models.len() - open),
    ];
    let by_openness = by_openness.into_iter().filter(|(.., count)| (1..models.len()).contains(count));
    let mut chips: Vec<ControlLink> = by_openness
        .map(|(value, text, count)| {
            let chosen = choice.open == value;
            link(text, count, chosen, LeaderboardSelection { open: toggled(value, chosen), ..choice.clone() })
        })
        .collect();
    for (maker, count) in most_frequent(models.iter().map(|model| model.maker), MAX_MAKER_CHIPS) {
        let chosen = choice.maker == maker;
        chips.push(link(
            maker,
            count,
            chosen,
            LeaderboardSelection { maker: toggled(maker, chosen), ..choice.clone() },
        ));
    }
    for (license, count) in most_frequent(models.iter().map(|model| model.license), MAX_LICENSE_CHIPS) {
        let chosen = choice.license == license;
        chips.push(link(
            license,
            count,
            chosen,
            LeaderboardSelection { license: toggled(license, chosen), ..choice.clone() },
        ));
    }
    chips
}

/// Returns the most frequent non-empty texts with their counts; empty if there is only one.
fn most_frequent<'m>(texts: impl Iterator<Item = &'m str>, most: usize) -> Vec<(&'m str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    if counts.len() < 2 {
        return Vec::new();
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().filter(|(text, _)| !text.is_empty()).collect();
    counts.sort_by(|(_, one), (_, other)| other.cmp(one));
    counts.truncate(most);
    counts
}

fn parameters(query: &LeaderboardQuery, choice: &LeaderboardSelection) -> Vec<(&'static str, String)> {
    let all = query.given().into_iter().chain(choice.given());
    all.map(|(name, value)| (name, value.to_owned())).collect()
}

fn address(query: &LeaderboardQuery, choice: &LeaderboardSelection) -> String {
    let all: Vec<(&str, &str)> = query.given().into_iter().chain(choice.given()).collect();
    format!("/leaderboard{}#board", query_string(&all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::language::Language;
    use crate::domain::rating::counts::slice_vote_counts::SliceVoteCounts;
    use crate::render::i18n::pages::page_texts;

    fn facts<'m>(name: &'m str, maker: &'m str, license: &'m str) -> ModelFacts<'m> {
        ModelFacts { id: name, name, maker, license, battles: 1, win_tie_rate: 0.5, elo: 1000.0 }
    }

    fn controls(query: &str, choice: &str) -> LeaderboardControls {
        let languages = BTreeMap::from([("en".to_owned(), 3), ("zh".to_owned(), 5)]);
        let categories = BTreeMap::from([("maths".to_owned(), 8)]);
        let counts = SliceVoteCounts { languages, categories, ..SliceVoteCounts::default() };
        let votes = LabeledSliceVotes { counts, ..LabeledSliceVotes::default() };
        let models = [facts("a", "One", "MIT"), facts("b", "Two", "Proprietary"), facts("c", "Two", "")];
        let (query, choice) = (LeaderboardQuery::parse(query).unwrap(), LeaderboardSelection::parse(choice).unwrap());
        LeaderboardControls::new(&query, &choice, &votes, &models, page_texts(Language::English))
    }

    fn link_summaries(links: &[ControlLink]) -> Vec<(&str, u64, &str, bool)> {
        links.iter().map(|link| (link.text.as_str(), link.count.unwrap(), link.href.as_str(), link.chosen)).collect()
    }

    #[test]
    fn tabs_are_the_slices_with_most_votes_first_and_take_themselves_back() {
        let controls = controls("language=zh", "q=x");
        assert_eq!(controls.tabs.len(), 1, "one category is no choice");
        assert_eq!(
            link_summaries(&controls.tabs[0].1),
            [
                ("Chinese", 5, "/leaderboard?q=x#board", true),
                ("English", 3, "/leaderboard?language=en&q=x#board", false)
            ]
        );
        assert!(!controls.all_votes.chosen && controls.narrowed);
    }

    #[test]
    fn chips_count_models_and_keep_the_rest_of_the_address() {
        let controls = controls("turns=first", "maker=Two&sort=elo");
        assert_eq!(
            link_summaries(&controls.chips),
            [
                ("Open licence", 1, "/leaderboard?turns=first&maker=Two&open=yes&sort=elo#board", false),
                ("Not open", 2, "/leaderboard?turns=first&maker=Two&open=no&sort=elo#board", false),
                ("Two", 2, "/leaderboard?turns=first&sort=elo#board", true),
                ("One", 1, "/leaderboard?turns=first&maker=One&sort=elo#board", false),
                ("MIT", 1, "/leaderboard?turns=first&maker=Two&license=MIT&sort=elo#board", false),
                ("Proprietary", 1, "/leaderboard?turns=first&maker=Two&license=Proprietary&sort=elo#board", false),
            ]
        );
    }

    #[test]
    fn a_heading_sorts_and_sorts_the_other_way_when_it_is_followed_again() {
        let heading = |sort: &str, column: &str| {
            let SortLink { href, sorted } = controls("", sort).sort_by(column);
            (href, sorted)
        };
        let address = |sort: &str| format!("/leaderboard{sort}#board");
        assert_eq!(heading("", ""), (address(""), Some("descending")));
        assert_eq!(heading("sort=elo", ""), (address(""), None));
        assert_eq!(heading("", "elo"), (address("?sort=elo"), None));
        assert_eq!(heading("sort=elo", "elo"), (address("?sort=-elo"), Some("descending")));
        assert_eq!(heading("sort=-elo", "elo"), (address("?sort=elo"), Some("ascending")));
        assert_eq!(heading("sort=name", "name"), (address("?sort=-name"), Some("ascending")));
    }
}
