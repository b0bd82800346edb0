//! What fits read of the votes: pages of many votes, and counts that were kept.

use langya::domain::battle::Outcome;
use langya::domain::battle::text_counts::TextCounts;
use langya::domain::rating::counts::comparison::ComparisonSet;
use langya::domain::rating::counts::pair_votes::TallyProgress;
use langya::domain::rating::leaderboards::ranking::{rank, rank_log};
use langya::domain::rating::options::LeaderboardOptions;
use langya::domain::rating::strengths::elo::EloTable;
use langya::domain::rating::votes::scoring::Scoring;
use langya::domain::rating::votes::vote_log::{ColumnSet, ReplyTiming, VoteLog};
use langya::domain::time::Timestamp;
use langya::infra::storage::{InsertedVote, NewVoteRow, PackedOutcome, Store, StoredCounts, VoteColumn, VoteRange};
use langya::infra::stored_votes::vote_log::{LogQuery, read_log};
use langya::infra::stored_votes::vote_tally::{StoreWhen, VoteTally};

use super::{exclude, ready, vote};

/// Votes of all outcomes; every tenth one is excluded. The clock runs backwards now and then.
pub(super) async fn cast(store: &Store, numbers: std::ops::Range<i64>) {
    for number in numbers {
        let id = format!("v{number}");
        ready(store, &id).await;
        let cast = NewVoteRow {
            outcome: Outcome::ALL[usize::try_from(number * 7 % 4).unwrap()],
            created_at: Timestamp(1_000 * (number ^ 1)),
            ..vote(&id, &id, 1)
        };
        assert_eq!(store.insert_vote(&cast).await.unwrap(), InsertedVote::Stored);
        if number % 10 == 9 {
            exclude(store, &id, ["admin", "not_rated"][usize::from(number == 9)]).await;
        }
    }
}

pub(super) async fn whole_log(store: &Store, wanted: ColumnSet) -> VoteLog {
    read_log(store, LogQuery { columns: wanted, range: VoteRange::ALL, concurrency: 2 }, |_, _| {}).await.unwrap()
}

pub(super) async fn stored_counts_equal_a_fresh_count(store: &Store) {
    cast(store, 0..25).await;
    let mut before = VoteTally::default();
    assert_eq!(before.catch_up(store, |_| {}).await.unwrap(), 25);
    before.store(store, StoreWhen::ManyNew).await.unwrap();
    assert_eq!(store.vote_counts().await.unwrap(), None, "few new votes are stored only at shutdown");
    before.store(store, StoreWhen::AnyNew).await.unwrap();
    assert_eq!(store.vote_counts().await.unwrap().unwrap().last_vote_seq, before.last_seq());
    cast(store, 25..29).await;
    let (mut after, mut counted) = (VoteTally::default(), 0);
    let mut count = |event: TallyProgress<'_>| match event {
        TallyProgress::Reset => counted = 0,
        TallyProgress::Pair(_, votes) => counted += votes.total(),
    };
    assert_eq!(after.catch_up(store, &mut count).await.unwrap(), 4, "only new votes are read");
    cast(store, 29..32).await;
    assert_eq!(after.catch_up(store, &mut count).await.unwrap(), 32, "all votes are read again after an exclusion");
    assert_eq!((after.counts.read, counted), (32, 29), "every rated vote is counted once");
    assert_eq!(after.catch_up(store, |_| panic!("nothing is new")).await.unwrap(), 0);

    let log = whole_log(store, ColumnSet::default()).await;
    assert_eq!(after.counts.comparisons, ComparisonSet::from_log(&log));
    assert_eq!(after.counts.elo, EloTable::from_log(&log, Scoring::default()), "to the last bit");
    assert_eq!(after.counts.excluded, log.excluded);
    let options = LeaderboardOptions::default();
    let mut leaderboard = rank(&after.counts.comparisons, &after.counts.elo, &options).unwrap();
    leaderboard.votes.exclude(&after.counts.excluded);
    assert_eq!(leaderboard, rank_log(&log, &options).unwrap());
}

pub(super) async fn counts_of_more_votes_stay(store: &Store) {
    let counts = |seq, body: &str| StoredCounts { last_vote_seq: seq, body: body.into() };
    store.put_vote_counts(&counts(7, "seven")).await.unwrap();
    store.put_vote_counts(&counts(6, "six")).await.unwrap();
    assert_eq!(store.vote_counts().await.unwrap(), Some(counts(7, "seven")));
    store.put_vote_counts(&counts(8, "eight")).await.unwrap();
    assert_eq!(store.vote_counts().await.unwrap(), Some(counts(8, "eight")));
}

pub(super) async fn the_log_is_read_in_pages_with_the_columns_that_are_wanted(store: &Store) {
    assert_eq!(store.vote_page(VoteRange::ALL, &[]).await.unwrap().rows().count(), 0);
    cast(store, 0..12).await;
    let last = store.last_vote_seq().await.unwrap();
    let first = VoteRange { upto: last - 3, ..VoteRange::ALL };
    let rest = VoteRange { after: last - 3, ..VoteRange::ALL };
    let first = store.vote_page(first, &[VoteColumn::Turn, VoteColumn::Language]).await.unwrap();
    let rest = store.vote_page(rest, &[VoteColumn::CreatedAt]).await.unwrap();
    assert_eq!((first.votes, rest.votes), (9, 3));
    let columns: Vec<(VoteColumn, Vec<&str>)> =
        first.columns().map(|(column, values)| (column, values.collect())).collect();
    assert_eq!(columns, [(VoteColumn::Turn, vec!["1"; 9]), (VoteColumn::Language, vec!["zh"; 9])]);
    let times: Vec<Vec<&str>> = rest.columns().map(|(_, values)| values.collect()).collect();
    assert_eq!(times, [["8000", "11000", "10000"]], "in the order of the log, not of the clock");
    let rows: Vec<_> = rest.rows().map(Result::unwrap).collect();
    assert_eq!(
        rows[0].outcome,
        PackedOutcome::Excluded("not_rated"),
        "the rule of an excluded vote stands in place of its outcome"
    );
    assert_eq!((rows[1].models, rows[1].outcome), (["one", "two"], PackedOutcome::Rated(Outcome::ALL[70 % 4])));
    let until = VoteRange { since: Timestamp(2_000), until: Timestamp(5_000), ..VoteRange::ALL };
    assert_eq!(store.vote_page(until, &[]).await.unwrap().votes, 3, "times 2, 3 and 4");

    let all = ColumnSet {
        voters: true,
        languages: true,
        categories: true,
        intents: true,
        turns: true,
        prompt_tokens: true,
        satisfactions: true,
        reasons: true,
        seconds: true,
        style: true,
        pair_probabilities: true,
        timings: true,
        pairing_policies: true,
        battle_ids: false,
        excluded_votes: false,
    };
    let log = whole_log(store, all).await;
    assert_eq!((log.len(), log.excluded.clone()), (11, [("not_rated".to_owned(), 1)].into()));
    assert_eq!(log.seconds.unwrap()[..4], [1.0, 0.0, 3.0, 2.0], "in the order of the log");
    assert_eq!(log.voters.unwrap().names.as_slice(), ["visitor"]);
    assert_eq!(log.languages.unwrap().names.as_slice(), ["zh"]);
    assert_eq!(log.categories.unwrap().names.as_slice(), ["maths"]);
    assert!(log.intents.unwrap().rows.iter().all(|&row| row == langya::domain::rating::votes::vote_log::Labels::NONE));
    assert_eq!(log.pairing_policies.unwrap().names.as_slice(), ["weighted"]);
    assert_eq!(log.turns.unwrap(), [1; 11]);
    assert_eq!(log.prompt_tokens.unwrap(), [3; 11], "three Chinese characters");
    assert_eq!(log.satisfactions.unwrap(), [4; 11]);
    let [a, b] = log.reasons.unwrap();
    assert_eq!((a.names.as_slice(), b.names.as_slice()), (&["useful,clear".to_owned()][..], &[][..]));
    let said = store.satisfied_votes().await.unwrap();
    let seqs: Vec<i64> = said.iter().map(|vote| vote.seq).collect();
    assert!(seqs.len() == 11 && seqs.is_sorted(), "an excluded vote is not among them: {seqs:?}");
    assert!(said.iter().all(|vote| vote.satisfaction == 4 && vote.intent.is_none()));
    assert!(log.pair_probabilities.unwrap().iter().all(|&share| share.to_bits() == (0.1_f64 + 0.2).to_bits()));
    let known = ReplyTiming { first_token_ms: Some(12), duration_ms: Some(345) };
    let ended = ReplyTiming { first_token_ms: None, duration_ms: Some(678) };
    assert_eq!(log.timings.unwrap(), [[known, ended]; 11]);
    let style = log.style.unwrap();
    let tokens = u32::try_from(TextCounts::count("# One\n\n- two").tokens).unwrap();
    assert_eq!(
        (style.tokens()[0], style.headings()[0], style.lists()[0], style.bold()[0]),
        ([tokens, 0], [1, 0], [1, 0], [0, 0])
    );
}
