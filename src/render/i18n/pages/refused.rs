//! Texts of the error page.

use crate::domain::admin::MAX_REASON_CHARS;
use crate::i18n::fill;

/// Texts for each kind of error. The page adds the details: in the reader's language for a [`MissingObject`], an [`InvalidField`] and a
/// missing role, otherwise the error's own English message.
pub struct RefusedTexts {
    /// The request is invalid.
    pub address: RefusedText,
    /// The requested object does not exist.
    pub missing: RefusedText,
    /// The visitor or admin user is not signed in.
    pub sign_in: RefusedText,
    /// The user lacks permission.
    pub forbidden: RefusedText,
    /// The form belongs to another session or another site (CSRF).
    pub form: RefusedText,
    /// The form has an invalid field.
    pub field: RefusedText,
    /// The result is not available yet.
    pub later: RefusedText,
    /// Any other error.
    pub failed: RefusedText,
    /// The host name does not belong to the arena.
    pub foreign_host: ForeignHostTexts,
    /// Label of the admin pages' button to the overview.
    pub to_admin: &'static str,
    missing_thing: fn(MissingObject) -> &'static str,
    invalid_field: fn(InvalidField) -> &'static str,
    role_required: &'static str,
}

/// Missing object named by an address or a form: first those of visitors, then those of the admin pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingObject {
    /// A battle that its visitor shared, or no longer shares.
    SharedBattle,
    /// A battle of the visitor.
    Battle,
    /// A battle of the visitor with a vote and texts.
    BattleToLabel,
    /// A campaign.
    Campaign,
    /// The report of a campaign that is public.
    CampaignReport,
    /// A request to delete texts.
    DeletionRequest,
    /// A text that the moderation service flagged.
    FlaggedText,
    /// A leak that waits for a decision.
    LeakToReview,
    /// A prompt that waits for a label.
    PromptToLabel,
    /// A model that is active or paused.
    Model,
}

/// Invalid field of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidField {
    /// No field of the filter is set.
    NoFilter,
    /// The id of a prompt cluster.
    PromptCluster,
    /// A reason that is empty or too long.
    Reason,
}

impl InvalidField {
    /// Returns the English message for APIs.
    #[must_use]
    pub fn in_english(self) -> String {
        ENGLISH.invalid_field(self)
    }
}

impl MissingObject {
    /// Returns the English message for APIs.
    #[must_use]
    pub fn in_english(self) -> &'static str {
        ENGLISH.missing_thing(self)
    }
}

impl RefusedTexts {
    /// Returns the message for a missing object.
    #[must_use]
    pub fn missing_thing(&self, thing: MissingObject) -> &'static str {
        (self.missing_thing)(thing)
    }

    /// Returns the message for an invalid field.
    #[must_use]
    pub fn invalid_field(&self, field: InvalidField) -> String {
        fill((self.invalid_field)(field), &[("n", &MAX_REASON_CHARS.to_string())])
    }

    /// Returns the message for a missing role, by its display name.
    #[must_use]
    pub fn role_required(&self, role: &str) -> String {
        fill(self.role_required, &[("role", role)])
    }
}

/// Texts of one kind of error.
pub struct RefusedText {
    pub title: &'static str,
    pub lead: &'static str,
    pub action: &'static str,
}

/// Texts of the page under a host name that does not belong to the arena.
pub struct ForeignHostTexts {
    pub title: &'static str,
    /// Advice for a visitor.
    pub visitor: &'static str,
    /// Advice for the operator.
    pub operator: &'static str,
}

pub(super) const ENGLISH: RefusedTexts = RefusedTexts {
    address: RefusedText {
        title: "This address does not work",
        lead: "The address contains an option that this page does not have.",
        action: "Open the page without these options",
    },
    missing: RefusedText {
        title: "There is nothing here",
        lead: "This arena has nothing at this address.",
        action: "Go to the arena",
    },
    sign_in: RefusedText {
        title: "Please sign in",
        lead: "You are not signed in, or your session has ended. If you sent something, it was not stored: sign in and send it again.",
        action: "Go to the sign-in page",
    },
    forbidden: RefusedText {
        title: "You do not have access to this",
        lead: "Your current sign-in does not allow this.",
        action: "Go to the arena",
    },
    form: RefusedText {
        title: "This form has expired",
        lead: "It was opened before you last signed in, or does not come from this arena's own page. Go back, reload the page and send it again.",
        action: "Go to the arena",
    },
    field: RefusedText {
        title: "A field is missing or wrong",
        lead: "Nothing was changed. Go back and correct it, or start again on the page of the form.",
        action: "Open the page of the form",
    },
    later: RefusedText {
        title: "One moment, please",
        lead: "The arena cannot show this page yet. Try again in a few seconds.",
        action: "Try again",
    },
    failed: RefusedText {
        title: "That did not work",
        lead: "The page could not be generated. Nothing that the arena confirmed as saved is lost.",
        action: "Try again",
    },
    foreign_host: ForeignHostTexts {
        title: "The arena does not answer under this name",
        visitor: "Open it by the IP address of its computer, such as http://192.168.1.20:8717, or ask the person who runs it for the address.",
        operator: "If you run it and want visitors to use this name, set server.public_url to the full address, such as http://computer.local:8717.",
    },
    to_admin: "Go to the overview",
    missing_thing: missing_thing_in_english,
    invalid_field: invalid_field_in_english,
    role_required: "this requires the role {role} or a higher one",
};

pub(super) const CHINESE: RefusedTexts = RefusedTexts {
    address: RefusedText {
        title: "这个地址无法使用", lead: "本页不支持地址中的条件。", action: "打开不带条件的页面"
    },
    missing: RefusedText {
        title: "此处空无一物", lead: "竞技场里没有这个地址所指的内容。", action: "回到竞技场"
    },
    sign_in: RefusedText {
        title: "请登录",
        lead: "你尚未登录，或者登录已过期。若刚才提交了内容，它没有保存，请登录后重新提交。",
        action: "前往登录页面",
    },
    forbidden: RefusedText {
        title: "你无权进行此操作", lead: "以你目前的身份不能这样做。", action: "回到竞技场"
    },
    form: RefusedText {
        title: "这个表单已经过期",
        lead: "它是在你重新登录之前打开的，或者不是来自本竞技场的页面。请返回上一页，刷新页面后重新提交。",
        action: "回到竞技场",
    },
    field: RefusedText {
        title: "有一项没有填写或填写有误",
        lead: "没有做任何更改。请返回上一页更正，或打开表单所在的页面重新填写。",
        action: "打开表单所在的页面",
    },
    later: RefusedText {
        title: "请稍候", lead: "竞技场暂时还不能显示这个页面。请过几秒再试。", action: "重试"
    },
    failed: RefusedText {
        title: "操作未成功", lead: "页面未能生成。已确认的内容都已保存。", action: "重试"
    },
    foreign_host: ForeignHostTexts {
        title: "竞技场不能通过这个名称访问",
        visitor: "请改用那台计算机的 IP 地址打开，例如 http://192.168.1.20:8717，或向本站的运营者询问地址。",
        operator: "如果你是运营者，并希望访客使用这个名称，请把 server.public_url 设为完整的地址，例如 http://computer.local:8717。",
    },
    to_admin: "回到概览",
    missing_thing: missing_thing_in_chinese,
    invalid_field: invalid_field_in_chinese,
    role_required: "需要“{role}”或更高的角色。",
};

fn missing_thing_in_english(thing: MissingObject) -> &'static str {
    match thing {
        MissingObject::SharedBattle => "no battle is shared by this link",
        MissingObject::Battle => "no battle has this id",
        MissingObject::BattleToLabel => "no battle of yours with a vote and a text has this id",
        MissingObject::Campaign => "there is no such campaign",
        MissingObject::CampaignReport => "this campaign has no public report",
        MissingObject::DeletionRequest => "no request has this id",
        MissingObject::FlaggedText => "no flag has this id",
        MissingObject::LeakToReview => "no leak of this vote waits for a decision: reload /admin/leaks",
        MissingObject::PromptToLabel => "no prompt has this id",
        MissingObject::Model => "no model with this id is active or paused",
    }
}

fn invalid_field_in_english(field: InvalidField) -> &'static str {
    match field {
        InvalidField::NoFilter => "say which votes: a voter, a model, a rule, a prompt cluster or a battle",
        InvalidField::PromptCluster => "a prompt cluster has 16 hexadecimal digits",
        InvalidField::Reason => "give a reason of 1 to {n} characters",
    }
}

fn missing_thing_in_chinese(thing: MissingObject) -> &'static str {
    match thing {
        MissingObject::SharedBattle => "这个链接没有分享任何对战，可能已取消分享。",
        MissingObject::Battle => "没有编号与此相同的对战。",
        MissingObject::BattleToLabel => "你没有编号与此相同、已投票且文字未删除的对战。",
        MissingObject::Campaign => "没有这个标注活动。",
        MissingObject::CampaignReport => "没有对所有人公开的这份标注报告。",
        MissingObject::DeletionRequest => "没有编号与此相同的删除请求。",
        MissingObject::FlaggedText => "没有编号与此相同的标记内容。",
        MissingObject::LeakToReview => "这一票没有待审核的泄露：请刷新 /admin/leaks。",
        MissingObject::PromptToLabel => "没有编号与此相同的问题。",
        MissingObject::Model => "没有标识与此相同的参战或暂停的模型。",
    }
}

fn invalid_field_in_chinese(field: InvalidField) -> &'static str {
    match field {
        InvalidField::NoFilter => "请说明是哪些投票：填写投票者、模型、规则、问题簇或对战。",
        InvalidField::PromptCluster => "问题簇的编号是 16 位十六进制数。",
        InvalidField::Reason => "请填写 1 到 {n} 个字符的理由。",
    }
}
