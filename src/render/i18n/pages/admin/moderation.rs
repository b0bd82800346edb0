//! Texts of the page of content flagged by the moderation service.

/// The texts of one language.
pub struct ModerationTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub no_service: &'static str,
    pub none: &'static str,
    pub failing: &'static str,
    /// Handling of prompts during a failure: allowed, or refused.
    pub on_failure: [&'static str; 2],
    pub service: &'static str,
    pub answered: &'static str,
    pub refusing: &'static str,
    pub no_category: &'static str,
    pub any_category: &'static str,
    pub flagging: &'static str,
    pub waiting: &'static str,
    pub flagged: &'static str,
    pub state: &'static str,
    /// Open, kept, removed.
    states: [&'static str; 3],
    pub what: &'static str,
    /// A prompt, the replies of both sides.
    parts: [&'static str; 3],
    pub categories: &'static str,
    pub decided_by: &'static str,
    pub look: &'static str,
    pub look_at: &'static str,
    pub one_title: &'static str,
    pub battle: &'static str,
    pub decide_lead: &'static str,
    pub keep_note: &'static str,
    pub keep: &'static str,
    pub remove: &'static str,
    pub remove_warning: &'static str,
    pub remove_now: &'static str,
    pub its_vote: &'static str,
    pub texts: &'static str,
    pub no_texts: &'static str,
    pub this_one: &'static str,
    pub is_decided: &'static str,
}

impl ModerationTexts {
    /// Display name of a state.
    pub fn state(&self, name: &str) -> &'static str {
        let at = ["open", "kept", "removed"].iter().position(|state| *state == name);
        at.map_or("", |at| self.states[at])
    }

    /// Display name of a part of a turn.
    pub fn part(&self, name: &str) -> &'static str {
        let at = ["prompt", "reply_a", "reply_b"].iter().position(|part| *part == name);
        at.map_or("", |at| self.parts[at])
    }
}

pub(super) const ENGLISH: ModerationTexts = ModerationTexts {
    title: "Moderation",
    lead: "What the moderation service flagged. Keep a text, or delete it with the others of its battle; the vote stays unless it is \
           excluded.",
    no_service: "No moderation service is used: moderation.base_url is empty.",
    none: "Nothing was flagged yet.",
    failing: "The moderation service has not answered since {time}.",
    on_failure: ["Prompts are accepted unchecked.", "Prompts are refused."],
    service: "Service",
    answered: "Last answer",
    refusing: "Refused categories",
    no_category: "none",
    any_category: "all",
    flagging: "Flagged categories",
    waiting: "Flagged texts to look at",
    flagged: "Flagged",
    state: "State",
    states: ["open", "kept", "removed"],
    what: "Text",
    parts: ["prompt", "reply A", "reply B"],
    categories: "Categories",
    decided_by: "Decided by",
    look: "Review",
    look_at: "Review the flagged text of battle {id}",
    one_title: "Flagged text",
    battle: "Battle",
    decide_lead: "Deleting removes all texts of this battle and the links to them from the database. Votes stay. You have to delete texts in backups, exports \
                  and archives yourself.",
    keep_note: "Keeping a text is final on this page: a deletion request can still delete it later. Key 1 moves to the button, Enter presses it.",
    keep: "Keep",
    remove: "Delete the texts of this battle",
    remove_warning: "The texts are deleted at once and cannot be restored.",
    remove_now: "Delete now",
    its_vote: "Its vote, to exclude it",
    texts: "What was said",
    no_texts: "Nothing of this battle's texts is stored.",
    this_one: "flagged",
    is_decided: "This flag has already been decided.",
};

pub(super) const CHINESE: ModerationTexts = ModerationTexts {
    title: "内容审核",
    lead: "审核服务标记的内容。可以保留，也可以连同所属对战的其他内容一起删除；除非另行排除，投票会保留。",
    no_service: "没有使用审核服务：moderation.base_url 未设置。",
    none: "尚无被标记的内容。",
    failing: "审核服务自 {time} 起没有应答。",
    on_failure: ["期间的问题未经检查直接放行。", "期间的问题一律拒绝。"],
    service: "服务",
    answered: "最近一次应答",
    refusing: "拒绝的类别",
    no_category: "无",
    any_category: "全部",
    flagging: "标记的类别",
    waiting: "待审核的内容",
    flagged: "标记时间",
    state: "状态",
    states: ["待审核", "已保留", "已删除"],
    what: "内容",
    parts: ["问题", "回答 A", "回答 B"],
    categories: "类别",
    decided_by: "处理者",
    look: "查看",
    look_at: "查看对战 {id} 中被标记的内容",
    one_title: "被标记的内容",
    battle: "对战",
    decide_lead: "删除会把这场对战的全部内容及其分享链接从数据库中移除。投票会保留。备份、导出文件和归档中的内容须由你自行删除。",
    keep_note: "保留后不能在本页更改：以后仍可通过删除请求删除内容。按 1 移到按钮，按回车确认。",
    keep: "保留",
    remove: "删除这场对战的内容",
    remove_warning: "内容会立即删除，无法恢复。",
    remove_now: "立即删除",
    its_vote: "查看并排除它的投票",
    texts: "对战内容",
    no_texts: "系统中没有这场对战的内容。",
    this_one: "被标记",
    is_decided: "该标记已经处理过。",
};
