use super::*;
use crate::correlation::Point;
use crate::stats::Undefined;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::BootstrapOptions;

fn series(name: &str, values: &[f64]) -> Series {
    let name: SeriesName = name.parse().unwrap();
    let subjects = if name == SeriesName::Satisfaction || name.to_string().ends_with(":intents") {
        Subjects::Intents
    } else {
        Subjects::Models
    };
    let points = values.iter().enumerate().map(|(at, &value)| (format!("m{at}"), Point::fixed(value))).collect();
    Series { title: name.to_string(), name, subjects, points, notes: Vec::new(), resampled: None }
}

fn catalog(names: &[&str]) -> SeriesCatalog {
    let all: Vec<Series> =
        names.iter().enumerate().map(|(at, name)| series(name, &[1.0, 2.0 + real(at), 4.0, 3.0, 9.0])).collect();
    let bootstrap = BootstrapOptions { replicates: 200, seed: 0 };
    SeriesCatalog::new(all, Vec::new(), StudyOptions { level: ConfidenceLevel::default(), bootstrap })
}

fn real(count: usize) -> f64 {
    crate::stats::real_len(count)
}

fn named(catalog: &SeriesCatalog, places: &[usize]) -> Vec<String> {
    places.iter().map(|&at| catalog.series()[at].name.to_string()).collect()
}

const NAMES: [&str; 9] = [
    "published:urs:Leisure",
    "published:urs",
    "published:mine",
    "published:urs:intents",
    "bench:urs:Leisure",
    "bench:urs",
    "arena:satisfaction",
    "arena:rating:language=zh",
    "arena:rating",
];

#[test]
fn series_are_listed_by_source_and_wholes_before_parts() {
    let catalog = catalog(&NAMES);
    let listed: Vec<(String, SeriesSource)> =
        catalog.series.iter().map(|series| (series.name.to_string(), SeriesSource::from_series(series))).collect();
    let expected = [
        ("arena:rating", SeriesSource::Votes),
        ("arena:rating:language=zh", SeriesSource::Votes),
        ("bench:urs", SeriesSource::Benchmark),
        ("bench:urs:Leisure", SeriesSource::Benchmark),
        ("published:mine", SeriesSource::Imported),
        ("published:urs", SeriesSource::Published),
        ("published:urs:Leisure", SeriesSource::Published),
        ("arena:satisfaction", SeriesSource::Intents),
        ("published:urs:intents", SeriesSource::Intents),
    ];
    assert_eq!(listed, expected.map(|(name, source)| (name.to_owned(), source)));
    assert_eq!(catalog.default_pair(), Some(["arena:rating".to_owned(), "bench:urs".to_owned()]));
    assert_eq!(catalog.intents(), Some(["arena:satisfaction".to_owned(), "published:urs:intents".to_owned()]));
}

#[test]
fn the_arenas_own_rating_comes_first_where_there_is_one() {
    let first = |names: &[&str]| catalog(names).default_pair().map(|[x, y]| format!("{x} {y}"));
    let papers = ["published:superclue_close", "published:superclue_open:turn:1"];
    let own = ["arena:rating", "arena:win_tie_rate", papers[0], papers[1]];
    assert_eq!(first(&own).as_deref(), Some("arena:rating arena:win_tie_rate"));
    assert_eq!(first(&[&own[..], &["published:mine"]].concat()).as_deref(), Some("arena:rating published:mine"));
    let judged = [&own[..], &["published:mine", "bench:urs"]].concat();
    assert_eq!(first(&judged).as_deref(), Some("arena:rating bench:urs"));
    assert_eq!(first(&papers).as_deref(), Some("published:superclue_close published:superclue_open:turn:1"));
    assert_eq!(first(&["bench:urs"]), None);
}

#[test]
fn a_matrix_has_the_series_of_its_group_wholes_first_and_none_of_intents() {
    let catalog = catalog(&NAMES);
    let own = ["arena:rating", "bench:urs", "published:mine", "arena:rating:language=zh", "bench:urs:Leisure"];
    assert_eq!(named(&catalog, &catalog.matrix(SeriesGroup::Own).series), own);
    assert_eq!(
        named(&catalog, &catalog.matrix(SeriesGroup::Published).series),
        ["published:urs", "published:urs:Leisure"]
    );
    let all = catalog.matrix(SeriesGroup::All);
    assert_eq!((all.series.len(), all.of), (7, 7));
    let cell = all.cell(0, 1);
    let expected = Coefficient::Pearson.correlate(&[1.0, 10.0, 4.0, 3.0, 9.0], &[1.0, 7.0, 4.0, 3.0, 9.0]);
    assert_eq!((cell.n, cell.found[0]), (5, expected));
}

#[test]
fn a_matrix_ends_after_forty_series_and_says_how_many_there_are() {
    let names: Vec<String> = (0..60).map(|at| format!("bench:own-{at:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let catalog = catalog(&names);
    let matrix = catalog.matrix(SeriesGroup::Own);
    assert_eq!((matrix.series.len(), matrix.of, catalog.group_len(SeriesGroup::Own)), (MATRIX_SERIES, 60, 60));
    assert_eq!(named(&catalog, &matrix.series[..2]), ["bench:own-00", "bench:own-01"]);
}

#[test]
fn parts_of_the_votes_are_series_where_there_are_enough_votes_in_two_of_them() {
    let votes = |counts: &[(&str, u64)]| -> BTreeMap<String, u64> {
        counts.iter().map(|(name, votes)| ((*name).to_owned(), *votes)).collect()
    };
    let votes = SliceVoteCounts {
        languages: votes(&[("de", 19), ("en", 20), ("zh", 90)]),
        categories: votes(&[("all", 500)]),
        intents: BTreeMap::new(),
    };
    let names: Vec<String> = arena_names(&votes).iter().map(ToString::to_string).collect();
    let expected = [
        "arena:rating",
        "arena:elo",
        "arena:win_tie_rate",
        "arena:rating:language=zh",
        "arena:rating:language=en",
        "arena:rating:turns=first",
        "arena:rating:turns=multi",
        "arena:rating:long_prompts",
        "arena:satisfaction",
    ];
    assert_eq!(names, expected);
    let languages = (0..50).map(|at| (format!("l{at:02}"), 100 + at)).collect();
    let many = SliceVoteCounts { languages, ..SliceVoteCounts::default() };
    assert_eq!(arena_names(&many).len(), 3 + 8 + 3 + 1);
}

#[test]
fn a_course_holds_past_ratings_against_the_series_as_it_is() {
    let moment = |seconds: f64, ratings: &[(&str, f64)]| Moment {
        seconds,
        ratings: ratings.iter().map(|(model, rating)| ((*model).to_owned(), *rating)).collect(),
    };
    let history = [
        moment(1.0, &[("m0", 1000.0), ("m9", 900.0)]),
        moment(2.0, &[("m0", 1100.0), ("m1", 1000.0), ("m2", 900.0)]),
        moment(3.0, &[("m2", 1100.0), ("m1", 1000.0), ("m0", 900.0)]),
    ];
    let (rating, other) = (series("arena:rating", &[0.0; 3]), series("bench:urs", &[1.0, 2.0, 3.0]));
    let history = |x, y| correlation_history(&history, x, y, Coefficient::Pearson);
    let found = history(&other, &rating);
    let few = Err(Undefined::TooFew { found: 1, needed: 3 });
    let expected = [(1.0, 1, few), (2.0, 3, Ok(-1.0)), (3.0, 3, Ok(1.0))];
    assert_eq!(found, expected.map(|(seconds, n, r)| HistoryPoint { seconds, n, r }));
    assert_eq!(history(&rating, &other), found, "whichever of the two is the rating");
    let part =
        SeriesName::Arena { metric: Metric::Rating, part: VotePart(Slice { long_prompts: true, ..Slice::default() }) };
    let part = Series { name: part, ..rating.clone() };
    for (x, y) in [(&part, &other), (&rating, &rating), (&other, &other)] {
        assert!(history(x, y).is_empty(), "{} {}", x.name, y.name);
    }
}

#[test]
fn a_grid_that_would_take_long_is_refused_with_the_way_out() {
    let catalog = catalog(&["bench:a", "bench:b", "bench:c", "bench:d", "bench:e"]);
    let of = |count: usize, steps| MixtureQuestion {
        series: catalog.series()[..count].iter().map(|series| series.name.to_string()).collect(),
        target: catalog.series()[4].name.to_string(),
        steps,
    };
    let found = catalog.mixture(&of(2, Some(1_000))).unwrap();
    assert_eq!((found.n, found.weights.len()), (5, 2));
    let refused = catalog.mixture(&of(4, Some(1_000))).unwrap_err();
    let said = "steps of 0.001 over 4 series and 5 models take too long here";
    assert!(refused.is_input() && refused.to_string().starts_with(said), "{refused}");
    assert!(catalog.mixture(&of(4, None)).is_ok(), "the exact optimum is quick");
}
