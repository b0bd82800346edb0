//! The page for a request that the arena cannot answer as it was asked, or not now.

use crate::domain::admin::LONGEST_REASON;
use crate::i18n::fill;

/// A text for each kind of failure. Below it stands what exactly is wrong: in the reader's language for a [`MissingThing`], an
/// [`InvalidField`] and a missing role, otherwise the error's own text, which is English.
pub struct RefusedTexts {
    /// The address asks for what cannot be computed.
    pub address: RefusedText,
    /// What it names is not here.
    pub missing: RefusedText,
    /// A visitor or somebody of the admin is not signed in.
    pub sign_in: RefusedText,
    /// It is for others.
    pub forbidden: RefusedText,
    /// A form that was made for another session, or comes from another site.
    pub form: RefusedText,
    /// A form with a field that cannot be used.
    pub field: RefusedText,
    /// It will be there soon.
    pub later: RefusedText,
    /// Something else went wrong.
    pub failed: RefusedText,
    /// What the button of the admin's pages says, where it leads to the overview.
    pub to_admin: &'static str,
    missing_thing: fn(MissingThing) -> &'static str,
    invalid_field: fn(InvalidField) -> &'static str,
    role_required: &'static str,
}

/// What an address or a form names and the arena does not have: first what visitors look for, then what only the admin does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingThing {
    /// A battle that its visitor shared, or no longer shares.
    SharedBattle,
    /// A battle of one's own.
    Battle,
    /// A battle of one's own with a vote and a text.
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

/// What a field of a form lacks, as people may fill it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidField {
    /// No field of a filter says which votes are meant.
    NoFilter,
    /// The id of a prompt cluster.
    PromptCluster,
    /// A reason that says nothing, or too much.
    Reason,
}

impl InvalidField {
    /// What is wrong, as programs read it.
    #[must_use]
    pub fn in_english(self) -> String {
        ENGLISH.invalid_field(self)
    }
}

impl MissingThing {
    /// What is missing, as programs read it.
    #[must_use]
    pub fn in_english(self) -> &'static str {
        ENGLISH.missing_thing(self)
    }
}

impl RefusedTexts {
    /// What is missing.
    #[must_use]
    pub fn missing_thing(&self, thing: MissingThing) -> &'static str {
        (self.missing_thing)(thing)
    }

    /// What is wrong with a field.
    #[must_use]
    pub fn invalid_field(&self, field: InvalidField) -> String {
        fill((self.invalid_field)(field), &[("n", &LONGEST_REASON.to_string())])
    }

    /// Which role is missing, by its name on pages.
    #[must_use]
    pub fn role_required(&self, role: &str) -> String {
        fill(self.role_required, &[("role", role)])
    }
}

/// The text of one kind.
pub struct RefusedText {
    pub title: &'static str,
    pub lead: &'static str,
    pub action: &'static str,
}

pub(super) const ENGLISH: RefusedTexts = RefusedTexts {
    address: RefusedText {
        title: "This address does not work",
        lead: "The address asks this page for something that it does not offer.",
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
        lead: "It was made before you signed in again, or does not come from this arena's own page. Go back, reload the page and send it again.",
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
        lead: "The page could not be generated. Nothing that was acknowledged is lost.",
        action: "Try again",
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
    to_admin: "回到概览",
    missing_thing: missing_thing_in_chinese,
    invalid_field: invalid_field_in_chinese,
    role_required: "需要“{role}”或更高的角色。",
};

fn missing_thing_in_english(thing: MissingThing) -> &'static str {
    match thing {
        MissingThing::SharedBattle => "no battle is shared by this link",
        MissingThing::Battle => "no battle has this id",
        MissingThing::BattleToLabel => "no battle of yours with a vote and a text has this id",
        MissingThing::Campaign => "there is no such campaign",
        MissingThing::CampaignReport => "this campaign has no public report",
        MissingThing::DeletionRequest => "no request has this id",
        MissingThing::FlaggedText => "no flag has this id",
        MissingThing::LeakToReview => "no leak of this vote waits for a decision: reload /admin/leaks",
        MissingThing::PromptToLabel => "no prompt has this id",
        MissingThing::Model => "no model with this id is active or paused",
    }
}

fn invalid_field_in_english(field: InvalidField) -> &'static str {
    match field {
        InvalidField::NoFilter => "say which votes: a voter, a model, a rule, a prompt cluster or a battle",
        InvalidField::PromptCluster => "a prompt cluster has 16 hexadecimal digits",
        InvalidField::Reason => "give a reason of 1 to {n} characters",
    }
}

fn missing_thing_in_chinese(thing: MissingThing) -> &'static str {
    match thing {
        MissingThing::SharedBattle => "这个链接没有分享任何对战，可能已取消分享。",
        MissingThing::Battle => "没有编号与此相同的对战。",
        MissingThing::BattleToLabel => "你没有编号与此相同、已投票且文字未删除的对战。",
        MissingThing::Campaign => "没有这个标注活动。",
        MissingThing::CampaignReport => "没有对所有人公开的这份标注报告。",
        MissingThing::DeletionRequest => "没有编号与此相同的删除请求。",
        MissingThing::FlaggedText => "没有编号与此相同的标记内容。",
        MissingThing::LeakToReview => "这一票没有待审核的泄露：请刷新 /admin/leaks。",
        MissingThing::PromptToLabel => "没有编号与此相同的问题。",
        MissingThing::Model => "没有标识与此相同的参战或暂停的模型。",
    }
}

fn invalid_field_in_chinese(field: InvalidField) -> &'static str {
    match field {
        InvalidField::NoFilter => "请说明是哪些投票：填写投票者、模型、规则、问题簇或对战。",
        InvalidField::PromptCluster => "问题簇的编号是 16 位十六进制数。",
        InvalidField::Reason => "请填写 1 到 {n} 个字符的理由。",
    }
}
