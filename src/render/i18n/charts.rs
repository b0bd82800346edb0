//! Texts of charts. The renderer replaces placeholders in braces.

use crate::domain::language::Language;

/// The texts of charts in a language.
pub fn chart_texts(language: Language) -> &'static ChartTexts {
    match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    }
}

/// The texts of one language.
pub struct ChartTexts {
    pub no_data: &'static str,
    pub forest: ChartText,
    pub forest_one: &'static str,
    pub forest_unranked: &'static str,
    pub between: &'static str,
    pub group: &'static str,
    pub rating: &'static str,
    pub provisional: &'static str,
    pub only_won: &'static str,
    pub only_lost: &'static str,
    pub wins: ChartText,
    pub counts: ChartText,
    pub predicted: ChartText,
    pub never_met: &'static str,
    pub not_compared: &'static str,
    pub win_tip: &'static str,
    pub count_tip: &'static str,
    pub predicted_tip: &'static str,
    pub history: ChartText,
    /// Reading aid where all models have names.
    pub history_reading_all: &'static str,
    pub history_last: &'static str,
    pub history_of_a_moment: &'static str,
    pub style: ChartText,
    pub style_one: &'static str,
    pub style_axis: &'static str,
    /// Display names of style features, by their name in the fit.
    features: &'static [(&'static str, &'static str)],
    pub value: ChartText,
    pub value_one: &'static str,
    pub value_in_set: &'static str,
    pub value_free: &'static str,
    pub radar: ChartNotes,
    pub violin: ChartNotes,
    pub violin_one: &'static str,
    pub curves: ChartNotes,
    pub turn: &'static str,
    pub matrix: ChartNotes,
    pub matrix_by_column: &'static str,
    pub matrix_tip: &'static str,
    pub scatter: ChartNotes,
    pub scatter_one: &'static str,
    pub scatter_line: &'static str,
    pub scatter_few: &'static str,
    pub scatter_constant: &'static str,
    pub correlations: ChartNotes,
    pub correlation_tip: &'static str,
    pub correlation_weak: &'static str,
    pub correlation_history: ChartNotes,
    pub correlation_history_one: &'static str,
    pub correlation_history_none: &'static str,
}

impl ChartTexts {
    /// Returns the display name of a style feature; the name itself if unknown.
    pub fn feature<'f>(&self, feature: &'f str) -> &'f str {
        self.features.iter().find(|(key, _)| *key == feature).map_or(feature, |(_, name)| name)
    }
}

/// Description and reading aid of a chart whose title is given.
pub struct ChartNotes {
    pub description: &'static str,
    pub reading: &'static str,
}

/// A chart's title, description, and reading aid under the title.
pub struct ChartText {
    pub title: &'static str,
    pub description: &'static str,
    pub reading: &'static str,
}

const ENGLISH: ChartTexts = ChartTexts {
    no_data: "Nothing to show yet.",
    forest: ChartText {
        title: "Ratings with {level} % intervals",
        description: "{count} {count:model|models}, best first. {models}",
        reading: "Dot: rating. Line: interval. Hollow: few votes. Arrow: no bound on that side.",
    },
    forest_one: "{rank}. {name}: {rating}{interval}.",
    forest_unranked: "{name}: {rating}{interval}.",
    between: ", between {lower} and {upper}",
    group: "Group {n}: ratings of different groups cannot be compared",
    rating: "rating",
    provisional: "few votes",
    only_won: "only won",
    only_lost: "only lost",
    wins: ChartText {
        title: "Wins against each other",
        description: "{count} {count:model|models}, best first; {cells} {cells:pair has|pairs have} met. The clearest: {models}",
        reading: "Share of votes, in percent, that the model of the row won against that of the column; a vote for neither is half a win.",
    },
    counts: ChartText {
        title: "Battles of each pair",
        description: "{count} {count:model|models}, best first; {cells} {cells:pair has|pairs have} met. The most battles: {models}",
        reading: "Rated votes between the model of the row and that of the column.",
    },
    predicted: ChartText {
        title: "Predicted wins",
        description: "{count} {count:model|models}, best first; {cells} {cells:pair|pairs} can be compared. The clearest: {models}",
        reading: "Percent of battles that the model of the row is expected to win against that of the column, by their ratings.",
    },
    never_met: "never met",
    not_compared: "cannot be compared",
    win_tip: "{row} won {value} % against {column}",
    count_tip: "{row} against {column}: {value}",
    predicted_tip: "{row} is expected to win {value} % against {column}",
    history: ChartText {
        title: "Ratings over time",
        description: "{count} {count:model|models} from {first} to {last}. {models}",
        reading: "The {named} best models by name; the others are thin lines.",
    },
    history_reading_all: "Ratings by the votes up to each moment.",
    history_last: "{name}: from {first} to {last}.",
    history_of_a_moment: "All votes so far were cast at the same time, so there is no history yet.",
    style: ChartText {
        title: "Effect of style on votes",
        description: "Effect of one standard deviation more of each feature, in log odds. {models}",
        reading: "To the right: more of it wins votes. A line that crosses zero: no clear effect.",
    },
    style_one: "{name}: {value}, between {lower} and {upper}.",
    style_axis: "log odds per standard deviation",
    features: &[("side", "side A"), ("side_in_later_turns", "side A, later turns"), ("same_maker", "same maker")],
    value: ChartText {
        title: "Rating against cost",
        description: "{count} {count:model|models}. X axis: {cost}. Y axis: rating. {models}",
        reading: "Up and left is better. Filled, on the dotted line: no other model is both as good and as cheap.",
    },
    value_one: "{name}: cost {cost}, rating {rating}{interval}{pareto}.",
    value_in_set: ", no other model is both as good and as cheap",
    value_free: "free",
    radar: ChartNotes {
        description: "{count} {count:model|models} on {places} axes, from {low} in the middle to {high} at the rim. {models}",
        reading: "Further out is better; from {low} in the middle to {high} at the rim.",
    },
    violin: ChartNotes {
        description: "{count} {count:model|models}. {models}",
        reading: "Height: share of values there. Bar: middle half. Dot: median.",
    },
    violin_one: "{name}: median {median}, middle half {lower} to {upper}, mean {mean}, {count} {count:value|values}.",
    curves: ChartNotes { description: "{count} {count:model|models}. {models}", reading: "Mean score by turn." },
    turn: "turn {n}",
    matrix: ChartNotes {
        description: "{rows} {rows:row|rows} and {columns} {columns:column|columns}; {cells} {cells:cell has|cells have} a number. The lowest is {low}, the highest {high}.",
        reading: "The darker, the higher; shades go from the lowest number to the highest.",
    },
    matrix_by_column: "The darker, the higher within its column; columns have units of their own.",
    matrix_tip: "{row}, {column}: {value}",
    scatter: ChartNotes {
        description: "{count} {count:dot|dots}. X axis: {x}; Y axis: {y}. {line} {models}",
        reading: "Thin crosses: intervals. Dashed line: least squares.",
    },
    scatter_one: "{name}: {x}, {y}.",
    scatter_line: "Line of least squares: y = {a} {b}·x.",
    scatter_few: "No line: fewer than three dots.",
    scatter_constant: "No line: all dots have the same value in {axis}.",
    correlations: ChartNotes {
        description: "{count} series; {cells} {cells:pair has|pairs have} a correlation, {weak} of them weak. The strongest: {models}",
        reading: "Green, no sign: positive correlation. Red, with −: negative. In brackets: weak (fewer than {few} values, or the interval contains 0).",
    },
    correlation_tip: "{row} with {column}: {value}",
    correlation_weak: "weak",
    correlation_history: ChartNotes {
        description: "{count} {count:moment|moments} from {first} to {last}. {models}",
        reading: "Correlation from −1 to 1; below it, the number of values compared. Hollow: fewer than {few} values.",
    },
    correlation_history_one: "{time}: {value} of {n}.",
    correlation_history_none: "{time}: none ({reason}).",
};

const CHINESE: ChartTexts = ChartTexts {
    no_data: "暂无数据。",
    forest: ChartText {
        title: "评分与 {level} % 区间",
        description: "共 {count} 个模型，由高到低。{models}",
        reading: "圆点为评分，横线为区间；空心表示票数较少，箭头表示该侧无界。",
    },
    forest_one: "第 {rank} 名 {name}：{rating}{interval}。",
    forest_unranked: "{name}：{rating}{interval}。",
    between: "，区间 {lower} 至 {upper}",
    group: "第 {n} 组：不同组的评分不能互相比较",
    rating: "评分",
    provisional: "票数较少",
    only_won: "全胜",
    only_lost: "全负",
    wins: ChartText {
        title: "两两胜率",
        description: "共 {count} 个模型，由高到低；{cells} 对有过对战。差距最大：{models}",
        reading: "行模型对列模型的得票百分比；两者都不选的一票各计半胜。",
    },
    counts: ChartText {
        title: "两两对战次数",
        description: "共 {count} 个模型，由高到低；{cells} 对有过对战。最多：{models}",
        reading: "行模型与列模型之间计入评分的票数。",
    },
    predicted: ChartText {
        title: "预测胜率",
        description: "共 {count} 个模型，由高到低；{cells} 对可以比较。差距最大：{models}",
        reading: "按评分推算，行模型战胜列模型的百分比。",
    },
    never_met: "从未相遇",
    not_compared: "无法比较",
    win_tip: "{row} 对 {column} 胜 {value} %",
    count_tip: "{row} 对 {column}：{value}",
    predicted_tip: "预计 {row} 对 {column} 胜 {value} %",
    history: ChartText {
        title: "评分变化",
        description: "共 {count} 个模型，{first} 至 {last}。{models}",
        reading: "标出名称的是评分最高的 {named} 个模型，其余为细线。",
    },
    history_reading_all: "截至各时刻的选票所得的评分。",
    history_last: "{name}：由 {first} 到 {last}。",
    history_of_a_moment: "目前的选票都来自同一时刻，还没有变化可以显示。",
    style: ChartText {
        title: "风格对投票的影响",
        description: "各项特征每多一个标准差的影响（对数几率）。{models}",
        reading: "偏右：该特征越多越得票；横线跨过零：影响不明确。",
    },
    style_one: "{name}：{value}，区间 {lower} 至 {upper}。",
    style_axis: "每多一个标准差的对数几率",
    features: &[
        ("length", "长度"),
        ("headings", "标题"),
        ("lists", "列表"),
        ("bold", "加粗"),
        ("side", "左右位置"),
        ("side_in_later_turns", "多轮中的左右位置"),
        ("same_maker", "与裁判模型同一厂商"),
    ],
    value: ChartText {
        title: "评分与费用",
        description: "共 {count} 个模型。向右：{cost}；向上：评分。{models}",
        reading: "越靠左上越好。点线上的实心点：没有别的模型既不差又不贵。",
    },
    value_one: "{name}：费用 {cost}，评分 {rating}{interval}{pareto}。",
    value_in_set: "，没有别的模型既不差又不贵",
    value_free: "免费",
    radar: ChartNotes {
        description: "{count} 个模型，{places} 个轴；中心为 {low}，外缘为 {high}。{models}",
        reading: "越靠外越好：中心为 {low}，外缘为 {high}。",
    },
    violin: ChartNotes {
        description: "共 {count} 个模型。{models}",
        reading: "高度：该值所占比例；粗线：中间一半；圆点：中位数。",
    },
    violin_one: "{name}：中位数 {median}，中间一半 {lower} 至 {upper}，均值 {mean}，共 {count} 个值。",
    curves: ChartNotes { description: "共 {count} 个模型。{models}", reading: "各轮的平均分。" },
    turn: "第 {n} 轮",
    matrix: ChartNotes {
        description: "{rows} 行 {columns} 列，{cells} 格有数字；最低 {low}，最高 {high}。",
        reading: "颜色越深数值越高，由最低到最高。",
    },
    matrix_by_column: "颜色越深，在该列中数值越高；各列单位不同。",
    matrix_tip: "{row}，{column}：{value}",
    scatter: ChartNotes {
        description: "共 {count} 个点：向右为{x}，向上为{y}。{line}{models}",
        reading: "细十字：区间。虚线：最小二乘。",
    },
    scatter_one: "{name}：{x}，{y}。",
    scatter_line: "最小二乘直线：y = {a} {b}·x。",
    scatter_few: "未画直线：不足三个点。",
    scatter_constant: "未画直线：各点的{axis}都相同。",
    correlations: ChartNotes {
        description: "共 {count} 个序列；{cells} 对有相关系数，其中 {weak} 对较弱。最强：{models}",
        reading: "绿色、无负号：同向；红色、带 −：反向；括号：较弱（不足 {few} 个，或区间含 0）。",
    },
    correlation_tip: "{row} 与 {column}：{value}",
    correlation_weak: "较弱",
    correlation_history: ChartNotes {
        description: "共 {count} 个时刻，{first} 至 {last}。{models}",
        reading: "介于 −1 与 1；下方为参与比较的数目。空心：不足 {few} 个。",
    },
    correlation_history_one: "{time}：{value}（{n} 个）。",
    correlation_history_none: "{time}：无（{reason}）。",
};
