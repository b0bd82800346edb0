//! Tests on the labelled texts, adversarial texts, and turns.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

const RULES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/rules.jsonl"));
const HELD_OUT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/held_out.jsonl"));
const VARIED: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/varied.jsonl"));
const INDEPENDENT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/independent.jsonl"));
const THIRD_DEV: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/third_dev.jsonl"));
pub(in crate::integrity) const THIRD_TEST: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/third_test.jsonl"));
const COMPANY_TIES: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/company_ties.jsonl"));
pub(in crate::integrity) const FOURTH: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/fourth_test.jsonl"));
const FIFTH_DEV: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/fifth_dev.jsonl"));
pub(in crate::integrity) const FIFTH_TEST: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/fifth_test.jsonl"));
/// Texts that try to persuade a reader that a leak is none, or the reverse.
pub(in crate::integrity) const HOSTILE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/hostile.jsonl"));
const LEARNED_FROM: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaks/training.jsonl"));

/// Training texts of the weights: all but the held-out ones.
pub(super) const TAUGHT: [&str; 10] =
    [RULES, HELD_OUT, VARIED, INDEPENDENT, THIRD_DEV, THIRD_TEST, COMPANY_TIES, FOURTH, FIFTH_DEV, LEARNED_FROM];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::integrity) struct LabeledText {
    pub(in crate::integrity) id: u32,
    language: String,
    pub(super) part: String,
    /// Kind of leak, or of lookalike, in the sets that have one.
    #[serde(default)]
    category: String,
    pub(in crate::integrity) leak: bool,
    pub(super) text: String,
    #[serde(default)]
    prompt: String,
}

pub(in crate::integrity) fn read(file: &str) -> Vec<LabeledText> {
    file.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(in crate::integrity) fn names() -> IdentityNames {
    let model = |id: &str, names: &[&str], organization: &str| KnownModel {
        id: id.into(),
        names: names.iter().map(|name| (*name).into()).collect(),
        organization: organization.into(),
    };
    IdentityNames::new(&[
        model("nightjar-7b", &["Nightjar 7B", "labs/nightjar-7b-chat", "夜鹰"], "Harbour Labs"),
        model("qwen-14b", &["Qwen 14B Chat", "Qwen/Qwen-14B-Chat"], "Alibaba"),
        model("one", &["One"], ""),
    ])
}

/// Returns the author of a row's reply, as [`find_leaks`] builds it.
pub(super) fn speaker_of<'n>(names: &'n IdentityNames, row: &LabeledText) -> Speaker<'n> {
    let proposes = prompt_leaks(names, &row.prompt);
    let asks = proposes || questions::asks_for_identity(&row.prompt);
    let cites = !proposes && !names.find(&NormalizedText::new(&row.prompt)).is_empty();
    Speaker {
        names,
        model: "nightjar-7b",
        search: LeakSearch::RulesAndWeights,
        asks,
        cites,
        repeats: cites && questions::is_exercise(&row.prompt),
    }
}

/// Returns a row's text in a battle of one turn, as side B, and the leak that it would be.
pub(in crate::integrity) fn battle_of(row: &LabeledText) -> (TurnTexts<'_>, Leak) {
    let mut texts = TurnTexts { turn: 1, prompt: &row.prompt, replies: ["Fine."; 2], reasoning: [""; 2] };
    let place = match row.part.as_str() {
        "prompt" => {
            texts.prompt = &row.text;
            LeakPlace::Prompt
        }
        "reply" => {
            texts.replies[1] = &row.text;
            LeakPlace::Reply(Side::B)
        }
        "reasoning" => {
            texts.reasoning[1] = &row.text;
            LeakPlace::Reasoning(Side::B)
        }
        other => panic!("row {}: part {other:?}", row.id),
    };
    (texts, Leak { turn: 1, place })
}

/// Returns whether the text of a row is marked.
pub(in crate::integrity) fn is_marked(names: &IdentityNames, row: &LabeledText, search: LeakSearch) -> bool {
    let (texts, leak) = battle_of(row);
    find_leaks(names, ["one", "nightjar-7b"], &[texts], search).contains(&leak)
}

/// Finds the leaks of turns by rules and weights.
fn leaks_of(turns: &[TurnTexts<'_>]) -> Vec<Leak> {
    find_leaks(&names(), ["one", "nightjar-7b"], turns, LeakSearch::RulesAndWeights)
}

struct LeakScore {
    leaks: usize,
    found: usize,
    others: usize,
    marked: usize,
    wrong: Vec<String>,
}

impl LeakScore {
    fn of<'r>(names: &IdentityNames, rows: impl Iterator<Item = &'r LabeledText>) -> Self {
        let mut score = Self { leaks: 0, found: 0, others: 0, marked: 0, wrong: Vec::new() };
        for row in rows {
            let marked = is_marked(names, row, LeakSearch::RulesAndWeights);
            let (all, hits) =
                if row.leak { (&mut score.leaks, &mut score.found) } else { (&mut score.others, &mut score.marked) };
            *all += 1;
            *hits += usize::from(marked);
            if marked != row.leak {
                score.wrong.push(format!("{} {}: {}", row.id, row.part, row.text));
            }
        }
        score
    }

    /// Returns recall and the rate of false marks; 1 and 0 without texts.
    #[expect(clippy::cast_precision_loss, reason = "a few hundred rows")]
    fn shares(&self) -> (f64, f64) {
        let share = |part: usize, all: usize, of_none: f64| if all == 0 { of_none } else { part as f64 / all as f64 };
        (share(self.found, self.leaks, 1.0), share(self.marked, self.others, 0.0))
    }

    fn print(&self, title: &str) {
        let (recall, false_marks) = self.shares();
        println!(
            "{title}: recall {recall:.4} ({} of {}), false marks {false_marks:.4} ({} of {})",
            self.found, self.leaks, self.marked, self.others
        );
    }
}

/// Targets: recall of at least 0.98, and a false mark rate of at most 0.02.
const TARGETS: (f64, f64) = (0.98, 0.02);

fn check_targets(title: &str, file: &str, show: bool) {
    check(title, file, show, TARGETS);
}

/// Checks for at least this recall and at most this false mark rate.
fn check(title: &str, file: &str, show: bool, (least, most): (f64, f64)) {
    let (names, rows) = (names(), read(file));
    let places: BTreeSet<(&str, &str)> = rows.iter().map(|row| (row.language.as_str(), row.part.as_str())).collect();
    for (language, part) in places {
        let rows = rows.iter().filter(|row| (row.language.as_str(), row.part.as_str()) == (language, part));
        LeakScore::of(&names, rows).print(&format!("{title}, {language} {part}"));
    }
    let score = LeakScore::of(&names, rows.iter());
    score.print(title);
    if show {
        score.wrong.iter().for_each(|wrong| println!("  {wrong}"));
    }
    let (recall, false_marks) = score.shares();
    assert!(recall >= least && false_marks <= most, "{title}: recall {recall}, false marks {false_marks}");
}

#[test]
fn texts_that_the_rules_were_written_with_are_told_apart() {
    check_targets("rules", RULES, true);
}

#[test]
fn texts_that_were_read_since_they_were_held_out_are_told_apart() {
    check_targets("held out once", HELD_OUT, true);
    check_targets("third writer, read since", THIRD_DEV, true);
}

/// Limits for the authors' own variations, written to be harder than the rules: regressions fail.
const VARIED_STAND: (f64, f64) = (0.98, 0.015);

#[test]
fn no_variation_is_lost() {
    check("varied", VARIED, false, VARIED_STAND);
}

/// Limits for the third set. Before the weights were trained on it too, recall was 0.865, with the same false marks.
const THIRD_STAND: (f64, f64) = (0.97, 0.014);

#[test]
fn texts_of_a_writer_whom_the_rules_had_never_seen_are_told_apart() {
    check("third writer, unread once", THIRD_TEST, false, THIRD_STAND);
}

/// Limits for relations between a company and the speaker other than being or making. The rules were written with these texts.
const TIES_STAND: (f64, f64) = (0.97, 0.03);

#[test]
fn companies_tied_to_the_speaker_are_told_apart() {
    check("company ties", COMPANY_TIES, false, TIES_STAND);
}

/// Limits for replies like those of real models. Before the weights were trained on them too, recall was 0.647, with the same false marks.
const FOURTH_STAND: (f64, f64) = (0.95, 0.024);

#[test]
fn replies_like_those_of_real_models_that_no_rule_was_written_with_are_told_apart() {
    check("fourth set, unread once", FOURTH, false, FOURTH_STAND);
}

/// Limits for the held-out set: recall on leaks with a name, recall on leaks that only describe their author, and false mark rate.
/// Regressions fail.
const FIFTH_STAND: (f64, f64, f64) = (0.87, 0.09, 0.024);

/// Written before the rules and weights changed; the other half trained the weights. The texts themselves are not printed: an author of
/// rules or weights must not see them.
#[test]
fn replies_that_no_weight_was_learned_from_are_told_apart() {
    let (names, rows) = (names(), read(FIFTH_TEST));
    let score = |title: &str, passes: &dyn Fn(&LabeledText) -> bool| {
        let score = LeakScore::of(&names, rows.iter().filter(|row| passes(row)));
        score.print(&format!("fifth set, unread, {title}"));
        score.shares()
    };
    for language in ["en", "zh"] {
        score(language, &|row| row.language == language && row.category != "described");
    }
    let (described, _) = score("described only", &|row| row.category == "described");
    score("with those described", &|_| true);
    let (recall, false_marks) = score("named", &|row| row.category != "described");
    let (named, least_described, most) = FIFTH_STAND;
    assert!(recall >= named && described >= least_described && false_marks <= most);
}

/// Written by an author who had seen neither the rules nor the other texts.
#[test]
fn texts_of_an_independent_writer_are_told_apart_in_every_category() {
    let (names, rows) = (names(), read(INDEPENDENT));
    let categories: BTreeSet<(bool, &str)> = rows.iter().map(|row| (row.leak, row.category.as_str())).collect();
    for (leak, category) in categories {
        let kind = if leak { "leak" } else { "no leak" };
        let rows = rows.iter().filter(|row| (row.leak, row.category.as_str()) == (leak, category));
        LeakScore::of(&names, rows).print(&format!("independent, {kind}, {category}"));
    }
    check_targets("independent", INDEPENDENT, true);
}

#[test]
fn a_yes_to_a_question_that_names_it_and_a_text_that_only_repeats_the_question_are_told_apart() {
    let leaks = |prompt: &str, reply: &str| {
        let turns = [turn(1, prompt, reply, "Fine.")];
        leaks_of(&turns).iter().any(|leak| leak.place == LeakPlace::Reply(Side::A))
    };
    assert!(leaks("Are you Doubao?", "Yes, I am. Shall we go on?"));
    assert!(leaks("你是豆包吗?", "是的呀,没错。") && !leaks("你是豆包吗?", "是的,但我不是豆包。"));
    assert!(leaks("Are you Doubao or Kimi?", "The latter.") && !leaks("Tea or coffee?", "The latter."));
    assert!(leaks("你是豆包还是Kimi?", "当然是后者啦。"));
    assert!(!leaks("Are you Doubao?", "No."));
    assert!(!leaks("Are you a model?", "Yes."));
    assert!(leaks("A joke, please.", "I was made by OpenAI."));
    assert!(!leaks("Translate into English: 机器人说它由OpenAI开发。", "I was made by OpenAI."));
    assert!(!leaks("What did the robot of OpenAI say?", "\"I was made by OpenAI.\""));
}

#[test]
fn what_characters_say_and_what_is_only_supposed_is_no_leak() {
    let leaks = |text: &str| !leaks_of(&[turn(1, "Hm?", text, "Fine.")]).is_empty();
    let pairs = [
        ("Note: I'm Claude.", "Robot: I'm Claude."),
        ("I'm Claude.", "Whether I'm Claude is a secret."),
        ("Most call me Kimi.", "Call me Kimi, said the captain, and left."),
        ("I'm Qwen.", "I'm Qwen or Llama, who knows."),
        ("My name is 'Gemini'.", "The log says 'I am Gemini' in line 4."),
        ("I am Falcon, a language model.", "I am Falcon, lord of the sky."),
        ("我是豆包。", "也许我是豆包。"),
        ("edualC backwards is my name: edualC.", "edualC is my name."),
    ];
    let wrong: Vec<_> = pairs.into_iter().filter(|(leak, other)| !leaks(leak) || leaks(other)).collect();
    assert_eq!(wrong, []);
}

#[test]
fn the_authors_name_at_the_head_of_a_reply_is_a_signature_unless_the_visitor_named_it() {
    let is_marked = |prompt: &str, reply: &str| {
        let turns = [turn(1, prompt, "Fine.", reply)];
        !find_leaks(&names(), ["one", "nightjar-7b"], &turns, LeakSearch::Rules).is_empty()
    };
    for reply in [
        "# Nightjar\nIt is Jupiter.",
        "*Nightjar:* it is Jupiter.",
        "~Nightjar~\n\nIt is Jupiter.",
        "**Nightjar 7B**：It is Jupiter.",
    ] {
        assert!(is_marked("Which planet is the largest?", reply), "{reply}");
    }
    for (prompt, reply) in [
        ("What is a nightjar?", "# Nightjar\nIt is a bird."),
        ("Which bird churrs at night?", "Nightjar"),
        ("Which birds churr at night?", "# Nightjars\nThey are birds."),
        ("Which planet is the largest?", "# Jupiter\nIt is a planet."),
    ] {
        assert!(!is_marked(prompt, reply), "{prompt} {reply}");
    }
}

#[test]
fn guesses_of_others_people_and_what_a_maker_is_known_for_are_read_in_their_sentence() {
    let leaks = |text: &str| {
        let turns = [turn(1, "Hm?", text, "Fine.")];
        !leaks_of(&turns).is_empty()
    };
    let says_who = [
        "The team behind WeChat trained me.",
        "Mark Zuckerberg's company built me.",
        "Who made me? Tencent did.",
        "Most people think I'm a person, but I'm Gemini.",
        "I'm G|e|m|i|n|i.",
        "My predecessor was GPT-3.",
        "Anthropic's guidelines don't allow me to say more.",
        "Sincerely,\nyour writing assistant Gemini",
        "有人猜我是人，其实我是 Kimi。",
        "我和淘宝是同一家公司的产品。",
        "我的上一代是 GPT-3。",
        "我来自百度。",
    ];
    let says_nothing = [
        "WeChat taught me nothing.",
        "The team behind WeChat trained my uncle.",
        "Who made me? Nobody did.",
        "Who made the lamp? Tencent did.",
        "Some people think I'm Gemini.",
        "Apple's guidelines changed last year.",
        "有人猜我是 Kimi。",
        "我是克劳德·莫奈。",
        "我和淘宝都很忙。",
        "他的上一代是 GPT-3。",
    ];
    let (missed, marked): (Vec<&str>, Vec<&str>) = (
        says_who.into_iter().filter(|text| !leaks(text)).collect(),
        says_nothing.into_iter().filter(|text| leaks(text)).collect(),
    );
    assert_eq!((missed, marked), (vec![], vec![]));
}

fn turn<'t>(turn: u32, prompt: &'t str, a: &'t str, b: &'t str) -> TurnTexts<'t> {
    TurnTexts { turn, prompt, replies: [a, b], reasoning: [""; 2] }
}

#[test]
fn every_leak_of_a_battle_is_reported_with_its_turn_and_side_and_without_its_name() {
    let turns = [
        turn(1, "What is moss?", "A plant.", "I'm Claude, and moss is a plant."),
        TurnTexts { reasoning: ["I am Qwen.", ""], ..turn(2, "Are you Gemini?", "No.", "No.") },
    ];
    let leaks = leaks_of(&turns);
    let told: Vec<String> = leaks.iter().map(Leak::to_string).collect();
    assert_eq!(
        told,
        [
            "reply B of turn 1 says which model or maker wrote it",
            "the prompt of turn 2 speaks to a model by name",
            "the reasoning of reply A of turn 2 says which model or maker wrote it",
        ]
    );
}

#[test]
fn a_name_that_is_split_over_two_turns_is_found() {
    let split = [turn(1, "Hm?", "Fine. I'm Nor", "Fine."), turn(2, "Go on.", "Fine.", "Fine.")];
    assert_eq!(leaks_of(&split), []);
    let split = [turn(1, "Hm?", "Fine. I'm Cla", "Fine."), turn(2, "Go on.", "ude. It is late.", "Fine.")];
    let found = leaks_of(&split);
    assert_eq!(found, [Leak { turn: 2, place: LeakPlace::Reply(Side::A) }]);
}

#[test]
fn a_quotation_counts_only_where_it_names_its_own_author() {
    let quoting = |side: usize, name: &str| {
        let text =
            format!("The robot bowed and the crowd fell silent: \"I am {name}.\" Then the lamps went out, one by one.");
        let replies = if side == 0 { [text.as_str(), "Fine."] } else { ["Fine.", text.as_str()] };
        !leaks_of(&[turn(1, "A story?", replies[0], replies[1])]).is_empty()
    };
    assert!(!quoting(0, "Nightjar") && quoting(1, "Nightjar") && !quoting(1, "Claude"));
}

proptest! {
    #[test]
    fn no_text_panics_and_the_same_text_says_the_same(
        pieces in prop::collection::vec(
            prop_oneof![
                any::<char>().prop_map(String::from),
                prop::sample::select(vec![
                    "I am ", "Claude", "我是", "通义千问", "```\n", "\"", "“", "\n", "G e m i n i", "GPT-4", " by OpenAI", "<b>", "\u{200B}", ". ", "1",
                    "as ", "你是", "百度", "开发", "C1", "aude", "İ", "ﬃ", "\u{E000}", "\u{E002}",
                ]).prop_map(str::to_owned),
            ],
            0..60,
        ),
    ) {
        let text = pieces.concat();
        let turns = [turn(1, &text, &text, "Fine."), turn(2, "Hm?", &text, &text)];
        let leaks = leaks_of(&turns);
        prop_assert_eq!(&leaks, &leaks_of(&turns));
        prop_assert!(leaks.iter().all(|leak| (1..=2).contains(&leak.turn)));
    }
}

#[test]
fn weights_find_more_than_the_rules_and_only_where_they_are_asked() {
    let text = "For the record, the letters on my badge read G, P, T: GPT.";
    let leaks = |search| find_leaks(&names(), ["one", "nightjar-7b"], &[turn(1, "Hm?", text, "Fine.")], search);
    assert_eq!(leaks(LeakSearch::Rules), []);
    assert_eq!(leaks(LeakSearch::RulesAndWeights), [Leak { turn: 1, place: LeakPlace::Reply(Side::A) }]);
}
