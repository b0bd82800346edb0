//! The page for a request that the arena cannot answer as it was asked, or not now.

/// A text for each kind of failure. Below it stands what exactly is wrong: in the reader's language for a [`MissingThing`], otherwise the
/// error's own text, which is English.
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
    /// It will be there soon.
    pub later: RefusedText,
    /// Something else went wrong.
    pub failed: RefusedText,
    missing_things: [&'static str; 5],
}

/// What visitors look for by a link and do not find.
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
        self.missing_things[thing as usize]
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
    missing_things: [
        "no battle is shared by this link",
        "no battle has this id",
        "no battle of yours with a vote and a text has this id",
        "there is no such campaign",
        "this campaign has no public report",
    ],
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
    later: RefusedText {
        title: "请稍候", lead: "竞技场暂时还不能显示这个页面。请过几秒再试。", action: "重试"
    },
    failed: RefusedText {
        title: "操作未成功", lead: "页面未能生成。已确认的内容都已保存。", action: "重试"
    },
    missing_things: [
        "这个链接没有分享任何对战，可能已取消分享。",
        "没有编号与此相同的对战。",
        "你没有编号与此相同、已投票且文字未删除的对战。",
        "没有这个标注活动。",
        "没有对所有人公开的这份标注报告。",
    ],
};
