//! The charts of correlations.

use roxmltree::{Document, Node};

use super::{PAGE, fill, luminance, models, number, real, stylesheet, texts, topic};
use crate::chart::correlation_history::CorrelationPoint;
use crate::chart::correlations::{CorrelationCell, cell_text, shade};
use crate::chart::scatter::Dot;
use crate::chart::{Frame, correlation_history, correlations, scatter};
use crate::domain::stats::Interval;

/// Every chart of correlations with `count` subjects.
pub(super) fn all(count: usize, frame: Frame) -> Vec<String> {
    let titles = ["a <title> & more", "超长标题超长标题超长标题超长标题超长标题超长标题超长标题超长标题超长标题"];
    let names: Vec<String> = models(count).into_iter().map(|model| model.model).collect();
    vec![
        scatter::draw(topic("scatter"), titles, &dots(count), frame),
        correlations::draw(topic("correlations"), &names, &cells(count), frame),
        correlation_history::draw(topic("course"), &moments(count), frame),
    ]
}

fn interval(middle: f64, half: f64) -> Option<Interval> {
    Some(Interval { lower: middle - half, upper: middle + half })
}

fn dots(count: usize) -> Vec<Dot> {
    let dot = |(at, model): (usize, crate::domain::rating::leaderboards::leaderboard::RankedModel)| {
        let value = [real(at * 37 % 50), 1e7 + real(at * 11 % 23)];
        Dot { name: model.model, at: value, intervals: [interval(value[0], 1e9), None] }
    };
    models(count).into_iter().enumerate().map(dot).collect()
}

fn cells(count: usize) -> Vec<Vec<Option<CorrelationCell>>> {
    let cell = |row: usize, column: usize| match (row * 7 + column) % 11 {
        0 => None,
        1 => Some(CorrelationCell::Undefined("<b>\u{1b} why".into())),
        at => {
            let r = real(at) / 5.0 - 1.0;
            Some(CorrelationCell::Found { r, interval: interval(r, 0.3), n: at * 2 })
        }
    };
    (0..count).map(|row| (0..count).map(|column| cell(row, column)).collect()).collect()
}

fn moments(count: usize) -> Vec<CorrelationPoint> {
    let moment = |at: usize| CorrelationPoint {
        time: i64::try_from(at).unwrap() * 3_600_000,
        n: at,
        r: if at % 5 == 3 { Err("<i> none".to_owned()) } else { Ok(1.0 - real(at) / 60.0) },
    };
    (0..count).map(moment).collect()
}

fn dot(name: &str, at: [f64; 2]) -> Dot {
    Dot { name: name.into(), at, intervals: [None, None] }
}

fn drawn<'d>(document: &'d Document<'_>, class: &str) -> Vec<Node<'d, 'd>> {
    document.descendants().filter(|node| node.attribute("class") == Some(class)).collect()
}

fn description(document: &Document<'_>) -> String {
    document.root_element().children().find(|node| node.tag_name().name() == "desc").unwrap().text().unwrap().to_owned()
}

#[test]
fn the_line_of_least_squares_goes_through_the_plot_and_is_described() {
    let dots = [dot("a", [0.0, 1.0]), dot("b", [1.0, 2.5]), dot("c", [2.0, 2.5])];
    let svg = scatter::draw(topic("s"), ["x", "y"], &dots, PAGE);
    let document = Document::parse(&svg).unwrap();
    // b = (1·0.5 + 1·0.5)/2 = 0.75, a = 2 − 0.75.
    assert!(description(&document).contains("y = 1.250 + 0.7500·x."), "{svg}");
    let line = drawn(&document, "fit")[0];
    let [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map(|end| number(line, end));
    let centre: Vec<[f64; 2]> =
        drawn(&document, "point").iter().map(|dot| [number(*dot, "cx"), number(*dot, "cy")]).collect();
    let mean = |side: usize| centre.iter().map(|dot| dot[side]).sum::<f64>() / 3.0;
    let on_line = y1 + (mean(0) - x1) / (x2 - x1) * (y2 - y1);
    assert!((on_line - mean(1)).abs() < 0.02, "the line goes through the middle of the dots: {svg}");
    assert!([y1, y2].iter().all(|y| (64.0..=450.0).contains(y)), "{svg}");
}

#[test]
fn a_falling_line_is_described_with_its_sign() {
    let dots = [dot("a", [0.0, 3.0]), dot("b", [1.0, 1.0]), dot("c", [2.0, -1.0])];
    let svg = scatter::draw(topic("s"), ["x", "y"], &dots, PAGE);
    assert!(svg.contains("y = 3.000 − 2.000·x."), "{svg}");
}

#[test]
fn few_dots_and_constant_series_have_no_line_and_say_so() {
    let two = [dot("a", [1.0, 1.0]), dot("b", [2.0, 2.0])];
    let across = [dot("a", [1.0, 1.0]), dot("b", [1.0, 2.0]), dot("c", [1.0, 3.0])];
    let upwards = [dot("a", [1.0, 4.0]), dot("b", [2.0, 4.0]), dot("c", [3.0, 4.0])];
    for (dots, why) in [
        (&two[..], "No line: fewer than three dots."),
        (&across, "No line: all dots have the same value in across."),
        (&upwards, "No line: all dots have the same value in upwards."),
    ] {
        let svg = scatter::draw(topic("s"), ["across", "upwards"], dots, PAGE);
        let document = Document::parse(&svg).unwrap();
        assert!(drawn(&document, "fit").is_empty() && description(&document).contains(why), "{svg}");
        assert!(texts(&document).any(|text| text.text() == Some(why)), "{svg}");
        assert_eq!(drawn(&document, "point").len(), dots.len());
    }
}

#[test]
fn intervals_are_crosses_that_stay_inside_the_plot_and_do_not_press_dots_together() {
    let wide = Dot { intervals: [interval(1.0, 1e7), interval(1.0, 0.25)], ..dot("a", [1.0, 1.0]) };
    let svg = scatter::draw(topic("s"), ["x", "y"], &[wide, dot("b", [2.0, 2.0]), dot("c", [3.0, 2.0])], PAGE);
    let document = Document::parse(&svg).unwrap();
    let crosses = drawn(&document, "cross");
    assert_eq!(crosses.len(), 2);
    let across = [number(crosses[0], "x1"), number(crosses[0], "x2")];
    assert!(across[0] >= 84.0 && across[1] <= 700.0 && across[0] < across[1], "{across:?}");
    let places: Vec<f64> = drawn(&document, "point").iter().map(|dot| number(*dot, "cx")).collect();
    assert!(places[2] - places[0] > 250.0, "{places:?}");
    assert!(svg.contains("a: 1.000 (-1.000e7 … 1.000e7), 1.000 (0.7500 … 1.250)."), "{svg}");
}

#[test]
fn names_of_dots_do_not_stand_on_each_other_and_all_are_described() {
    let dots: Vec<Dot> =
        (0..40).map(|at| dot(&format!("model-{at}"), [real(at * at % 17), real(at * 5 % 13)])).collect();
    let svg = scatter::draw(topic("s"), ["x", "y"], &dots, PAGE);
    let document = Document::parse(&svg).unwrap();
    let is_name = |node: &Node<'_, '_>| node.text().is_some_and(|text| text.starts_with("model-"));
    let rooms: Vec<[f64; 4]> = texts(&document)
        .filter(is_name)
        .map(|node| {
            let wide = super::text::width(node.text().unwrap()) * 13.0;
            let left = match node.attribute("class").unwrap() {
                "halo end" => -wide,
                "halo middle" => -wide / 2.0,
                _ => 0.0,
            };
            let (x, y) = (number(node, "x") + left, number(node, "y"));
            [x, x + wide, y - 10.0, y + 3.0]
        })
        .collect();
    assert!(rooms.len() > 20, "most names have room: {}", rooms.len());
    for (at, one) in rooms.iter().enumerate() {
        for other in &rooms[..at] {
            let apart = one[1] <= other[0] || other[1] <= one[0] || one[3] <= other[2] || other[3] <= one[2];
            assert!(apart, "{one:?} and {other:?} in {svg}");
        }
    }
    let told = description(&document);
    assert!((0..40).all(|at| told.contains(&format!("model-{at}: "))), "{told}");
}

#[test]
fn a_cell_has_its_number_its_shade_and_brackets_where_it_is_weak() {
    let found = |r, half, n| CorrelationCell::Found { r, interval: interval(r, half), n };
    for (cell, written, weak) in [
        (found(0.5, 0.2, 20), "0.50", false),
        (found(-0.8, 0.1, 8), "−0.80", false),
        (found(0.5, 0.2, 7), "(0.50)", true),
        (found(0.1, 0.2, 50), "(0.10)", true),
        (found(-0.001, 0.2, 50), "(0.00)", true),
        (CorrelationCell::Found { r: 1.0, interval: None, n: 30 }, "(1.00)", true),
        (CorrelationCell::Undefined("why".into()), "–", true),
    ] {
        assert_eq!((cell_text(&cell).as_str(), cell.is_weak()), (written, weak));
    }
    let shades = [-1.0, -0.5, 0.0, 0.11, 0.12, 0.5, 1.0].map(shade);
    assert_eq!(shades, ["d0", "d2", "d4", "d4", "d5", "d6", "d8"]);
}

#[test]
fn the_lower_half_of_the_matrix_is_drawn_and_reasons_are_tooltips() {
    let names = ["one", "two", "three"].map(str::to_owned);
    let found = |r| Some(CorrelationCell::Found { r, interval: interval(r, 0.01), n: 20 });
    let cells = [
        vec![None, found(9.0), found(9.0)],
        vec![found(-0.5), None, found(9.0)],
        vec![Some(CorrelationCell::Undefined("nobody has both".into())), found(0.75), None],
    ];
    let svg = correlations::draw(topic("c"), &names, &cells, PAGE);
    let document = Document::parse(&svg).unwrap();
    let tips: Vec<&str> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "g")
        .filter(|group| {
            group.children().any(|node| node.attribute("class").is_some_and(|class| class.starts_with("cell")))
        })
        .filter_map(|group| group.first_element_child()?.text())
        .collect();
    let expected = [
        "two with one: −0.50 (−0.51 … −0.49), n = 20",
        "three with one: nobody has both",
        "three with two: 0.75 (0.74 … 0.76), n = 20",
    ];
    assert_eq!(tips, expected);
    assert!(
        description(&document)
            .starts_with("3 series; 2 pairs have a correlation, 0 of them weak. The strongest: three with two"),
        "{svg}"
    );
}

#[test]
fn a_course_has_gaps_where_nothing_was_defined_and_writes_how_many_were_compared() {
    let moment = |hour: i64, n, r: Result<f64, &str>| CorrelationPoint {
        time: hour * 3_600_000,
        n,
        r: r.map_err(str::to_owned),
    };
    let moments = [
        moment(0, 3, Ok(0.5)),
        moment(10, 3, Ok(0.25)),
        moment(20, 3, Err("constant")),
        moment(30, 8, Ok(-1.0)),
        moment(40, 9, Ok(1.0)),
    ];
    let svg = correlation_history::draw(topic("c"), &moments, PAGE);
    let document = Document::parse(&svg).unwrap();
    let lines = drawn(&document, "trace a solid");
    assert_eq!(lines.len(), 2, "one before the gap and one after it: {svg}");
    let ends: Vec<&str> = lines[1].attribute("points").unwrap().split([' ', ',']).skip(1).step_by(2).collect();
    assert_eq!(ends, ["258.59", "73.41"], "from −1 at the bottom to 1 at the top");
    assert_eq!((drawn(&document, "hollow").len(), drawn(&document, "point").len()), (2, 2), "few are hollow");
    let said: Vec<&str> = texts(&document).filter_map(|node| node.text()).collect();
    let numbers: Vec<&&str> = said.iter().filter(|text| ["3", "8", "9"].contains(text)).collect();
    assert_eq!(numbers, [&"3", &"8", &"9"], "only where it changes");
    assert!(
        description(&document).starts_with(
            "5 moments from 1970-01-01 00:00 UTC to 1970-01-02 16:00 UTC. 1970-01-01 00:00 UTC: 0.50 of 3."
        ),
        "{svg}"
    );
}

#[test]
fn shades_of_both_signs_can_be_read_and_differ_in_lightness() {
    let (light, dark) = stylesheet::sheet().split_once("@media").unwrap();
    for (sheet, sign) in [(light, -1.0), (dark, 1.0)] {
        let shades: Vec<f64> = (0..9).map(|shade| luminance(fill(sheet, &format!(".d{shade}")))).collect();
        for step in 0..4 {
            assert!(sign * (shades[step] - shades[step + 1]) > 0.004, "{shades:?}");
            assert!(sign * (shades[8 - step] - shades[7 - step]) > 0.004, "{shades:?}");
        }
        let (ink, paper) = (luminance(fill(sheet, "text")), luminance(fill(sheet, "text.on-dark")));
        for (place, &shade) in shades.iter().enumerate() {
            let text = if [0, 1, 7, 8].contains(&place) { paper } else { ink };
            let contrast = (text.max(shade) + 0.05) / (text.min(shade) + 0.05);
            assert!(contrast >= 4.5, "contrast {contrast} on shade {place} of {sheet}");
        }
    }
}
