//! Texts of the page of the public log.

use crate::i18n::fill;

/// Its texts.
pub struct PublicLogTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub state: &'static str,
    pub none_yet: &'static str,
    /// `{entries}` and `{time}` are filled in.
    signed: &'static str,
    pub behind: &'static str,
    pub origin: &'static str,
    pub key: &'static str,
    pub root: &'static str,
    pub checkpoint: &'static str,
    pub witnesses: &'static str,
    pub receipt: &'static str,
    pub receipt_reading: &'static str,
    pub vote_id: &'static str,
    pub look_up: &'static str,
    pub unknown_vote: &'static str,
    /// `{time}` is filled in.
    promised: &'static str,
    pub delayed: &'static str,
    /// `{index}` and `{size}` are filled in.
    logged: &'static str,
    pub entry: &'static str,
    pub proof: &'static str,
    pub check: &'static str,
    pub check_reading: &'static str,
    pub checks: [&'static str; 4],
    pub other_tools: &'static str,
    pub contents: &'static str,
    pub contents_reading: [&'static str; 3],
    pub menu: &'static str,
    pub receipt_link: &'static str,
}

impl PublicLogTexts {
    /// Formats the number of signed entries and the time of the signature.
    pub fn signed(&self, entries: &str, time: &str) -> String {
        fill(self.signed, &[("entries", entries), ("time", time)])
    }

    /// Formats the deadline for inclusion of a vote in the log.
    pub fn promised(&self, time: &str) -> String {
        fill(self.promised, &[("time", time)])
    }

    /// Formats the index of a vote in the log.
    pub fn logged(&self, index: &str, size: &str) -> String {
        fill(self.logged, &[("index", index), ("size", size)])
    }
}

pub(super) const ENGLISH: PublicLogTexts = PublicLogTexts {
    title: "The public vote log",
    lead: "Every vote and every exclusion is an entry of an append-only log. Anybody can check that no entry was changed, moved or taken out, \
           and that the leaderboard follows from the entries.",
    state: "The latest checkpoint",
    none_yet: "Nothing is signed yet. The first checkpoint follows a few seconds after the arena starts.",
    signed: "Number of entries: {entries}. Signed {time}.",
    behind: "The log is behind: it lacks votes that should be in it by now, or cannot take new ones. All votes are counted and will be \
             added. Until then, new votes get no signed promise of when they will be in the log.",
    origin: "Name",
    key: "Key",
    root: "Root hash",
    checkpoint: "Checkpoint",
    witnesses: "Witnesses",
    receipt: "Your receipt",
    receipt_reading: "After a vote, the result links here with the vote's id, which only you have. Keep the proof: with it you can show \
                      later that your vote was logged, and with which outcome.",
    vote_id: "Id of the vote",
    look_up: "Look it up",
    unknown_vote: "There is no vote with this id. Copy it from the link below the result of your vote.",
    promised: "This vote was counted and waits for the next checkpoint. It will be in the log by {time}.",
    delayed: "This vote was counted. The log is behind, so no time can be promised by which the vote will be in it. Look it up again later.",
    logged: "This vote has index {index} in the log of {size} {size:entry|entries}, whose first index is 0.",
    entry: "The entry",
    proof: "The proof (C2SP tlog-proof)",
    check: "Check it yourself",
    check_reading: "This command needs no account and no access to the arena's database:",
    checks: [
        "It fetches every entry and every tile, and computes the root hash again.",
        "It verifies the signature of the checkpoint with the key above.",
        "It remembers the checkpoint and next time checks that the log has only grown since.",
        "It fits the leaderboard from the entries and compares every published number with it, to the last bit.",
    ],
    other_tools: "The log is served in the C2SP formats tlog-tiles, tlog-checkpoint and signed-note, so other tools for these formats read it, too. \
                  A log alone cannot prove that it shows everybody the same; compare checkpoints with others.",
    contents: "What an entry holds",
    contents_reading: [
        "A vote: models, outcome, time, turns, language, labels, pairing policy and the probability of the pair, and the rules that excluded it.",
        "An exclusion or its withdrawal: the number of the vote, the rule, the reason and the time.",
        "No texts, no address, no account and no session. Voters appear under a random name. A salted hash commits to the texts; once the \
         salt is deleted, the hash reveals nothing, and every proof remains valid.",
    ],
    menu: "Vote log",
    receipt_link: "Receipt in the public vote log",
};

pub(super) const CHINESE: PublicLogTexts = PublicLogTexts {
    title: "公开投票日志",
    lead: "每一票、每一次排除都是一份只增不改的日志中的一个条目。任何人都可以核验：没有条目被修改、移动或删除，并且排行榜确实由这些条目得出。",
    state: "最新检查点",
    none_yet: "尚未签名。第一个检查点会在启动后几秒内生成。",
    signed: "共 {entries} 个条目，签名于 {time}。",
    behind: "日志目前滞后：有些票本应已经进入日志，却还不在其中，或者暂时无法写入新的票。所有票都已计入，之后会补入日志。在此之前，新的投票不附带写明时间的签名承诺。",
    origin: "名称",
    key: "公钥",
    root: "根哈希",
    checkpoint: "检查点",
    witnesses: "见证方",
    receipt: "你的回执",
    receipt_reading: "投票之后，结果下方的链接会带着这一票的编号来到这里，编号只告诉过你。请保存证明：日后可以凭它说明你的票已被记录，以及记录的内容。",
    vote_id: "投票编号",
    look_up: "查询",
    unknown_vote: "没有这个编号的投票。请从投票结果下方的链接中复制。",
    promised: "这一票已计入，正在等待下一个检查点。最迟于 {time} 进入日志。",
    delayed: "这一票已计入。日志目前滞后，无法承诺它何时进入日志，请稍后再查。",
    logged: "这一票在日志中的索引为 {index}（首个索引为 0），日志共 {size} 个条目。",
    entry: "条目",
    proof: "证明（C2SP tlog-proof）",
    check: "自己核验",
    check_reading: "下面的命令不需要账号，也不需要访问竞技场的数据库：",
    checks: [
        "取回所有条目和哈希块，重新计算根哈希。",
        "用上面的公钥验证检查点的签名。",
        "记住检查点，下次检查日志自那以后只增不改。",
        "用条目重新拟合排行榜，与公布的每个数字逐位比较。",
    ],
    other_tools: "日志采用 C2SP 的 tlog-tiles、tlog-checkpoint 和 signed-note 格式，因此支持这些格式的其他工具也能读取。单凭日志本身无法证明它对所有人展示的内容\
                  相同，请与他人比对检查点。",
    contents: "条目的内容",
    contents_reading: [
        "投票：模型、结果、时间、轮数、语言、标签、配对策略和该组合的概率，以及投票时排除它的规则。",
        "排除或撤销排除：票的序号、规则、理由和时间。",
        "没有文本、地址、账号或会话。投票者以随机化名出现。加盐哈希对文本作出承诺；盐被删除后，它不再透露任何信息，而所有证明依然成立。",
    ],
    menu: "投票日志",
    receipt_link: "公开投票日志中的回执",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voter_reads_the_index_of_the_vote_and_where_the_log_begins_to_count() {
        assert_eq!(ENGLISH.logged("0", "1"), "This vote has index 0 in the log of 1 entry, whose first index is 0.");
        assert_eq!(CHINESE.logged("4", "9"), "这一票在日志中的索引为 4（首个索引为 0），日志共 9 个条目。");
    }
}
