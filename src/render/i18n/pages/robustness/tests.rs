use super::*;
use crate::domain::language::Language;
use crate::domain::rating::robustness::{
    Cycles, CyclicTriple, DecisiveVoters, DecisiveVotes, FirstPlace, FirstPlaceLead, GoodnessOfFit, PairMisfit,
    PlaceMove, StrongestVoter, TieTreatment, VoterConsistency,
};
use crate::i18n::pages::page_texts;

fn order(ties: TieTreatment, first: &str, largest_move: Option<PlaceMove>) -> TieOrder {
    TieOrder { ties, first: vec![first.into()], models: 3, kendall: Some(1.0), largest_move }
}

fn report() -> OverallRobustness {
    let lead = FirstPlaceLead { second: "b".into(), points: 12.4 };
    let votes = DecisiveVotes { challenger: "b".into(), votes: 119, share: 0.000_119 };
    let strongest = Some(StrongestVoter { votes: 41, lead: -3.25 });
    let voters = DecisiveVoters { voters: 900, decisive: 64, left_out: 64, strongest };
    let worst = PairMisfit {
        better: "c".into(),
        worse: "a".into(),
        votes: 60,
        observed: 0.715,
        expected: 0.402,
        residual: 4.1,
    };
    let circle = CyclicTriple {
        models: ["a", "b", "c"].map(Into::into),
        wins: [9, 9, 9],
        losses: [4, 4, 4],
        clarity: 1.4,
        p: 0.2,
    };
    let moved = PlaceMove { model: "c".into(), published: 3, place: 1 };
    OverallRobustness {
        votes: 1_000_000,
        first_place: Some(FirstPlace {
            models: vec!["a".into()],
            lead: Some(lead),
            votes: Some(votes),
            voters: Some(voters),
        }),
        goodness_of_fit: Some(GoodnessOfFit {
            pairs: 3,
            deviance: 20.0,
            degrees_of_freedom: 1,
            expected_deviance: 1.0,
            p: 0.005,
            replicates: 200,
            misfit: 0.034,
            worst: vec![worst],
        }),
        cycles: Some(Cycles { triples: 4, cyclic: 1, expected: 0.25, p: 0.3, replicates: 200, clearest: Some(circle) }),
        tie_orders: vec![order(TieTreatment::Half, "a", None), order(TieTreatment::Drop, "c", Some(moved))],
        voter_consistency: Some(VoterConsistency {
            voters: 800,
            mean: 0.9,
            min_votes: 10,
            active: 40,
            against: 2,
            votes_against: 31,
            deciles: vec![0.1, 0.5, 0.6, 0.7, 0.8, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96],
        }),
    }
}

fn answer_text(report: &OverallRobustness, language: Language) -> String {
    let answers = page_texts(language).robustness.answers(report, |model| model.to_uppercase());
    answers.into_iter().map(|RobustnessAnswer { question, text }| format!("{question} {text}\n")).collect()
}

#[test]
fn every_finding_is_said_in_english() {
    insta::assert_snapshot!(answer_text(&report(), Language::English), @r"
    Who is first? A, 12 points ahead of B.
    How many votes or voters decide it? Without 119 of the 1000000 votes (0.01 %), picked to hurt A most, B would be first. Leaving out any one of at least 64 of the 900 voters would put another model first. The voter with most influence cast 41 votes. Without the votes of this voter, another model would be 3.2 points ahead.
    Do the ratings describe the votes? Not quite: over 3 pairs of models, the votes deviate more from what the ratings predict than chance would, typically by about 3.4 percentage points. By chance alone, deviations this large occur less than once in 100. Largest deviation: C has 72 % of the points in 60 votes against A; its rating predicts 40 %. Voters with different tastes cause this too.
    Do models beat each other in circles? 1 of 4 groups of three do, most clearly A over B, B over C and C over A. Chance alone would produce about 0.2, and at least this many 30 times in 100. So this says little.
    Does it matter how ties count? Yes. First is A where ties count half a win; C where ties are left out. The largest move: C from place 3 to 1 where ties are left out.
    Do the voters agree? Voters who clearly vote against the rest: 2 of the 40 with 10 votes or more for one side, who cast 31 votes. On a scale from 0 (always against the crowd) over 0.5 (guessing) to 1 (always with it), the middle voter is at 0.91. Every vote still counts the same.
    ");
}

#[test]
fn every_finding_is_said_in_chinese() {
    insta::assert_snapshot!(answer_text(&report(), Language::Chinese), @r"
    谁是第一？ A，领先 B 12 分。
    多少选票或多少人能改变第一？ 1000000 张选票中，去掉对 A 最有利的 119 张（0.01 %），第一就换成 B。900 位投票者中至少有 64 位，去掉其中任何一位，第一就会换人。影响最大的一位投了 41 票；不计这些票，另一个模型反而领先 3.2 分。
    评分能解释选票吗？ 不完全能：3 对模型的选票与评分预测的差别超出偶然，除去偶然之外通常约差 3.4 个百分点；仅凭偶然，100 次中不到 1 次会差这么多。差别最大的一对：C 对 A 的 60 票中得到 72 % 的分，评分预测 40 %。投票者各有偏好也会造成这种差别。
    有没有循环取胜？ 4 组三个模型中有 1 组循环取胜，最明显的是 A 胜 B、B 胜 C、C 胜 A。仅凭偶然也会有约 0.2 组，100 次中约有 30 次会有这么多组。因此这说明不了什么。
    平局的算法有影响吗？ 有影响。平局各算半胜，第一是 A；不计，第一是 C。变动最大的是 C：平局不计时，由第 3 名变为第 1 名。
    投票者意见一致吗？ 40 位投过至少 10 张分出高下的选票的人中，有 2 位明显与众人相反（共 31 票）。以 0 为总与众人相反、0.5 为随意猜、1 为总与众人相同，居中的投票者在 0.91。每张选票的分量仍然相同。
    ");
}

#[test]
fn a_firm_leaderboard_is_said_to_be_one() {
    let mut report = report();
    let first = report.first_place.as_mut().unwrap();
    let voters = first.voters.as_mut().unwrap();
    voters.decisive = 0;
    voters.strongest = Some(StrongestVoter { votes: 700, lead: 9.96 });
    report.goodness_of_fit.as_mut().unwrap().p = 0.4;
    report.cycles.as_mut().unwrap().clearest = None;
    report.tie_orders = vec![order(TieTreatment::Half, "a", None), order(TieTreatment::RaoKupper, "a", None)];
    report.voter_consistency.as_mut().unwrap().against = 0;
    insta::assert_snapshot!(answer_text(&report, Language::English), @r"
    Who is first? A, 12 points ahead of B.
    How many votes or voters decide it? Without 119 of the 1000000 votes (0.01 %), picked to hurt A most, B would be first. No single one of the 900 voters decides it. The voter with most influence cast 700 votes. Without the votes of this voter, the lead would be 10.0 points.
    Do the ratings describe the votes? Yes, as far as the votes show: over 3 pairs of models, they deviate from what the ratings predict no more than chance would. By chance alone, deviations this large occur 40 times in 100.
    Do models beat each other in circles? No three models do.
    Does it matter how ties count? Not for the first place: it stays with A, whether ties count half a win or are modelled after Rao and Kupper. No model changes its place.
    Do the voters agree? None of the 40 voters with 10 votes or more for one side clearly votes against the rest. On a scale from 0 (always against the crowd) over 0.5 (guessing) to 1 (always with it), the middle voter is at 0.91. Every vote still counts the same.
    ");
    insta::assert_snapshot!(answer_text(&report, Language::Chinese), @r"
    谁是第一？ A，领先 B 12 分。
    多少选票或多少人能改变第一？ 1000000 张选票中，去掉对 A 最有利的 119 张（0.01 %），第一就换成 B。900 位投票者中，没有哪一位能独自改变第一。影响最大的一位投了 700 票；不计这些票，领先 10.0 分。
    评分能解释选票吗？ 看来可以：3 对模型的选票与评分预测的差别没有超出偶然，仅凭偶然，100 次中约有 40 次会差这么多。
    有没有循环取胜？ 没有哪三个模型循环取胜。
    平局的算法有影响吗？ 不影响第一名：平局各算半胜或按 Rao–Kupper 模型计，第一都是 A。没有模型改变名次。
    投票者意见一致吗？ 40 位投过至少 10 张分出高下的选票的人中，没有人明显与众人相反。以 0 为总与众人相反、0.5 为随意猜、1 为总与众人相同，居中的投票者在 0.91。每张选票的分量仍然相同。
    ");
}

#[test]
fn a_clear_circle_is_distinguished_from_many_of_them() {
    let mut report = report();
    report.cycles.as_mut().unwrap().clearest.as_mut().unwrap().p = 0.005;
    for (language, clear) in
        [(Language::English, "a circle this clear would appear by chance only"), (Language::Chinese, "这么明显的循环")]
    {
        assert!(answer_text(&report, language).contains(clear), "{}", answer_text(&report, language));
    }
    report.cycles.as_mut().unwrap().p = 0.02;
    for (language, many) in
        [(Language::English, "The ratings miss something"), (Language::Chinese, "可见评分漏掉了什么")]
    {
        assert!(answer_text(&report, language).contains(many), "{}", answer_text(&report, language));
    }
}

#[test]
fn what_is_not_known_is_not_said() {
    for language in Language::ALL {
        assert_eq!(answer_text(&OverallRobustness::default(), language), "");
        let mut report = report();
        let first = report.first_place.as_mut().unwrap();
        *first = FirstPlace { models: vec!["a".into(), "b".into()], lead: None, votes: None, voters: None };
        (report.goodness_of_fit, report.cycles, report.voter_consistency) = (None, None, None);
        report.tie_orders.clear();
        // The first model, and that no vote is a tie.
        assert_eq!(answer_text(&report, language).lines().count(), 2, "{}", answer_text(&report, language));
    }
}
