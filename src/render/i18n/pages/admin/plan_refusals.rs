//! Why a plan of benchmarks cannot be run.

use crate::domain::benchmark::SuiteError;
use crate::domain::benchmark::participants::ParticipantsError;
use crate::domain::benchmark::run_plan::{MOST_RUNS, RunPlanError};
use crate::i18n::fill;

/// The texts of one language. Keys of the plan stand in them as they are.
pub struct PlanRefusalTexts {
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
    no_baseline: &'static str,
    no_judge: &'static str,
    unknown_suite: &'static str,
    unknown_ablation: &'static str,
    unknown_compat: &'static str,
    pub no_data: &'static str,
    pub no_such_data: &'static str,
    pub unknown_model: &'static str,
    pub no_prices: &'static str,
    pub no_batches: &'static str,
    pub judge_named_twice: &'static str,
    pub model_named_twice: &'static str,
    pub needs_no_baseline: &'static str,
    pub needs_no_judge: &'static str,
    pub nothing_to_judge: &'static str,
    pub no_suites: &'static str,
    pub suite_taken: &'static str,
}

impl PlanRefusalTexts {
    /// What is wrong with a plan; `None` for what the reader of TOML says in its own words.
    #[must_use]
    pub fn plan(&self, error: &RunPlanError) -> Option<String> {
        let said = match error {
            RunPlanError::Syntax(_) => return None,
            RunPlanError::NoSuite => self.no_suite.to_owned(),
            RunPlanError::Value { key: "suite", .. } => self.suite_name.to_owned(),
            RunPlanError::Value { key: "budget", .. } => self.budget.to_owned(),
            RunPlanError::Value { key: "max_calls", .. } => self.max_calls.to_owned(),
            RunPlanError::Value { key: "seed", .. } => self.seed.to_owned(),
            RunPlanError::Value { key: "samples", .. } => self.samples.to_owned(),
            RunPlanError::Value { .. } => return None,
            RunPlanError::Name { key, name } => {
                fill(self.control_character, &[("key", key), ("name", &format!("{name:?}"))])
            }
            RunPlanError::TooManyRuns { runs } => {
                fill(self.too_many_runs, &[("n", &runs.to_string()), ("most", &MOST_RUNS.to_string())])
            }
            RunPlanError::Twice { suite, sample } => fill(self.twice, &[("suite", suite), ("n", &sample.to_string())]),
        };
        Some(said)
    }

    /// Why the participants do not fit a suite.
    #[must_use]
    pub fn participants(&self, suite: &str, error: &ParticipantsError) -> String {
        match error {
            ParticipantsError::BaselineAgainstItself(model) => {
                fill(self.baseline_against_itself, &[("suite", suite), ("model", model)])
            }
            ParticipantsError::NoBaseline => fill(self.no_baseline, &[("suite", suite)]),
            ParticipantsError::NoJudge => fill(self.no_judge, &[("suite", suite)]),
        }
    }

    /// Why there is no such suite; `None` for what a suite's own file says.
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
            _ => None,
        }
    }
}

pub(super) const ENGLISH: PlanRefusalTexts = PlanRefusalTexts {
    no_suite: "the plan has no suite: write [[suites]] with suite = \"NAME\" for each",
    suite_name: "suite: write the name of a suite",
    budget: "budget: write an amount from 0, for example 2.5",
    max_calls: "max_calls: write a number of requests, for example 1000",
    seed: "seed: write a whole number from 0 to 9223372036854775807",
    samples: "samples: write rounds from 1, for example [1, 2]",
    control_character: "{key}: {name} has a control character: write the name without it",
    too_many_runs: "the plan has {n} runs, more than the {most} allowed: split it into several plans",
    twice: "suite {suite} appears twice in round {n}: plan each run once",
    baseline_against_itself: "suite {suite}: model \"{model}\" is the baseline and cannot be compared with itself: leave it out of the models",
    no_baseline: "suite {suite} compares with a baseline model: name one",
    no_judge: "suite {suite} needs a judge: name one or more",
    unknown_suite: "suite {name} is unknown: name one of {known}, or import a suite of your own with its suite file",
    unknown_ablation: "suite {suite} has no ablation {name}: it has {known}",
    unknown_compat: "suite {suite} has no compat switch {name}: it has {known}",
    no_data: "suite {suite} has no data here: import its file with `langya import suite {suite} FILE`",
    no_such_data: "suite {suite} has no data whose SHA-256 begins with {data}: it has {known}",
    unknown_model: "there is no model \"{model}\": the settings have {known}",
    no_prices: "model \"{model}\" has no prices, so no budget can be kept: set input_price and output_price under [[models]], or limit the requests instead",
    no_batches: "model \"{model}\" cannot be asked in batches, because its provider has no batches: plan the others with batches and this one alone",
    judge_named_twice: "judge {name} is named twice: name each one once",
    model_named_twice: "model {name} is named twice: name each one once",
    needs_no_baseline: "suite {suite} uses no baseline: leave it out",
    needs_no_judge: "suite {suite} is scored without a judge: leave judges out",
    nothing_to_judge: "suite {suite} has no model that answers: name one beside the baseline",
    no_suites: "no suite has data here: import files with `langya import suite NAME FILE`",
    suite_taken: "another run is on suite {suite} of this database: wait until it ends, or stop it",
};

pub(super) const CHINESE: PlanRefusalTexts = PlanRefusalTexts {
    no_suite: "计划中没有评测集：请为每个评测集写一个 [[suites]]，其中 suite = \"NAME\"",
    suite_name: "suite：请填写评测集的名称",
    budget: "budget：请填写不小于 0 的金额，例如 2.5",
    max_calls: "max_calls：请填写请求数，例如 1000",
    seed: "seed：请填写 0 到 9223372036854775807 的整数",
    samples: "samples：请填写从 1 开始的轮次，例如 [1, 2]",
    control_character: "{key}：{name} 含有控制字符，请去掉",
    too_many_runs: "计划共有 {n} 次运行，超过上限 {most}：请拆成几个计划",
    twice: "评测集 {suite} 在第 {n} 轮中出现两次：每次运行只能安排一次",
    baseline_against_itself: "评测集 {suite}：模型 \"{model}\" 是基线模型，不能与自己比较，请从作答的模型中去掉",
    no_baseline: "评测集 {suite} 要与基线模型比较：请指定一个",
    no_judge: "评测集 {suite} 需要裁判：请至少指定一个",
    unknown_suite: "没有名为 {name} 的评测集：请从 {known} 中选择，或用评测集文件导入自己的评测集",
    unknown_ablation: "评测集 {suite} 没有消融 {name}，可用的有：{known}",
    unknown_compat: "评测集 {suite} 没有兼容开关 {name}，可用的有：{known}",
    no_data: "此处没有评测集 {suite} 的数据：请用 `langya import suite {suite} FILE` 导入其文件",
    no_such_data: "评测集 {suite} 没有 SHA-256 以 {data} 开头的数据，现有：{known}",
    unknown_model: "没有模型 \"{model}\"，设置中有：{known}",
    no_prices: "模型 \"{model}\" 没有价格，无法控制费用：请在 [[models]] 中设置 input_price 和 output_price，或改为限制请求数",
    no_batches: "模型 \"{model}\" 的服务商不支持批处理：请把其他模型安排为批量提交，单独安排这个模型",
    judge_named_twice: "裁判 {name} 出现两次：每个只能指定一次",
    model_named_twice: "模型 {name} 出现两次：每个只能指定一次",
    needs_no_baseline: "评测集 {suite} 不使用基线模型：请去掉",
    needs_no_judge: "评测集 {suite} 不需要裁判即可评分：请去掉裁判",
    nothing_to_judge: "评测集 {suite} 没有作答的模型：除基线模型外请再指定一个",
    no_suites: "此处没有任何评测集的数据：请用 `langya import suite NAME FILE` 导入文件",
    suite_taken: "此数据库上已有评测集 {suite} 的运行：请等它结束，或停止它",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::benchmark::run_plan::RunPlan;

    #[track_caller]
    fn check(plan: &str, chinese: &str) {
        let error = RunPlan::parse(plan).unwrap_err();
        assert_eq!(ENGLISH.plan(&error), Some(error.to_string()), "as the command says it");
        assert_eq!(CHINESE.plan(&error).as_deref(), Some(chinese));
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_said_in_both_languages() {
        let suite = "[[suites]]\nsuite = \"urs\"\n";
        check("", CHINESE.no_suite);
        check("[[suites]]\n", CHINESE.suite_name);
        check(&format!("budget = -1.0\n{suite}"), CHINESE.budget);
        check(&format!("samples = [0]\n{suite}"), CHINESE.samples);
        check(&format!("{suite}{suite}"), "评测集 urs 在第 1 轮中出现两次：每次运行只能安排一次");
        check(&format!("{suite}data = \"\\u0000\"\n"), "data：\"\\0\" 含有控制字符，请去掉");
        let rounds: Vec<usize> = (1..=MOST_RUNS + 1).collect();
        check(&format!("samples = {rounds:?}\n{suite}"), "计划共有 1001 次运行，超过上限 1000：请拆成几个计划");
        let too_large = |key| RunPlanError::Value { key, expected: "less" };
        assert_eq!(CHINESE.plan(&too_large("max_calls")).as_deref(), Some(CHINESE.max_calls));
        assert_eq!(CHINESE.plan(&too_large("seed")).as_deref(), Some(CHINESE.seed));
        assert_eq!(CHINESE.plan(&RunPlan::parse("models = [").unwrap_err()), None, "the words of the reader of TOML");
    }

    #[test]
    fn a_suite_and_its_participants_are_refused_in_chinese() {
        let unknown = SuiteError::UnknownSuite { name: "x".to_owned(), known: "urs".to_owned() };
        assert_eq!(ENGLISH.suite(&unknown), Some(unknown.to_string()));
        assert!(CHINESE.suite(&unknown).unwrap().starts_with("没有名为 \"x\" 的评测集"));
        assert_eq!(CHINESE.suite(&SuiteError::File("line 1".to_owned())), None);
        assert_eq!(CHINESE.participants("urs", &ParticipantsError::NoJudge), "评测集 urs 需要裁判：请至少指定一个");
    }
}
