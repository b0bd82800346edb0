//! The contract of labels of prompts.

use langya::domain::labeling::LabelOrigin::{self, Model, Review, Seed, Visitor};
use langya::domain::labeling::scheme::Scheme::{self, Superclue, Urs};
use langya::domain::time::Timestamp;
use langya::infra::storage::{LabelSource, NewLabel, Store, StoreError, VoteRange};

use super::{ready, vote};

async fn put(store: &Store, by: (Scheme, LabelOrigin, &str), rows: &[(&str, &str, Option<f64>)], at: i64) -> u64 {
    let (scheme, source, name) = by;
    let labels: Vec<NewLabel> =
        rows.iter().map(|&(query_id, label, confidence)| NewLabel { query_id, label, confidence }).collect();
    store.put_labels(LabelSource { scheme, source, name }, &labels, Timestamp(at)).await.unwrap()
}

/// All labels as short texts.
async fn labels(store: &Store, scheme: Scheme) -> Vec<String> {
    let found = store.labels_between(scheme, "", "z").await.unwrap();
    let text = |label: langya::domain::labeling::report::PromptLabel| {
        format!("{} {} {}:{}", label.query_id, label.source.as_str(), label.labeled_by, label.label)
    };
    found.into_iter().map(text).collect()
}

pub(super) async fn labels_are_kept_by_who_gave_them(store: &Store) {
    for id in ["x", "y"] {
        ready(store, id).await;
        store.insert_vote(&vote(&format!("vote of {id}"), id, 1)).await.unwrap();
    }
    assert_eq!(store.labels_changed_at().await.unwrap(), Timestamp(0));
    let third = 0.1 + 0.2;
    assert_eq!(
        put(store, (Superclue, Model, ""), &[("x", "safety", Some(third)), ("y", "safety", Some(0.9))], 1).await,
        2
    );
    assert_eq!(
        put(store, (Superclue, Model, ""), &[("x", "safety", Some(third)), ("y", "calculation", Some(0.9))], 2).await,
        1
    );
    assert_eq!(put(store, (Superclue, Review, "ann"), &[("x", "small_talk", None)], 3).await, 1);
    assert_eq!(put(store, (Superclue, Review, "ann"), &[("x", "small_talk", None)], 4).await, 0);
    assert_eq!(put(store, (Superclue, Review, "琳"), &[("x", "safety", None)], 5).await, 1);
    assert_eq!(put(store, (Urs, Seed, ""), &[("x", "leisure", None)], 6).await, 1);
    assert_eq!(store.labels_changed_at().await.unwrap(), Timestamp(6));
    let expected = ["x model :safety", "x review ann:small_talk", "x review 琳:safety", "y model :calculation"];
    assert_eq!(labels(store, Superclue).await, expected);
    assert_eq!(labels(store, Urs).await, ["x seed :leisure"]);
    assert_eq!(store.labels_between(Superclue, "x", "y").await.unwrap().len(), 1, "after the first, up to the last");
    let of_votes = store.labels_of_votes(Superclue, VoteRange::ALL).await.unwrap();
    assert_eq!(of_votes.iter().map(|label| label.seq).collect::<Vec<_>>(), [1, 1, 1, 2]);
    assert!(of_votes.iter().all(|label| label.rated && label.given.as_deref() == Some("maths")), "{of_votes:?}");
    let second = VoteRange { after: 1, ..VoteRange::ALL };
    assert_eq!(store.labels_of_votes(Superclue, second).await.unwrap().len(), 1);
    let of_intents = store.labels_of_votes(Urs, VoteRange::ALL).await.unwrap();
    assert_eq!((of_intents.len(), &of_intents[0].given), (1, &None));

    let nobodys = [
        NewLabel { query_id: "x", label: "leisure", confidence: None },
        NewLabel { query_id: "nobody's", label: "leisure", confidence: None },
    ];
    let by = LabelSource { scheme: Urs, source: Review, name: "ann" };
    let refused = store.put_labels(by, &nobodys, Timestamp(7)).await;
    assert!(matches!(refused, Err(StoreError::Database(_))), "{refused:?}");
    assert_eq!(labels(store, Urs).await, ["x seed :leisure"], "all of it or nothing");
}

pub(super) async fn the_queue_leaves_out_what_is_known(store: &Store) {
    for id in ["p", "q", "r", "s"] {
        ready(store, id).await;
    }
    assert!(store.has_query("p").await.unwrap() && !store.has_query("z").await.unwrap());
    let known = store.queries_after("p", 2).await.unwrap();
    assert_eq!(
        known.iter().map(|query| (query.id.as_str(), query.prompt.as_str())).collect::<Vec<_>>(),
        [("q", "琅琊榜?"), ("r", "琅琊榜?")]
    );
    let sure = [
        ("p", "safety", Some(0.8)),
        ("q", "safety", Some(0.3)),
        ("r", "safety", Some(0.8)),
        ("s", "safety", Some(0.1)),
    ];
    put(store, (Superclue, Model, ""), &sure, 1).await;
    put(store, (Superclue, Seed, ""), &[("s", "safety", None)], 2).await;
    put(store, (Superclue, Review, "ann"), &[("q", "safety", None)], 3).await;
    put(store, (Urs, Review, "ben"), &[("p", "leisure", None)], 4).await;
    for (scheme, reviewer, limit, expected) in [
        (Superclue, "ann", 9, vec!["p", "r"]),
        (Superclue, "ben", 9, vec!["q", "p", "r"]),
        (Superclue, "ben", 1, vec!["q"]),
        (Urs, "ben", 9, vec![]),
    ] {
        let queue = store.review_queue(scheme, reviewer, limit).await.unwrap();
        assert_eq!(queue.iter().map(|query| query.query_id.as_str()).collect::<Vec<_>>(), expected, "{reviewer}");
    }
    let first = &store.review_queue(Superclue, "ben", 1).await.unwrap()[0];
    assert_eq!(
        (first.text.as_str(), first.suggested.as_str(), first.confidence.to_bits()),
        ("琅琊榜?", "safety", 0.3_f64.to_bits())
    );
    put(store, (Superclue, Visitor, ""), &[("r", "small_talk", None), ("s", "small_talk", None)], 5).await;
    for (limit, expected) in
        [(9, "r small_talk, q safety, p safety"), (2, "r small_talk, q safety"), (1, "r small_talk")]
    {
        let queue = store.review_queue(Superclue, "ben", limit).await.unwrap();
        let queue: Vec<String> = queue.iter().map(|query| format!("{} {}", query.query_id, query.suggested)).collect();
        assert_eq!(queue.join(", "), expected, "corrections come first, and none of a labelled example");
    }
    put(store, (Superclue, Review, "ben"), &[("r", "safety", None)], 6).await;
    let left = store.review_queue(Superclue, "ben", 9).await.unwrap();
    assert!(left.iter().all(|query| query.query_id != "r"), "{left:?}");
    let of_one = store.labels_of_prompt(Superclue, "r").await.unwrap();
    let of_one: Vec<&str> = of_one.iter().map(|label| label.source.as_str()).collect();
    assert_eq!(of_one, ["model", "review", "visitor"]);
}
