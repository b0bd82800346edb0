//! Texts of leaderboard notes in the languages of the pages.

use crate::domain::rating::notes::{MODELS_LISTED, RatingNote};
use crate::domain::rating::strengths::fit::{Direction, OneWayBridge};
use crate::domain::rating::votes::slice::SliceColumn;
use crate::domain::stats::resample::MIN_CLUSTERS;

const NO_VOTES: &str = "还没有有效票：两个模型之间有了第一张选票，排行榜就会出现";
const UNBOUNDED_TIE_PARAMETER: &str =
    "这些选票无法为 Davidson 模型的平局参数给出有限的估计值，因此每个平局给双方各计半胜";
const NO_VOTER_VARIANCE: &str = "某组模型的全部选票来自同一位投票者，或每张选票都与拟合完全一致，或每位投票者的选票合计与拟合一致，或去掉某一位投票者后有评分不再有限，\
    无法估计投票者之间的差异，因此这些模型没有区间";
const NO_VOTE_VARIANCE: &str = "某些模型的每张选票都与拟合完全一致（例如只有一次平局），或重抽样中有限的评分太少，无法估计抽样误差，因此这些模型没有区间";
const INTERVALS_OF_ONE_VOTER: &str = "全部选票来自同一位投票者：区间只说明评分对这位投票者有多可靠，不能推及他人";
const CARRIED_BY_ONE_VOTER: &str = "去掉某一位投票者后，没有选票能把这些模型与其他模型相比，因此它们没有区间";
const ALIKE_NAMES: &str =
    "这些名称只在大小写、空格、Unicode 形式或外形相似的字母上不同，按不同的模型评分；若其中两个是同一模型，请统一写法";
const UNREAD_COLUMNS: &str = "每一行计为一张选票，因此没有使用这些列；若一行代表多张选票，请重复该行";
const PRICES_WITHOUT_RATING: &str = "这些模型有价格而没有评分，因此没有使用其价格；若名称有误，请按选票中的写法改正";
const NOT_POOLED: &str = "只有由双向选票连起来的最大一组模型有分组评分，未包括";

/// Renders a note as a full sentence, unlike in error messages.
pub(super) fn english(note: &RatingNote) -> String {
    let text = note.to_string();
    let Some(first) = text.chars().next() else { return text };
    format!("{}{}.", first.to_uppercase(), &text[first.len_utf8()..])
}

pub(super) fn chinese(note: &RatingNote) -> String {
    format!("{}。", in_chinese(note))
}

fn in_chinese(note: &RatingNote) -> String {
    match note {
        RatingNote::NoVotes => NO_VOTES.into(),
        RatingNote::Slice { conditions } => format!("仅统计符合以下条件的选票：{}", conditions.join("、")),
        RatingNote::NotConverged => "拟合未收敛：评分仅供参考".into(),
        RatingNote::NoTies => "没有平局，因此 Davidson 模型与 Bradley–Terry 模型相同".into(),
        RatingNote::UnboundedTieParameter => UNBOUNDED_TIE_PARAMETER.into(),
        RatingNote::Unbounded { models, direction, confidence } => {
            unbounded_in_chinese(models, *direction, *confidence)
        }
        RatingNote::Components { count } => {
            format!("选票把模型分成 {count} 组，组与组之间无法比较：各组分别评分，除非用锚定移动，均值为 1000")
        }
        RatingNote::OneWayVotes { bridges, more } => one_way_votes_in_chinese(bridges, *more),
        RatingNote::InfiniteReplicates { infinite, replicates } => format!(
            "{replicates} 次自助重抽样中有 {infinite} 次使某个模型失去全部胜局或全部败局，评分不再有限：延伸到那里的区间没有端点"
        ),
        RatingNote::NoVoterVariance => NO_VOTER_VARIANCE.into(),
        RatingNote::NoVoteVariance => NO_VOTE_VARIANCE.into(),
        RatingNote::IntervalsOfOneVoter => INTERVALS_OF_ONE_VOTER.into(),
        RatingNote::CarriedByOneVoter { models } => with_names(CARRIED_BY_ONE_VOTER, models),
        RatingNote::FewVoters { models, least } => {
            format!("这些模型的区间只依靠少数投票者（有效人数最少为 {least:.1}）：{}", listed(models))
        }
        RatingNote::AlikeNames { models } => with_names(ALIKE_NAMES, models),
        RatingNote::UnreadColumns { columns } => with_names(UNREAD_COLUMNS, columns),
        RatingNote::PricesWithoutRating { models } => with_names(PRICES_WITHOUT_RATING, models),
        RatingNote::TooFewVoters { voters, effective } => format!(
            "这些选票只来自 {voters} 位投票者（有效人数 {effective:.1}）：人数这样少时，此方法得到的区间偏窄；逐一去掉投票者（jackknife）得到的区间已考虑到这一点"
        ),
        RatingNote::DecidedByFewVoters { least } => format!(
            "相邻模型分出先后或判为相当，只依靠少数投票者（有效人数最少为 {least:.1}）：无论查看多少次都成立的区间至少需要 {MIN_CLUSTERS} 人，请不要据此停止收集选票"
        ),
        RatingNote::OneVoter => "全部选票来自同一位投票者，无法估计投票者之间的差异，因此没有区间".into(),
        RatingNote::ConstantFeature { feature } => {
            format!("所有选票在{}上的差异都相同，无法估计其影响，因此未纳入", feature_name(feature))
        }
        RatingNote::NoBothBad => "“都不好”的选票太少，无法得知模型单独而言有多好".to_owned(),
        RatingNote::OneSlice { by } => one_slice_in_chinese(*by),
        RatingNote::NotPooled { models } => with_names(NOT_POOLED, models),
        RatingNote::TiesNotCompared => "选票无法确定平局的频率，因此无法比较平局模型".to_owned(),
        RatingNote::DependentFeature { feature } => {
            format!("{}上的差异可由其他特征和模型推出，因此未纳入", feature_name(feature))
        }
        RatingNote::SeparatingFeature { feature } => {
            format!("{}能预测每一张在此项上有差异的选票，其影响没有上限，因此未纳入", feature_name(feature))
        }
        RatingNote::Text { text } => text.clone(),
    }
}

/// Appends the models or columns to a sentence.
fn with_names(sentence: &str, names: &[String]) -> String {
    format!("{sentence}：{}", listed(names))
}

fn one_slice_in_chinese(by: SliceColumn) -> String {
    let column = match by {
        SliceColumn::Language => "语言",
        SliceColumn::Category => "类别",
        SliceColumn::Intent => "意图",
    };
    format!("可比较的选票不属于多个{column}，无法估计评分在不同{column}之间的差异：评分即全部选票的评分")
}

fn unbounded_in_chinese(models: &[String], direction: Direction, confidence: f64) -> String {
    let (result, open, bound) = match direction {
        Direction::Above => ("全胜", "上限", "下限"),
        Direction::Below => ("全负", "下限", "上限"),
    };
    format!(
        "{}在与已评分模型的对战中{result}，评分没有{open}：表中是 {confidence} 置信水平下由似然比得到的{bound}（把选票视为相互独立），\
         其他模型的评分不计入这些对战",
        listed(models)
    )
}

fn one_way_votes_in_chinese(bridges: &[OneWayBridge], more: usize) -> String {
    let won = |bridge: &OneWayBridge| format!("“{}”胜“{}”（{} 票）", bridge.winner, bridge.loser, bridge.votes);
    let pairs: Vec<String> = bridges.iter().map(won).collect();
    let rest = if more > 0 { format!("，另有 {more} 对") } else { String::new() };
    format!("连接这些组的选票全是单向的：{}{rest}；只要有一张方向相反的选票，就能把两组连起来", pairs.join("、"))
}

fn listed(models: &[String]) -> String {
    let named: Vec<String> = models.iter().take(MODELS_LISTED).map(|model| format!("“{model}”")).collect();
    let more = models.len() - named.len();
    if more > 0 { format!("{}，另有 {more} 个", named.join("、")) } else { named.join("、") }
}

fn feature_name(feature: &str) -> &str {
    match feature {
        "length" => "长度",
        "headings" => "标题",
        "lists" => "列表",
        "bold" => "加粗",
        "side" => "左右位置",
        "side_in_later_turns" => "多轮对战中的左右位置",
        "same_maker" => "与裁判模型同一厂商",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::rating::strengths::fit::OneWayBridge;

    #[test]
    fn notes_name_models_and_numbers_in_both_languages() {
        let bridge = OneWayBridge { winner: "a".into(), loser: "x".into(), votes: 2.0 };
        let note = RatingNote::OneWayVotes { bridges: vec![bridge], more: 3 };
        assert!(english(&note).contains("\"a\" over \"x\" (2) and 3 more"), "{}", english(&note));
        assert!(chinese(&note).contains("“a”胜“x”（2 票），另有 3 对"), "{}", chinese(&note));
        let note = RatingNote::Unbounded { models: vec!["a".into()], direction: Direction::Below, confidence: 0.9 };
        assert!(
            english(&note).contains("\"a\" lost every vote") && english(&note).contains("0.9"),
            "{}",
            english(&note)
        );
        assert!(chinese(&note).contains("“a”") && chinese(&note).contains("全负"), "{}", chinese(&note));
        let note = RatingNote::DecidedByFewVoters { least: 3.04 };
        assert!(
            english(&note).contains("(in effect 3.0 where") && english(&note).contains("10,"),
            "{}",
            english(&note)
        );
        assert!(
            chinese(&note).contains("有效人数最少为 3.0") && chinese(&note).contains("10 人"),
            "{}",
            chinese(&note)
        );
        let note = RatingNote::ConstantFeature { feature: "bold".into() };
        assert_eq!(chinese(&note), "所有选票在加粗上的差异都相同，无法估计其影响，因此未纳入。");
        assert!(
            english(&note).starts_with("Every vote") && english(&note).ends_with("left out."),
            "{}",
            english(&note)
        );
    }
}
