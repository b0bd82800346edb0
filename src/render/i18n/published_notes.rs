//! Notes on published series in both languages.

use crate::domain::language::Language;

/// Notes as the series have them, with their Chinese texts.
const NOTES: [(&str, &str); 8] = [
    (
        "ChatGLM-130B's 83.30 in 上下文对话 is printed for 25 of 30.",
        "ChatGLM-130B 在“上下文对话”上的 25/30 印作 83.30。",
    ),
    (
        "SparkDesk has no valid answer in the second turn of “上下文对话”; the printed 0 is left out.",
        "SparkDesk 在“上下文对话”第二轮没有有效回答，表中所印的 0 不计入。",
    ),
    (
        "RWKV's 80.15 is left out: its capabilities reach 65.22 at most. So is ChatGLM2-6B's 0 in “角色扮演”, where it has no votes.",
        "RWKV 的 80.15 不计入：其各项能力最高只有 65.22。ChatGLM2-6B 在“角色扮演”上没有投票，所印的 0 也不计入。",
    ),
    ("GPT-4o is printed as GPT-40; Claude-3-opus with its date.", "表中 GPT-4o 印作 GPT-40，Claude-3-opus 带有日期。"),
    (
        "Spark-3.5's row of Table 13 repeats that of Table 12 and is left out.",
        "表 13 中 Spark-3.5 一行与表 12 相同，不计入。",
    ),
    (
        "On version 1.0 of the data: scores on version 1.1 do not compare. Names without what is in brackets behind them.",
        "基于 1.0 版数据，与 1.1 版上的分数不可比。模型名称省去了其后括号中的内容。",
    ),
    ("On version 1.0 of the data. Models have their names of Table 6.", "基于 1.0 版数据。模型名称与表 6 相同。"),
    (
        "The table's row of averages is left out: it contradicts the columns TS, CC, MR and GR.",
        "表中的平均值一行不计入：它与 TS、CC、MR、GR 各列矛盾。",
    ),
];

/// Returns the source of a published series in a language. The note that ends it is translated; papers and tables keep their names.
#[must_use]
pub fn published_source(source: &str, language: Language) -> String {
    let translated = NOTES.iter().find_map(|&(note, chinese)| Some((source.strip_suffix(note)?.trim_end(), chinese)));
    match (language, translated) {
        (Language::Chinese, Some((source, note))) => format!("{}。{note}", source.trim_end_matches(['.', ';'])),
        _ => source.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::published;

    #[test]
    fn every_note_on_a_published_series_is_chinese_on_chinese_pages() {
        let noted = published::series().iter().filter_map(|series| Some((&series.source, series.note.as_ref()?)));
        for (source, note) in noted {
            let text = format!("{source}. {note}");
            assert_eq!(published_source(&text, Language::English), text);
            let chinese = published_source(&text, Language::Chinese);
            assert!(chinese.starts_with(source.as_str()) && !chinese.contains(note.as_str()), "{chinese}");
        }
        assert_eq!(published_source("a file of mine", Language::Chinese), "a file of mine");
    }
}
