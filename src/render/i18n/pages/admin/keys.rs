//! Texts of the page of API keys.

use std::borrow::Borrow;

use crate::domain::admin::key_scope::KeyScope;

/// The texts of one language.
pub struct KeyTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub none: &'static str,
    pub name: &'static str,
    pub scopes: &'static str,
    /// Read, annotate, admin.
    scope_names: [&'static str; KeyScope::ALL.len()],
    /// Permissions of each scope.
    duties: [&'static str; KeyScope::ALL.len()],
    /// Conjunction of two scopes.
    pub and: &'static str,
    pub state: &'static str,
    pub in_force: &'static str,
    pub revoked: &'static str,
    pub expired: &'static str,
    pub used: &'static str,
    pub expires: &'static str,
    pub never: &'static str,
    pub made: &'static str,
    pub made_by: &'static str,
    pub revoke: &'static str,
    pub revoke_of: &'static str,
    pub make: &'static str,
    pub make_lead: &'static str,
    pub name_hint: &'static str,
    pub days: &'static str,
    pub make_button: &'static str,
    pub key: &'static str,
    pub key_lead: &'static str,
    pub bad_name: &'static str,
    pub no_scope: &'static str,
    pub bad_days: &'static str,
    pub unknown: &'static str,
}

impl KeyTexts {
    /// Display name of a scope.
    pub fn scope(&self, scope: KeyScope) -> &'static str {
        self.scope_names[place(scope)]
    }

    /// Permissions of a key with the scope.
    pub fn may(&self, scope: impl Borrow<KeyScope>) -> &'static str {
        self.duties[place(*scope.borrow())]
    }
}

fn place(scope: KeyScope) -> usize {
    KeyScope::ALL.iter().position(|other| *other == scope).unwrap_or_default()
}

pub(super) const ENGLISH: KeyTexts = KeyTexts {
    title: "API keys",
    lead: "Programs send a key as “Authorization: Bearer KEY”. A revoked key stops working with the next request.",
    none: "No key yet.",
    name: "Name",
    scopes: "Scopes",
    scope_names: ["read", "annotate", "admin"],
    duties: [
        "Read what the operator does not show to everybody",
        "Judge in open campaigns, as one annotator of each",
        "Read the audit log",
    ],
    and: ", ",
    state: "State",
    in_force: "in force",
    revoked: "revoked",
    expired: "expired",
    used: "Last used",
    expires: "Expires",
    never: "never",
    made: "Made",
    made_by: "Made by",
    revoke: "Revoke",
    revoke_of: "Revoke the key {name}",
    make: "Create a key",
    make_lead: "One key for each program, with no more scopes than it needs. Only a hash is kept.",
    name_hint: "What it is for",
    days: "Days until it expires; 0 for never",
    make_button: "Create key",
    key: "The key",
    key_lead: "Copy it now: it is not shown again.",
    bad_name: "A key has a name of 1 to 60 characters.",
    no_scope: "A key needs at least one scope.",
    bad_days: "A key must expire within {n} days.",
    unknown: "There is no such valid key.",
};

pub(super) const CHINESE: KeyTexts = KeyTexts {
    title: "API 密钥",
    lead: "程序以“Authorization: Bearer KEY”发送密钥。密钥被撤销后，从下一个请求起就不再有效。",
    none: "尚无密钥。",
    name: "名称",
    scopes: "权限",
    scope_names: ["读取", "标注", "管理"],
    duties: ["读取不对所有人公开的内容", "在开放的标注活动中评判，在每个活动中算作一位标注者", "读取审计日志"],
    and: "、",
    state: "状态",
    in_force: "有效",
    revoked: "已撤销",
    expired: "已过期",
    used: "最近使用",
    expires: "到期",
    never: "从未",
    made: "创建时间",
    made_by: "创建者",
    revoke: "撤销",
    revoke_of: "撤销密钥 {name}",
    make: "创建密钥",
    make_lead: "每个程序使用一个密钥，只给它所需的权限。系统只保存哈希值。",
    name_hint: "用途",
    days: "有效天数；0 表示永不过期",
    make_button: "创建密钥",
    key: "密钥",
    key_lead: "请立即复制：密钥不会再次显示。",
    bad_name: "密钥的名称为 1 到 60 个字符。",
    no_scope: "密钥至少要有一项权限。",
    bad_days: "密钥最多 {n} 天后过期。",
    unknown: "没有这个有效的密钥。",
};
