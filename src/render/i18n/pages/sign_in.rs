//! The page on which people sign in.

/// Its texts.
pub struct SignInTexts {
    pub title: &'static str,
    pub lead_code: &'static str,
    pub lead_passphrase: &'static str,
    pub code: &'static str,
    pub passphrase: &'static str,
    pub sign_in: &'static str,
    pub kept: &'static str,
    pub signed_in: &'static str,
    pub to_battle: &'static str,
    pub sign_out: &'static str,
    pub wrong: &'static str,
    pub expired: &'static str,
    pub used_up: &'static str,
    pub revoked: &'static str,
    pub busy: &'static str,
    pub too_fast: &'static str,
}

pub(super) const ENGLISH: SignInTexts = SignInTexts {
    title: "Sign in",
    lead_code: "Battles in this arena are for people with an invite code. Leaderboards can be read by everybody.",
    lead_passphrase: "Battles in this arena are for people who know its pass phrase. Leaderboards can be read by everybody.",
    code: "Invite code",
    passphrase: "Pass phrase",
    sign_in: "Sign in",
    kept: "Of signing in, only a random number in a cookie and the time are kept: no name and no address.",
    signed_in: "You are signed in.",
    to_battle: "To the battle",
    sign_out: "Sign out",
    wrong: "That is not right. Check for typing errors and try again.",
    expired: "This invite code has expired. Ask the operator for another one.",
    used_up: "This invite code has been used already. Ask the operator for another one.",
    revoked: "This invite code is not valid any more. Ask the operator for another one.",
    busy: "Many people are signing in. Try again in a moment.",
    too_fast: "Too many tries came from your network. Try again in {n} seconds.",
};

pub(super) const CHINESE: SignInTexts = SignInTexts {
    title: "登录",
    lead_code: "本站的对战需凭邀请码参加。排行榜人人可读。",
    lead_passphrase: "本站的对战需凭口令参加。排行榜人人可读。",
    code: "邀请码",
    passphrase: "口令",
    sign_in: "登录",
    kept: "登录只保存 cookie 中的一个随机数和时间，不保存姓名或地址。",
    signed_in: "你已登录。",
    to_battle: "进入对战",
    sign_out: "退出登录",
    wrong: "不正确。请检查输入后重试。",
    expired: "这个邀请码已过期，请向管理者索取新的邀请码。",
    used_up: "这个邀请码已被使用，请向管理者索取新的邀请码。",
    revoked: "这个邀请码已失效，请向管理者索取新的邀请码。",
    busy: "目前登录的人很多，请稍候再试。",
    too_fast: "来自你所在网络的尝试过多，请在 {n} 秒后再试。",
};
