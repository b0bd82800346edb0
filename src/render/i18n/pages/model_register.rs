//! Texts of the register of models.

use crate::domain::model_register::changes::ChangeKind;
use crate::domain::model_register::days::Period;
use crate::domain::model_register::report::{EntryChange, EntryState, PairingPeriod, SameProviderModel};
use crate::i18n::fill;

/// The texts of one language.
pub struct RegisterTexts {
    pub title: &'static str,
    /// Link to the register.
    pub link: &'static str,
    pub back: &'static str,
    sentence: &'static str,
    counted: &'static str,
    pub nothing_counted: &'static str,
    pub organizations: &'static str,
    pub organizations_reading: &'static str,
    pub organization: &'static str,
    pub no_organization: &'static str,
    pub organization_heads: [&'static str; 5],
    pub models: &'static str,
    pub models_reading: &'static str,
    pub model: &'static str,
    pub state: &'static str,
    pub weight: &'static str,
    pub first_day: &'static str,
    pub last_day: &'static str,
    pub battles: &'static str,
    pub share: &'static str,
    failed: &'static str,
    pub on_leaderboard: &'static str,
    pub remarks: &'static str,
    pub imported: &'static str,
    pub yes: &'static str,
    pub no: &'static str,
    states: [&'static str; 4],
    same_as: &'static str,
    once_same_as: &'static str,
    pub shares: &'static str,
    pub shares_reading: &'static str,
    periods: [&'static str; 3],
    pub changes: &'static str,
    shown_changes: &'static str,
    /// Link to the changes that are not shown.
    pub all_changes: &'static str,
    pub by_command: &'static str,
    kinds: [&'static str; 9],
    separator: &'static str,
    list_separator: &'static str,
    pub pairing: &'static str,
    pub pairing_reading: &'static str,
    pub pairing_heads: [&'static str; 5],
    /// Names of the pairing policies: uniform, weighted, elo, active.
    policies: [&'static str; 4],
    pub in_force: &'static str,
    parameters: &'static str,
    pub reading: &'static str,
    pub reading_points: &'static [&'static str],
}

impl RegisterTexts {
    /// Summary of the number of models by state, of those in battles and of those on the leaderboard. `states` counts the active,
    /// paused and retired ones; the others are in no settings file.
    pub fn sentence(&self, models: usize, states: [usize; 3], in_battles: u64, on_leaderboard: u64) -> String {
        let others = models - states.iter().sum::<usize>().min(models);
        let [active, paused, retired] = states.map(|count| count.to_string());
        let [models, others, ever, shown] =
            [models as u64, others as u64, in_battles, on_leaderboard].map(|count| count.to_string());
        let values = [
            ("models", models.as_str()),
            ("active", &active),
            ("paused", &paused),
            ("retired", &retired),
            ("others", &others),
            ("ever", &ever),
            ("shown", &shown),
        ];
        fill(self.sentence, &values)
    }

    /// Describes the counted battles.
    pub fn counted(&self, day: &str, battles: u64, imported: u64) -> String {
        let (battles, imported) = (battles.to_string(), imported.to_string());
        fill(self.counted, &[("day", day), ("battles", &battles), ("imported", &imported)])
    }

    /// Display name of a model's state.
    pub fn state(&self, state: EntryState) -> &'static str {
        self.states[match state {
            EntryState::Active => 0,
            EntryState::Paused => 1,
            EntryState::Retired => 2,
            EntryState::NotConfigured => 3,
        }]
    }

    /// Heading of the column of failures in this number of days.
    pub fn failed(&self, days: i64) -> String {
        fill(self.failed, &[("days", &days.to_string())])
    }

    /// Display name of a period.
    pub fn period(&self, period: Period) -> &'static str {
        self.periods[match period {
            Period::Day => 0,
            Period::Week => 1,
            Period::Month => 2,
        }]
    }

    /// Notes that other entries are, or once were, the same model of a provider.
    pub fn same_as(&self, others: &[SameProviderModel]) -> Vec<String> {
        let said = [(true, self.same_as), (false, self.once_same_as)].map(|(at_present, text)| {
            let ids = others.iter().filter(|other| other.at_present == at_present).map(|other| other.id.as_str());
            let ids = ids.collect::<Vec<_>>().join(self.list_separator);
            if ids.is_empty() { None } else { Some(fill(text, &[("ids", &ids)])) }
        });
        said.into_iter().flatten().collect()
    }

    /// Formats the number of displayed changes.
    pub fn shown_changes(&self, shown: usize, all: usize) -> String {
        fill(self.shown_changes, &[("shown", &shown.to_string()), ("all", &all.to_string())])
    }

    /// Describes a change.
    pub fn change(&self, change: &EntryChange) -> String {
        let [before, weight] =
            [change.weight_before.unwrap_or_default(), change.weight].map(|weight| weight.to_string());
        let labels = [&change.name, &change.organization, &change.license];
        let labels: Vec<&str> = labels.into_iter().map(String::as_str).filter(|label| !label.is_empty()).collect();
        let labels = labels.join(" · ");
        let values = [("before", before.as_str()), ("weight", &weight), ("labels", &labels)];
        let kinds = change.kinds.iter().map(|kind| fill(self.kind(*kind), &values));
        kinds.collect::<Vec<_>>().join(self.separator)
    }

    fn kind(&self, kind: ChangeKind) -> &'static str {
        self.kinds[match kind {
            ChangeKind::Added => 0,
            ChangeKind::Returned => 1,
            ChangeKind::Retired => 2,
            ChangeKind::Paused => 3,
            ChangeKind::Resumed => 4,
            ChangeKind::Reweighted => 5,
            ChangeKind::ProviderModel => 6,
            ChangeKind::Labels => 7,
            ChangeKind::Reason => 8,
        }]
    }

    /// Display name of a pairing policy; its stored name if this version does not know it.
    pub fn policy<'n>(&self, name: &'n str) -> &'n str {
        let at = ["uniform", "weighted", "elo", "active"].iter().position(|policy| *policy == name);
        at.map_or(name, |at| self.policies[at])
    }

    /// Formats the parameters of a pairing policy.
    pub fn parameters(&self, period: &PairingPeriod) -> String {
        let numbers = [period.uniform_share, period.elo_width, period.new_model_boost];
        let [share, width, boost] = numbers.map(|number| number.to_string());
        let votes = period.new_model_votes.to_string();
        let values = [("share", share.as_str()), ("width", &width), ("votes", &votes), ("boost", &boost)];
        fill(self.parameters, &values)
    }
}

pub(super) const ENGLISH: RegisterTexts = RegisterTexts {
    title: "Register of models",
    link: "Every model that ever took part",
    back: "Leaderboard",
    sentence: "{models} {models:model|models} ever: {active} active, {paused} paused, {retired} retired, {others} not configured. {ever} of them were in battles; {shown} are on the leaderboard.",
    counted: "Days and shares count {battles} {battles:battle|battles} through {day} (UTC), and {imported} {imported:battle|battles} whose votes were imported. A day is counted once all of its battles are over.",
    nothing_counted: "No day is counted yet. A day (UTC) is counted once it is past and all of its battles are over.",
    organizations: "Makers and their entries",
    organizations_reading: "A maker who enters many variants and shows only the best one benefits from luck alone. Here, all entries of a maker stay counted, including retired ones.",
    organization: "Maker",
    no_organization: "not stated",
    organization_heads: [
        "Entries ever",
        "In battles ever",
        "Different models of providers",
        "On the leaderboard",
        "Active",
    ],
    models: "All models",
    models_reading: "A retired model keeps its row. Days in battles and shares are those of this arena; imported votes are counted separately, and a model that has only imported votes shows the days of those votes. The weight says how often a model is drawn: one of weight 2 is twice as likely as one of weight 1 where pairs are drawn by weight.",
    model: "Model",
    state: "State",
    weight: "Weight",
    first_day: "First day in battles",
    last_day: "Last day",
    battles: "Battles",
    share: "Share of battles",
    failed: "Failed to answer, last {days} days",
    on_leaderboard: "On the leaderboard",
    remarks: "Remarks",
    imported: "imported",
    yes: "yes",
    no: "no",
    states: ["active", "paused", "retired", "not configured"],
    same_as: "Same provider model as {ids}",
    once_same_as: "Earlier the same provider model as {ids}",
    shares: "Shares of battles over time",
    shares_reading: "The share of this arena's battles in which a model took part. Two models meet in each, so the shares of a column add up to 200 %. A week is named by its Monday.",
    periods: ["By day", "By week", "By month"],
    changes: "What changed, and why",
    shown_changes: "The latest {shown} of {all} changes.",
    all_changes: "All changes as JSON",
    by_command: "stated by command",
    kinds: [
        "added with weight {weight}",
        "returned with weight {weight}",
        "retired",
        "paused",
        "resumed with weight {weight}",
        "weight {before} → {weight}",
        "another model of a provider answers under this id",
        "name, maker or licence changed: {labels}",
        "reason stated",
    ],
    separator: "; ",
    list_separator: ", ",
    pairing: "How pairs were drawn",
    pairing_reading: "The policy in force first. Every battle keeps the policy, its version and the probability of its pair.",
    pairing_heads: ["From", "Until", "Policy", "Version", "Parameters"],
    policies: ["uniform", "by weight", "near ratings", "most informative"],
    in_force: "in force",
    parameters: "uniform share {share} · Elo width {width} · new until {votes} {votes:vote|votes} · weight of new models × {boost}",
    reading: "What is public here",
    reading_points: &[
        "Public: ids, names, makers, licences, states, weights, reasons, days and shares in battles, the pairing policy, and which entries are the same model of a provider. Private: addresses of servers, keys, and the names that models have at their providers.",
        "Two entries are the same provider model if they request the same model name from the same host and port. The arena keeps only a keyed digest of these, so the register can show this without revealing them. A model behind two addresses is not recognised.",
        "A change is recorded when the settings in force change, by one instance, and is never changed or deleted. Reasons come from the operator: “reason” in the settings, or the command “langya models reason”.",
        "A model without a recorded change was imported with votes, or was removed before the register began.",
    ],
};

pub(super) const CHINESE: RegisterTexts = RegisterTexts {
    title: "模型登记册",
    link: "所有参加过的模型",
    back: "排行榜",
    sentence: "共登记 {models} 个模型：{active} 个参战，{paused} 个暂停，{retired} 个退役，{others} 个未配置。其中 {ever} 个打过对战，{shown} 个在排行榜上。",
    counted: "日期和占比统计了截至 {day}（UTC）的 {battles} 场对战，另有 {imported} 场对战的选票来自导入。一天的对战全部结束后才计入。",
    nothing_counted: "尚未统计任何一天。一天（UTC）过去且当天的对战全部结束后才计入。",
    organizations: "机构与其登记的模型",
    organizations_reading: "登记许多变体而只展示最好的一个，仅凭运气就能占优。这里统计一家机构的全部登记，包括已退役的。",
    organization: "机构",
    no_organization: "未注明",
    organization_heads: ["登记总数", "打过对战", "服务商处的不同模型", "在排行榜上", "参战"],
    models: "全部模型",
    models_reading: "退役的模型仍列在表中。对战日期和占比只计本竞技场；导入的选票另计，只有导入选票的模型显示其日期。权重表示模型被抽中的机会：按权重抽取时，权重 2 的模型被抽中的可能是权重 1 的两倍。",
    model: "模型",
    state: "状态",
    weight: "权重",
    first_day: "首次对战日",
    last_day: "最后对战日",
    battles: "对战数",
    share: "对战占比",
    failed: "近 {days} 天未能作答",
    on_leaderboard: "在排行榜上",
    remarks: "备注",
    imported: "导入",
    yes: "是",
    no: "否",
    states: ["参战", "暂停", "退役", "未配置"],
    same_as: "与 {ids} 在服务商处是同一个模型",
    once_same_as: "曾与 {ids} 在服务商处是同一个模型",
    shares: "各时期的对战占比",
    shares_reading: "本竞技场的对战中有某个模型参加的比例。每场有两个模型，所以一列的占比合计为 200 %。一周以其星期一命名。",
    periods: ["按日", "按周", "按月"],
    changes: "变动与原因",
    shown_changes: "共 {all} 次变动，这里列出最近 {shown} 次。",
    all_changes: "全部变动（JSON）",
    by_command: "原因由命令行补充",
    kinds: [
        "加入，权重 {weight}",
        "重新加入，权重 {weight}",
        "退役",
        "暂停",
        "恢复，权重 {weight}",
        "权重 {before} → {weight}",
        "此标识之下换成了服务商处的另一个模型",
        "名称、机构或许可有变：{labels}",
        "说明原因",
    ],
    separator: "；",
    list_separator: "、",
    pairing: "配对方式",
    pairing_reading: "现行方式在最前。每场对战都记录方式、版本和该组合的概率。",
    pairing_heads: ["起", "止", "方式", "版本", "参数"],
    policies: ["均匀", "按权重", "评分相近优先", "信息量最大"],
    in_force: "现行",
    parameters: "均等占比 {share} · Elo 宽度 {width} · 满 {votes} 票之前为新模型 · 新模型权重 × {boost}",
    reading: "这里公开什么",
    reading_points: &[
        "公开：标识、名称、机构、许可、状态、权重、原因、对战日期和占比、配对方式，以及哪些登记在服务商处是同一个模型。不公开：服务器地址、密钥，以及模型在服务商处的名称。",
        "两个登记向同一主机和端口请求同一个名称，即视为服务商处的同一个模型。竞技场只保存其带密钥的摘要，因此能说明相同，而不透露内容。同一模型若有两个地址，则无法识别。",
        "现行设置变化时，由一个实例记录变动，之后不会更改或删除。原因由运营者给出：设置中的“reason”，或命令“langya models reason”。",
        "没有变动记录的模型来自导入的选票，或在登记册启用之前已经离开。",
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::model_register::changes::{ChangeAuthor, ModelState};

    #[test]
    fn texts_have_no_marks_of_markdown_which_the_page_would_show() {
        for texts in [&ENGLISH, &CHINESE] {
            assert!(texts.reading_points.iter().all(|point| !point.contains('`')), "{:?}", texts.reading_points);
        }
    }

    #[test]
    fn a_change_is_shown_with_its_numbers() {
        let change = EntryChange {
            changed_at: 0,
            kinds: vec![ChangeKind::Reweighted, ChangeKind::Labels],
            state: ModelState::Active,
            weight_before: Some(1.0),
            weight: 2.5,
            name: "Crane".into(),
            organization: String::new(),
            license: "MIT".into(),
            reason: String::new(),
            author: ChangeAuthor::Settings,
        };
        assert_eq!(ENGLISH.change(&change), "weight 1 → 2.5; name, maker or licence changed: Crane · MIT");
        assert_eq!(CHINESE.change(&change), "权重 1 → 2.5；名称、机构或许可有变：Crane · MIT");
        let other = |id: &str, at_present| SameProviderModel { id: id.into(), at_present };
        let others = [other("a", true), other("b", false), other("c", true)];
        let said = ["Same provider model as a, c", "Earlier the same provider model as b"];
        assert_eq!(ENGLISH.same_as(&others), said);
        assert_eq!(CHINESE.same_as(&others[..1]), ["与 a 在服务商处是同一个模型"]);
        assert_eq!((ENGLISH.policy("elo"), CHINESE.policy("weighted")), ("near ratings", "按权重"));
        assert_eq!(CHINESE.policy("of a later version"), "of a later version");
        let sentence = ENGLISH.sentence(7, [4, 1, 2], 6, 5);
        assert!(
            sentence.starts_with("7 models ever: 4 active, 1 paused, 2 retired, 0 not configured. 6 of them"),
            "{sentence}"
        );
    }
}
