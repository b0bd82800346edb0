//! Agreement of a judge with people, in MT-Bench's two setups, over all battles and by slice.
//!
//! A battle has one vote and one verdict, so agreement is a share of battles, with a Wilson interval. A verdict whose two games disagree is
//! a tie, as in MT-Bench, and so is "both bad". The setup without ties has only the battles in which both choose a side.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::verdicts::JudgedBattle;
use crate::rating::leaderboards::leaderboard::RankedModel;
use crate::stats::agreement::choices::Choice;
use crate::stats::agreement::kappa::cohen;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::proportion::wilson;
use crate::stats::{Interval, Share, Undefined};

/// Statistic, or the reason why it is undefined.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Statistic {
    /// Value of the statistic.
    pub value: Option<f64>,
    /// Confidence interval, where known.
    pub interval: Option<Interval>,
    /// Reason why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// The same reason, for texts in other languages.
    #[serde(skip)]
    pub reason: Option<MissingReason>,
}

/// Reason why a statistic has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MissingReason {
    /// The statistic is undefined for these observations.
    #[error(transparent)]
    Undefined(Undefined),
    /// The judged battles do not connect all models.
    #[error("the battles judged so far leave {0} groups of models that cannot be compared")]
    SeparateGroups(usize),
}

impl Statistic {
    /// Creates a statistic from a computed value.
    #[must_use]
    pub fn new(found: Result<f64, Undefined>, interval: Option<Interval>) -> Self {
        match found {
            Ok(value) => Self { value: Some(value), interval, undefined: None, reason: None },
            Err(undefined) => Self::missing(MissingReason::Undefined(undefined)),
        }
    }

    /// Creates a statistic without a value.
    #[must_use]
    pub fn missing(reason: MissingReason) -> Self {
        Self { value: None, interval: None, undefined: Some(reason.to_string()), reason: Some(reason) }
    }
}

/// Count out of a total, with the interval of its share.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rate {
    /// Number of counted cases.
    pub of: u64,
    /// Total number of cases.
    pub total: u64,
    /// Share of the counted cases.
    pub share: Statistic,
}

impl Rate {
    /// Creates a rate from a share, with its interval.
    #[must_use]
    pub fn new(share: Share, level: ConfidenceLevel) -> Self {
        let Share { of, total } = share;
        Self { of, total, share: Statistic::new(share.rate(), wilson(share, level).ok()) }
    }
}

/// Agreement in both setups.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgreementBySetup {
    /// Agreement with ties as a third choice.
    pub with_ties: Rate,
    /// Agreement on the battles in which both choose a side.
    pub without_ties: Rate,
    /// Cohen's kappa, with ties.
    pub kappa: Statistic,
}

impl AgreementBySetup {
    /// Computes the agreement of pairs of choices, one pair per battle.
    #[must_use]
    pub fn new(pairs: &[(Choice, Choice)], level: ConfidenceLevel) -> Self {
        let share = |pairs: &mut dyn Iterator<Item = &(Choice, Choice)>| {
            let mut share = Share::default();
            pairs.for_each(|(one, other)| share.count(one == other));
            Rate::new(share, level)
        };
        let (ones, others): (Vec<Choice>, Vec<Choice>) = pairs.iter().copied().unzip();
        Self {
            with_ties: share(&mut pairs.iter()),
            without_ties: share(&mut pairs.iter().filter(|(one, other)| *one != Choice::Tie && *other != Choice::Tie)),
            kappa: Statistic::new(cohen(&ones, &others).map(|found| found.kappa), None),
        }
    }
}

/// Attribute by which battles are sliced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SliceKind {
    /// The language of the first prompt.
    Language,
    /// The category.
    Category,
    /// The intent.
    Intent,
    /// `first` after one turn, `multi` after several.
    Turns,
    /// Rating distance of the two models on the leaderboard, in points: see [`DISTANCE_BANDS`].
    Distance,
}

/// Agreement on a slice of the battles.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SliceAgreement {
    /// Attribute of the slice.
    pub by: SliceKind,
    /// Value of the attribute.
    pub value: String,
    /// Number of judged battles in the slice.
    pub battles: usize,
    /// Agreement on the slice.
    pub agreement: AgreementBySetup,
}

/// Upper bounds and names of the distance bands; the last band is unbounded.
pub const DISTANCE_BANDS: [(f64, &str); 4] =
    [(50.0, "0-50"), (100.0, "50-100"), (200.0, "100-200"), (f64::INFINITY, "200+")];
/// Band of two models whose distance is unknown.
pub const UNKNOWN_DISTANCE: &str = "unknown";

/// Leaderboard ratings from which model distances are computed.
#[derive(Debug, Clone, Default)]
pub struct Distances<'l>(BTreeMap<&'l str, (usize, f64)>);

impl<'l> Distances<'l> {
    /// Collects the ratings of models; those that only won or only lost are left out, since they have none.
    #[must_use]
    pub fn new(models: &'l [RankedModel]) -> Self {
        Self(models.iter().filter_map(|row| Some((row.model.as_str(), (row.component, row.rating?)))).collect())
    }

    /// Returns the distance band of two models; unknown across components, whose ratings are not comparable.
    fn band(&self, models: &[String; 2]) -> (usize, &'static str) {
        let [one, other] = models.each_ref().map(|model| self.0.get(model.as_str()));
        let apart = match (one, other) {
            (Some((one, x)), Some((other, y))) if one == other => Some((x - y).abs()),
            _ => None,
        };
        let band = apart.and_then(|apart| DISTANCE_BANDS.iter().position(|(end, _)| apart < *end));
        band.map_or((DISTANCE_BANDS.len(), UNKNOWN_DISTANCE), |at| (at, DISTANCE_BANDS[at].1))
    }
}

/// Key of a slice, in display order.
type PartKey = (SliceKind, usize, String);

/// Computes the agreement on every slice of the battles with two readable games.
#[must_use]
pub fn slices(battles: &[JudgedBattle<'_>], distances: &Distances<'_>, level: ConfidenceLevel) -> Vec<SliceAgreement> {
    let mut parts: BTreeMap<PartKey, Vec<(Choice, Choice)>> = BTreeMap::new();
    for battle in battles {
        let Some(verdict) = battle.verdict() else { continue };
        for part in parts_of(battle, distances) {
            parts.entry(part).or_default().push((battle.battle_judging(), verdict));
        }
    }
    let slice = |((by, _, value), pairs): (PartKey, Vec<(Choice, Choice)>)| SliceAgreement {
        by,
        value,
        battles: pairs.len(),
        agreement: AgreementBySetup::new(&pairs, level),
    };
    parts.into_iter().map(slice).collect()
}

fn parts_of(battle: &JudgedBattle<'_>, distances: &Distances<'_>) -> Vec<PartKey> {
    let vote = battle.vote;
    let named = |by, text: &str| {
        let values = text.split(',').map(str::trim).filter(|value| !value.is_empty());
        values.map(|value| (by, 0, value.to_owned())).collect::<Vec<_>>()
    };
    let mut parts = named(SliceKind::Language, &vote.language);
    parts.extend(named(SliceKind::Category, vote.category.as_deref().unwrap_or_default()));
    parts.extend(named(SliceKind::Intent, vote.intent.as_deref().unwrap_or_default()));
    let (place, turns) = if vote.turns > 1 { (1, "multi") } else { (0, "first") };
    parts.push((SliceKind::Turns, place, turns.to_owned()));
    let (place, band) = distances.band(&vote.models);
    parts.push((SliceKind::Distance, place, band.to_owned()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome::{AWins, BWins, BothBad, Tie};
    use crate::battle_judging::verdicts::tests::both;
    use crate::battle_judging::verdicts::{JudgedVote, by_judge};
    use crate::judging::verdict::Preference::{A, B};

    const LEVEL: fn() -> ConfidenceLevel = ConfidenceLevel::default;

    fn row(model: &str, component: usize, rating: f64) -> RankedModel {
        let text = format!(
            "{{\"model\":\"{model}\",\"rank\":1,\"rating\":{rating},\"lower\":null,\"upper\":null,\"elo\":0.0,\
             \"battles\":1,\"wins\":0,\"losses\":0,\"ties\":1,\"both_bad\":0,\"win_tie_rate\":1.0,\
             \"average_win_rate\":null,\"component\":{component},\"provisional\":false,\"unbounded\":null,\
             \"standard_error\":null}}"
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn both_setups_are_counted_by_hand() {
        use Choice::{First, Second, Tie};
        let pairs = [(First, First), (First, Second), (First, Tie), (Tie, Tie), (Tie, First), (Second, Second)];
        let found = AgreementBySetup::new(&pairs, LEVEL());
        assert_eq!((found.with_ties.of, found.with_ties.total), (3, 6));
        assert_eq!((found.without_ties.of, found.without_ties.total), (2, 3));
        // People: 3 first, 1 second, 2 ties; the judge: 2 of each. Agreement by chance is 1/6 + 1/18 + 1/9 = 1/3.
        assert!((found.kappa.value.unwrap() - 0.25).abs() < 1e-12, "{:?}", found.kappa);
        let nothing = AgreementBySetup::new(&[], LEVEL());
        assert_eq!(nothing.with_ties.share.undefined.as_deref(), Some("there is nothing to compare"));
    }

    #[test]
    fn every_part_has_its_own_agreement() {
        let mut all: Vec<JudgedVote> = Vec::new();
        for (seq, (outcome, language, category, turns)) in
            (1..).zip([(AWins, "English", "maths,code", 1), (BWins, "English", "code", 3), (BothBad, "Chinese", "", 2)])
        {
            all.extend(both(seq, outcome, [A, B]).map(|said| JudgedVote {
                language: language.into(),
                category: Some(category.into()),
                turns,
                ..said
            }));
        }
        let models = [row("x", 0, 1080.0), row("y", 0, 1000.0)];
        let judges = by_judge(&all);
        let found = slices(&judges[0].battles, &Distances::new(&models), LEVEL());
        let counted: Vec<_> = found
            .iter()
            .map(|slice| (slice.value.as_str(), slice.agreement.with_ties.of, slice.agreement.with_ties.total))
            .collect();
        let expected = [
            ("Chinese", 0, 1),
            ("English", 1, 2),
            ("code", 1, 2),
            ("maths", 1, 1),
            ("first", 1, 1),
            ("multi", 0, 2),
            ("50-100", 1, 3),
        ];
        assert_eq!(counted, expected);
    }

    #[test]
    fn distances_fall_into_bands_and_some_are_not_known() {
        let models = [row("a", 0, 1000.0), row("b", 0, 1050.0), row("c", 0, 1249.9), row("d", 1, 1000.0)];
        let distances = Distances::new(&models);
        let band = |one: &str, other: &str| distances.band(&[one.to_owned(), other.to_owned()]).1;
        assert_eq!((band("a", "a"), band("b", "a"), band("a", "c")), ("0-50", "50-100", "200+"));
        assert_eq!((band("b", "c"), band("a", "d"), band("a", "e")), ("100-200", "unknown", "unknown"));
    }

    #[test]
    fn a_battle_with_one_game_is_in_no_part() {
        let [first, _] = both(1, Tie, [A, B]);
        let all = [first];
        assert_eq!(slices(&by_judge(&all)[0].battles, &Distances::default(), LEVEL()), []);
    }
}
