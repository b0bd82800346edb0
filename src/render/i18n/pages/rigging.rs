//! Texts on the cost and the possible effects of vote rigging.

use super::robustness::{Naming, RobustnessAnswer};
use crate::domain::integrity::rigging::rigging_report::{FlaggedVoters, InfluentialVoter, RiggingReport, SwapCost};
use crate::domain::plural::counted;
use crate::i18n::without_spaces_between_han;

/// The texts of one language.
pub struct RiggingTexts {
    swap: &'static str,
    influence: &'static str,
    flags: &'static str,
    sentences: Sentences,
}

/// Sentences of the answers; `name` returns the display name of a model.
struct Sentences {
    /// Neighbours with the fewest votes to swap, that number, and the number of all votes.
    swap: fn(&SwapCost, u64, u64, &Naming<'_>) -> String,
    influence: fn(Option<&InfluentialVoter>, &Naming<'_>) -> String,
    flags: fn(&FlaggedVoters, &Naming<'_>) -> String,
}

impl RiggingTexts {
    /// Renders a report on a leaderboard of `votes` votes.
    pub fn answers(&self, report: &RiggingReport, votes: u64, name: &Naming<'_>) -> Vec<RobustnessAnswer> {
        let weakest =
            report.neighbours.iter().filter_map(|swap| Some((swap.votes?, swap))).min_by_key(|(held, _)| *held);
        let swap = weakest.map(|(held, swap)| (self.swap, (self.sentences.swap)(swap, held, votes, name)));
        let flagged = report.flagged.as_ref();
        let most_influential = report.most_influential.as_ref();
        let influence = flagged.map(|_| (self.influence, (self.sentences.influence)(most_influential, name)));
        let flags = flagged.map(|flagged| (self.flags, (self.sentences.flags)(flagged, name)));
        let answers = [swap, influence, flags].into_iter().flatten();
        let answer =
            |(question, text): (_, String)| RobustnessAnswer { question, text: without_spaces_between_han(&text) };
        answers.map(answer).collect()
    }
}

pub(super) const ENGLISH: RiggingTexts = RiggingTexts {
    swap: "How few votes would swap two neighbours?",
    influence: "How much does one voter change?",
    flags: "Does anybody vote unusually?",
    sentences: Sentences {
        swap: |swap, held, votes, name| {
            format!(
                "Among the first places, {} and {} are easiest to swap: without {held} of the {votes} votes, {} would be ahead.",
                name(&swap.upper),
                name(&swap.lower),
                name(&swap.lower)
            )
        },
        influence: |voter, name| match voter {
            None => "Leaving out any one voter would not change any model's place.".to_owned(),
            Some(InfluentialVoter { votes, moved, largest_move: furthest }) => format!(
                "Without the most influential voter, who cast {}, {} would be in other places; {} would move \
                 furthest, from place {} to {}.",
                counted(votes, "vote", "votes"),
                counted(moved, "model", "models"),
                name(&furthest.model),
                furthest.published,
                furthest.place
            ),
        },
        flags: |found, name| {
            let FlaggedVoters { voters, fewest_votes, tested, flagged, votes, .. } = found;
            let voters = counted(voters, "voter", "voters");
            let looked = format!("Of {voters}, {tested} have at least {fewest_votes} votes for a side.");
            if found.withheld > 0 {
                return format!(
                    "{looked} {} of them seem to vote for or against one model more than chance and taste explain. That \
                     is more than a quarter of all voters, so the test singles out nobody.",
                    found.withheld
                );
            }
            if *flagged == 0 {
                return format!(
                    "{looked} None of them votes for or against one model more than chance and taste explain."
                );
            }
            let change = match (&found.other_leader, &found.largest_move) {
                (Some(leader), _) => format!("without them, {} would be first.", name(leader)),
                (None, Some(furthest)) => format!(
                    "without them, {} would be in other places, {} in place {} instead of {}.",
                    counted(found.moved, "model", "models"),
                    name(&furthest.model),
                    furthest.place,
                    furthest.published
                ),
                (None, None) => "without them, no model would change its place.".to_owned(),
            };
            format!(
                "{looked} {flagged} of them, with {}, vote for or against one model more than chance and taste explain; \
                 {change} An honest person with an unusual taste can be among them, and their votes count.",
                counted(votes, "vote", "votes")
            )
        },
    },
};

pub(super) const CHINESE: RiggingTexts = RiggingTexts {
    swap: "多少选票就能让相邻两名互换？",
    influence: "一个人能改变多少？",
    flags: "有没有人投得与众不同？",
    sentences: Sentences {
        swap: |swap, held, votes, name| {
            format!(
                "前几名之中，{} 与 {} 最容易互换：{votes} 张选票里去掉 {held} 张，{} 就会在前。",
                name(&swap.upper),
                name(&swap.lower),
                name(&swap.lower)
            )
        },
        influence: |voter, name| match voter {
            None => "去掉任何一个人的选票，名次都不变。".to_owned(),
            Some(InfluentialVoter { votes, moved, largest_move: furthest }) => format!(
                "去掉影响最大的那个人的 {votes} 张选票，有 {moved} 个模型名次会变；{} 变得最多，从第 {} 名到第 {} 名。",
                name(&furthest.model),
                furthest.published,
                furthest.place
            ),
        },
        flags: |found, name| {
            let FlaggedVoters { voters, fewest_votes, tested, flagged, votes, .. } = found;
            let looked = format!("{voters} 个投票者中，{tested} 个至少有 {fewest_votes} 张分出胜负的选票。");
            if found.withheld > 0 {
                return format!(
                    "{looked}其中 {} 个对某个模型的偏向似乎超出偶然和口味所能解释的程度；这超过全部投票者的四分之一，因此检验不标记任何人。",
                    found.withheld
                );
            }
            if *flagged == 0 {
                return format!("{looked}没有人对某个模型的偏向超出偶然和口味所能解释的程度。");
            }
            let change = match (&found.other_leader, &found.largest_move) {
                (Some(leader), _) => format!("去掉这些选票，第一名会是 {}。", name(leader)),
                (None, Some(furthest)) => format!(
                    "去掉这些选票，有 {} 个模型名次会变，其中 {} 会从第 {} 名变为第 {} 名。",
                    found.moved,
                    name(&furthest.model),
                    furthest.published,
                    furthest.place
                ),
                (None, None) => "去掉这些选票，名次都不变。".to_owned(),
            };
            format!(
                "{looked}其中 {flagged} 个（{votes} 张选票）对某个模型的偏向超出偶然和口味所能解释的程度；{change}\
                 口味独特的诚实投票者也可能在内，这些选票照样计入。"
            )
        },
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::rating::robustness::PlaceMove;

    fn report() -> RiggingReport {
        let largest_move = PlaceMove { model: "m2".into(), published: 5, place: 3 };
        let swap = |upper: &str, lower: &str, votes| SwapCost { upper: upper.into(), lower: lower.into(), votes };
        RiggingReport {
            neighbours: vec![swap("m1", "m2", Some(40)), swap("m2", "m3", Some(7)), swap("m3", "m4", None)],
            most_influential: Some(InfluentialVoter { votes: 90, moved: 4, largest_move: largest_move.clone() }),
            flagged: Some(FlaggedVoters {
                voters: 124,
                fewest_votes: 10,
                tested: 84,
                false_discovery_rate: 0.05,
                flagged: 2,
                withheld: 0,
                votes: 511,
                moved: 6,
                largest_move: Some(largest_move),
                other_leader: None,
            }),
        }
    }

    fn answer_text(texts: &RiggingTexts, report: &RiggingReport) -> String {
        let answers = texts.answers(report, 8931, &|model| format!("<{model}>"));
        answers.iter().map(|answer| format!("{} {}\n", answer.question, answer.text)).collect()
    }

    #[test]
    fn the_sentences_hold_the_numbers_in_both_languages() {
        for texts in [&ENGLISH, &CHINESE] {
            let text = answer_text(texts, &report());
            for part in ["<m2>", "<m3>", "8931", "7 ", "90", "124", "84", "511", "3", "5"] {
                assert!(text.contains(part), "no {part:?}: {text}");
            }
            assert_eq!(text.lines().count(), 3, "{text}");
        }
        assert!(answer_text(&ENGLISH, &report()).contains("<m2> in place 3 instead of 5."));
        let chinese = &CHINESE.answers(&report(), 8931, &|_| "琥珀".to_owned())[0].text;
        assert!(chinese.starts_with("前几名之中，琥珀与琥珀最容易互换"), "{chinese}");
    }

    #[test]
    fn who_is_not_flagged_is_not_accused_and_nothing_known_is_nothing_said() {
        let mut quiet = report();
        quiet.flagged.iter_mut().for_each(|found| (found.flagged, found.votes, found.largest_move) = (0, 0, None));
        quiet.most_influential = None;
        let text = answer_text(&ENGLISH, &quiet);
        assert!(text.contains("None of them votes") && text.contains("would not change any model's place"), "{text}");
        assert_eq!(answer_text(&ENGLISH, &RiggingReport::default()), "");
    }

    #[test]
    fn where_flags_are_withheld_both_languages_say_so() {
        let mut many = report();
        many.flagged.iter_mut().for_each(|found| (found.flagged, found.votes, found.withheld) = (0, 0, 57));
        for (texts, said) in [(&ENGLISH, "57 of them seem"), (&CHINESE, "其中 57 个")] {
            let text = answer_text(texts, &many);
            assert!(text.contains(said) && !text.contains("None of them"), "{text}");
        }
        let text = answer_text(&ENGLISH, &many);
        assert!(text.contains("a quarter of all voters") && text.contains("singles out nobody"), "{text}");
        assert!(answer_text(&CHINESE, &many).contains("不标记任何人"));
    }
}
