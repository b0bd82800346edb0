//! README of a published data set of votes, with the YAML front matter of dataset hubs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Statistics of a data set, counted while it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatasetStatistics {
    /// Number of votes.
    pub votes: u64,
    /// Number of rated votes.
    pub rated: u64,
    /// Excluded votes by rule.
    pub excluded: BTreeMap<String, u64>,
    /// Votes by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Votes by language.
    pub languages: BTreeMap<String, u64>,
    /// Votes by model.
    pub models: BTreeMap<String, u64>,
    /// Number of distinct voters with a pseudonym.
    pub voters: u64,
    /// Dates of the first and the last vote.
    pub days: Option<(String, String)>,
    /// Log numbers of the first and the last vote.
    pub sequence: Option<(i64, i64)>,
}

/// Metadata of a data set given by the operator.
#[derive(Debug, Clone)]
pub struct DatasetFacts<'f> {
    /// The arena's name.
    pub name: &'f str,
    /// Its licence in the spelling of hubs, such as `cc-by-4.0`.
    pub licence: &'f str,
    /// Whether it includes conversations.
    pub with_text: bool,
    /// The vote after which it begins; 0 for the whole log.
    pub after: i64,
    /// The program and its version.
    pub program: &'f str,
}

/// ISO 639-1 code of one of the arena's languages, for the front matter; other languages are listed only in the table.
fn language_code(name: &str) -> Option<&'static str> {
    const CODES: [(&str, &str); 16] = [
        ("English", "en"),
        ("Chinese", "zh"),
        ("German", "de"),
        ("French", "fr"),
        ("Spanish", "es"),
        ("Russian", "ru"),
        ("Japanese", "ja"),
        ("Korean", "ko"),
        ("Portuguese", "pt"),
        ("Italian", "it"),
        ("Dutch", "nl"),
        ("Turkish", "tr"),
        ("Arabic", "ar"),
        ("Hindi", "hi"),
        ("Vietnamese", "vi"),
        ("Polish", "pl"),
    ];
    CODES.iter().find(|(known, code)| name == *known || name == *code).map(|(_, code)| *code)
}

/// Renders the README.
#[must_use]
pub fn data_card(facts: &DatasetFacts<'_>, found: &DatasetStatistics) -> String {
    let mut card = head(facts, found);
    let name = in_one_line(facts.name);
    let _ = write!(
        card,
        "\n# Votes of {name}\n\nPeople compared the replies of two hidden models and voted. One row is one vote, in the order of the arena's log, with the column \
         names of LMArena's files where it has them. Written by {}.\n\n",
        facts.program
    );
    card.push_str("## What is in it\n\n| | |\n|---|---|\n");
    let mut line = |name: &str, value: String| {
        let _ = writeln!(card, "| {name} | {value} |");
    };
    line("votes", found.votes.to_string());
    line("rated votes", found.rated.to_string());
    line("voters with a pseudonym", found.voters.to_string());
    if let Some((first, last)) = &found.days {
        line("from, to", format!("{first}, {last}"));
    }
    if let Some((first, last)) = found.sequence {
        line("`seq` of the first and the last vote", format!("{first}, {last}"));
    }
    for (title, counts) in [
        ("Outcomes", &found.outcomes),
        ("Exclusions", &found.excluded),
        ("Languages", &found.languages),
        ("Models", &found.models),
    ] {
        card.push_str(&table(title, counts));
    }
    card.push_str(&usage_notes(facts, found));
    card
}

fn head(facts: &DatasetFacts<'_>, found: &DatasetStatistics) -> String {
    let mut head =
        format!("---\nlicense: {}\npretty_name: {}\n", yaml(facts.licence), yaml(&format!("Votes of {}", facts.name)));
    let mut codes: Vec<&str> = found.languages.keys().filter_map(|name| language_code(name)).collect();
    codes.sort_unstable();
    codes.dedup();
    if !codes.is_empty() {
        head.push_str("language:\n");
        codes.iter().for_each(|code| head.push_str(&format!("- {code}\n")));
    }
    let size = match found.votes {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        _ => "1M<n<10M",
    };
    let _ = write!(
        head,
        "size_categories:\n- {}\ntask_categories:\n- text-generation\ntags:\n- preference\n- human-feedback\n- arena\nconfigs:\n- config_name: votes\n  \
         default: true\n  data_files:\n  - split: train\n    path: data/votes-*.parquet\n---\n",
        yaml(size)
    );
    head
}

fn usage_notes(facts: &DatasetFacts<'_>, found: &DatasetStatistics) -> String {
    let last = found.sequence.map_or(facts.after, |(_, last)| last);
    let texts = if facts.with_text {
        "`conversation_a` and `conversation_b` are JSON texts: lists of messages with `role` and `content`. Texts that visitors deleted are not in it."
    } else {
        "Prompts and replies are not in it."
    };
    let part = if facts.after > 0 {
        format!(
            "This is a part: it begins after vote {} of the log. Put its shards beside those of the parts before it.",
            facts.after
        )
    } else {
        "It begins with the first vote of the log.".to_owned()
    };
    format!(
        "\n## What to know\n\n- `judge` is a pseudonym: the same for all votes of one session, with no way back to a person or an address.\n- `rated` says whether a \
         vote counts towards ratings, and `exclusion` which published rule excludes it. Both are as of the day of this export; an exclusion that was decided \
         or withdrawn later is only in a later export.\n- {texts}\n- Left out: battles without a vote, named and direct talks, addresses, sessions, receipts, and what was asked after \
         a vote.\n- {part} The next part is `langya export dataset DIR --since-seq {last}`.\n- `SHA256SUMS` has the sum of every other file: `sha256sum --check SHA256SUMS`.\n\n\
         ## Reading it\n\n```python\nimport pandas as pd\nvotes = pd.read_parquet(\"data\")\n```\n\n`langya import votes .` and then `langya fit` give the arena's ratings \
         again.\n\nLicence: {}.\n",
        in_one_line(facts.licence)
    )
}

fn table(title: &str, counts: &BTreeMap<String, u64>) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let mut rows: Vec<(&String, &u64)> = counts.iter().collect();
    rows.sort_by_key(|&(name, votes)| (std::cmp::Reverse(votes), name));
    let lines = rows.into_iter().map(|(name, votes)| format!("| {} | {votes} |\n", cell(name)));
    format!("\n### {title}\n\n| | votes |\n|---|---:|\n{}", lines.collect::<String>())
}

/// Escapes a name for a cell of a Markdown table.
fn cell(name: &str) -> String {
    if name.is_empty() {
        return "–".to_owned();
    }
    in_one_line(name).chars().fold(String::new(), |mut cell, c| {
        if c.is_ascii_punctuation() && !"-_.:,/ ".contains(c) {
            cell.push('\\');
        }
        cell.push(c);
        cell
    })
}

fn in_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Quotes a text for YAML, as a JSON string where needed.
fn yaml(text: &str) -> String {
    let is_plain = text.chars().next().is_some_and(|c| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
        pairs.iter().map(|(name, votes)| ((*name).to_owned(), *votes)).collect()
    }

    #[test]
    fn a_card_has_the_head_that_hubs_read_and_what_was_left_out() {
        let found = DatasetStatistics {
            votes: 1_500,
            rated: 1_490,
            excluded: counts(&[("identity_leak", 10)]),
            languages: counts(&[("English", 1_000), ("Chinese", 499), ("Klingon", 1)]),
            models: counts(&[("a|b\n# <script>", 3), ("m", 4)]),
            sequence: Some((8, 1_507)),
            ..DatasetStatistics::default()
        };
        let facts = DatasetFacts {
            name: "Arena: \"one\"",
            licence: "cc-by-4.0",
            with_text: false,
            after: 7,
            program: "langya 1",
        };
        let card = data_card(&facts, &found);
        let head = "---\nlicense: cc-by-4.0\npretty_name: \"Votes of Arena: \\\"one\\\"\"\nlanguage:\n- en\n- zh\nsize_categories:\n- \"1K<n<10K\"\n";
        assert!(card.starts_with(head), "{card}");
        for part in [
            "path: data/votes-*.parquet\n---\n",
            "| identity_leak | 10 |",
            "| a\\|b \\# \\<script\\> | 3 |",
            "after vote 7",
            "--since-seq 1507",
        ] {
            assert!(card.contains(part), "{part:?} is missing in {card}");
        }
    }
}
