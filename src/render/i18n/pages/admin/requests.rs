//! Texts of the page of deletion requests.

use super::within_longest_reason;
use crate::i18n::fill;

/// The texts of one language.
pub struct RequestTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub none: &'static str,
    pub waiting: &'static str,
    pub state: &'static str,
    /// Open, done, refused.
    states: [&'static str; 3],
    pub scope: &'static str,
    /// One battle, all of its visitor.
    scopes: [&'static str; 2],
    pub battle: &'static str,
    pub reason: &'static str,
    pub asked: &'static str,
    pub entered_by: &'static str,
    pub on_the_page: &'static str,
    pub answer: &'static str,
    pub decided_by: &'static str,
    pub look: &'static str,
    pub look_at: &'static str,
    pub add: &'static str,
    pub add_lead: &'static str,
    pub battle_hint: &'static str,
    pub add_reason: &'static str,
    pub add_button: &'static str,
    pub one_title: &'static str,
    pub concerned: &'static str,
    pub kept: &'static str,
    pub texts: &'static str,
    pub no_texts: &'static str,
    pub decide: &'static str,
    /// With `{n}` for the maximum number of characters.
    answer_hint: &'static str,
    pub delete: &'static str,
    pub refuse: &'static str,
    pub deleted: &'static str,
    pub unknown_battle: &'static str,
    pub unknown_link: &'static str,
    pub unknown_visitor: &'static str,
    pub is_open: &'static str,
    pub is_decided: &'static str,
    /// With `{n}` for the maximum number of characters.
    bad_reason: &'static str,
    /// Retention of texts: until deleted, or for `{days}` days.
    kept_for: [&'static str; 2],
}

impl RequestTexts {
    /// Display name of a state.
    pub fn state(&self, name: &str) -> &'static str {
        let at = ["open", "done", "refused"].iter().position(|state| *state == name);
        at.map_or("", |at| self.states[at])
    }

    /// Formats the retention period of texts; 0 days are forever.
    pub fn kept_for(&self, days: &u32) -> String {
        let [for_ever, for_days] = self.kept_for;
        if *days == 0 { for_ever.to_owned() } else { fill(for_days, &[("days", &days.to_string())]) }
    }

    /// Purpose and maximum length of an answer.
    pub fn answer_hint(&self) -> String {
        within_longest_reason(self.answer_hint)
    }

    /// Message for a refused reason or answer.
    pub fn bad_reason(&self) -> String {
        within_longest_reason(self.bad_reason)
    }

    /// Display name of a scope.
    pub fn scope(&self, name: &str) -> &'static str {
        let at = ["battle", "visitor"].iter().position(|scope| *scope == name);
        at.map_or("", |at| self.scopes[at])
    }
}

pub(super) const ENGLISH: RequestTexts = RequestTexts {
    title: "Deletion requests",
    lead: "Visitors and rights holders ask for the deletion of what was said in battles. Votes stay: they hold no text, and the \
           public log stays valid.",
    none: "No request yet.",
    waiting: "Open deletion requests",
    state: "State",
    states: ["open", "done", "refused"],
    scope: "Scope",
    scopes: ["this battle", "all battles of its visitor"],
    battle: "Battle",
    reason: "Reason",
    asked: "Asked",
    entered_by: "Entered by",
    on_the_page: "on the battle's page",
    answer: "Answer",
    decided_by: "Decided by",
    look: "Review",
    look_at: "Review the request about battle {id}",
    add: "Enter a request",
    add_lead: "For requests that come by letter or e-mail.",
    battle_hint: "Id of the battle, or the link of its page",
    add_reason: "Who asks, and why",
    add_button: "Enter",
    one_title: "Deletion request",
    concerned: "Battles whose texts would be deleted: {n}.",
    kept: "Prompts, replies and links to them are deleted from the database. Votes and judges' replies stay. You have to delete texts in backups, exports and \
           archives yourself.",
    texts: "What was said",
    no_texts: "Nothing of this battle's texts is stored.",
    decide: "Decide",
    answer_hint: "Why, in 1 to {n} characters. It is recorded in the audit log.",
    delete: "Delete these texts",
    refuse: "Refuse",
    deleted: "Battles whose texts were deleted",
    unknown_battle: "There is no battle of this id or link.",
    unknown_link: "No battle is shared by this link any more. Enter the id of the battle instead; exports contain it.",
    unknown_visitor: "This battle was imported without its visitor. Limit the request to the texts of this battle.",
    is_open: "A request for the same texts is already open.",
    is_decided: "This request has already been decided.",
    bad_reason: "Give a reason of 1 to {n} characters.",
    kept_for: [
        "Without a request, prompts and replies are kept forever: retention.text_days is 0.",
        "Without a request, prompts and replies are deleted after {days} {days:day|days} (retention.text_days).",
    ],
};

pub(super) const CHINESE: RequestTexts = RequestTexts {
    title: "删除请求",
    lead: "访客和权利人请求删除对战中的内容。投票会保留：其中没有文本，公开日志也依然有效。",
    none: "尚无请求。",
    waiting: "待处理的删除请求",
    state: "状态",
    states: ["待处理", "已删除", "已拒绝"],
    scope: "范围",
    scopes: ["这场对战", "该访客的所有对战"],
    battle: "对战",
    reason: "理由",
    asked: "提出时间",
    entered_by: "录入者",
    on_the_page: "在对战页面上提出",
    answer: "答复",
    decided_by: "处理者",
    look: "查看",
    look_at: "查看关于对战 {id} 的请求",
    add: "录入请求",
    add_lead: "用于通过信件或电子邮件提出的请求。",
    battle_hint: "对战编号，或其页面的链接",
    add_reason: "谁提出，为何提出",
    add_button: "录入",
    one_title: "删除请求",
    concerned: "将删除 {n} 场对战的内容。",
    kept: "问题、回答及其分享链接将从数据库中删除。投票和裁判的评语会保留。备份、导出文件和归档中的内容须由你自行删除。",
    texts: "对战内容",
    no_texts: "系统中没有这场对战的内容。",
    decide: "处理",
    answer_hint: "理由，1 到 {n} 个字符，会记入审计日志。",
    delete: "删除这些内容",
    refuse: "拒绝",
    deleted: "已删除内容的对战数",
    unknown_battle: "没有这个编号或链接的对战。",
    unknown_link: "这个链接已不再分享任何对战。请填写导出文件中的对战编号。",
    unknown_visitor: "这场对战是导入的，没有访客信息。请只请求删除这场对战的内容。",
    is_open: "关于相同内容的请求已在等待处理。",
    is_decided: "该请求已经处理过。",
    bad_reason: "请填写 1 到 {n} 个字符的理由。",
    kept_for: [
        "没有请求时，问题和回答会一直保留：retention.text_days 为 0。",
        "没有请求时，问题和回答会在 {days} 天后删除（retention.text_days）。",
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::admin::MAX_REASON_CHARS;

    #[test]
    fn the_longest_reason_comes_from_the_rule_and_stands_in_no_text() {
        let longest = MAX_REASON_CHARS.to_string();
        for texts in [&ENGLISH, &CHINESE] {
            for (text, said) in [(texts.answer_hint, texts.answer_hint()), (texts.bad_reason, texts.bad_reason())] {
                assert!(text.contains("{n}") && !text.contains(&longest), "{text}");
                assert!(said.contains(&longest) && !said.contains('{'), "{said}");
            }
        }
    }
}
