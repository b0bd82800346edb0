//! Texts of benchmark reports, and the names of parts in both languages.

use super::charts::chart_texts;
use crate::domain::benchmark::suites::mtbench101::task_of;
use crate::domain::benchmark::suites::superclue::capability_of;
use crate::domain::benchmark::suites::{alignbench, urs};
use crate::domain::language::Language;

/// The texts of one language. The renderer fills in `{…}`.
pub struct ReportTexts {
    /// Heading of the column of models.
    pub model: &'static str,
    /// Label of the judge.
    pub judge: &'static str,
    /// Shown if no judge is needed.
    pub no_judge: &'static str,
    /// Shown if there are no judgements yet.
    pub no_judge_yet: &'static str,
    /// Label of the number of items.
    pub items: &'static str,
    /// Label of the coverage.
    pub coverage: &'static str,
    /// Label of the date of the latest judgement.
    pub judged_on: &'static str,
    /// Label of the data file.
    pub data: &'static str,
    /// Label of options that differ from the suite's defaults.
    pub variant: &'static str,
    /// Label of the round of answers.
    pub sample: &'static str,
    /// Label of the source of published results.
    pub source: &'static str,
    /// Heading of published results.
    pub published: &'static str,
    /// Lead of published results.
    pub published_lead: &'static str,
    /// The heading of the analyses.
    pub analyses: &'static str,
    /// The heading of the charts.
    pub charts: &'static str,
    /// The heading of the many charts turn by turn.
    pub turn_charts: &'static str,
    /// Reading aid of the tables.
    pub reading: &'static str,
    /// Explanation of the mark of scores with low coverage.
    pub flagged: &'static str,
    /// Explanation of the mark of models that judged themselves.
    pub judged_itself: &'static str,
    /// Label of the baseline.
    pub against: &'static str,
    /// Shown if there are no results.
    pub nothing: &'static str,
    pub judge_is_evaluated: &'static str,
    pub panel: &'static str,
    pub silent_judges: &'static str,
    pub mixed_settings: &'static str,
    pub low_coverage: &'static str,
    pub overall: &'static str,
    pub scores: &'static str,
    pub intents: &'static str,
    pub capabilities: &'static str,
    pub groups: &'static str,
    pub blocks: &'static str,
    pub tasks: &'static str,
    pub dimensions: &'static str,
    pub languages: &'static str,
    pub rules: &'static str,
    pub mean_over_turns: &'static str,
    pub by_turn: &'static str,
    pub first_turn: &'static str,
    pub second_turn: &'static str,
    pub turn: &'static str,
    pub radar: &'static str,
    pub distribution: &'static str,
    pub matrix: &'static str,
}

impl ReportTexts {
    /// Formats the baseline.
    #[must_use]
    pub fn against_baseline(&self, baseline: &str) -> String {
        self.against.replace("{baseline}", baseline)
    }
}

/// Returns the texts of a language.
#[must_use]
pub fn report_texts(language: Language) -> &'static ReportTexts {
    match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    }
}

/// Formats a flag as yes or no.
#[must_use]
pub fn yes_or_no(holds: bool, language: Language) -> &'static str {
    let (yes, no) = match language {
        Language::English => ("yes", "no"),
        Language::Chinese => ("是", "否"),
    };
    if holds { yes } else { no }
}

/// Name of a part in a language; an unknown name stays unchanged.
#[must_use]
pub fn named(name: &str, language: Language) -> &str {
    let mut all = NAMES.iter().chain(&SERIES);
    let known = all.find(|(english, chinese)| *english == name || *chinese == name);
    known.map_or(name, |(english, chinese)| match language {
        Language::English => english,
        Language::Chinese => chinese,
    })
}

/// Title of a series in a language; a part and its unit may follow the name of a benchmark or of a published series.
#[must_use]
pub fn series_title(title: &str, language: Language) -> String {
    let (rest, unit) = title.strip_suffix(", %").map_or((title, ""), |rest| (rest, ", %"));
    let Some((name, part)) = split_title(rest) else { return title.to_owned() };
    let name = named(name, language);
    let part = part.map(|part| part_title(rest, part, language));
    match (language, part) {
        (Language::English, None) => format!("{name}{unit}"),
        (Language::English, Some(part)) => format!("{name}: {part}{unit}"),
        (Language::Chinese, part) => {
            let part = part.map_or_else(String::new, |part| format!("：{part}"));
            format!("{name}{part}{}", if unit.is_empty() { "" } else { "（%）" })
        }
    }
}

/// Splits the title of a known series into name and part; `None` for an operator's own series.
fn split_title(title: &str) -> Option<(&str, Option<&str>)> {
    let published = SERIES.iter().find_map(|(english, _)| {
        let rest = title.strip_prefix(*english)?;
        let part = rest.strip_prefix(": ");
        (rest.is_empty() || part.is_some()).then_some((*english, part))
    });
    let of_suite = || {
        let (name, part) = title.split_once(": ").map_or((title, None), |(name, part)| (name, Some(part)));
        let suite = name.split(" · ").next().unwrap_or(name);
        SUITES.contains(&suite).then_some((name, part))
    };
    published.or_else(of_suite)
}

/// Title of a part of a series, such as `turn:1` or `CM/turn:2`. English names of Chinese originals are followed by the original.
fn part_title(series: &str, part: &str, language: Language) -> String {
    let one = |part: &str| match part.split_once(':') {
        Some(("turn", turn)) => chart_texts(language).turn.replace("{n}", turn),
        Some(("dimension", dimension)) => with_original(dimension, named(dimension, language), language),
        Some(("language", "en")) => named("English", language).to_owned(),
        Some(("language", "zh")) => named("Chinese", language).to_owned(),
        _ => with_original(part, named(category_title(series, part), language), language),
    };
    let comma = if language == Language::English { ", " } else { "，" };
    part.split('/').map(one).collect::<Vec<_>>().join(comma)
}

/// Appends the Chinese original to an English name.
fn with_original(original: &str, name: &str, language: Language) -> String {
    let is_translated = language == Language::English && name != original && !original.is_ascii();
    if is_translated { format!("{name} ({original})") } else { name.to_owned() }
}

/// English name of a category or group in the benchmark of a series. Two benchmarks may use one Chinese name for different things.
fn category_title<'n>(series: &str, part: &'n str) -> &'n str {
    let title = match part {
        urs::OBJECTIVE => Some("Objective"),
        urs::SUBJECTIVE => Some("Subjective"),
        alignbench::REASONING => Some("Reasoning"),
        alignbench::LANGUAGE => Some("Language"),
        _ if series.starts_with("URS") => urs::INTENTS.iter().find(|known| known.name == part).map(|known| known.title),
        _ if series.starts_with("AlignBench") => alignbench::category_of(part).map(|known| known.title),
        _ => capability_of(part).map(|known| known.title),
    };
    title.unwrap_or(part)
}

/// Appends the name of an MT-Bench-101 task to its two-letter code; any other text stays unchanged.
#[must_use]
pub fn task_spelled_out(code: &str, language: Language) -> String {
    match (task_of(code), language) {
        (None, _) => code.to_owned(),
        (Some(task), Language::English) => format!("{code} ({})", task.title),
        (Some(task), Language::Chinese) => format!("{code}（{}）", named(task.title, language)),
    }
}

/// Title of a series with MT-Bench-101 tasks spelled out.
#[must_use]
pub fn series_spelled_out(title: &str, language: Language) -> String {
    let title = series_title(title, language);
    match title.rsplit_once(": ").or_else(|| title.rsplit_once('：')) {
        Some((_, part)) if title.starts_with("MT-Bench-101") => {
            let code = part.split([',', '，']).next().unwrap_or(part);
            let (before, rest) = (title.strip_suffix(part).unwrap_or_default(), part.strip_prefix(code));
            format!("{before}{}{}", task_spelled_out(code, language), rest.unwrap_or_default())
        }
        _ => title,
    }
}

const NAMES: &[(&str, &str)] = &[
    ("Reasoning avg.", "推理平均"),
    ("Language avg.", "语言平均"),
    ("Mathematics", "数学计算"),
    ("Logical Reasoning", "逻辑推理"),
    ("Fundamental Language Ability", "基本任务"),
    ("Advanced Chinese Understanding", "中文理解"),
    ("Open-ended Questions", "综合问答"),
    ("Writing Ability", "文本写作"),
    ("Task-oriented Role Play", "角色扮演"),
    ("Professional Knowledge", "专业能力"),
    ("Correctness", "事实正确性"),
    ("User Satisfaction", "满足用户需求"),
    ("Logical Coherence", "逻辑连贯性"),
    ("Completeness", "完备性"),
    ("Clarity", "清晰度"),
    ("Creativity", "创造性"),
    ("Richness", "丰富度"),
    ("Fairness and Responsibility", "公平与可负责程度"),
    ("Engagement", "趣味性"),
    ("Appropriateness", "适宜性"),
    ("Solve Problem", "解决专业问题"),
    ("Factual QA", "信息检索"),
    ("Text Assistant", "处理文本事务"),
    ("Ask for Advice", "给出建议"),
    ("Seek Creativity", "给出创意"),
    ("Leisure", "休闲娱乐"),
    ("Objective", "客观类"),
    ("Subjective", "主观类"),
    ("English", "英文"),
    ("Chinese", "中文"),
    ("Memory", "记忆"),
    ("Understanding", "理解"),
    ("Interference", "抗干扰"),
    ("Rephrasing", "改写"),
    ("Reflection", "反思"),
    ("Reasoning", "推理"),
    ("Questioning", "提问"),
    ("Perceptivity", "感知力"),
    ("Adaptability", "适应力"),
    ("Interactivity", "互动力"),
    ("Semantic Understanding & Generation", "语义理解与生成"),
    ("Knowledge", "知识"),
    ("Professional Abilities", "专业技能"),
    ("Environmental Adaptation & Safety", "环境适应与安全"),
    ("Semantic Understanding", "语义理解与抽取"),
    ("Small Talk", "闲聊"),
    ("Contextual Dialogue", "上下文对话"),
    ("Generation and Creation", "生成与创作"),
    ("Knowledge and Encyclopedia", "知识与百科"),
    ("Code Generation", "代码"),
    ("Logic and Reasoning", "逻辑与推理"),
    ("Calculation", "计算"),
    ("Role Playing", "角色扮演"),
    ("Safety", "安全"),
    ("Language", "语言"),
    ("Factuality", "事实正确性"),
    ("wins and ties", "胜和率"),
    ("ties half", "平局计半"),
    ("3-1-0", "胜三平一负零"),
    ("mean over turns", "各轮平均"),
    ("intents", "各意图"),
    ("Context memory", "上下文记忆"),
    ("Anaphora resolution", "指代消解"),
    ("Separate input", "分离输入"),
    ("Topic shift", "话题转换"),
    ("Content confusion", "内容混淆"),
    ("Content rephrasing", "内容改写"),
    ("Format rephrasing", "格式改写"),
    ("Self-correction", "自我纠正"),
    ("Self-affirmation", "自我肯定"),
    ("Mathematical reasoning", "数学推理"),
    ("General reasoning", "通用推理"),
    ("Instruction clarification", "指令澄清"),
    ("Proactive interaction", "主动互动"),
];

/// Titles of the built-in suites.
const SUITES: [&str; 5] = ["SuperCLUE OPEN", "SuperCLUE CLOSE", "URS", "AlignBench", "MT-Bench-101"];

/// Titles of the published series.
const SERIES: [(&str, &str); 18] = [
    ("SuperCLUE CLOSE, accuracy", "SuperCLUE CLOSE，准确率"),
    ("SuperCLUE OPEN, wins and ties against ChatGPT", "SuperCLUE OPEN，对 ChatGPT 的胜和率"),
    ("LangYa CArena, wins and ties in people's votes", "琅琊 CArena，人工投票的胜和率"),
    ("URS by intent", "URS，按意图"),
    ("URS by intent and language", "URS，按意图与语言"),
    ("URS, 57 factual questions, models beside a search engine", "URS，57 道事实问答题，模型与搜索引擎"),
    ("URS, translations, models beside a translator", "URS，翻译题，模型与翻译工具"),
    ("AlignBench judged by GPT-4", "AlignBench，由 GPT-4 评判"),
    ("AlignBench judged by CritiqueLLM", "AlignBench，由 CritiqueLLM 评判"),
    ("AlignBench by dimension", "AlignBench，按维度"),
    ("AlignBench's judges beside people: Pearson within items", "AlignBench 的裁判与人：题内 Pearson 相关"),
    ("AlignBench's judges beside people: Pearson over models", "AlignBench 的裁判与人：模型间 Pearson 相关"),
    ("AlignBench's judges beside people: pairs without ties", "AlignBench 的裁判与人：不计平局的两两比较"),
    ("MT-Bench-101 judged by GPT-4", "MT-Bench-101，由 GPT-4 评判"),
    ("MT-Bench-101 judged by Qwen-72B-Chat", "MT-Bench-101，由 Qwen-72B-Chat 评判"),
    ("MT-Bench-101 before and after alignment with preferences", "MT-Bench-101，偏好对齐前后"),
    ("MT-Bench-101's judges beside people: agreement", "MT-Bench-101 的裁判与人：一致率"),
    ("MT-Bench-101's judges beside people: Fleiss' kappa", "MT-Bench-101 的裁判与人：Fleiss κ"),
];

const ENGLISH: ReportTexts = ReportTexts {
    model: "Model",
    judge: "Judge",
    no_judge: "none needed",
    no_judge_yet: "none so far",
    items: "Items",
    coverage: "Judged",
    judged_on: "Last judgement",
    data: "Data file",
    variant: "Variant",
    sample: "Round of answers",
    source: "Source: ",
    published: "Published results",
    published_lead: "Published by others, with their models and their judges. They are not results of this arena.",
    analyses: "About the items and the judges",
    charts: "Charts",
    turn_charts: "Turn by turn",
    reading: "Beside each score: how many of its units could be judged. Units that could not be judged are left out of all means.",
    flagged: "less than 95 % of it is judged",
    judged_itself: "judges itself",
    against: "against {baseline}",
    nothing: "No judgements yet.",
    judge_is_evaluated: "{judge} judges and is judged: a judge may favour its own answers.",
    panel: "{judge} is a panel: each score is the mean of its judges' scores. If one of them could judge nothing in a part, that part has no score.",
    silent_judges: "Left out, because none of their replies contained a verdict: {judges}.",
    mixed_settings: "{id} was asked with {n} different settings, so its scores mix replies of different models: {settings}. A changed model needs an id of its own, or another round.",
    low_coverage: "Only {share} % are judged; scores with less than 95 % are marked.",
    overall: "Overall",
    scores: "Scores",
    intents: "Intents",
    capabilities: "Capabilities",
    groups: "Abilities",
    blocks: "Objective and subjective intents",
    tasks: "Tasks",
    dimensions: "Dimensions of quality",
    languages: "By language",
    rules: "By other rules",
    mean_over_turns: "With the mean of a dialogue's turns instead of the lowest",
    by_turn: "By turn",
    first_turn: "First turn, by capability",
    second_turn: "Second turn, by capability",
    turn: "Turn {n}",
    radar: "Models by category",
    distribution: "How scores are distributed",
    matrix: "Models and categories",
};

const CHINESE: ReportTexts = ReportTexts {
    model: "模型",
    judge: "裁判",
    no_judge: "不需要",
    no_judge_yet: "尚无",
    items: "题目",
    coverage: "已评",
    judged_on: "最近评判",
    data: "数据文件",
    variant: "变体",
    sample: "作答轮次",
    source: "来源：",
    published: "已发表的结果",
    published_lead: "由他人发表，模型与裁判各不相同，并非本竞技场的结果。",
    analyses: "关于题目与裁判",
    charts: "图表",
    turn_charts: "逐轮得分",
    reading: "分数旁为已评数量；未能评判的不计入任何平均值。",
    flagged: "已评部分不足 95 %",
    judged_itself: "自评",
    against: "对比 {baseline}",
    nothing: "尚无评判。",
    judge_is_evaluated: "{judge} 既是裁判也是被评模型：裁判可能偏向自己的回答。",
    panel: "{judge} 为裁判组：每个分数是各裁判分数的平均值；若其中一位对某一部分完全无法评判，该部分没有分数。",
    silent_judges: "以下裁判没有给出任何可读的评判，未列入：{judges}。",
    mixed_settings: "{id} 先后用了 {n} 种设置，它的得分混合了不同模型的内容：{settings}。模型改变后应换一个 id，或另起一轮。",
    low_coverage: "仅 {share} % 已评；不足 95 % 的分数已标出。",
    overall: "总分",
    scores: "得分",
    intents: "意图",
    capabilities: "各项能力",
    groups: "能力",
    blocks: "客观与主观意图",
    tasks: "任务",
    dimensions: "各质量维度",
    languages: "按语言",
    rules: "其他计分方式",
    mean_over_turns: "以各轮平均分代替最低分",
    by_turn: "按轮次",
    first_turn: "第一轮，按能力",
    second_turn: "第二轮，按能力",
    turn: "第 {n} 轮",
    radar: "各模型的分类得分",
    distribution: "分数分布",
    matrix: "模型与分类",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::published;
    use crate::domain::correlation::published_series::{of_papers, published_names, split};

    #[test]
    fn every_published_series_has_a_title_in_both_languages() {
        for series in published::series() {
            let chinese = series_title(&series.title, Language::Chinese);
            assert_ne!(chinese, series.title);
            assert_eq!(named(&chinese, Language::English), series.title);
        }
    }

    #[test]
    fn a_part_and_a_unit_stand_behind_a_title() {
        let chinese = |title: &str| series_title(title, Language::Chinese);
        assert_eq!(chinese("SuperCLUE CLOSE, accuracy, %"), "SuperCLUE CLOSE，准确率（%）");
        assert_eq!(chinese("URS by intent: Leisure"), "URS，按意图：休闲娱乐");
        assert_eq!(chinese("URS by intent and language"), "URS，按意图与语言");
        assert_eq!(chinese("Elsewhere: overall"), "Elsewhere: overall", "a name of the operator's stays");
        assert_eq!(series_title("URS by intent: Leisure", Language::English), "URS by intent: Leisure");
    }

    #[test]
    fn parts_are_named_in_the_reader_s_language_with_the_original_behind_them() {
        let check = |title: &str, english: &str, chinese: &str| {
            assert_eq!(series_title(title, Language::English), english);
            assert_eq!(series_title(title, Language::Chinese), chinese);
            assert_eq!(series_spelled_out(english, Language::English), english, "a title in words stays");
            assert_eq!(series_spelled_out(chinese, Language::Chinese), chinese, "a title in words stays");
        };
        check("SuperCLUE OPEN: turn:1", "SuperCLUE OPEN: turn 1", "SuperCLUE OPEN：第 1 轮");
        check(
            "SuperCLUE OPEN, wins and ties against ChatGPT: 角色扮演/turn:2, %",
            "SuperCLUE OPEN, wins and ties against ChatGPT: Role Playing (角色扮演), turn 2, %",
            "SuperCLUE OPEN，对 ChatGPT 的胜和率：角色扮演，第 2 轮（%）",
        );
        check(
            "SuperCLUE CLOSE · owl: 代码",
            "SuperCLUE CLOSE · owl: Code Generation (代码)",
            "SuperCLUE CLOSE · owl：代码",
        );
        check("AlignBench: 角色扮演", "AlignBench: Task-oriented Role Play (角色扮演)", "AlignBench：角色扮演");
        check("AlignBench: dimension:清晰度", "AlignBench: Clarity (清晰度)", "AlignBench：清晰度");
        check("URS: Factual_QA/language:zh", "URS: Factual QA, Chinese", "URS：信息检索，中文");
    }

    #[test]
    fn no_published_series_has_an_id_in_its_title() {
        for name in published_names() {
            let id = name.trim_start_matches("published:");
            let (series, part) = split(id, |id| published::by_id(id).is_some()).unwrap();
            let raw = of_papers(published::by_id(series).unwrap(), part).unwrap().title;
            for language in Language::ALL {
                let shown = series_spelled_out(&raw, language);
                let has_id = |id| shown.split(id).skip(1).any(|after| !after.starts_with(' '));
                assert!(!["turn:", "dimension:", "language:"].into_iter().any(has_id), "{shown}");
                assert!(!shown.contains('_'), "{shown}");
            }
        }
    }

    #[test]
    fn the_tasks_of_mt_bench_101_are_spelled_out_in_titles() {
        let check = |title: &str, english: &str, chinese: &str| {
            assert_eq!(series_spelled_out(title, Language::English), english);
            assert_eq!(series_spelled_out(title, Language::Chinese), chinese);
        };
        check("MT-Bench-101: CM", "MT-Bench-101: CM (Context memory)", "MT-Bench-101：CM（上下文记忆）");
        check(
            "MT-Bench-101 · owl: TS/turn:2",
            "MT-Bench-101 · owl: TS (Topic shift), turn 2",
            "MT-Bench-101 · owl：TS（话题转换），第 2 轮",
        );
        check("MT-Bench-101: Memory", "MT-Bench-101: Memory", "MT-Bench-101：记忆");
        for title in ["MT-Bench-101", "Elsewhere: CM", "Elsewhere: turn:2"] {
            check(title, title, title);
        }
        let printed = series_title("MT-Bench-101 judged by GPT-4: MR", Language::Chinese);
        assert_eq!(series_spelled_out(&printed, Language::Chinese), "MT-Bench-101，由 GPT-4 评判：MR（数学推理）");
    }
}
