//! Chinese.

use super::{
    Naming, RobustnessAnswer, RobustnessTexts, agree_on_first, is_significant, largest_rank_move, mean_number, median,
    percent, points, times_in_100,
};
use crate::domain::rating::robustness::{
    Cycles, DecisiveVoters, FirstPlace, GoodnessOfFit, OverallRobustness, TieOrder, TieTreatment, VoterConsistency,
};

pub(in crate::i18n::pages) const CHINESE: RobustnessTexts = RobustnessTexts {
    title: "这份榜单有多可靠？",
    computed: "{time} 由已评分模型之间的 {votes} 张选票算出。以上各项都不改变评分。",
    answers,
};

fn answers(report: &OverallRobustness, name: &Naming<'_>) -> Vec<RobustnessAnswer> {
    let answer = |question, text: Option<String>| text.map(|text| RobustnessAnswer { question, text });
    let first = report.first_place.as_ref();
    [
        answer("谁是第一？", first.map(|first| first_place_text(first, name))),
        answer("多少选票或多少人能改变第一？", first.and_then(|first| decisive(first, report.votes, name))),
        answer("评分能解释选票吗？", report.goodness_of_fit.as_ref().map(|fit| fit_text(fit, name))),
        answer("有没有循环取胜？", report.cycles.as_ref().map(|found| cycles(found, name))),
        answer("平局的算法有影响吗？", Some(ties(&report.tie_orders, name))),
        answer("投票者意见一致吗？", report.voter_consistency.as_ref().map(voters)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn first_place_text(first: &FirstPlace, name: &Naming<'_>) -> String {
    match (&first.lead, first.models.as_slice()) {
        (Some(lead), [model]) => {
            format!("{}，领先 {} {} 分。", name(model), name(&lead.second), points(lead.points))
        }
        (_, [model]) => format!("{}：它至今全胜，领先多少还无从得知。", name(model)),
        (_, models) => format!("{} 并列第一。", listed(models, name)),
    }
}

fn decisive(first: &FirstPlace, all: u64, name: &Naming<'_>) -> Option<String> {
    let votes = first.votes.as_ref().map(|decisive| {
        let model = first.models.first().map(|model| name(model)).unwrap_or_default();
        format!(
            "{all} 张选票中，去掉对 {model} 最有利的 {} 张（{} %），第一就换成 {}。",
            decisive.votes,
            percent(decisive.share),
            name(&decisive.challenger)
        )
    });
    let sentences: Vec<String> = votes.into_iter().chain(first.voters.as_ref().map(decisive_voters)).collect();
    (!sentences.is_empty()).then(|| sentences.concat())
}

fn decisive_voters(found: &DecisiveVoters) -> String {
    let DecisiveVoters { voters, decisive, left_out, strongest } = found;
    let at_least = if decisive == left_out && left_out < voters { "至少" } else { "" };
    let said = if *decisive == 0 {
        format!("{voters} 位投票者中，没有哪一位能独自改变第一。")
    } else {
        format!("{voters} 位投票者中{at_least}有 {decisive} 位，去掉其中任何一位，第一就会换人。")
    };
    let influence = strongest.as_ref().map(|voter| {
        let (votes, lead) = (voter.votes, points(voter.lead.abs()));
        let then = if voter.lead < 0.0 { "另一个模型反而领先" } else { "领先" };
        format!("影响最大的一位投了 {votes} 票；不计这些票，{then} {lead} 分。")
    });
    said + &influence.unwrap_or_default()
}

fn fit_text(fit: &GoodnessOfFit, name: &Naming<'_>) -> String {
    let (pairs, times) = (fit.pairs, times(fit.p));
    if !is_significant(fit.p) {
        return format!("看来可以：{pairs} 对模型的选票与评分预测的差别没有超出偶然，仅凭偶然，{times}会差这么多。");
    }
    let worst = fit.worst.first().map(|worst| {
        format!(
            "差别最大的一对：{} 对 {} 的 {} 票中得到 {} % 的分，评分预测 {} %。",
            name(&worst.better),
            name(&worst.worse),
            worst.votes,
            percent(worst.observed),
            percent(worst.expected)
        )
    });
    format!(
        "不完全能：{pairs} 对模型的选票与评分预测的差别超出偶然，除去偶然之外通常约差 {} 个百分点；仅凭偶然，{times}会差这么多。\
         {}投票者各有偏好也会造成这种差别。",
        percent(fit.misfit),
        worst.unwrap_or_default()
    )
}

fn times(p: f64) -> String {
    times_in_100(p).map_or_else(|| "100 次中不到 1 次".to_owned(), |times| format!("100 次中约有 {times} 次"))
}

fn cycles(found: &Cycles, name: &Naming<'_>) -> String {
    let Some(circle) = &found.clearest else { return "没有哪三个模型循环取胜。".to_owned() };
    let [a, b, c] = circle.models.each_ref().map(|model| name(model));
    let verdict = if is_significant(found.p) {
        "可见评分漏掉了什么。".to_owned()
    } else if is_significant(circle.p) {
        format!("因此组数说明不了什么，但仅凭偶然，{}会有这么明显的循环。", times(circle.p))
    } else {
        "因此这说明不了什么。".to_owned()
    };
    format!(
        "{} 组三个模型中有 {} 组循环取胜，最明显的是 {a} 胜 {b}、{b} 胜 {c}、{c} 胜 {a}。\
         仅凭偶然也会有约 {} 组，{}会有这么多组。{verdict}",
        found.triples,
        found.cyclic,
        mean_number(found.expected),
        times(found.p)
    )
}

fn ties(orders: &[TieOrder], name: &Naming<'_>) -> String {
    let Some(order) = orders.first() else { return "没有影响：没有平局。".to_owned() };
    let first = if agree_on_first(orders) {
        let rules: Vec<&str> = orders.iter().map(|order| rule(order.ties)).collect();
        format!("不影响第一名：平局{}，第一都是 {}。", rules.join("或"), listed(&order.first, name))
    } else {
        let by_rule = |order: &TieOrder| format!("{}，第一是 {}", rule(order.ties), listed(&order.first, name));
        format!("有影响。平局{}。", orders.iter().map(by_rule).collect::<Vec<_>>().join("；"))
    };
    let moved = largest_rank_move(orders).and_then(|order| Some((rule(order.ties), order.largest_move.as_ref()?)));
    match moved {
        Some((rule, moved)) => {
            let (model, from, to) = (name(&moved.model), moved.published, moved.place);
            format!("{first}变动最大的是 {model}：平局{rule}时，由第 {from} 名变为第 {to} 名。")
        }
        None => format!("{first}没有模型改变名次。"),
    }
}

fn rule(ties: TieTreatment) -> &'static str {
    match ties {
        TieTreatment::Half => "各算半胜",
        TieTreatment::Drop => "不计",
        TieTreatment::Davidson => "按 Davidson 模型计",
        TieTreatment::RaoKupper => "按 Rao–Kupper 模型计",
    }
}

fn voters(found: &VoterConsistency) -> String {
    let VoterConsistency { min_votes, active, against, votes_against, deciles, .. } = found;
    let said = match (active, against) {
        (0, _) => return format!("还说不上：没有投票者投过 {min_votes} 张分出高下的选票。"),
        (_, 0) => format!("{active} 位投过至少 {min_votes} 张分出高下的选票的人中，没有人明显与众人相反。"),
        _ => format!(
            "{active} 位投过至少 {min_votes} 张分出高下的选票的人中，有 {against} 位明显与众人相反（共 {votes_against} 票）。"
        ),
    };
    format!(
        "{said}以 0 为总与众人相反、0.5 为随意猜、1 为总与众人相同，居中的投票者在 {:.2}。每张选票的分量仍然相同。",
        median(deciles)
    )
}

fn listed(models: &[String], name: &Naming<'_>) -> String {
    models.iter().map(|model| name(model)).collect::<Vec<_>>().join("、")
}
