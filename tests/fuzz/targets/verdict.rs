//! Whatever a judge replies, it is a verdict in range or an error: read by every form, every suite and the benchmarks' own
//! programs' ways.

#![no_main]

use std::sync::LazyLock;

use langya::domain::benchmark::item::Item;
use langya::domain::benchmark::suites::superclue::construction::Draft;
use langya::domain::benchmark::{Suite, SuiteOptions, custom_suite, suite};
use langya::domain::judging::reasoning::SplitReply;
use langya::domain::judging::verdict::pairwise::VerdictScale;
use langya::domain::judging::verdict::{self, Rating, SCORE_RANGE, Verdict};
use libfuzzer_sys::fuzz_target;

const DIMENSIONS: [&str; 3] = ["事实正确性", "Clarity", "user satisfaction"];

/// Every suite with the items of its sample.
static SUITES: LazyLock<Vec<(Box<dyn Suite>, Vec<Item>)>> = LazyLock::new(|| {
    let options = SuiteOptions::default();
    let samples: [(&str, &[u8]); 5] = [
        ("superclue-open", include_bytes!("../../data/suites/superclue_open.jsonl")),
        ("superclue-close", include_bytes!("../../data/suites/superclue_close.jsonl")),
        ("urs", include_bytes!("../../data/suites/urs.csv")),
        ("alignbench", include_bytes!("../../data/suites/alignbench.jsonl")),
        ("mtbench101", include_bytes!("../../data/suites/mtbench101.jsonl")),
    ];
    let own =
        custom_suite(include_str!("../../data/suites/house_rules.toml"), &options).expect("the sample is a suite");
    let own_items: &[u8] = include_bytes!("../../data/suites/house_rules.jsonl");
    samples
        .into_iter()
        .map(|(name, items)| (suite(name, &options).expect("a suite of this name is built in"), items))
        .chain([(own, own_items)])
        .map(|(suite, items)| {
            let items = suite.read(items).expect("the sample can be read");
            (suite, items)
        })
        .collect()
});

fuzz_target!(|reply: &str| {
    let ours = [verdict::bracketed_score::parse(reply), verdict::dimension_scores::parse(reply, &DIMENSIONS)];
    ours.iter().flatten().for_each(check);
    // The benchmarks' own programs take any number.
    let official = [
        verdict::original_parsers::alignbench(reply),
        verdict::original_parsers::mtbench101(reply),
        verdict::original_parsers::urs(reply, &DIMENSIONS),
    ];
    assert!(official.iter().flatten().all(|rating| rating.score.is_finite()), "{official:?}");
    // Any answer will do from these; only a panic is wrong.
    let _ = (
        verdict::pairwise::parse(reply),
        verdict::option_letter::parse(reply),
        verdict::original_parsers::fastchat(reply),
    );
    let _ = (VerdictScale::Three.parse(reply), VerdictScale::Five.parse(reply));
    let _ = Draft::parse(reply);
    let SplitReply { reasoning, reply: said } = SplitReply::split(reply);
    assert!(reply.ends_with(said) && reply.contains(reasoning), "{reply:?}");
    for (suite, items) in SUITES.iter() {
        for item in items {
            if let Ok(Verdict::Rating(rating)) = suite.parse(item, reply) {
                check(&rating);
            }
        }
    }
});

fn check(rating: &Rating) {
    assert!(SCORE_RANGE.contains(&rating.score), "{rating:?}");
    assert!(rating.dimensions.values().all(|score| SCORE_RANGE.contains(score)), "{rating:?}");
}
