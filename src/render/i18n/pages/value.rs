//! Texts of the page of ratings against costs.

use crate::domain::rating::value::prices::Currency;
use crate::domain::rating::value::report::{Caveat, CheaperModel, CostBasis, ValueFinding, percent, points};
use crate::i18n::{fill, without_spaces_between_han};

/// The texts of one language.
pub struct ValueTexts {
    pub title: &'static str,
    pub back: &'static str,
    /// The noun without a number.
    answers: &'static str,
    pub higher: &'static str,
    pub table: &'static str,
    pub model: &'static str,
    pub rating: &'static str,
    pub first_token: &'static str,
    pub speed: &'static str,
    pub pareto: &'static str,
    pub cheaper: &'static str,
    pub price: &'static str,
    pub looked_up: &'static str,
    pub in_set: &'static str,
    pub in_set_with_times: &'static str,
    pub dominated: &'static str,
    pub no_date: &'static str,
    pub no_source: &'static str,
    cost_of_answers: &'static str,
    cost_of_replies: &'static str,
    cost_of_tokens: &'static str,
    price_unit: &'static str,
    reservations: [&'static str; 4],
    cheaper_one: &'static str,
    pub reading: &'static str,
    pub reading_points: &'static [&'static str],
    finding: fn(&ValueFinding) -> String,
}

impl ValueTexts {
    /// Renders a finding as a sentence.
    pub fn finding(&self, finding: &ValueFinding) -> String {
        without_spaces_between_han(&(self.finding)(finding))
    }

    /// Noun for this number of answers, without the number.
    pub fn answers(&self, answers: u64) -> String {
        fill(self.answers, &[("n", &answers.to_string())])
    }

    /// Describes the basis of a cost.
    pub fn cost(&self, basis: CostBasis, currency: Option<&Currency>) -> String {
        let text = match basis {
            CostBasis::PromptsAndReplies => self.cost_of_answers,
            CostBasis::Replies => self.cost_of_replies,
            CostBasis::OutputPrice => self.cost_of_tokens,
        };
        with_currency(text, currency)
    }

    /// Unit of a price.
    pub fn price_unit(&self, currency: Option<&Currency>) -> String {
        with_currency(self.price_unit, currency)
    }

    /// Reason why a model is shown and not compared.
    pub fn reservation(&self, reservation: Caveat) -> &'static str {
        self.reservations[match reservation {
            Caveat::Practice => 0,
            Caveat::Unbounded => 1,
            Caveat::Provisional => 2,
            Caveat::OtherGroup => 3,
        }]
    }

    /// Describes a cheaper model without a significant difference.
    pub fn cheaper_one(&self, cheaper: &CheaperModel) -> String {
        let [difference, lower, upper] = [cheaper.difference, cheaper.lower, cheaper.upper].map(points);
        let saving = percent(cheaper.saving);
        let numbers = [("saving", saving.as_str()), ("difference", &difference), ("lower", &lower), ("upper", &upper)];
        fill(self.cheaper_one, &numbers)
    }
}

fn with_currency(text: &str, currency: Option<&Currency>) -> String {
    currency.map_or_else(|| text.to_owned(), |currency| format!("{text} ({currency})"))
}

pub(super) const ENGLISH: ValueTexts = ValueTexts {
    title: "What should I use?",
    back: "Leaderboard",
    answers: "{n:answer|answers} behind costs and times",
    higher: "Rated higher, without a known cost:",
    table: "Rating, cost and time of each model",
    model: "Model",
    rating: "Rating",
    first_token: "First word after",
    speed: "Tokens per second",
    pareto: "Unbeaten",
    cheaper: "Cheaper, not clearly different",
    price: "Price in / out",
    looked_up: "Price looked up",
    in_set: "yes",
    in_set_with_times: "on speed",
    dominated: "no",
    no_date: "date not given",
    no_source: "source not given",
    cost_of_answers: "Cost of 1,000 answers",
    cost_of_replies: "Cost of 1,000 replies",
    cost_of_tokens: "Cost of 1,000,000 tokens of output",
    price_unit: "per million tokens",
    reservations: ["Practice", "no finite rating", "few votes", "not connected by votes"],
    cheaper_one: "{saving} less; difference {difference} points ({lower} to {upper})",
    reading: "How to read this",
    reading_points: &[
        "“Cannot be told apart” does not mean equal: it means that these votes are consistent with no difference. With few votes, hardly any two models can be told apart. The largest difference that the votes allow shows what choosing the cheaper model may cost in quality.",
        "The cost is what the arena's own answers would have cost: the mean length of a prompt, the same for all models, and the mean length of the model's own replies, times its prices. Lengths are this arena's own count of words and East Asian characters; a provider's count differs, and hidden reasoning is billed but not counted here. Only battles of one turn count, and only the latest votes.",
        "“Unbeaten”: no other model is rated at least as high, costs at most as much, and is better in one of the two. “On speed”: another model beats it on rating and cost, but none does when the time to the first word and the speed count too. Unbeaten models form the Pareto set.",
        "Times are medians of at least ten replies, to a tenth of a second and to two digits, so that they do not help to guess who is answering in a battle.",
        "Practice models, models with few votes, and models whose rating has no finite value or cannot be compared with the others are shown and never recommended.",
        "Prices are what the operator of this arena looked up, on the day and at the place given.",
    ],
    finding: ValueFinding::to_string,
};

pub(super) const CHINESE: ValueTexts = ValueTexts {
    title: "该用哪个模型？",
    back: "排行榜",
    answers: "次回答用于计算费用与时间",
    higher: "评分更高但费用未知：",
    table: "各模型的评分、费用与时间",
    model: "模型",
    rating: "评分",
    first_token: "首字用时",
    speed: "每秒词元",
    pareto: "未被超过",
    cheaper: "更便宜且分不出高下",
    price: "输入/输出价格",
    looked_up: "价格查询",
    in_set: "是",
    in_set_with_times: "凭速度",
    dominated: "否",
    no_date: "未注明日期",
    no_source: "未注明来源",
    cost_of_answers: "1,000 次回答的费用",
    cost_of_replies: "1,000 次回答的输出费用",
    cost_of_tokens: "1,000,000 个输出词元的费用",
    price_unit: "每百万词元",
    reservations: ["陪练", "评分无界", "票数较少", "选票未与其他模型相连"],
    cheaper_one: "便宜 {saving}；差距 {difference} 分（{lower} 至 {upper}）",
    reading: "如何阅读",
    reading_points: &[
        "“分不出高下”不等于一样好：只是说这些选票容许两者毫无差别。票数很少时，几乎任何两个模型都分不出高下。选票容许的最大差距，就是选便宜模型可能损失的质量。",
        "费用按本竞技场的回答计算：提问的平均长度（所有模型相同）与该模型自己回答的平均长度，乘以价格。长度由本竞技场自行计数，按单词和汉字等计；服务商的计数与此不同，隐藏的思考过程会计费，但这里没有计入。只统计最近选票中的单轮对战。",
        "“未被超过”：没有别的模型评分不低、费用不高，且其中至少一项更好。“凭速度”：只看评分与费用时已被超过，把首字用时与速度也算上则没有。这些模型合称帕累托集。",
        "时间是至少十次回答的中位数，精确到十分之一秒和两位数字，以免帮人猜出对战中是谁在回答。",
        "陪练模型、票数较少的模型，以及评分无界或无法与其他模型比较的模型，只列出，不推荐。",
        "价格由本竞技场的运营者查询，日期与出处如表中所示。",
    ],
    finding: chinese,
};

fn chinese(finding: &ValueFinding) -> String {
    match finding {
        ValueFinding::CheaperModel { best, cheaper } => {
            let CheaperModel { model, difference, lower, upper, saving, greatest_win_share } = cheaper;
            let wins = 100.0 * greatest_win_share;
            let [difference, lower, upper] = [*difference, *lower, *upper].map(points);
            let saving = if *saving < 1.0 { format!("便宜 {}", percent(*saving)) } else { "不收费".to_owned() };
            format!(
                "这些选票分不出 {best} 与 {model} 的高下；{model} {saving}。{best} 的评分高 {difference} 分，而选票容许的差距为 \
                 {lower} 至 {upper} 分：若真差 {upper} 分，{best} 与 {model} 对战 100 场约赢 {wins:.0} 场。"
            )
        }
        ValueFinding::CheaperAreLower { best, cheaper } => {
            format!("费用已知的模型中，评分最高的是 {best}。选票表明，比它便宜的 {cheaper} 个模型评分更低。")
        }
        ValueFinding::BestIsCheapest { best } => format!("费用已知的模型中，评分最高的是 {best}，没有更便宜的。"),
        ValueFinding::NoDifference { best } => format!(
            "费用已知的模型中，评分最高的是 {best}。另有更便宜的模型，但从选票看不出它们的评分与 {best} 可能相差多少。"
        ),
        ValueFinding::TooFewModels => "暂时无法回答：至少要有两个模型同时具备价格、足够的选票和有限的评分。".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chinese_sentence_names_both_models_the_saving_and_the_differences() {
        let (difference, lower, upper) = (12.4, -8.6, 33.4);
        let model = "乙".to_owned();
        let cheaper = CheaperModel { model, difference, lower, upper, saving: 0.8391, greatest_win_share: 0.5479 };
        let finding = ValueFinding::CheaperModel { best: "甲".into(), cheaper: cheaper.clone() };
        assert_eq!(
            CHINESE.finding(&finding),
            "这些选票分不出甲与乙的高下；乙便宜 84 %。甲的评分高 12 分，而选票容许的差距为 −9 至 33 分：若真差 33 \
             分，甲与乙对战 100 场约赢 55 场。"
        );
        assert_eq!(ENGLISH.cheaper_one(&cheaper), "84 % less; difference 12 points (−9 to 33)");
    }
}
