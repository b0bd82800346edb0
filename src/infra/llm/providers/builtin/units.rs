//! Units in a question: “how many miles are 10 km?”, “37摄氏度是多少华氏度”.

use super::words::is_han;

/// A unit: `value · factor + offset` is the value in its dimension's base unit.
#[derive(Debug, PartialEq)]
pub(super) struct MeasureUnit {
    /// Symbol of the unit in answers.
    pub(super) symbol: &'static str,
    dimension: Dimension,
    /// Base units in one of this unit.
    pub(super) factor: f64,
    offset: f64,
    names: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    Length,
    Mass,
    Volume,
    Time,
    Temperature,
}

const fn unit(symbol: &'static str, dimension: Dimension, factor: f64, names: &'static [&'static str]) -> MeasureUnit {
    MeasureUnit { symbol, dimension, factor, offset: 0.0, names }
}

use Dimension::{Length, Mass, Temperature, Time, Volume};

/// Chinese names that contain another one precede it.
const UNITS: [MeasureUnit; 24] = [
    unit("km", Length, 1000.0, &["km", "kilometer", "kilometre", "公里", "千米"]),
    unit("cm", Length, 0.01, &["cm", "centimeter", "centimetre", "厘米"]),
    unit("mm", Length, 0.001, &["mm", "millimeter", "millimetre", "毫米"]),
    unit("m", Length, 1.0, &["m", "meter", "metre", "米"]),
    unit("mi", Length, 1609.344, &["mi", "mile", "英里"]),
    unit("ft", Length, 0.3048, &["ft", "foot", "feet", "英尺"]),
    unit("in", Length, 0.0254, &["inch", "inche", "英寸"]),
    unit("yd", Length, 0.9144, &["yd", "yard", "码"]),
    unit("kg", Mass, 1.0, &["kg", "kilogram", "kilo", "公斤", "千克"]),
    unit("mg", Mass, 1e-6, &["mg", "milligram", "毫克"]),
    unit("g", Mass, 0.001, &["g", "gram", "克"]),
    unit("lb", Mass, 0.453_592_37, &["lb", "pound", "磅"]),
    unit("oz", Mass, 0.028_349_523_125, &["oz", "ounce", "盎司"]),
    unit("斤", Mass, 0.5, &["jin", "斤"]),
    unit("t", Mass, 1000.0, &["t", "ton", "tonne", "吨"]),
    unit("mL", Volume, 0.001, &["ml", "milliliter", "millilitre", "毫升"]),
    unit("L", Volume, 1.0, &["l", "liter", "litre", "升"]),
    unit("gal", Volume, 3.785_411_784, &["gal", "gallon", "加仑"]),
    unit("h", Time, 3600.0, &["h", "hour", "小时"]),
    unit("min", Time, 60.0, &["min", "minute", "分钟"]),
    unit("s", Time, 1.0, &["s", "sec", "second", "秒"]),
    unit("d", Time, 86_400.0, &["day", "天"]),
    unit("°C", Temperature, 1.0, &["°c", "c", "celsiu", "celsius", "摄氏度"]),
    MeasureUnit {
        symbol: "°F",
        dimension: Temperature,
        factor: 5.0 / 9.0,
        offset: -160.0 / 9.0,
        names: &["°f", "f", "fahrenheit", "华氏度"],
    },
];

/// A value in one unit, to be converted to another.
#[derive(Debug, PartialEq)]
pub(super) struct Conversion {
    pub(super) value: f64,
    pub(super) from: &'static MeasureUnit,
    pub(super) to: &'static MeasureUnit,
}

impl Conversion {
    /// Returns the value in the target unit.
    pub(super) fn result(&self) -> f64 {
        (self.value * self.from.factor + self.from.offset - self.to.offset) / self.to.factor
    }

    /// Whether one multiplication suffices; temperatures also need an offset.
    pub(super) fn is_proportional(&self) -> bool {
        self.from.dimension != Temperature
    }
}

#[derive(Debug, Clone, Copy)]
enum QuestionWord {
    Number(f64),
    Unit(&'static MeasureUnit),
}

/// Finds a number with a unit and another unit of the same dimension.
pub(super) fn find(text: &str) -> Option<Conversion> {
    let words = words(text);
    let (position, value, from) = words.windows(2).enumerate().find_map(|(position, pair)| match pair {
        [QuestionWord::Number(value), QuestionWord::Unit(unit)] => Some((position, *value, *unit)),
        _ => None,
    })?;
    let others = words.iter().enumerate().filter(|(index, _)| *index != position + 1);
    let to = others.into_iter().find_map(|(_, word)| match word {
        QuestionWord::Unit(unit) if unit.dimension == from.dimension && *unit != from => Some(*unit),
        _ => None,
    })?;
    Some(Conversion { value, from, to })
}

/// Returns numbers and units in their order; skips other words.
fn words(text: &str) -> Vec<QuestionWord> {
    let lower = text.to_lowercase();
    let mut words = Vec::new();
    let mut rest = lower.as_str();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() {
            let length = run(rest, |c| c.is_ascii_digit() || c == '.' || c == ',');
            words.extend(
                rest[..length].trim_end_matches(['.', ',']).replace(',', "").parse().ok().map(QuestionWord::Number),
            );
            length
        } else if is_han(first) {
            let found =
                UNITS.iter().find_map(|unit| Some((unit, unit.names.iter().find(|name| rest.starts_with(**name))?)));
            words.extend(found.map(|(unit, _)| QuestionWord::Unit(unit)));
            found.map_or(first.len_utf8(), |(_, name)| name.len())
        } else if first.is_alphabetic() || first == '°' {
            let length = run(rest, |c| (c.is_alphabetic() || c == '°') && !is_han(c));
            words.extend(named(&rest[..length]).map(QuestionWord::Unit));
            length
        } else {
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    words
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn named(word: &str) -> Option<&'static MeasureUnit> {
    let singular = word.strip_suffix('s').filter(|rest| rest.len() > 1).unwrap_or(word);
    UNITS.iter().find(|unit| unit.names.contains(&word) || unit.names.contains(&singular))
}

#[cfg(test)]
mod tests {
    use super::super::arithmetic::number;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = find(text).map(|c| format!("{} {}", number((c.result() * 1e4).round() / 1e4), c.to.symbol));
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn units_are_converted_in_either_order_and_language() {
        check("How many miles are 10 km?", Some("6.2137 mi"));
        check("convert 5 feet to meters", Some("1.524 m"));
        check("What is 100 °C in Fahrenheit?", Some("212 °F"));
        check("-40", None);
        check("37摄氏度是多少华氏度？", Some("98.6 °F"));
        check("3公里等于多少米", Some("3000 m"));
        check("2.5 hours in minutes", Some("150 min"));
        check("10公斤是多少斤", Some("20 斤"));
        check("1,000 ml to l", Some("1 L"));
        check("12 inches in cm", Some("30.48 cm"));
    }

    #[test]
    fn units_of_two_dimensions_are_not_converted() {
        check("5 km in kg", None);
        check("I ran 5 km", None);
        check("a m s", None);
    }
}
