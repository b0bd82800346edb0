//! The page for a request that the arena cannot answer as it was asked, or not now.

/// A text for each kind of failure. What exactly is wrong stands below it, as programs are told.
pub struct RefusedTexts {
    /// The address asks for what cannot be computed.
    pub address: RefusedText,
    /// What it names is not here.
    pub missing: RefusedText,
    /// The admin's session has ended.
    pub sign_in: RefusedText,
    /// It is for others.
    pub forbidden: RefusedText,
    /// It will be there soon.
    pub later: RefusedText,
    /// Something else went wrong.
    pub failed: RefusedText,
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
        lead: "You are not signed in, or your session has ended. What you sent was not stored.",
        action: "Go to the sign-in page",
    },
    forbidden: RefusedText {
        title: "You do not have access to this",
        lead: "Your current sign-in does not allow this, or the form has expired.",
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
};

pub(super) const CHINESE: RefusedTexts = RefusedTexts {
    address: RefusedText {
        title: "这个地址无法使用",
        lead: "地址里的条件，本页不提供。",
        action: "打开不带条件的页面",
    },
    missing: RefusedText {
        title: "此处空无一物", lead: "竞技场里没有这个地址所指的内容。", action: "回到竞技场"
    },
    sign_in: RefusedText {
        title: "请登录",
        lead: "你尚未登录，或者登录已过期。你提交的内容没有保存。",
        action: "前往登录页面",
    },
    forbidden: RefusedText {
        title: "你无权进行此操作",
        lead: "以你目前的身份不能这样做，或者表单已经过期。",
        action: "回到竞技场",
    },
    later: RefusedText {
        title: "请稍候", lead: "竞技场暂时还不能显示这个页面。请过几秒再试。", action: "重试"
    },
    failed: RefusedText {
        title: "操作未成功", lead: "页面未能生成。已确认的内容都已保存。", action: "重试"
    },
};
