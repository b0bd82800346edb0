//! Display names of slices of the votes: languages, SuperCLUE's capabilities and URS's intents. Others are shown as spelt in the
//! vote log.

use crate::domain::language::language_name;
use crate::domain::rating::votes::slice::SliceColumn;

/// Names by the spelling of votes.
pub struct SliceTexts {
    names: &'static [(&'static str, &'static str)],
}

impl SliceTexts {
    /// Display name of a slice of a column. A language has one name, however votes spell it.
    pub fn of<'v>(&self, column: SliceColumn, slice: &'v str) -> &'v str {
        let language = Some(slice).filter(|_| column == SliceColumn::Language).and_then(language_name);
        self.name(language.unwrap_or(slice))
    }

    /// Display name of a category or an intent.
    pub fn name<'v>(&self, slice: &'v str) -> &'v str {
        self.names.iter().find(|(key, _)| *key == slice).map_or(slice, |(_, name)| name)
    }
}

pub(super) const ENGLISH: SliceTexts = SliceTexts {
    names: &[
        ("unknown", "Unknown"),
        ("semantic_understanding", "Semantic Understanding"),
        ("small_talk", "Small Talk"),
        ("contextual_dialogue", "Contextual Dialogue"),
        ("generation_and_creation", "Generation and Creation"),
        ("knowledge_and_encyclopedia", "Knowledge and Encyclopedia"),
        ("code_generation", "Code Generation"),
        ("logic_and_reasoning", "Logic and Reasoning"),
        ("calculation", "Calculation"),
        ("role_playing", "Role Playing"),
        ("safety", "Safety"),
        ("factual_qa", "Factual QA"),
        ("solve_professional_problem", "Solve Problem"),
        ("text_assistant", "Text Assistant"),
        ("ask_for_advice", "Ask for Advice"),
        ("seek_creativity", "Seek Creativity"),
        ("leisure", "Leisure"),
    ],
};

pub(super) const CHINESE: SliceTexts = SliceTexts {
    names: &[
        ("unknown", "未知"),
        ("Chinese", "中文"),
        ("English", "英语"),
        ("German", "德语"),
        ("French", "法语"),
        ("Spanish", "西班牙语"),
        ("Portuguese", "葡萄牙语"),
        ("Italian", "意大利语"),
        ("Dutch", "荷兰语"),
        ("Russian", "俄语"),
        ("Ukrainian", "乌克兰语"),
        ("Polish", "波兰语"),
        ("Czech", "捷克语"),
        ("Hungarian", "匈牙利语"),
        ("Swedish", "瑞典语"),
        ("Danish", "丹麦语"),
        ("Finnish", "芬兰语"),
        ("Greek", "希腊语"),
        ("Turkish", "土耳其语"),
        ("Arabic", "阿拉伯语"),
        ("Persian", "波斯语"),
        ("Hebrew", "希伯来语"),
        ("Hindi", "印地语"),
        ("Japanese", "日语"),
        ("Korean", "韩语"),
        ("Thai", "泰语"),
        ("Vietnamese", "越南语"),
        ("Indonesian", "印尼语"),
        ("semantic_understanding", "语义理解与抽取"),
        ("small_talk", "闲聊"),
        ("contextual_dialogue", "上下文对话"),
        ("generation_and_creation", "生成与创作"),
        ("knowledge_and_encyclopedia", "知识与百科"),
        ("code_generation", "代码"),
        ("logic_and_reasoning", "逻辑与推理"),
        ("calculation", "计算"),
        ("role_playing", "角色扮演"),
        ("safety", "安全"),
        ("factual_qa", "信息检索"),
        ("solve_professional_problem", "解决专业问题"),
        ("text_assistant", "处理文本事务"),
        ("ask_for_advice", "给出建议"),
        ("seek_creativity", "给出创意"),
        ("leisure", "休闲娱乐"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::suites::superclue::CAPABILITIES;
    use crate::domain::benchmark::suites::urs::INTENTS;
    use crate::domain::labeling::scheme::Scheme;

    #[test]
    fn every_label_has_a_name_in_both_languages_and_what_is_unknown_keeps_its_own() {
        for label in Scheme::ALL.into_iter().flat_map(Scheme::labels) {
            let [english, chinese] = [&ENGLISH, &CHINESE].map(|texts| texts.name(label));
            assert!(english.starts_with(char::is_uppercase), "{label}: {english}");
            assert!(!chinese.is_ascii(), "{label}: {chinese}");
        }
        for ((label, _), capability) in Scheme::Superclue.names().zip(CAPABILITIES) {
            assert_eq!(
                [ENGLISH.name(label), CHINESE.name(label)],
                [capability.title, capability.name],
                "as in benchmarks"
            );
        }
        for (label, intent) in Scheme::Urs.labels().zip(INTENTS) {
            assert_eq!([ENGLISH.name(label), CHINESE.name(label)], [intent.title, intent.chinese], "as in benchmarks");
        }
        for english in ["English", "en", "en-GB"] {
            assert_eq!(CHINESE.of(SliceColumn::Language, english), "英语");
            assert_eq!(ENGLISH.of(SliceColumn::Language, english), "English");
        }
        assert_eq!(ENGLISH.of(SliceColumn::Category, "en"), "en", "only languages have codes");
        assert_eq!(CHINESE.name("my own slice"), "my own slice");
    }
}
