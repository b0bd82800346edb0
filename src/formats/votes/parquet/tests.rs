//! Parquet gives the same votes as the same rows in CSV, for all encodings and missing values.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{Encoding, LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type;

use super::super::tests::EVERYTHING;
use super::super::{ReadOptions, read_log};

/// Number of rows of a row group, and of row groups.
const ROWS: usize = 60;
const GROUPS: usize = 3;

/// Missing values of the optional columns in a row group.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Missing {
    Nothing,
    Some,
    All,
}

const MISSING: [Missing; GROUPS] = [Missing::Nothing, Missing::Some, Missing::All];

/// Source of a CSV line and of the Parquet columns' values.
#[derive(Debug)]
struct Row {
    models: [String; 2],
    winner: &'static str,
    seconds: i64,
    judge: Option<String>,
    rated: Option<bool>,
    turn: Option<i32>,
    probability: Option<f32>,
    tokens: [Option<i64>; 2],
    bold: Option<f64>,
    first_token: Option<i64>,
    duration: Option<f64>,
}

fn rows(missing: Missing, begin: usize) -> Vec<Row> {
    let row = |n: usize| {
        let there = |nth: usize| match missing {
            Missing::Nothing => true,
            Missing::Some => !(n + nth).is_multiple_of(3),
            Missing::All => false,
        };
        let number = i32::try_from(n).unwrap();
        Row {
            models: [format!("model-{}", n % 7), format!("模型 {}", n % 5)],
            winner: ["model_a", "model_b", "tie", "both_bad"][n % 4],
            seconds: i64::from(number),
            judge: there(0).then(|| format!("judge-{}", n % 11)),
            rated: there(1).then_some(!n.is_multiple_of(5)),
            turn: there(2).then_some(number % 3 + 1),
            probability: there(3).then_some(0.25),
            tokens: [there(4).then_some(i64::from(number)), there(5).then_some(7)],
            bold: there(6).then_some(f64::from(number % 4)),
            first_token: there(7).then_some(i64::from(number)),
            duration: there(8).then_some(f64::from(9 * number)),
        }
    };
    (begin..begin + ROWS).map(row).collect()
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn csv(groups: &[Vec<Row>]) -> String {
    let mut lines = String::from(
        "model_a,model_b,winner,tstamp,judge,rated,turn,pair_probability,tokens_a,tokens_b,bold_a,first_token_ms_a,\
         duration_ms_b\n",
    );
    for row in groups.iter().flatten() {
        let Row { models: [a, b], winner, seconds, judge, rated, turn, .. } = row;
        let Row { probability, tokens: [ta, tb], bold, first_token, duration, .. } = row;
        let (judge, rated, turn) = (text(judge.as_ref()), text(*rated), text(*turn));
        let (probability, ta, tb, bold) = (text(*probability), text(*ta), text(*tb), text(*bold));
        let (first_token, duration) = (text(*first_token), text(*duration));
        write!(lines, "{a},{b},{winner},{seconds},{judge},{rated},{turn},{probability},{ta},{tb},{bold}").unwrap();
        writeln!(lines, ",{first_token},{duration}").unwrap();
    }
    lines
}

fn leaf(name: &str, physical: Physical, repetition: Repetition) -> Arc<Type> {
    let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
    leaf_of(name, physical, logical, repetition)
}

/// A column of a logical type; a fixed length is that of a UUID.
fn leaf_of(name: &str, physical: Physical, logical: Option<LogicalType>, repetition: Repetition) -> Arc<Type> {
    let (precision, scale) = match &logical {
        Some(LogicalType::Decimal(decimal)) => (decimal.precision, decimal.scale),
        _ => (-1, -1),
    };
    let length = if physical == Physical::FIXED_LEN_BYTE_ARRAY { 16 } else { 0 };
    let column = Type::primitive_type_builder(name, physical).with_logical_type(logical).with_repetition(repetition);
    Arc::new(column.with_length(length).with_precision(precision).with_scale(scale).build().unwrap())
}

fn schema() -> Arc<Type> {
    const REQUIRED: Repetition = Repetition::REQUIRED;
    const OPTIONAL: Repetition = Repetition::OPTIONAL;
    let fields = vec![
        leaf("model_a", Physical::BYTE_ARRAY, REQUIRED),
        leaf("model_b", Physical::BYTE_ARRAY, OPTIONAL),
        leaf("winner", Physical::BYTE_ARRAY, OPTIONAL),
        leaf_of("tstamp", Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS)), REQUIRED),
        leaf("judge", Physical::BYTE_ARRAY, OPTIONAL),
        leaf("rated", Physical::BOOLEAN, OPTIONAL),
        leaf("turn", Physical::INT32, OPTIONAL),
        leaf("pair_probability", Physical::FLOAT, OPTIONAL),
        leaf("tokens_a", Physical::INT64, OPTIONAL),
        leaf("tokens_b", Physical::INT64, OPTIONAL),
        leaf("bold_a", Physical::DOUBLE, OPTIONAL),
        leaf("first_token_ms_a", Physical::INT64, OPTIONAL),
        leaf("duration_ms_b", Physical::DOUBLE, OPTIONAL),
    ];
    Arc::new(Type::group_type_builder("row").with_fields(fields).build().unwrap())
}

fn put<T: DataType>(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, values: impl Iterator<Item = Option<T::T>>) {
    let values: Vec<Option<T::T>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
}

fn bytes(text: &str) -> Option<ByteArray> {
    Some(text.into())
}

fn parquet(groups: &[Vec<Row>], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let mut writer = SerializedFileWriter::new(Vec::new(), schema(), Arc::new(properties.build())).unwrap();
    for rows in groups {
        let mut group = writer.next_row_group().unwrap();
        put::<ByteArrayType>(&mut group, rows.iter().map(|row| bytes(&row.models[0])));
        put::<ByteArrayType>(&mut group, rows.iter().map(|row| bytes(&row.models[1])));
        put::<ByteArrayType>(&mut group, rows.iter().map(|row| bytes(row.winner)));
        put::<Int64Type>(&mut group, rows.iter().map(|row| Some(1_000 * row.seconds)));
        put::<ByteArrayType>(&mut group, rows.iter().map(|row| row.judge.as_deref().and_then(bytes)));
        put::<BoolType>(&mut group, rows.iter().map(|row| row.rated));
        put::<Int32Type>(&mut group, rows.iter().map(|row| row.turn));
        put::<FloatType>(&mut group, rows.iter().map(|row| row.probability));
        put::<Int64Type>(&mut group, rows.iter().map(|row| row.tokens[0]));
        put::<Int64Type>(&mut group, rows.iter().map(|row| row.tokens[1]));
        put::<DoubleType>(&mut group, rows.iter().map(|row| row.bold));
        put::<Int64Type>(&mut group, rows.iter().map(|row| row.first_token));
        put::<DoubleType>(&mut group, rows.iter().map(|row| row.duration));
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Reads a file to texts: a line a vote, and two for the excluded ones. Compared as texts, since a missing number is NaN.
fn read(file: &Path, contents: &[u8]) -> Vec<String> {
    std::fs::write(file, contents).unwrap();
    let log = read_log(&[file], EVERYTHING, &ReadOptions::default()).unwrap();
    let (voters, style) = (log.voters.as_ref().unwrap(), log.style.as_ref().unwrap());
    let name = |place: u32| log.models.as_slice()[place as usize].as_str();
    let vote = |row: usize| {
        let voter = voters.names.as_slice().get(voters.rows[row] as usize);
        let (turns, seconds) = (log.turns.as_ref().unwrap()[row], log.seconds.as_ref().unwrap()[row]);
        let (probability, outcome) = (log.pair_probabilities.as_ref().unwrap()[row], log.outcomes[row]);
        let (tokens, bold) = (style.tokens()[row], style.bold()[row]);
        let [timing_a, timing_b] = log.timings.as_ref().unwrap()[row];
        let (a, b) = (name(log.a[row]), name(log.b[row]));
        let style = format!("{tokens:?} {bold:?} {timing_a:?} {timing_b:?}");
        format!("{a} {outcome:?} {b} {voter:?} {turns} {seconds} {probability} {style}")
    };
    let excluded = log.excluded_votes.as_ref().unwrap();
    let (rules, columns) = (excluded.rules.names.as_slice(), &excluded.columns);
    let excluded = format!("{rules:?} {:?} {:?} {:?}", excluded.rules.rows, columns.turns, columns.seconds);
    (0..log.len()).map(vote).chain([format!("{:?}", log.excluded), excluded]).collect()
}

#[track_caller]
fn check(properties: WriterPropertiesBuilder) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("votes");
    for first in 0..GROUPS {
        // The last row group has values in each column, whatever the first one lacks.
        let kinds = (0..=GROUPS).map(|group| MISSING[(first + group) % GROUPS]);
        let groups: Vec<Vec<Row>> = kinds.enumerate().map(|(place, missing)| rows(missing, place * ROWS)).collect();
        let (found, wanted) =
            (read(&file, &parquet(&groups, properties.clone())), read(&file, csv(&groups).as_bytes()));
        assert_eq!(found.len(), wanted.len());
        found.iter().zip(&wanted).for_each(|(found, wanted)| assert_eq!(found, wanted));
    }
}

fn both_versions(properties: impl Fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder) {
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        check(properties(WriterProperties::builder().set_writer_version(version)));
    }
}

#[test]
fn dictionaries_are_read_wherever_values_are_missing() {
    both_versions(|properties| properties);
}

#[test]
fn plain_values_are_read_wherever_values_are_missing() {
    both_versions(|properties| properties.set_dictionary_enabled(false).set_encoding(Encoding::PLAIN));
}

#[test]
fn a_dictionary_that_grew_too_large_is_read_with_the_plain_pages_behind_it() {
    both_versions(|properties| {
        properties.set_dictionary_page_size_limit(24).set_write_batch_size(4).set_data_page_row_count_limit(8)
    });
}

#[test]
fn texts_are_read_in_the_rarer_encodings_too() {
    for encoding in [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
        both_versions(|properties| {
            ["model_a", "model_b", "winner", "judge"].into_iter().fold(properties, |properties, column| {
                let column = ::parquet::schema::types::ColumnPath::from(column);
                properties.set_column_dictionary_enabled(column.clone(), false).set_column_encoding(column, encoding)
            })
        });
    }
}

#[test]
fn numbers_are_read_in_the_rarer_encodings_too() {
    let encodings = [
        ("tstamp", Encoding::DELTA_BINARY_PACKED),
        ("turn", Encoding::DELTA_BINARY_PACKED),
        ("tokens_a", Encoding::BYTE_STREAM_SPLIT),
        ("pair_probability", Encoding::BYTE_STREAM_SPLIT),
        ("bold_a", Encoding::BYTE_STREAM_SPLIT),
        ("rated", Encoding::RLE),
    ];
    both_versions(|properties| {
        encodings.into_iter().fold(properties, |properties, (column, encoding)| {
            let column = ::parquet::schema::types::ColumnPath::from(column);
            properties.set_column_dictionary_enabled(column.clone(), false).set_column_encoding(column, encoding)
        })
    });
}

/// A file of one vote with a time and a judge in columns of the given types.
fn one_vote<Time: DataType, Judge: DataType>(
    time: (Physical, Option<LogicalType>, Time::T),
    judge: (Physical, Option<LogicalType>, Judge::T),
) -> Vec<u8> {
    const REQUIRED: Repetition = Repetition::REQUIRED;
    let fields = ["model_a", "model_b", "winner"].map(|name| leaf(name, Physical::BYTE_ARRAY, REQUIRED));
    let more = [leaf_of("tstamp", time.0, time.1, REQUIRED), leaf_of("judge", judge.0, judge.1, REQUIRED)];
    let schema = Type::group_type_builder("row").with_fields(fields.into_iter().chain(more).collect()).build().unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for text in ["x", "y", "model_a"] {
        put::<ByteArrayType>(&mut group, [bytes(text)].into_iter());
    }
    put::<Time>(&mut group, [Some(time.2)].into_iter());
    put::<Judge>(&mut group, [Some(judge.2)].into_iter());
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// Reads the time and the voter of a file of one vote.
#[track_caller]
fn time_and_voter(file: Vec<u8>) -> Result<(f64, String), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes");
    std::fs::write(&path, file).unwrap();
    let log = read_log(&[path], EVERYTHING, &ReadOptions::default()).map_err(|error| error.to_string())?;
    Ok((log.seconds.unwrap()[0], log.voters.unwrap().names.as_slice()[0].clone()))
}

fn plain_judge() -> (Physical, Option<LogicalType>, ByteArray) {
    (Physical::BYTE_ARRAY, Some(LogicalType::String), "ann".into())
}

/// 2026-11-21, and the first second of that day.
const DAY: i32 = 20_778;
const MIDNIGHT: f64 = 86_400.0 * 20_778.0;

#[test]
fn a_date_is_its_midnight() {
    let file = one_vote::<Int32Type, ByteArrayType>((Physical::INT32, Some(LogicalType::Date), DAY), plain_judge());
    assert_eq!(time_and_voter(file), Ok((MIDNIGHT, "ann".to_owned())));
}

#[test]
fn a_time_of_96_bits_is_a_julian_day_and_nanoseconds() {
    let noon = 43_200_000_000_000_u64;
    let word = |shift: u32| u32::try_from((noon >> shift) & u64::from(u32::MAX)).unwrap();
    let mut time = Int96::new();
    time.set_data(word(0), word(32), 2_440_588 + u32::try_from(DAY).unwrap());
    let file = one_vote::<Int96Type, ByteArrayType>((Physical::INT96, None, time), plain_judge());
    assert_eq!(time_and_voter(file), Ok((MIDNIGHT + 43_200.0, "ann".to_owned())));
}

#[test]
fn a_decimal_time_is_in_seconds() {
    let decimal = Some(LogicalType::decimal(3, 18));
    let milliseconds = 1_000 * 86_400 * i64::from(DAY) + 500;
    let file = one_vote::<Int64Type, ByteArrayType>((Physical::INT64, decimal, milliseconds), plain_judge());
    assert_eq!(time_and_voter(file), Ok((MIDNIGHT + 0.5, "ann".to_owned())));
    let bytes = ByteArray::from((-1_500_i64).to_be_bytes().to_vec());
    let decimal = Some(LogicalType::decimal(3, 18));
    let file = one_vote::<ByteArrayType, ByteArrayType>((Physical::BYTE_ARRAY, decimal, bytes), plain_judge());
    assert_eq!(time_and_voter(file), Ok((-1.5, "ann".to_owned())));
}

#[test]
fn a_uuid_is_read_as_its_text() {
    let judge = FixedLenByteArray::from((1..=16).collect::<Vec<u8>>());
    let judge = (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid), judge);
    let file = one_vote::<DoubleType, FixedLenByteArrayType>((Physical::DOUBLE, None, 7.0), judge);
    assert_eq!(time_and_voter(file), Ok((7.0, "01020304-0506-0708-090a-0b0c0d0e0f10".to_owned())));
}

#[test]
fn a_voters_number_keeps_all_its_digits() {
    let judge = |number: i64, signed: bool| {
        let judge = (Physical::INT64, Some(LogicalType::integer(64, signed)), number);
        time_and_voter(one_vote::<DoubleType, Int64Type>((Physical::DOUBLE, None, 7.0), judge)).unwrap().1
    };
    // The next floating-point number is 2 higher.
    assert_eq!(judge((1 << 53) + 1, true), "9007199254740993");
    assert_eq!(judge(-7, true), "-7");
    assert_eq!(judge(-1, false), u64::MAX.to_string());
    let plain = (Physical::INT64, None, i64::MAX);
    let file = one_vote::<DoubleType, Int64Type>((Physical::DOUBLE, None, 7.0), plain);
    assert_eq!(time_and_voter(file), Ok((7.0, i64::MAX.to_string())));
}

#[test]
fn a_number_that_its_column_cannot_have_is_refused_with_its_row() {
    let refused = |change: fn(&mut Row)| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("votes");
        let mut groups = [rows(Missing::Nothing, 0), rows(Missing::Nothing, ROWS)];
        change(&mut groups[1][1]);
        std::fs::write(&path, parquet(&groups, WriterProperties::builder())).unwrap();
        read_log(&[path], EVERYTHING, &ReadOptions::default()).unwrap_err().to_string()
    };
    let place = format!(" row {}: ", ROWS + 2);
    let error = refused(|row| row.probability = Some(1.5));
    assert!(error.contains(&format!("{place}pair_probability is \"1.5\": give a probability")), "{error}");
    let error = refused(|row| row.tokens[0] = Some(-3));
    assert!(error.contains(&format!("{place}tokens is \"-3\"")), "{error}");
}

/// A file of votes that has these words in a column of this name.
fn with_words(column: &str, words: &[&str]) -> Vec<u8> {
    let names = ["model_a", "model_b", "winner", column];
    let fields = names.map(|name| leaf(name, Physical::BYTE_ARRAY, Repetition::REQUIRED));
    let schema = Type::group_type_builder("row").with_fields(fields.into()).build().unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for text in ["x", "y", "model_a"] {
        put::<ByteArrayType>(&mut group, words.iter().map(|_| bytes(text)));
    }
    put::<ByteArrayType>(&mut group, words.iter().map(|word| bytes(word)));
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn words_for_yes_and_no_say_whether_a_vote_is_rated_and_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes");
    let read = |words: &[&str]| {
        std::fs::write(&path, with_words("rated", words)).unwrap();
        read_log(&[&path], EVERYTHING, &ReadOptions::default()).map_err(|error| error.to_string())
    };
    let log = read(&["yes", "no", "", "TRUE", "N", "0", "f"]).unwrap();
    assert_eq!((log.len(), log.excluded["unrated"]), (3, 4));
    let error = read(&["yes", "maybe"]).unwrap_err();
    assert!(error.contains(" row 2: rated is \"maybe\": write true or false"), "{error}");
}

#[test]
fn a_column_that_would_say_how_many_votes_a_row_stands_for_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes");
    std::fs::write(&path, with_words("weight", &["2"])).unwrap();
    let log = read_log(&[path], EVERYTHING, &ReadOptions::default()).unwrap();
    assert_eq!((log.len(), log.unread_columns), (1, ["weight".to_owned()].into()));
}

#[test]
fn a_rule_excludes_a_vote_also_where_nothing_says_whether_it_is_rated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("votes");
    std::fs::write(&path, with_words("exclusion", &["left_out", "", "left_out"])).unwrap();
    let log = read_log(&[path], EVERYTHING, &ReadOptions::default()).unwrap();
    assert_eq!((log.len(), log.excluded), (1, [("left_out".to_owned(), 2)].into()));
}

#[test]
fn a_number_that_reads_as_a_date_is_no_number_of_seconds() {
    let file = one_vote::<DoubleType, ByteArrayType>((Physical::DOUBLE, None, 20_251_121.0), plain_judge());
    let error = time_and_voter(file).unwrap_err();
    assert!(error.contains(" row 1: tstamp is \"20251121\": give seconds since 1970 or a date"), "{error}");
}

#[test]
fn whole_numbers_without_a_unit_are_no_time() {
    let file = one_vote::<Int64Type, ByteArrayType>((Physical::INT64, None, 1_795_219_200), plain_judge());
    let error = time_and_voter(file).unwrap_err();
    assert!(error.contains("tstamp holds whole numbers") && error.contains("row 1"), "{error}");
}
