//! Error messages of benchmark plans. English messages are the errors' own, unless they name flags of the command.

use crate::domain::benchmark::SuiteError;
use crate::domain::benchmark::runs::participants::ParticipantsError;
use crate::domain::benchmark::runs::run_plan::{InvalidPlanKey, MAX_RUNS, RunPlanError};
use crate::i18n::fill;

/// The texts of one language. Keys of the plan are not translated.
pub struct PlanRefusalTexts {
    no_baseline: &'static str,
    no_judge: &'static str,
    pub no_prices: &'static str,
    pub no_batches: &'static str,
    pub needs_no_baseline: &'static str,
    pub needs_no_judge: &'static str,
    /// Translations of errors; `None` for English, the language of the errors themselves.
    pub errors: Option<&'static PlanErrorTexts>,
}

/// Messages of errors without flags of the command, in one language.
pub struct PlanErrorTexts {
    no_suite: &'static str,
    suite_name: &'static str,
    budget: &'static str,
    max_calls: &'static str,
    seed: &'static str,
    samples: &'static str,
    control_character: &'static str,
    too_many_runs: &'static str,
    twice: &'static str,
    baseline_against_itself: &'static str,
    unknown_suite: &'static str,
    unknown_ablation: &'static str,
    unknown_compat: &'static str,
    pub no_data: &'static str,
    pub no_such_data: &'static str,
    pub unknown_model: &'static str,
    pub judge_named_twice: &'static str,
    pub model_named_twice: &'static str,
    pub nothing_to_judge: &'static str,
    pub no_model_left: &'static str,
    pub no_suites: &'static str,
    pub suite_taken: &'static str,
}

impl PlanRefusalTexts {
    /// Message for participants that do not fit a suite; `None` if the error's own message is in this language.
    #[must_use]
    pub fn participants(&self, suite: &str, error: &ParticipantsError) -> Option<String> {
        match error {
            ParticipantsError::BaselineAgainstItself(model) => {
                let model = format!("{model:?}");
                self.errors.map(|texts| fill(texts.baseline_against_itself, &[("suite", suite), ("model", &model)]))
            }
            ParticipantsError::NoBaseline => Some(fill(self.no_baseline, &[("suite", suite)])),
            ParticipantsError::NoJudge => Some(fill(self.no_judge, &[("suite", suite)])),
        }
    }
}

impl PlanErrorTexts {
    /// Message for an invalid plan; `None` for errors of the TOML parser.
    #[must_use]
    pub fn plan(&self, error: &RunPlanError) -> Option<String> {
        let said = match error {
            RunPlanError::Syntax(_) => return None,
            RunPlanError::NoSuite => self.no_suite.to_owned(),
            RunPlanError::InvalidValue(InvalidPlanKey::Suite) => self.suite_name.to_owned(),
            RunPlanError::InvalidValue(InvalidPlanKey::Budget) => self.budget.to_owned(),
            RunPlanError::InvalidValue(InvalidPlanKey::MaxCalls) => self.max_calls.to_owned(),
            RunPlanError::InvalidValue(InvalidPlanKey::Seed) => self.seed.to_owned(),
            RunPlanError::InvalidValue(InvalidPlanKey::Samples) => self.samples.to_owned(),
            RunPlanError::Name { key, name } => {
                fill(self.control_character, &[("key", key), ("name", &format!("{name:?}"))])
            }
            RunPlanError::TooManyRuns { runs } => {
                fill(self.too_many_runs, &[("n", &runs.to_string()), ("most", &MAX_RUNS.to_string())])
            }
            RunPlanError::Twice { suite, sample } => fill(self.twice, &[("suite", suite), ("n", &sample.to_string())]),
        };
        Some(said)
    }

    /// Message for an unavailable suite; `None` for errors in a suite's file and prompts, which an import or a command reports.
    #[must_use]
    pub fn suite(&self, error: &SuiteError) -> Option<String> {
        let quoted = |name: &String| format!("{name:?}");
        match error {
            SuiteError::UnknownSuite { name, known } => {
                Some(fill(self.unknown_suite, &[("name", &quoted(name)), ("known", known)]))
            }
            SuiteError::UnknownAblation { suite, name, known } => {
                Some(fill(self.unknown_ablation, &[("suite", suite), ("name", &quoted(name)), ("known", known)]))
            }
            SuiteError::UnknownCompat { suite, name, known } => {
                Some(fill(self.unknown_compat, &[("suite", suite), ("name", &quoted(name)), ("known", known)]))
            }
            SuiteError::File(_) | SuiteError::Prompt(_) | SuiteError::AsksForThree(_) | SuiteError::AsksForFive(_) => {
                None
            }
        }
    }
}

pub(super) const ENGLISH: PlanRefusalTexts = PlanRefusalTexts {
    no_baseline: "suite {suite} compares with a baseline model: name one",
    no_judge: "suite {suite} needs a judge: name one or more",
    no_prices: "model {model} has no prices, so no budget can be kept: set input_price and output_price under [[models]], or limit the requests instead",
    no_batches: "model {model} cannot be asked in batches, because its provider has no batches: plan the others with batches and this one alone",
    needs_no_baseline: "suite {suite} uses no baseline: leave it out",
    needs_no_judge: "suite {suite} is scored without a judge: leave judges out",
    errors: None,
};

pub(super) const CHINESE: PlanRefusalTexts = PlanRefusalTexts {
    no_baseline: "评测集 {suite} 要与基线模型比较：请指定一个",
    no_judge: "评测集 {suite} 需要裁判：请至少指定一个",
    no_prices: "模型 {model} 没有价格，无法控制费用：请在 [[models]] 中设置 input_price 和 output_price，或改为限制请求数",
    no_batches: "模型 {model} 的服务商不支持批处理：请把其他模型安排为批量提交，单独安排这个模型",
    needs_no_baseline: "评测集 {suite} 不使用基线模型：请去掉",
    needs_no_judge: "评测集 {suite} 不需要裁判即可评分：请去掉裁判",
    errors: Some(&CHINESE_ERRORS),
};

const CHINESE_ERRORS: PlanErrorTexts = PlanErrorTexts {
    no_suite: "计划中没有评测集：请为每个评测集写一个 [[suites]]，其中 suite = \"NAME\"",
    suite_name: "suite：请填写评测集的名称",
    budget: "budget：请填写不小于 0 的金额，例如 2.5",
    max_calls: "max_calls：请填写请求数，例如 1000",
    seed: "seed：请填写 0 到 9223372036854775807 的整数",
    samples: "samples：请填写从 1 开始的轮次，例如 [1, 2]",
    control_character: "{key}：{name} 含有控制字符，请去掉",
    too_many_runs: "计划共有 {n} 次运行，超过上限 {most}：请拆成几个计划",
    twice: "评测集 {suite} 在第 {n} 轮中出现两次：每次运行只能安排一次",
    baseline_against_itself: "评测集 {suite}：模型 {model} 是基线模型，不能与自己比较，请从作答的模型中去掉",
    unknown_suite: "没有名为 {name} 的评测集：请从 {known} 中选择，或用评测集文件导入自己的评测集",
    unknown_ablation: "评测集 {suite} 没有消融 {name}，可用的有：{known}",
    unknown_compat: "评测集 {suite} 没有兼容开关 {name}，可用的有：{known}",
    no_data: "此处没有评测集 {suite} 的数据：请用 `langya import suite {suite} FILE` 导入其文件",
    no_such_data: "评测集 {suite} 没有 SHA-256 以 {data} 开头的数据，现有：{known}",
    unknown_model: "没有模型 {model}，设置中有：{known}",
    judge_named_twice: "裁判 {name} 出现两次：每个只能指定一次",
    model_named_twice: "模型 {name} 出现两次：每个只能指定一次",
    nothing_to_judge: "评测集 {suite} 没有可供评判的回答：请运行 `langya bench answer {suite}`",
    no_model_left: "评测集 {suite} 没有作答的模型：请指定一个既非裁判也非基线的模型",
    no_suites: "此处没有任何评测集的数据：请用 `langya import suite NAME FILE` 导入文件",
    suite_taken: "此数据库上已有评测集 {suite} 的运行：请等它结束，或停止它。在管理页面启动的计划可用 `langya bench stop` 停止",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::runs::run_plan::RunPlan;

    #[track_caller]
    fn check(plan: &str, chinese: &str) {
        let error = RunPlan::parse(plan).unwrap_err();
        assert_eq!(CHINESE_ERRORS.plan(&error).as_deref(), Some(chinese));
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_said_in_chinese() {
        let suite = "[[suites]]\nsuite = \"urs\"\n";
        check("", CHINESE_ERRORS.no_suite);
        check("[[suites]]\n", CHINESE_ERRORS.suite_name);
        check(&format!("budget = -1.0\n{suite}"), CHINESE_ERRORS.budget);
        check(&format!("samples = [0]\n{suite}"), CHINESE_ERRORS.samples);
        check(&format!("{suite}{suite}"), "评测集 urs 在第 1 轮中出现两次：每次运行只能安排一次");
        check(&format!("{suite}data = \"\\u0000\"\n"), "data：\"\\0\" 含有控制字符，请去掉");
        let rounds: Vec<usize> = (1..=MAX_RUNS + 1).collect();
        check(&format!("samples = {rounds:?}\n{suite}"), "计划共有 1001 次运行，超过上限 1000：请拆成几个计划");
        let too_large = |value| CHINESE_ERRORS.plan(&RunPlanError::InvalidValue(value));
        assert_eq!(too_large(InvalidPlanKey::MaxCalls).as_deref(), Some(CHINESE_ERRORS.max_calls));
        assert_eq!(too_large(InvalidPlanKey::Seed).as_deref(), Some(CHINESE_ERRORS.seed));
        let syntax = RunPlan::parse("models = [").unwrap_err();
        assert_eq!(CHINESE_ERRORS.plan(&syntax), None, "the words of the reader of TOML");
    }

    #[test]
    fn a_suite_and_its_participants_are_refused_in_chinese() {
        let unknown = SuiteError::UnknownSuite { name: "x".to_owned(), known: "urs".to_owned() };
        assert!(CHINESE_ERRORS.suite(&unknown).unwrap().starts_with("没有名为 \"x\" 的评测集"));
        assert_eq!(CHINESE_ERRORS.suite(&SuiteError::File("line 1".to_owned())), None);
        let no_judge = CHINESE.participants("urs", &ParticipantsError::NoJudge);
        assert_eq!(no_judge.as_deref(), Some("评测集 urs 需要裁判：请至少指定一个"));
        let itself = ParticipantsError::BaselineAgainstItself("m".to_owned());
        assert!(CHINESE.participants("urs", &itself).unwrap().contains("模型 \"m\" 是基线模型"));
        assert_eq!(ENGLISH.participants("urs", &itself), None, "the error says it");
    }
}
