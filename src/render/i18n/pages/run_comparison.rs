//! Texts of the page that compares two runs of a benchmark.

use crate::domain::benchmark::runs::run_manifest::{BATCH_CHANGE, NO, RunChange, SETTINGS_CHANGE_PREFIX, YES};
use crate::i18n::fill;

/// Maximum displayed characters of a value.
const SHORT: usize = 64;

/// The texts of one language.
pub struct RunComparisonTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub link: &'static str,
    pub before: &'static str,
    pub after: &'static str,
    pub show: &'static str,
    pub no_runs: &'static str,
    pub changes: &'static str,
    pub no_changes: &'static str,
    pub what: &'static str,
    /// Keys of changes with their labels.
    pub changed: &'static [(&'static str, &'static str)],
    pub settings_of: &'static str,
    pub yes: &'static str,
    pub no: &'static str,
    pub models: &'static str,
    pub models_lead: &'static str,
    pub model: &'static str,
    pub items: &'static str,
    pub higher: &'static str,
    pub lower: &'static str,
    pub difference: &'static str,
    pub same_answers: &'static str,
    pub canaries: &'static str,
    pub drift: &'static str,
    pub no_drift: &'static str,
    pub other_settings: &'static str,
    pub changed_items: &'static str,
    pub item: &'static str,
    pub answer: &'static str,
    pub same: &'static str,
    pub other: &'static str,
    pub none_changed: &'static str,
}

impl RunComparisonTexts {
    /// Label of a change.
    #[must_use]
    pub fn change(&self, what: &str) -> String {
        if let Some(model) = what.strip_prefix(SETTINGS_CHANGE_PREFIX) {
            return fill(self.settings_of, &[("model", model)]);
        }
        let known = self.changed.iter().find(|(key, _)| *key == what);
        known.map_or(what, |(_, name)| name).to_owned()
    }

    /// Formats a value of a change; a dash if missing.
    #[must_use]
    pub fn value(&self, change: &RunChange, value: &str) -> String {
        match (change.what.as_str(), value) {
            (_, "") => "–".to_owned(),
            (BATCH_CHANGE, YES) => self.yes.to_owned(),
            (BATCH_CHANGE, NO) => self.no.to_owned(),
            (_, value) => value.chars().take(SHORT).collect(),
        }
    }
}

pub(super) const ENGLISH: RunComparisonTexts = RunComparisonTexts {
    title: "Two runs compared",
    lead: "What changed from one run of a suite to another: in data, prompts and settings, in the answers, and in the scores, item by item.",
    link: "Compare runs",
    before: "Earlier run",
    after: "Later run",
    show: "Compare",
    no_runs: "This suite does not have two runs yet.",
    changes: "What changed",
    no_changes: "Nothing: both runs recorded the same data, prompts and settings.",
    what: "What",
    changed: &[
        ("data", "Data file"),
        ("round", "Round of answers"),
        ("models", "Models"),
        ("judges", "Judges"),
        ("baseline", "Baseline"),
        ("program", "Program"),
        ("variant", "Variant"),
        ("items", "Items"),
        ("questions", "Questions"),
        ("prompts", "Prompts"),
        ("seeds", "Seeds"),
        ("batch", "In batches"),
    ],
    settings_of: "Settings of {model}",
    yes: "yes",
    no: "no",
    models: "Models",
    models_lead: "Differences are the later score minus the earlier, with their 95 % interval. Canaries are 20 items that are the same in every run: if a model's settings are unchanged but its scores or answer lengths on these items changed by more than chance explains (p < 0.01, adjusted for all tests), its provider has changed it.",
    model: "Model",
    items: "Items",
    higher: "Higher",
    lower: "Lower",
    difference: "Difference",
    same_answers: "Same answers",
    canaries: "Canaries",
    drift: "drift",
    no_drift: "no drift",
    other_settings: "other or unknown settings",
    changed_items: "Items that changed most",
    item: "Item",
    answer: "Answer",
    same: "the same",
    other: "another",
    none_changed: "No score changed.",
};

pub(super) const CHINESE: RunComparisonTexts = RunComparisonTexts {
    title: "两次运行的比较",
    lead: "同一评测的两次运行之间有何变化：数据、提示词与设置，回答，以及逐题的得分。",
    link: "比较运行",
    before: "较早的运行",
    after: "较晚的运行",
    show: "比较",
    no_runs: "此评测还没有两次运行。",
    changes: "变化",
    no_changes: "运行清单所列内容没有变化：数据、提示词与设置均相同。",
    what: "项目",
    changed: &[
        ("data", "数据文件"),
        ("round", "作答轮次"),
        ("models", "模型"),
        ("judges", "裁判"),
        ("baseline", "基线模型"),
        ("program", "程序"),
        ("variant", "变体"),
        ("items", "题目"),
        ("questions", "问题"),
        ("prompts", "提示词"),
        ("seeds", "种子"),
        ("batch", "批量"),
    ],
    settings_of: "{model} 的设置",
    yes: "是",
    no: "否",
    models: "模型",
    models_lead: "差值为较晚的得分减去较早的得分，附 95 % 区间。哨兵题为每次运行都相同的 20 道题：若模型设置未变，而其在哨兵题上的得分或回答长度的变化超出偶然（对全部检验校正后 p < 0.01），即为服务商更换了模型。",
    model: "模型",
    items: "题目",
    higher: "升高",
    lower: "降低",
    difference: "差值",
    same_answers: "相同的回答",
    canaries: "哨兵题",
    drift: "漂移",
    no_drift: "无漂移",
    other_settings: "设置不同或未知",
    changed_items: "变化最大的题目",
    item: "题目",
    answer: "回答",
    same: "相同",
    other: "不同",
    none_changed: "得分没有变化。",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::runs::run_manifest::{ParticipantSettings, RunManifest};

    #[test]
    fn everything_that_can_change_has_a_name_in_both_languages() {
        let other = RunManifest {
            program: "langya".to_owned(),
            variant: "general".to_owned(),
            items: 1,
            canaries: true,
            batch: Some(true),
            questions_sha256: "00".to_owned(),
            prompts_sha256: "00".to_owned(),
            seeds: vec![1],
            participants: [("琅".to_owned(), ParticipantSettings::default())].into(),
        };
        let changes = RunManifest { batch: Some(false), ..RunManifest::default() }.changes(&other);
        assert_eq!(changes.len(), 8, "{changes:?}");
        for texts in [&ENGLISH, &CHINESE] {
            for change in &changes {
                assert_ne!(texts.change(&change.what), change.what, "it has a name");
            }
        }
        let of = |what: &str| changes.iter().find(|change| change.what.contains(what)).unwrap();
        assert_eq!(CHINESE.change(&of(SETTINGS_CHANGE_PREFIX).what), "琅的设置");
        let (batch, program) = (of(BATCH_CHANGE), of("program"));
        assert_eq!([&batch.before, &batch.after].map(|value| CHINESE.value(batch, value)), ["否", "是"]);
        assert_eq!([&program.before, &program.after].map(|value| CHINESE.value(program, value)), ["–", "langya"]);
    }
}
