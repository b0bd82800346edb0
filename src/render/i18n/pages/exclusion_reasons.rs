//! Chinese translations of the program's reasons for exclusions. Reasons are stored and published in English; those written by a person
//! are shown unchanged.

use crate::i18n::without_spaces_between_han;

/// Translates a reason to Chinese; `None` if the program did not write it.
pub(super) fn chinese(reason: &str) -> Option<String> {
    let read = reason.strip_suffix(" reads it").and_then(|rest| rest.rsplit_once(", as "));
    let (found, judge) = read.map_or((reason, None), |(found, judge)| (found, Some(judge)));
    let parts: Option<Vec<String>> = found.split("; ").map(part).collect();
    let judged = judge.map(|judge| format!("（据 {judge} 判断）")).unwrap_or_default();
    Some(without_spaces_between_han(&(parts?.join("；") + &judged)))
}

fn part(part: &str) -> Option<String> {
    translate_fixed_reason(part).map(str::to_owned).or_else(|| leak(part)).or_else(|| voter_test(part))
}

fn translate_fixed_reason(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "the visitor chose both models" => "访客选定了两个模型",
        "the visitor chose the model, which answered alone" => "访客选定了模型，由它单独回答",
        "the visitor chose the model on side A" => "访客选定了 A 方的模型",
        "the annotator took the judgement back" => "标注者撤回了这一判断",
        "the campaign was deleted" => "标注活动已删除",
        _ => return None,
    })
}

/// Translates a reason of `domain::integrity::identity_leak::Leak`.
fn leak(part: &str) -> Option<String> {
    let number = |turn: &str| turn.parse::<u32>().ok();
    if let Some(turn) = text_between(part, "the prompt of turn ", " speaks to a model by name") {
        return Some(format!("第 {} 轮的提问以名称称呼了某个模型", number(turn)?));
    }
    let place = part.strip_suffix(" says which model or maker wrote it")?;
    let (text, place) = match place.strip_prefix("the reasoning of ") {
        Some(place) => ("的推理过程", place),
        None => ("", place),
    };
    let (side, turn) = place.strip_prefix("reply ")?.split_once(" of turn ")?;
    let turn = number(turn)?;
    ["A", "B"].contains(&side).then(|| format!("第 {turn} 轮的回答 {side} {text}说出了作答的模型或其开发者"))
}

/// Translates a reason of `domain::integrity::automatic_exclusion`.
fn voter_test(part: &str) -> Option<String> {
    let (test, result) = part.split_once(": ")?;
    let test = match test {
        "score test" => "得分检验",
        "Fisher's combination" => "Fisher 合并检验",
        _ => return None,
    };
    let (found, q) = result.strip_suffix(')')?.rsplit_once(" (q = ")?;
    let found = if let Some(votes) = found.strip_suffix(" votes that are unlikely together") {
        format!("{votes} 张选票同时出现的可能性很小")
    } else if let Some((votes, model)) = split_direction(found, " votes that lean for ") {
        format!("{votes} 张选票比其他人的更偏向 {model}")
    } else if let Some((votes, model)) = split_direction(found, " votes that lean against ") {
        format!("{votes} 张选票比其他人的更不利于 {model}")
    } else {
        let (wins, rest) = found.split_once(" of ")?;
        let (votes, rest) = rest.split_once(" votes for ")?;
        let (model, expected) = rest.rsplit_once(", where the crowd's ratings expect ")?;
        format!("{model} 的 {votes} 张选票中有 {wins} 张判它胜，而按众人的评分应有 {expected} 张")
    };
    Some(format!("{test}：{found}（q = {q}）"))
}

fn split_direction<'p>(found: &'p str, direction: &str) -> Option<(&'p str, &'p str)> {
    found.strip_suffix(" more than those of others")?.split_once(direction)
}

fn text_between<'p>(text: &'p str, before: &str, after: &str) -> Option<&'p str> {
    text.strip_prefix(before)?.strip_suffix(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::mode::BattleMode;
    use crate::domain::battle::{ModelId, Side};
    use crate::domain::integrity::anomalous_voters::detection::{SuspectModel, VoterResult, VoterTest};
    use crate::domain::integrity::exclusions::automatic_exclusion::finding;
    use crate::domain::integrity::identity_leak::{Leak, LeakPlace};
    use crate::domain::integrity::identity_leak_check::exclusion_reason;

    /// Finding of a test on a voter with 120 votes.
    fn found(test: VoterTest, q: f64, model: Option<SuspectModel>) -> String {
        finding(&VoterResult { voter: "v".into(), votes: 120, test, model, statistic: 9.0, p: q, q })
    }

    fn suspect(favours: bool, votes: u64, wins_and_expected: Option<(u64, f64)>) -> SuspectModel {
        let (wins, expected) = wins_and_expected.unzip();
        SuspectModel { model: "crane".into(), favours, votes, wins, expected }
    }

    #[test]
    fn what_the_rules_say_is_said_in_chinese() {
        for reason in BattleMode::ALL.into_iter().filter_map(BattleMode::unrated_because) {
            assert!(chinese(reason).is_some_and(|text| text.starts_with("访客选定了")), "{reason}");
        }
        let leak = |place| Leak { turn: 2, place };
        let prompt = leak(LeakPlace::Prompt).to_string();
        assert_eq!(chinese(&prompt).as_deref(), Some("第 2 轮的提问以名称称呼了某个模型"));
        let two = [leak(LeakPlace::Reply(Side::B)), leak(LeakPlace::Reasoning(Side::A))];
        let (reply, reasoning) = ("第 2 轮的回答 B ", "第 2 轮的回答 A 的推理过程");
        let says = "说出了作答的模型或其开发者";
        let text = format!("{reply}{says}；{reasoning}{says}（据 judge-1 判断）");
        assert_eq!(chinese(&exclusion_reason(&two, &ModelId::new("judge-1"))), Some(text));
        for (reason, text) in [
            (
                found(VoterTest::Score, 1e-9, Some(suspect(true, 120, Some((100, 61.5))))),
                "得分检验：crane 的 120 张选票中有 100 张判它胜，而按众人的评分应有 61.5 张（q = 1.00e-9）",
            ),
            (
                found(VoterTest::Fisher, 2e-3, Some(suspect(false, 40, None))),
                "Fisher 合并检验：40 张选票比其他人的更不利于 crane（q = 2.00e-3）",
            ),
            (
                found(VoterTest::Fisher, 2e-3, Some(suspect(true, 40, None))),
                "Fisher 合并检验：40 张选票比其他人的更偏向 crane（q = 2.00e-3）",
            ),
            (found(VoterTest::Fisher, 2e-3, None), "Fisher 合并检验：120 张选票同时出现的可能性很小（q = 2.00e-3）"),
        ] {
            assert_eq!(chinese(&reason).as_deref(), Some(text), "{reason}");
        }
    }

    #[test]
    fn what_a_person_wrote_stays() {
        for reason in [
            "",
            "spam; the visitor chose both models",
            "reply C of turn 1 says which model or maker wrote it",
            "reply A of turn one says which model or maker wrote it",
            "as everybody reads it",
            "score test: I looked (q = 1)",
            "刷票",
        ] {
            assert_eq!(chinese(reason), None, "{reason}");
        }
    }
}
