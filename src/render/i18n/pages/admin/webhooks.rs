//! Texts of the page of webhook deliveries.

use std::borrow::Borrow;

use crate::domain::webhook::DeliveryState;

/// The texts of one language.
pub struct WebhookTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub no_webhooks: &'static str,
    pub webhook: &'static str,
    pub host: &'static str,
    pub events: &'static str,
    pub messages: &'static str,
    pub no_messages: &'static str,
    pub written: &'static str,
    pub event: &'static str,
    pub state: &'static str,
    /// Waiting, delivered, given up.
    states: [&'static str; DeliveryState::ALL.len()],
    pub failures: &'static str,
    pub error: &'static str,
    pub next: &'static str,
    pub retry: &'static str,
    pub retry_of: &'static str,
    pub unknown: &'static str,
}

impl WebhookTexts {
    /// Display name of a state.
    pub fn state_of(&self, state: impl Borrow<DeliveryState>) -> &'static str {
        let at = DeliveryState::ALL.iter().position(|other| other == state.borrow());
        self.states[at.unwrap_or_default()]
    }
}

pub(super) const ENGLISH: WebhookTexts = WebhookTexts {
    title: "Webhooks",
    lead: "Other programs that are notified of votes and leaderboard changes. Until a message is accepted, it is sent again for up to a day; then it is given up.",
    no_webhooks: "No webhook: the settings have none under [[webhooks]].",
    webhook: "Webhook",
    host: "Host",
    events: "Events",
    messages: "Messages",
    no_messages: "No message yet.",
    written: "Written",
    event: "Event",
    state: "State",
    states: ["waiting", "delivered", "given up"],
    failures: "Failed tries",
    error: "Last error",
    next: "Next try",
    retry: "Send again",
    retry_of: "Send message {id} again",
    unknown: "No message that was given up has this id.",
};

pub(super) const CHINESE: WebhookTexts = WebhookTexts {
    title: "Webhook",
    lead: "接收投票和排行榜消息的其他程序。消息在一天之内反复发送，直到对方接收；此后放弃。",
    no_webhooks: "没有 webhook：设置中没有 [[webhooks]]。",
    webhook: "Webhook",
    host: "主机",
    events: "事件",
    messages: "消息",
    no_messages: "尚无消息。",
    written: "写入时间",
    event: "事件",
    state: "状态",
    states: ["等待中", "已送达", "已放弃"],
    failures: "失败次数",
    error: "最近的错误",
    next: "下次发送",
    retry: "重新发送",
    retry_of: "重新发送消息 {id}",
    unknown: "没有这条已放弃的消息。",
};
