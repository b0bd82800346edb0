//! Texts of the pages of campaigns.

use super::within_longest_reason;
use crate::domain::campaign::MAX_LINK_DAYS;
use crate::i18n::fill;

/// The texts of one language.
pub struct CampaignAdminTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub how_to: &'static str,
    pub none: &'static str,
    pub campaign: &'static str,
    pub state: &'static str,
    pub progress: &'static str,
    pub annotators: &'static str,
    pub items: &'static str,
    pub made: &'static str,
    /// Draft, open, paused, closed.
    states: [&'static str; 4],
    /// Pairwise, score, rank.
    tasks: [&'static str; 3],
    pub task: &'static str,
    pub open: &'static str,
    pub pause: &'static str,
    pub close: &'static str,
    pub state_changed: &'static str,
    pub annotator: &'static str,
    pub judged: &'static str,
    pub quota: &'static str,
    pub expires: &'static str,
    pub never: &'static str,
    pub seen: &'static str,
    pub link_state: &'static str,
    pub in_force: &'static str,
    pub revoked: &'static str,
    pub left_out: &'static str,
    pub expired: &'static str,
    pub revoke: &'static str,
    pub revoke_of: &'static str,
    pub revoke_note: &'static str,
    pub no_annotators: &'static str,
    pub invite: &'static str,
    pub invite_lead: &'static str,
    pub count: &'static str,
    pub quota_hint: &'static str,
    pub days: &'static str,
    pub invite_button: &'static str,
    /// With `{count}` and `{days}` for the maxima.
    invite_numbers: &'static str,
    pub shared_hint: &'static str,
    pub shared_links: &'static str,
    pub shared_link: &'static str,
    pub places: &'static str,
    pub links: &'static str,
    pub links_lead: &'static str,
    pub unknown_annotator: &'static str,
    pub leave_out: &'static str,
    pub leave_out_lead: &'static str,
    pub reason: &'static str,
    /// With `{n}` for the maximum number of characters.
    reason_hint: &'static str,
    pub leave_out_button: &'static str,
    pub readmit: &'static str,
    pub readmit_of: &'static str,
    pub not_counted: &'static str,
    pub not_left_out: &'static str,
    /// With `{n}` for the maximum number of characters.
    reason_needed: &'static str,
    pub report: &'static str,
    pub commands_lead: &'static str,
    pub public_report: &'static str,
    pub ended: &'static str,
    pub ended_separated: &'static str,
    pub ended_max_judgements: &'static str,
    pub ended_all_judged: &'static str,
    pub ended_by_hand: &'static str,
}

impl CampaignAdminTexts {
    /// Display name of a state.
    pub fn state(&self, name: &str) -> &'static str {
        let at = ["draft", "open", "paused", "closed"].iter().position(|state| *state == name);
        at.map_or("", |at| self.states[at])
    }

    /// Display name of a task.
    pub fn task(&self, name: &str) -> &'static str {
        let at = ["pairwise", "score", "rank"].iter().position(|task| *task == name);
        at.map_or("", |at| self.tasks[at])
    }

    /// Message for refused numbers of an invitation; `most` is the maximum number of links.
    pub fn invite_numbers(&self, most: u32) -> String {
        fill(self.invite_numbers, &[("count", &most.to_string()), ("days", &MAX_LINK_DAYS.to_string())])
    }

    /// Purpose and maximum length of a reason.
    pub fn reason_hint(&self) -> String {
        within_longest_reason(self.reason_hint)
    }

    /// Message for a refused reason.
    pub fn reason_needed(&self) -> String {
        within_longest_reason(self.reason_needed)
    }
}

pub(super) const ENGLISH: CampaignAdminTexts = CampaignAdminTexts {
    title: "Campaigns",
    lead: "People judge stored answers. A campaign is created from a file, with: langya campaign create FILE",
    how_to: "How to write the file",
    none: "No campaign yet.",
    campaign: "Campaign",
    state: "State",
    progress: "Judgements",
    annotators: "Annotators",
    items: "Items",
    made: "Made",
    states: ["draft", "open", "paused", "closed"],
    tasks: ["which of two answers is better", "how good an answer is", "the order of answers"],
    task: "Task",
    open: "Open",
    pause: "Pause",
    close: "Close",
    state_changed: "The state of this campaign has changed since the page was shown. Nothing was changed: look at its state, then choose again.",
    annotator: "Annotator",
    judged: "Judged",
    quota: "At most",
    expires: "Expires",
    never: "never",
    seen: "Last seen",
    link_state: "Link",
    in_force: "in force",
    revoked: "revoked",
    left_out: "invalid: the annotator is excluded",
    expired: "expired",
    revoke: "Revoke",
    revoke_of: "Revoke the link of {name}",
    revoke_note: "A revoked link stays revoked. Judgements made with it still count; a new link creates another annotator.",
    no_annotators: "Nobody is invited yet.",
    invite: "Invite annotators",
    invite_lead: "Each annotator gets a link of their own. The links are shown once: only hashes are kept.",
    count: "How many",
    quota_hint: "Maximum number of judgements of each annotator; empty for no limit",
    days: "Days until the links expire; 0 for never",
    invite_button: "Create links",
    invite_numbers: "The number of annotators is from 1 to {count}, the number of judgements from 1, or empty, and the number of days from 0 to {days}. No link was created.",
    shared_hint: "One link for all of them: each person who opens it takes a place",
    shared_links: "Shared links",
    shared_link: "Link",
    places: "Places taken",
    links: "Links",
    links_lead: "Copy them now: they are not shown again.",
    unknown_annotator: "This campaign has no such annotator with a valid link.",
    leave_out: "Leave an annotator out",
    leave_out_lead: "The annotator's judgements no longer count in reports and ratings, and the link stops working. You can count them again later. Where the campaign's votes are rated, everybody can read the reason on the page of exclusions.",
    reason: "Reason",
    reason_hint: "Why the judgements do not count, in 1 to {n} characters",
    leave_out_button: "Leave out",
    readmit: "Count again",
    readmit_of: "Count the judgements of {name} again",
    not_counted: "This campaign has no such annotator, or the annotator is left out already.",
    not_left_out: "This annotator is not left out.",
    reason_needed: "Write why the judgements do not count, in 1 to {n} characters. Nothing was changed.",
    report: "Ratings and agreement so far",
    commands_lead: "This command writes all judgements to a file:",
    public_report: "The report for everybody",
    ended: "Ended",
    ended_separated: "the models are told apart",
    ended_max_judgements: "the maximum number of judgements is reached",
    ended_all_judged: "each unit has all its judgements",
    ended_by_hand: "closed by hand before all was judged",
};

pub(super) const CHINESE: CampaignAdminTexts = CampaignAdminTexts {
    title: "标注活动",
    lead: "由人评判已保存的回答。活动由文件创建，命令为：langya campaign create FILE",
    how_to: "如何编写文件",
    none: "尚无标注活动。",
    campaign: "活动",
    state: "状态",
    progress: "评判数",
    annotators: "标注者",
    items: "题目数",
    made: "创建时间",
    states: ["草稿", "进行中", "已暂停", "已结束"],
    tasks: ["两个回答中哪个更好", "回答有多好", "回答的排序"],
    task: "任务",
    open: "开放",
    pause: "暂停",
    close: "结束",
    state_changed: "页面显示之后，该活动的状态已被更改。未作任何更改：请查看当前状态后重新选择。",
    annotator: "标注者",
    judged: "已评判",
    quota: "上限",
    expires: "到期",
    never: "永不",
    seen: "最近活动",
    link_state: "链接",
    in_force: "有效",
    revoked: "已撤销",
    left_out: "无效：该标注者已被排除",
    expired: "已过期",
    revoke: "撤销",
    revoke_of: "撤销 {name} 的链接",
    revoke_note: "链接撤销后不能恢复。已作出的判断仍然计入；新链接属于另一位标注者。",
    no_annotators: "尚未邀请任何人。",
    invite: "邀请标注者",
    invite_lead: "每位标注者获得自己的链接。链接只显示一次：系统只保存其哈希值。",
    count: "人数",
    quota_hint: "每人评判数上限；留空则不限",
    days: "链接有效天数；0 表示永不过期",
    invite_button: "生成链接",
    invite_numbers: "人数应为 1 到 {count}，评判数上限不小于 1 或留空，链接有效天数应为 0 到 {days}。没有生成链接。",
    shared_hint: "所有人共用一个链接：打开者各占一个名额",
    shared_links: "共用链接",
    shared_link: "链接",
    places: "已占名额",
    links: "链接",
    links_lead: "请立即复制：链接不会再次显示。",
    unknown_annotator: "该活动没有持有效链接的这位标注者。",
    leave_out: "排除标注者",
    leave_out_lead: "该标注者的判断不再计入报告和评分，其链接也随之失效；以后可以重新计入。如果活动的投票计入评分，所有人都能在排除页面上看到原因。",
    reason: "原因",
    reason_hint: "不计入这些判断的原因，1 到 {n} 个字符",
    leave_out_button: "排除",
    readmit: "重新计入",
    readmit_of: "重新计入 {name} 的判断",
    not_counted: "该活动没有这位标注者，或该标注者已被排除。",
    not_left_out: "该标注者未被排除。",
    reason_needed: "请用 1 到 {n} 个字符写明不计入这些判断的原因。未作任何更改。",
    report: "目前的评分与一致性",
    commands_lead: "以下命令把全部判断写入文件：",
    public_report: "公开报告",
    ended: "结束原因",
    ended_separated: "各模型已分出高下",
    ended_max_judgements: "已达到评判总数上限",
    ended_all_judged: "每个单元的评判均已完成",
    ended_by_hand: "全部评判完成之前手动结束",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::admin::MAX_REASON_CHARS;

    #[test]
    fn the_longest_reason_comes_from_the_rule_and_stands_in_no_text() {
        let longest = MAX_REASON_CHARS.to_string();
        for texts in [&ENGLISH, &CHINESE] {
            for (text, said) in [(texts.reason_hint, texts.reason_hint()), (texts.reason_needed, texts.reason_needed())]
            {
                assert!(text.contains("{n}") && !text.contains(&longest), "{text}");
                assert!(said.contains(&longest) && !said.contains('{'), "{said}");
            }
        }
    }
}
