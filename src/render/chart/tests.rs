mod correlating;

use roxmltree::{Document, Node};

use super::axis::real;
use super::heatmap::{HeatValues, HeatmapData};
use super::history::RatingTrace;
use super::violin::ViolinSample;
use super::{
    ChartSeries, Frame, Language, Setting, Topic, forest, heatmap, history, matrix, radar, scores_by_turn,
    style_effects, stylesheet, text, violin,
};
use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::domain::rating::options::IntervalMethod;
use crate::domain::rating::strengths::fit::Direction;
use crate::domain::rating::style::StyleEffect;

const PAGE: Frame = Frame { language: Language::English, setting: Setting::Page };
const HOSTILE: [&str; 6] = [
    "</title></svg><script>alert(1)</script>",
    "\" onload=\"x\" & 'quoted' <b>",
    "escape\u{1b}[2J\u{0}\u{fffe}\u{202e}",
    "",
    "通义千问-超长名称-二〇二六年十一月版本-指令微调-量化后-第一百二十次试验",
    "meta/llama-4-very-long-name-of-a-model-that-nobody-would-choose-but-somebody-did-2026-11-21",
];

fn model(name: &str, rank: u64, rating: f64) -> RankedModel {
    let text = format!(
        r#"{{"model":"","rank":{rank},"rating":{rating},"lower":{},"upper":{},"elo":1000,"battles":9,"wins":4,"losses":5,
            "ties":0,"both_bad":0,"win_tie_rate":0.4,"average_win_rate":0.5,"component":0,"provisional":false,
            "unbounded":null,"standard_error":5.0}}"#,
        rating - 10.0,
        rating + 10.0
    );
    RankedModel { model: name.into(), ..serde_json::from_str(&text).unwrap() }
}

fn models(count: usize) -> Vec<RankedModel> {
    (0..count)
        .map(|at| {
            let name = HOSTILE.get(at).map_or_else(|| format!("model-{at}"), |name| (*name).to_owned());
            model(&name, at as u64 + 1, 1100.0 - real(at))
        })
        .collect()
}

fn values(count: usize, most: f64) -> Vec<Vec<Option<f64>>> {
    let at =
        |row: usize, column: usize| (!(row + column).is_multiple_of(5)).then(|| most * real(row + 1) / real(count));
    (0..count).map(|row| (0..count).map(|column| at(row, column)).collect()).collect()
}

fn traces(count: usize) -> Vec<RatingTrace> {
    let points = |model: usize| {
        (0..20).map(|day| (i64::from(day) * 86_400_000, 1000.0 + real(model) * 0.1 + f64::from(day))).collect()
    };
    models(count)
        .into_iter()
        .enumerate()
        .map(|(at, model)| RatingTrace { name: model.model, points: points(at) })
        .collect()
}

fn effects() -> Vec<StyleEffect> {
    let effect = |name: &str, coefficient| StyleEffect {
        feature: name.into(),
        coefficient,
        lower: coefficient - 0.05,
        upper: coefficient + 0.05,
    };
    vec![effect("length", 0.12), effect(HOSTILE[0], -0.01)]
}

/// Values of `count` models at some positions, with gaps.
fn series(count: usize, places: usize) -> Vec<ChartSeries> {
    let value = |model: usize, place: usize| (!(model + place).is_multiple_of(7)).then(|| real((model + place) % 10));
    let one = |(at, model): (usize, RankedModel)| ChartSeries {
        name: model.model,
        values: (0..places).map(|place| value(at, place)).collect(),
    };
    models(count).into_iter().enumerate().map(one).collect()
}

fn samples(count: usize) -> Vec<ViolinSample> {
    let scores = |at: usize| (0..at).map(|n| real(1 + n % 10)).collect();
    models(count)
        .into_iter()
        .enumerate()
        .map(|(at, model)| ViolinSample { name: model.model, scores: scores(at) })
        .collect()
}

fn topic(key: &str) -> Topic<'_> {
    Topic { key, title: "A <title> & more" }
}

/// Every chart of a benchmark with `count` models.
fn of_benchmarks(count: usize, frame: Frame) -> Vec<String> {
    let places: Vec<String> = models(7).into_iter().map(|model| model.model).collect();
    vec![
        radar::draw(topic("radar"), &places, &series(count, 7), 10.0, frame),
        violin::draw(topic("violin"), &samples(count), &(1.0..=10.0), frame),
        scores_by_turn::draw(topic("curves"), 2, &series(count, 4), frame),
        matrix::draw(topic("matrix"), &places, &series(count, 7), frame),
    ]
}

/// Every chart of `count` models.
fn all(count: usize, frame: Frame) -> Vec<String> {
    let names: Vec<String> = models(count).into_iter().map(|model| model.model).collect();
    let grid = |most| values(count, most);
    let heat = |shown, values: &[Vec<_>]| heatmap::draw(shown, HeatmapData { names: &names, values }, frame);
    vec![
        forest::draw(&models(count), IntervalMethod::Auto, 0.95, frame),
        heat(HeatValues::Wins, &grid(1.0)),
        heat(HeatValues::Counts, &grid(12_345.0)),
        heat(HeatValues::Predicted, &grid(1.0)),
        history::draw(&traces(count), frame),
        style_effects::draw(if count == 0 { vec![] } else { effects() }.as_slice(), frame),
    ]
}

fn texts<'a>(document: &'a Document<'_>) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(|node| node.tag_name().name() == "text")
}

fn number(node: Node<'_, '_>, attribute: &str) -> f64 {
    node.attribute(attribute).unwrap().parse().unwrap()
}

#[test]
fn every_chart_is_well_formed_and_says_what_it_shows_whatever_the_names() {
    for language in [Language::English, Language::Chinese] {
        for setting in [Setting::Page, Setting::File] {
            for count in [0, 1, 2, 7, 50, 120] {
                let frame = Frame { language, setting };
                let svgs = [all(count, frame), of_benchmarks(count, frame), correlating::all(count, frame)];
                for svg in svgs.concat() {
                    let document = Document::parse(&svg).unwrap_or_else(|error| panic!("{error} in {svg}"));
                    let root = document.root_element();
                    assert_eq!(root.attribute("role"), Some("img"));
                    assert_eq!(root.attribute("lang"), Some(language.code()));
                    for id in root.attribute("aria-labelledby").unwrap().split(' ') {
                        let named = root.children().find(|node| node.attribute("id") == Some(id)).unwrap();
                        assert!(
                            named.text().is_some_and(|text| !text.is_empty() && !text.contains('{')),
                            "{id} in {svg}"
                        );
                    }
                    let tags = || document.descendants().map(|node| node.tag_name().name());
                    assert!(!tags().any(|tag| tag == "script"), "{svg}");
                    assert_eq!(tags().any(|tag| tag == "style"), setting == Setting::File);
                    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                }
            }
        }
    }
}

#[test]
fn a_name_is_shortened_to_its_room_and_shown_whole_in_the_tooltip() {
    for name in HOSTILE.into_iter().chain(["短", "b"]) {
        for room in [3.0, 16.0] {
            let shown = text::shorten(name, room);
            assert!(text::width(&shown) <= room, "{shown:?} is wider than {room}");
            assert!(shown == name || shown.ends_with('…'), "{shown:?}");
        }
    }
    let svg = forest::draw(&[model(HOSTILE[4], 1, 1000.0)], IntervalMethod::Auto, 0.95, PAGE);
    let document = Document::parse(&svg).unwrap();
    let shown = texts(&document).find(|node| node.text().is_some_and(|text| text.starts_with("通义"))).unwrap();
    assert!(shown.text().unwrap().ends_with('…'), "{shown:?}");
    let tip = shown.parent().unwrap().first_element_child().unwrap();
    assert!(tip.text().unwrap().contains(HOSTILE[4]), "{tip:?}");
}

#[test]
fn names_of_a_hundred_and_twenty_models_do_not_overlap() {
    let svgs = all(120, PAGE);
    for (svg, font) in svgs.iter().zip([13.0, 9.5, 9.5, 9.5, 13.0]) {
        let document = Document::parse(svg).unwrap();
        let at_x = |node: Node<'_, '_>| node.attribute("x").map(str::to_owned);
        let columns: std::collections::BTreeSet<_> = texts(&document).filter_map(at_x).collect();
        for column in columns {
            let heights = texts(&document).filter(|node| at_x(*node).as_ref() == Some(&column));
            let mut heights: Vec<f64> = heights.map(|node| number(node, "y")).collect();
            heights.sort_by(f64::total_cmp);
            for pair in heights.windows(2) {
                assert!(pair[1] - pair[0] >= font, "texts at {} and {} in column {column} of {svg}", pair[0], pair[1]);
            }
        }
    }
}

#[test]
fn lines_of_history_differ_without_their_colours() {
    let svg = history::draw(&traces(12), PAGE);
    let document = Document::parse(&svg).unwrap();
    let lines =
        document.descendants().filter(|node| node.attribute("class").is_some_and(|class| class.starts_with("trace ")));
    let look = |line: Node<'_, '_>| {
        let dashes = line.attribute("class").unwrap().split(' ').nth(2).unwrap().to_owned();
        let mark = line.next_sibling_element().unwrap();
        let corners = mark.attribute("points").map_or(0, |points| points.split(' ').count());
        (dashes, mark.tag_name().name().to_owned(), corners)
    };
    let looks: std::collections::BTreeSet<_> = lines.map(look).collect();
    assert_eq!(looks.len(), 12, "{looks:?}");
}

/// The points of a drawn line.
fn points(line: Node<'_, '_>) -> Vec<String> {
    line.attribute("points").unwrap().split(' ').map(str::to_owned).collect()
}

#[test]
fn a_radar_closes_what_is_whole_and_leaves_gaps_open() {
    let axes = ["a", "b", "c", "d"].map(str::to_owned);
    let whole = ChartSeries { name: "whole".into(), values: vec![Some(10.0), Some(5.0), Some(0.0), Some(10.0)] };
    let gap = ChartSeries { name: "gap".into(), values: vec![Some(10.0), None, Some(5.0), Some(10.0)] };
    let svg = radar::draw(topic("r"), &axes, &[whole, gap], 10.0, PAGE);
    let document = Document::parse(&svg).unwrap();
    let line = |name: &str| {
        let mut groups = document.descendants().filter(|node| node.tag_name().name() == "g");
        let group = groups.find(|group| {
            let tip = group.first_element_child().and_then(|tip| tip.text());
            tip.is_some_and(|text| text.starts_with(&format!("{name}: ")))
        });
        points(group.unwrap().children().find(|node| node.tag_name().name() == "polyline").unwrap())
    };
    // Straight up by the whole radius, to the right by half of it, the centre, to the left, and back.
    assert_eq!(line("whole"), ["345,102", "425,262", "345,262", "185,262", "345,102"]);
    assert_eq!(line("gap"), ["345,342", "185,262", "345,102"]);
    assert!(svg.contains("gap: a 10.00, b –, c 5.00, d 10.00."), "{svg}");
}

#[test]
fn a_violin_is_widest_where_most_scores_are_and_tells_the_quartiles() {
    let sample = ViolinSample { name: "m".into(), scores: vec![8.0, 8.0, 8.0, 4.0, 9.0, f64::NAN] };
    let svg = violin::draw(topic("v"), &[sample], &(1.0..=10.0), PAGE);
    let document = Document::parse(&svg).unwrap();
    let outline = document.descendants().find(|node| node.attribute("class") == Some("violin")).unwrap();
    let highest = points(outline).into_iter().map(|point| {
        let (x, y) = point.split_once(',').unwrap();
        (y.parse::<f64>().unwrap(), x.parse::<f64>().unwrap())
    });
    let (height, x) = highest.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
    // The row's middle is at 89, the score 8 at 220 + 420 · 7/9.
    assert!((height - 71.0).abs() < 0.01, "{height}");
    assert!((546.0..570.0).contains(&x), "between 8 and 8.5, drawn to the right by the nine: {x}");
    assert!(svg.contains("m: median 8.00, middle half 8.00 to 8.00, mean 7.40, 5 values."), "{svg}");
}

#[test]
fn a_violin_of_correlations_has_ticks_in_round_steps() {
    let sample = ViolinSample { name: "m".into(), scores: vec![-0.5, 0.0, 0.25, 0.75] };
    let ticks = |range: std::ops::RangeInclusive<f64>| {
        let svg = violin::draw(topic("v"), std::slice::from_ref(&sample), &range, PAGE);
        let document = Document::parse(&svg).unwrap();
        let ticks = texts(&document).filter(|node| node.attribute("class") == Some("quiet middle"));
        ticks.map(|node| node.text().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ticks(-0.6..=0.8), "-0.6 -0.4 -0.2 0.0 0.2 0.4 0.6 0.8");
    assert_eq!(ticks(0.7..=1.0), "0.7 0.8 0.9 1.0");
    assert_eq!(ticks(0.8..=1.0), "0.80 0.85 0.90 0.95 1.00");
    assert_eq!(ticks(1.0..=4.0), "1 2 3 4");
}

#[test]
fn curves_differ_without_their_colours_and_begin_at_their_turn() {
    let svg = scores_by_turn::draw(topic("c"), 2, &series(14, 3), PAGE);
    let document = Document::parse(&svg).unwrap();
    let said: Vec<&str> = texts(&document).filter_map(|node| node.text()).collect();
    assert!(said.contains(&"turn 2") && said.contains(&"turn 4") && !said.contains(&"turn 1"), "{said:?}");
    let lines = document.descendants().filter(|node| node.tag_name().name() == "polyline");
    let look = |line: Node<'_, '_>| {
        let mark = line.next_sibling_element().unwrap();
        let corners = mark.attribute("points").map_or(0, |points| points.split(' ').count());
        (
            line.attribute("class").unwrap().split(' ').nth(2).unwrap().to_owned(),
            mark.tag_name().name().to_owned(),
            corners,
        )
    };
    let looks: std::collections::BTreeSet<_> = lines.map(look).collect();
    assert_eq!(looks.len(), 12, "{looks:?}");
}

#[test]
fn a_matrix_writes_each_value_on_its_shade() {
    let columns = ["x", "y"].map(str::to_owned);
    let rows = [
        ChartSeries { name: "low".into(), values: vec![Some(1.0), None] },
        ChartSeries { name: "high".into(), values: vec![Some(5.5), Some(10.0)] },
    ];
    let svg = matrix::draw(topic("m"), &columns, &rows, PAGE);
    let document = Document::parse(&svg).unwrap();
    let cells =
        document.descendants().filter(|node| node.attribute("class").is_some_and(|class| class.starts_with("cell")));
    let cells: Vec<(&str, &str)> = cells
        .map(|cell| (cell.attribute("class").unwrap(), cell.next_sibling_element().unwrap().text().unwrap()))
        .collect();
    assert_eq!(cells, [("cell h0", "1.0"), ("cell h4", "5.5"), ("cell h8", "10.0")]);
    assert!(
        svg.contains("2 rows and 2 columns; 3 cells have a number. The lowest is 1.00, the highest 10.00."),
        "{svg}"
    );
}

#[test]
fn groups_are_apart_and_models_without_a_bound_have_an_arrow() {
    let unbounded = RankedModel {
        unbounded: Some(Direction::Above),
        rating: None,
        at_least: Some(1300.0),
        lower: Some(1300.0),
        upper: None,
        ..model("won", 1, 1300.0)
    };
    let other = RankedModel { component: 1, provisional: true, ..model("apart", 1, 1000.0) };
    let svg = forest::draw(&[unbounded, model("rated", 1, 1000.0), other], IntervalMethod::Auto, 0.9, PAGE);
    let document = Document::parse(&svg).unwrap();
    let said: Vec<&str> = texts(&document).filter_map(|node| node.text()).collect();
    let groups = said.iter().filter(|text| text.contains("cannot be compared"));
    assert_eq!(groups.count(), 2, "{said:?}");
    assert_eq!(said[0], "Ratings with 90 % intervals");
    assert!(said.contains(&"1300 … –"), "{said:?}");
    let drawn = |tag: &str, class: &str| {
        document
            .descendants()
            .filter(|node| node.tag_name().name() == tag && node.attribute("class") == Some(class))
            .count()
    };
    assert_eq!((drawn("polygon", "point"), drawn("circle", "hollow"), drawn("circle", "point")), (1, 1, 2));
    let told = document.root_element().children().find(|node| node.tag_name().name() == "desc").unwrap();
    assert_eq!(
        told.text().unwrap(),
        "3 models, best first. won: ≥ 1300 (only won). 1. rated: 1000, between 990 and 1010. \
         1. apart: 1000, between 990 and 1010 (few votes)."
    );
}

#[test]
fn a_model_without_an_interval_has_no_rank_in_the_forest_where_intervals_were_wanted() {
    let alone =
        RankedModel { lower: None, upper: None, best_rank: Some(1), worst_rank: Some(2), ..model("crane", 7, 1000.0) };
    for (method, rank, told) in [
        (IntervalMethod::Auto, "–", "1 model, best first. crane: 1000."),
        (IntervalMethod::None, "1–2", "1 model, best first. 1–2. crane: 1000."),
    ] {
        let svg = forest::draw(std::slice::from_ref(&alone), method, 0.95, PAGE);
        let document = Document::parse(&svg).unwrap();
        let said: Vec<&str> = texts(&document).filter_map(|node| node.text()).collect();
        assert_eq!(said.iter().filter(|text| **text == rank).count(), 1, "{said:?}");
        assert!(svg.contains(told), "{svg}");
    }
}

#[test]
fn a_heat_map_writes_its_values_and_names_the_clearest_pairs() {
    let names = ["one".to_owned(), "two".to_owned(), "three".to_owned()];
    let values =
        [vec![None, Some(12.0), Some(12_345.0)], vec![Some(12.0), None, None], vec![Some(12_345.0), None, None]];
    let svg = heatmap::draw(HeatValues::Counts, HeatmapData { names: &names, values: &values }, PAGE);
    let document = Document::parse(&svg).unwrap();
    let written: Vec<&str> = texts(&document)
        .filter(|node| node.attribute("class").is_some_and(|class| class.starts_with("figure")))
        .filter_map(|node| node.text())
        .collect();
    assert_eq!(written, ["12", "12k", "12", "12k"]);
    assert!(
        svg.contains("3 models, best first; 2 pairs have met. The most battles: one against three: 12345; "),
        "{svg}"
    );
}

#[test]
fn a_heat_map_has_one_path_for_each_shade_and_a_dash_where_nobody_met() {
    let names = ["one", "two", "three"].map(str::to_owned);
    let values = [vec![None, Some(0.0), Some(0.5)], vec![Some(1.0), None, None], vec![Some(0.5), None, None]];
    let svg = heatmap::draw(HeatValues::Wins, HeatmapData { names: &names, values: &values }, PAGE);
    let document = Document::parse(&svg).unwrap();
    let paths = document.descendants().filter(|node| node.tag_name().name() == "path");
    let shapes = |path: &Node<'_, '_>| path.attribute("d").unwrap().matches('M').count();
    let found: Vec<(&str, usize)> = paths.map(|path| (path.attribute("class").unwrap(), shapes(&path))).collect();
    // Lost all, even, won all; three names on the diagonal; the pair without battles, from both sides.
    assert_eq!(found, [("cell d0", 1), ("cell d4", 2), ("cell d8", 1), ("self", 3), ("self", 2)]);
    assert!(svg.contains(">never met</text>") && svg.contains(">50 %</text>"), "{svg}");
}

#[test]
fn a_share_and_its_rest_have_shades_as_far_from_the_middle() {
    for thousandths in 0..=1000 {
        let share = f64::from(thousandths) / 1000.0;
        let shade = |share: f64| {
            let (names, values) = (["a".to_owned(), "b".to_owned()], [vec![None, Some(share)], vec![None, None]]);
            let svg = heatmap::draw(HeatValues::Predicted, HeatmapData { names: &names, values: &values }, PAGE);
            let (_, class) = svg.split_once("<path class=\"cell d").unwrap();
            class[..1].parse::<i32>().unwrap()
        };
        let (one, rest) = (shade(share), shade(1.0 - share));
        assert_eq!(one + rest, 8, "{share}");
    }
}

#[test]
fn maps_of_three_hundred_models_stay_light() {
    let names: Vec<String> = (0..300).map(|at| format!("model-{at}")).collect();
    let grid = values(300, 1.0);
    let svg = heatmap::draw(HeatValues::Wins, HeatmapData { names: &names, values: &grid }, PAGE);
    let nodes = svg.matches('<').count();
    assert!(nodes < 5_000, "{nodes} tags of 90,000 pairs");
}

#[test]
fn a_history_of_one_moment_is_not_drawn() {
    let once: Vec<RatingTrace> =
        traces(3).into_iter().map(|trace| RatingTrace { points: trace.points[..1].to_vec(), ..trace }).collect();
    let svg = history::draw(&once, PAGE);
    assert!(!svg.contains("<polyline") && !svg.contains("<circle"), "{svg}");
    assert_eq!(
        svg.matches("there is no history yet").count(),
        2,
        "it says so, and tells those who do not see it: {svg}"
    );
}

#[test]
fn shades_differ_in_lightness_and_their_numbers_can_be_read() {
    let (light, dark) = stylesheet::sheet().split_once("@media").unwrap();
    for (sheet, sign) in [(light, -1.0), (dark, 1.0)] {
        let shades: Vec<f64> = (0..9).map(|shade| luminance(fill(sheet, &format!(".h{shade}")))).collect();
        for pair in shades.windows(2) {
            assert!(sign * (pair[1] - pair[0]) > 0.005, "{shades:?}");
        }
        let (ink, paper) = (luminance(fill(sheet, "text")), luminance(fill(sheet, "text.on-dark")));
        for (shade, &lightness) in shades.iter().enumerate() {
            let text = if shade >= 6 { paper } else { ink };
            let contrast = (text.max(lightness) + 0.05) / (text.min(lightness) + 0.05);
            assert!(contrast >= 4.5, "contrast {contrast} on shade {shade} of {sheet}");
        }
    }
}

/// The fill of `.chart SELECTOR`.
fn fill<'a>(sheet: &'a str, selector: &str) -> &'a str {
    let (_, rule) = sheet.split_once(&format!(".chart {selector} {{ fill: ")).unwrap();
    &rule[..7]
}

/// Relative luminance of `#rrggbb` by WCAG 2.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}
