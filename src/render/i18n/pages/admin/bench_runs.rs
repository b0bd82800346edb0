//! Texts of the pages of benchmark runs.

use super::bench_plans::{self, BenchPlanTexts};
use crate::domain::benchmark::runs::run_state::RunState;

/// The texts of one language.
pub struct BenchRunTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub none: &'static str,
    pub caption: &'static str,
    pub suite: &'static str,
    pub round: &'static str,
    pub state: &'static str,
    pub models: &'static str,
    pub judges: &'static str,
    pub compared_with: &'static str,
    pub answers: &'static str,
    pub judgements: &'static str,
    pub cost: &'static str,
    pub expected: &'static str,
    pub expected_unknown: &'static str,
    pub requests: &'static str,
    pub started: &'static str,
    pub changed: &'static str,
    pub error: &'static str,
    pub running: &'static str,
    pub done: &'static str,
    pub over_budget: &'static str,
    pub stopped: &'static str,
    pub failed: &'static str,
    pub interrupted: &'static str,
    pub plan: BenchPlanTexts,
}

impl BenchRunTexts {
    /// Display name of a state.
    pub fn state(&self, state: RunState) -> &'static str {
        match state {
            RunState::Running => self.running,
            RunState::Done => self.done,
            RunState::OverBudget => self.over_budget,
            RunState::Stopped => self.stopped,
            RunState::Failed => self.failed,
            RunState::Interrupted => self.interrupted,
        }
    }
}

pub(super) const ENGLISH: BenchRunTexts = BenchRunTexts {
    title: "Benchmark runs",
    lead: "Runs of plans and of langya bench, the latest first. Start the same plan or command again to continue an unfinished run: \
           nothing that is already stored is requested or paid for again.",
    none: "No run yet. Plan one here, or begin one with: langya bench run SUITE --judge ID",
    caption: "Runs",
    suite: "Suite",
    round: "round {n}",
    state: "State",
    models: "Models",
    judges: "Judges",
    compared_with: "compared with {model}",
    answers: "Answers",
    judgements: "Judgements",
    cost: "Cost so far",
    expected: "Expected",
    expected_unknown: "not known: prices are missing",
    requests: "Requests",
    started: "Started",
    changed: "Last change",
    error: "Last error",
    running: "running",
    done: "done",
    over_budget: "budget used up",
    stopped: "stopped",
    failed: "incomplete",
    interrupted: "interrupted",
    plan: bench_plans::ENGLISH,
};

pub(super) const CHINESE: BenchRunTexts = BenchRunTexts {
    title: "评测运行",
    lead: "计划和 langya bench 的运行记录，最近的在前。对未完成的运行，用同样的计划或命令即可继续：已保存的内容不会再次询问，也不会再次付费。",
    none: "尚无运行。可在此安排，或用以下命令开始：langya bench run SUITE --judge ID",
    caption: "运行记录",
    suite: "评测集",
    round: "第 {n} 轮",
    state: "状态",
    models: "模型",
    judges: "裁判",
    compared_with: "与 {model} 比较",
    answers: "回答",
    judgements: "评判",
    cost: "已花费",
    expected: "预计",
    expected_unknown: "未知：缺少价格",
    requests: "请求数",
    started: "开始时间",
    changed: "最近变化",
    error: "最近的错误",
    running: "运行中",
    done: "已完成",
    over_budget: "预算已用完",
    stopped: "已停止",
    failed: "未完成",
    interrupted: "已中断",
    plan: bench_plans::CHINESE,
};
