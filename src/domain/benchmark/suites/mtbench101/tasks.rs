//! The thirteen tasks with their abilities, tiers and judged turns.

use crate::benchmark::item::Item;

/// Task: a group of dialogues that test the same skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DialogueTask {
    /// Two-letter code.
    pub code: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Ability that the task belongs to.
    pub ability: &'static str,
    /// Tier of the ability.
    pub tier: &'static str,
    /// Whether the first turn only provides context.
    pub skips_first: bool,
    /// Whether the judge sees the golden answer.
    pub has_reference: bool,
}

const fn task(code: &'static str, title: &'static str, ability: &'static str, tier: &'static str) -> DialogueTask {
    DialogueTask { code, title, ability, tier, skips_first: false, has_reference: false }
}

const fn from_second(task: DialogueTask) -> DialogueTask {
    DialogueTask { skips_first: true, ..task }
}

const fn with_reference(task: DialogueTask) -> DialogueTask {
    DialogueTask { has_reference: true, ..task }
}

/// Tasks in the paper's order.
pub const TASKS: [DialogueTask; 13] = [
    from_second(task("CM", "Context memory", "Memory", "Perceptivity")),
    task("SI", "Separate input", "Understanding", "Perceptivity"),
    from_second(task("AR", "Anaphora resolution", "Understanding", "Perceptivity")),
    task("TS", "Topic shift", "Interference", "Perceptivity"),
    task("CC", "Content confusion", "Interference", "Perceptivity"),
    from_second(task("CR", "Content rephrasing", "Rephrasing", "Adaptability")),
    from_second(task("FR", "Format rephrasing", "Rephrasing", "Adaptability")),
    from_second(task("SC", "Self-correction", "Reflection", "Adaptability")),
    from_second(task("SA", "Self-affirmation", "Reflection", "Adaptability")),
    with_reference(task("MR", "Mathematical reasoning", "Reasoning", "Adaptability")),
    with_reference(task("GR", "General reasoning", "Reasoning", "Adaptability")),
    task("IC", "Instruction clarification", "Questioning", "Interactivity"),
    task("PI", "Proactive interaction", "Questioning", "Interactivity"),
];

/// Seven abilities in the paper's order.
pub const ABILITIES: [&str; 7] =
    ["Memory", "Understanding", "Interference", "Rephrasing", "Reflection", "Reasoning", "Questioning"];

/// Three tiers in the paper's order.
pub const TIERS: [&str; 3] = ["Perceptivity", "Adaptability", "Interactivity"];

/// Returns a task by its code.
#[must_use]
pub fn task_of(code: &str) -> Option<&'static DialogueTask> {
    TASKS.iter().find(|task| task.code == code)
}

/// Returns the judged turns of a dialogue.
pub fn judged_turns(item: &Item) -> impl Iterator<Item = u32> + use<> {
    let first = first_judged(item);
    item.turn_numbers().skip_while(move |turn| *turn < first)
}

pub(super) fn first_judged(item: &Item) -> u32 {
    if task_of(&item.category).is_some_and(|task| task.skips_first) { 2 } else { 1 }
}
