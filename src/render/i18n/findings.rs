//! Texts of findings about judges.

use crate::domain::language::Language;

/// Texts of one finding.
pub struct FindingText {
    pub title: &'static str,
    pub lead: &'static str,
    pub columns: &'static [&'static str],
}

/// The texts of findings in one language.
pub struct FindingTexts {
    pub same_items: FindingText,
    pub level_items: FindingText,
    pub telling_items: FindingText,
    pub contrary_items: FindingText,
    pub disputed_items: FindingText,
    pub levels: FindingText,
    pub failed: FindingText,
    pub weighted: FindingText,
    pub position: FindingText,
    pub longer: FindingText,
    pub length: FindingText,
    pub preference: FindingText,
    pub pairs: FindingText,
    pub ranks: FindingText,
    pub grid: FindingText,
    pub cells: FindingText,
    pub bias: FindingText,
    pub runs: FindingText,
}

/// The texts of findings in a language.
pub fn finding_texts(language: Language) -> &'static FindingTexts {
    match language {
        Language::English => &ENGLISH_FINDINGS,
        Language::Chinese => &CHINESE_FINDINGS,
    }
}

const ENGLISH_FINDINGS: FindingTexts = FindingTexts {
    same_items: FindingText {
        title: "Models on the same items",
        lead: "Each model beside the best one, or the one that was chosen, over the items that both were scored on, each item with the same weight. The win rate counts a tie as half; beside it stands its 95 % interval (Wilson). The difference is in the unit of the scores, with its 95 % interval and the p value of the paired t test; where the difference is the same on all items, there is no interval, and the p value is that of the exact test over all signs. The adjusted p value allows for all models that the judge compares (Holm). Below 0.05, the difference is more than chance.",
        columns: &[
            "Judge",
            "Model",
            "Compared with",
            "Better on",
            "Same on",
            "Worse on",
            "Win rate",
            "Lower",
            "Upper",
            "Mean difference",
            "Lower",
            "Upper",
            "p",
            "Adjusted p",
        ],
    },
    level_items: FindingText {
        title: "Items that do not separate the models",
        lead: "Items on which all models score the same. They show how hard the suite is, but not which model is better.",
        columns: &["Judge", "Items", "All the same"],
    },
    telling_items: FindingText {
        title: "Items that separate the models most",
        lead: "Discrimination is Pearson's r of the models' scores on the item with their means over all other items (corrected item-total correlation); it needs three models.",
        columns: &["Judge", "Item", "Category", "Models", "Mean", "Deviation", "Discrimination"],
    },
    contrary_items: FindingText {
        title: "Items that contradict the rest",
        lead: "On these items the models that are better elsewhere score lower. Read them first: a wrong reference or an unclear question is the usual reason. With few models some come about by chance.",
        columns: &["Judge", "Item", "Category", "Models", "Mean", "Deviation", "Discrimination"],
    },
    disputed_items: FindingText {
        title: "Items that judges disagree on",
        lead: "The standard deviation between the judges' scores of the same answer, mean over the models.",
        columns: &["Item", "Category", "Models", "Deviation between judges"],
    },
    levels: FindingText {
        title: "Win rates against the baseline",
        lead: "Five-level verdicts, counted as in Arena-Hard: each game counts by itself, a tie as half a win and a clear verdict as three votes. The win rate is also what a Bradley–Terry model of these votes expects; the points are that model's rating above the baseline, 400 for each factor of ten in the odds. 95 % intervals from 1,000 resamples of the items.",
        columns: &[
            "Judge : baseline",
            "Model",
            "Much better",
            "Slightly better",
            "Tie",
            "Slightly worse",
            "Much worse",
            "Win rate",
            "Lower",
            "Upper",
            "Points",
            "Lower",
            "Upper",
        ],
    },
    failed: FindingText {
        title: "Judgements without a verdict",
        lead: "How the judgements of each judge ended. Unreadable: no verdict in the requested format. Refused: by the judge or its provider. Not reached: no connection, or it broke off. A judgement with several attempts counts once, with its last failure. None of these is a score; --retry-failed asks again for all but empty answers.",
        columns: &[
            "Judge",
            "Judgements",
            "Read",
            "Unreadable",
            "Off the scale",
            "Refused",
            "Empty answer",
            "Not reached",
        ],
    },
    weighted: FindingText {
        title: "Scores weighted by probability",
        lead: "The judge was asked for the probabilities of its tokens. Where the provider returned them, a score is the mean over the numbers that could have stood in its place, each with its probability (G-Eval); elsewhere it is the score that the judge wrote. The means are over the weighted scores.",
        columns: &["Judge", "Scores", "Weighted", "Mean written", "Mean weighted", "Mean distance"],
    },
    position: FindingText {
        title: "Position bias",
        lead: "The same two answers are judged twice, the second time in the other order. Changed: the share of turns whose verdict the order changes. Towards the first: how much more often such a verdict favours the answer shown first than the second one, from -1 to 1.",
        columns: &["Judge", "Turns", "Same verdict", "First twice", "Second twice", "Changed", "Towards the first"],
    },
    longer: FindingText {
        title: "Longer answers, in comparisons",
        lead: "The share of decided games that the longer answer won. A longer answer may be the better one; compared with another judge's share, it shows which judge favours length more.",
        columns: &["Judge", "Decided games", "Longer answer won"],
    },
    length: FindingText {
        title: "Longer answers, in scores",
        lead: "Spearman's rank correlation of score and length, each minus its mean over the answers to the same question. A longer answer may be the better one.",
        columns: &["Judge", "Scores", "Correlation", "p"],
    },
    preference: FindingText {
        title: "Self-preference",
        lead: "How much higher a judge scores its own answers than the other judges do, minus how much higher it scores the other models' answers than they do. Above zero, it prefers itself.",
        columns: &["Judge", "Of itself", "Of the others", "Preference"],
    },
    pairs: FindingText {
        title: "Judge against judge",
        lead: "How strongly two judges' scores of the same models correlate, and how many pairs of models they put in the same order and in opposite ones.",
        columns: &["First judge", "Second judge", "Models", "Pearson", "Spearman", "Kendall", "Same order", "Opposite"],
    },
    ranks: FindingText {
        title: "Ranks by judge",
        lead: "The rank of each model by each of the two judges; equal scores share the mean of their ranks.",
        columns: &["Model", "First judge", "Score", "Rank", "Second judge", "Score", "Rank"],
    },
    grid: FindingText {
        title: "Scores by source of the references",
        lead: "Each judge scores with each model's first answers as references, instead of the data file's. A cell is the mean over the judged models of the mean over their items; the model that supplied the references is scored by its second answers.",
        columns: &["Judge"],
    },
    cells: FindingText {
        title: "Scores with other references, by model",
        lead: "The cells of the table above, model by model: only cells over the same models are comparable.",
        columns: &["Judge", "References", "Model", "Items", "Mean", "Deviation"],
    },
    bias: FindingText {
        title: "Rating bias",
        lead: "The score that a judge gives to a model's second answers with its first answers as references, which are worth 8, minus 8; the mean over the models that supplied references. An unbiased judge has 0.",
        columns: &["Judge", "Models", "Rating bias"],
    },
    runs: FindingText {
        title: "Runs",
        lead: "The runs that produced these judgements: the latest with these data, this variant and this round of answers. In parentheses the beginning of the SHA-256 of a model's settings; questions and prompts are the SHA-256 of the requests about 20 fixed items. langya bench compare RUN RUN says what differs between two.",
        columns: &[
            "Run",
            "Began (UTC)",
            "Program",
            "Items",
            "Models",
            "Judges",
            "Baseline",
            "Questions",
            "Prompts",
            "Seeds",
            "In batches",
        ],
    },
};

const CHINESE_FINDINGS: FindingTexts = FindingTexts {
    same_items: FindingText {
        title: "相同题目上的模型对比",
        lead: "各模型与最佳模型（或所选模型）在双方均有得分的题目上逐题对比，每题权重相同。胜率将平局计为半胜，附 95 % 区间（Wilson）。差值以分数为单位，附 95 % 区间和配对 t 检验的 p 值；若各题差值完全相同，则没有区间，p 值来自对所有符号组合的精确检验。校正 p 值已考虑该裁判比较的全部模型（Holm 法）。小于 0.05 表示差异并非偶然。",
        columns: &[
            "裁判",
            "模型",
            "对比模型",
            "更好",
            "相同",
            "更差",
            "胜率",
            "下限",
            "上限",
            "平均差值",
            "下限",
            "上限",
            "p",
            "校正 p",
        ],
    },
    level_items: FindingText {
        title: "无法区分模型的题目",
        lead: "所有模型得分相同的题目。它们反映评测的难度，但不能说明谁更好。",
        columns: &["裁判", "题目", "得分全部相同"],
    },
    telling_items: FindingText {
        title: "区分度最高的题目",
        lead: "区分度是各模型在该题的得分与其在其余题目上均值的 Pearson 相关（校正后的题总相关），至少需要三个模型。",
        columns: &["裁判", "题目", "类别", "模型", "均值", "标准差", "区分度"],
    },
    contrary_items: FindingText {
        title: "与其余题目相矛盾的题目",
        lead: "在这些题目上，其他题目表现更好的模型反而得分更低。建议先看这些题：常见原因是参考答案有误或题意不清。模型较少时，也可能只是偶然。",
        columns: &["裁判", "题目", "类别", "模型", "均值", "标准差", "区分度"],
    },
    disputed_items: FindingText {
        title: "裁判意见不一的题目",
        lead: "各裁判对同一回答评分的标准差，再对模型取平均。",
        columns: &["题目", "类别", "模型", "裁判间标准差"],
    },
    levels: FindingText {
        title: "对基线的胜率",
        lead: "按 Arena-Hard 的方式统计五级判定：每局单独计数，平局计为半胜，明显更好的判定计为三票。胜率也就是 Bradley–Terry 模型对这些票的预期；分值是该模型高于基线的评分，赔率每相差十倍为 400 分。95 % 区间来自对题目的 1,000 次重抽样。",
        columns: &[
            "裁判：基线模型",
            "模型",
            "明显更好",
            "略好",
            "平局",
            "略差",
            "明显更差",
            "胜率",
            "下限",
            "上限",
            "分值",
            "下限",
            "上限",
        ],
    },
    failed: FindingText {
        title: "没有结果的判定",
        lead: "每位裁判的判定如何结束。被拒绝：由裁判或服务商拒绝；未连上：包括中断。多次尝试的判定只计一次，取最后一次失败的原因。这些都不算分数；--retry-failed 会再问一遍，空回答除外。",
        columns: &["裁判", "判定数", "已读出", "格式不符", "分数越界", "被拒绝", "空回答", "未连上"],
    },
    weighted: FindingText {
        title: "按概率加权的评分",
        lead: "向裁判请求了各词元的概率。服务商给出概率时，评分取该位置可能出现的各个分数按概率加权的平均值（G-Eval）；未给出时，取裁判写下的分数。各平均值只计加权的评分。",
        columns: &["裁判", "评分数", "已加权", "书面平均分", "加权平均分", "平均差距"],
    },
    position: FindingText {
        title: "位置偏差",
        lead: "同样两个回答交换次序各评一次。改变：结论随次序改变的轮次所占比例。偏向前者：改变的结论中偏向排在前面的回答的程度，由 -1 到 1。",
        columns: &["裁判", "轮次", "结论一致", "两次选前者", "两次选后者", "改变", "偏向前者"],
    },
    longer: FindingText {
        title: "长回答与胜负",
        lead: "分出胜负的对局中较长回答获胜的比例。较长的回答也可能确实更好，应与其他裁判对照。",
        columns: &["裁判", "分出胜负", "较长者胜"],
    },
    length: FindingText {
        title: "长回答与分数",
        lead: "分数与长度的 Spearman 等级相关，各减去同一题回答的均值。较长的回答也可能确实更好。",
        columns: &["裁判", "分数", "相关", "p"],
    },
    preference: FindingText {
        title: "自我偏好",
        lead: "裁判给自己的分数高出其他裁判给它的多少，再减去它给其他模型高出的平均值。大于零即偏向自己。",
        columns: &["裁判", "对自己", "对其他模型", "偏好"],
    },
    pairs: FindingText {
        title: "裁判之间",
        lead: "两位裁判对相同模型的评分有多一致，以及次序相同与相反的模型对数。",
        columns: &["裁判一", "裁判二", "模型", "Pearson", "Spearman", "Kendall", "次序相同", "次序相反"],
    },
    ranks: FindingText {
        title: "各裁判的名次",
        lead: "各模型在两位裁判处的分数与名次；同分者取名次的平均值。",
        columns: &["模型", "裁判一", "分数", "名次", "裁判二", "分数", "名次"],
    },
    grid: FindingText {
        title: "裁判与参考答案来源",
        lead: "各裁判以各模型的第一次回答代替数据文件的参考答案来评分。每格先按题取各被评模型的均值，再对模型取平均；提供参考答案的模型以第二次回答受评。",
        columns: &["裁判"],
    },
    cells: FindingText {
        title: "换用参考答案后各模型的分数",
        lead: "上表各格按模型列出；只有被评模型相同的格才可比较。",
        columns: &["裁判", "参考答案", "模型", "题数", "均值", "标准差"],
    },
    bias: FindingText {
        title: "评分偏差",
        lead: "以模型的第一次回答为 8 分参考时，裁判给其第二次回答的分数减 8，对提供参考答案的模型取平均。无偏差的裁判为 0。",
        columns: &["裁判", "模型", "评分偏差"],
    },
    runs: FindingText {
        title: "运行记录",
        lead: "评分的来历：以此方式、此轮回答、此份数据所做的最近几次运行。括号内为模型设置的 SHA-256 前几位；问题与提示词为关于 20 道固定题目的请求的 SHA-256。langya bench compare RUN RUN 可列出两次运行之间的差别。",
        columns: &["运行", "开始（UTC）", "程序", "题目", "模型", "裁判", "基线模型", "问题", "提示词", "种子", "批量"],
    },
};
