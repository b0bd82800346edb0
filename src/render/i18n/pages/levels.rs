//! Texts below the leaderboard on shares of good enough replies and on the effect of the side.

use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::domain::rating::style::StyleEffect;
use crate::i18n::fill;

/// The texts of one language.
pub struct LevelTexts {
    pub title: &'static str,
    pub choice: &'static str,
    pub explained: &'static str,
    pub share: &'static str,
    pub trend: &'static str,
    pub side: &'static str,
    pub side_held_equal: &'static str,
    rising: &'static str,
    falling: &'static str,
    unclear: &'static str,
    side_effect: &'static str,
    side_matters: &'static str,
    side_unclear: &'static str,
}

pub(super) const ENGLISH: LevelTexts = LevelTexts {
    title: "Good enough?",
    choice: "Show",
    explained: "Ratings only compare models with each other. Votes for “both are bad” also show how good a model is in absolute terms: for how many of 100 questions its answer would be good enough. The range contains the true number {confidence} times out of 100. The last column compares the later half of the votes with the earlier half.",
    share: "Good enough, of 100 questions",
    trend: "Trend",
    side: "Sides A and B",
    side_held_equal: "Held equal",
    rising: "rising: {change} ({lower} to {upper})",
    falling: "falling: {change} ({lower} to {upper})",
    unclear: "no clear trend ({lower} to {upper})",
    side_effect: "The ratings are as if no model had gained anything from standing on side A. Of 100 votes between two equally good models, {share} go to the one on side A, ties counting half ({lower} to {upper}). ",
    side_matters: "So the side matters.",
    side_unclear: "That may be chance.",
};

pub(super) const CHINESE: LevelTexts = LevelTexts {
    title: "够好吗？",
    choice: "显示",
    explained: "评分只能比较模型之间的高低。“都不好”的选票还说明模型单独而言有多好：每 100 个问题中，有多少个只靠它的回答就够了。100 次中有 {confidence} 次，范围包含真实数值。最后一列比较后一半选票与前一半选票。",
    share: "每 100 个问题中够好的",
    trend: "趋势",
    side: "左右位置",
    side_held_equal: "视为相同",
    rising: "上升：{change}（{lower} 至 {upper}）",
    falling: "下降：{change}（{lower} 至 {upper}）",
    unclear: "无明显趋势（{lower} 至 {upper}）",
    side_effect: "评分已扣除站在 A 侧可能带来的好处。两个同样好的模型之间的 100 张选票中，有 {share} 张投给 A 侧的模型，平局各算半张（{lower} 至 {upper}）。",
    side_matters: "可见位置确有影响。",
    side_unclear: "这可能只是偶然。",
};

fn format_percent(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

fn format_signed_percent(share: f64) -> String {
    // Avoids a negative zero.
    format!("{:+.0}", (100.0 * share).round() + 0.0)
}

impl LevelTexts {
    /// Share of prompts in percent for which a model is good enough, with its interval; `None` if unknown.
    pub fn level(&self, model: &RankedModel) -> Option<(String, String)> {
        let range = model.good_enough_lower.zip(model.good_enough_upper);
        let range = range.map(|(lower, upper)| format!("{} – {}", format_percent(lower), format_percent(upper)));
        Some((format_percent(model.good_enough?), range.unwrap_or_else(|| "–".to_owned())))
    }

    /// Change of this share between the halves of the votes; a dash if unknown.
    pub fn change(&self, model: &RankedModel) -> String {
        let ends = model.good_enough_change_lower.zip(model.good_enough_change_upper);
        let Some((change, (lower, upper))) = model.good_enough_change.zip(ends) else { return "–".to_owned() };
        let text = match (lower > 0.0, upper < 0.0) {
            (true, _) => self.rising,
            (_, true) => self.falling,
            _ => self.unclear,
        };
        let [change, lower, upper] = [change, lower, upper].map(format_signed_percent);
        fill(text, &[("change", &change), ("lower", &lower), ("upper", &upper)])
    }

    /// Effect of the side on votes between equally good models.
    pub fn side_effect(&self, effect: &StyleEffect) -> String {
        let share = |log_odds: f64| format_percent(1.0 / (1.0 + (-log_odds).exp()));
        let [value, lower, upper] = [effect.coefficient, effect.lower, effect.upper].map(share);
        let clear = effect.lower > 0.0 || effect.upper < 0.0;
        let text = fill(self.side_effect, &[("share", &value), ("lower", &lower), ("upper", &upper)]);
        text + if clear { self.side_matters } else { self.side_unclear }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_is_shown_in_votes_of_a_hundred() {
        let effect = |coefficient: f64, half: f64| StyleEffect {
            feature: "side".into(),
            coefficient,
            lower: coefficient - half,
            upper: coefficient + half,
        };
        let clear = ENGLISH.side_effect(&effect(0.302, 0.2));
        assert!(clear.contains("57 go to the one on side A") && clear.ends_with("So the side matters."), "{clear}");
        let unclear = CHINESE.side_effect(&effect(0.0, 0.1));
        assert!(unclear.contains("有 50 张") && unclear.ends_with("这可能只是偶然。"), "{unclear}");
    }

    #[test]
    fn a_small_change_has_no_sign_before_zero() {
        assert_eq!([0.004, -0.004, -0.03, 0.05].map(format_signed_percent), ["+0", "+0", "-3", "+5"]);
    }
}
