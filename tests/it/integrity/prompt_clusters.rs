//! How well prompts are distinguished: real prompts of three benchmarks, and edited copies of them.

use std::collections::BTreeMap;

use langya::domain::integrity::prompts::prompt_cluster::{PromptClusters, PromptSketch, normalized};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::support::ratings::shared;

const SEED: u64 = 7;
/// Prompts that get copies.
const SAMPLE: usize = 600;
/// Characters of a normalised prompt below which it is called short.
const SHORT: usize = 20;

/// First prompts of URS, AlignBench and MT-Bench-101.
fn real_prompts() -> Option<Vec<String>> {
    let folder = shared()?;
    let read = |name: &str| std::fs::read_to_string(folder.join("data").join(name)).unwrap();
    let urs = read("urs.csv");
    let mut prompts: Vec<String> = csv::Reader::from_reader(urs.trim_start_matches('\u{feff}').as_bytes())
        .deserialize::<BTreeMap<String, String>>()
        .map(|row| row.unwrap().remove("question").unwrap())
        .collect();
    let lines = |text: &str, pointer: &str| -> Vec<String> {
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row.pointer(pointer).unwrap().as_str().unwrap().to_owned()).collect()
    };
    prompts.extend(lines(&read("alignbench_v1.1.jsonl"), "/question"));
    prompts.extend(lines(&read("mtbench101.jsonl"), "/history/0/user"));
    Some(prompts)
}

/// Copies as a script or a person would edit them, by what was done.
fn copies(prompt: &str, rng: &mut ChaCha8Rng) -> Vec<(&'static str, String)> {
    let chinese = prompt.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let characters: Vec<char> = prompt.chars().collect();
    let at = rng.random_range(0..characters.len());
    let (head, tail): (String, String) = (characters[..at].iter().collect(), characters[at + 1..].iter().collect());
    let mut copies = vec![
        (
            "case and punctuation",
            prompt.to_uppercase().trim_end_matches(['.', '?', '!', '。', '？']).to_owned() + " !!",
        ),
        ("a greeting before", format!("{}{prompt}", if chinese { "请问" } else { "Please: " })),
        ("thanks behind", format!("{prompt}{}", if chinese { " 谢谢！" } else { " Thanks!" })),
        ("a counter behind", format!("{prompt} ({})", rng.random_range(1..1_000))),
        ("a character missing", format!("{head}{tail}")),
        ("a character replaced", format!("{head}{}{tail}", if chinese { '的' } else { 'x' })),
    ];
    let words: Vec<&str> = prompt.split(' ').collect();
    if words.len() > 1 {
        let (mut swapped, mut replaced) = (words.clone(), words);
        let at = rng.random_range(0..swapped.len() - 1);
        swapped.swap(at, at + 1);
        replaced[at] = "really";
        copies.extend([("words swapped", swapped.join(" ")), ("a word replaced", replaced.join(" "))]);
    }
    copies
}

#[test]
#[ignore = "slow: tests/run runs it"]
fn edited_copies_of_real_prompts_are_found_and_other_prompts_stay_apart() {
    let Some(prompts) = real_prompts() else { return };
    println!("seed {SEED}");
    let mut clusters = PromptClusters::default();
    let mut leaders: Vec<&str> = Vec::new();
    for prompt in &prompts {
        let (before, known) = (clusters.len(), clusters.distinct_prompts());
        let cluster = clusters.assign(&PromptSketch::new(prompt));
        if clusters.len() > before {
            leaders.push(prompt);
        } else if clusters.distinct_prompts() > known {
            println!("one cluster: {:.70} | {:.70}", leaders[cluster as usize].trim(), prompt.trim());
        }
    }
    let (distinct, merged) = (clusters.distinct_prompts(), clusters.distinct_prompts() - clusters.len());
    println!("{} prompts, {distinct} distinct, {merged} nearly the same as an earlier one", prompts.len());
    assert!(merged > 0 && merged * 100 < distinct, "at most one in a hundred");

    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut found: BTreeMap<(&str, bool), [u32; 2]> = BTreeMap::new();
    for prompt in prompts.sample(&mut rng, SAMPLE) {
        let cluster = clusters.cluster_of(&PromptSketch::new(prompt));
        let is_short = normalized(prompt).chars().count() < SHORT;
        for (edit, copy) in copies(prompt, &mut rng) {
            let [all, same] = found.entry((edit, is_short)).or_default();
            *all += 1;
            *same += u32::from(clusters.cluster_of(&PromptSketch::new(&copy)) == cluster);
        }
    }
    for ((edit, is_short), [all, same]) in found {
        let share = f64::from(same) / f64::from(all);
        println!("{edit}, {}: {same} of {all} copies found, {share:.3}", if is_short { "short" } else { "long" });
        let least = match edit {
            "case and punctuation" => 0.999,
            "a word replaced" if !is_short => 0.3,
            "a word replaced" | "words swapped" if is_short => 0.0,
            _ if is_short => 0.1,
            _ => 0.9,
        };
        assert!(share >= least, "{edit}: {share}");
    }
}
