//! Which of the stored leaderboards is the latest.

use langya::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use langya::domain::time::Timestamp;
use langya::infra::storage::{Store, StoredLeaderboard};
use langya::services::leaderboard::latest_leaderboard::LatestLeaderboard;

pub(super) async fn the_last_board_of_a_minute_stays(store: &Store) {
    assert_eq!(store.latest_leaderboard().await.unwrap(), None);
    let leaderboard = |fit, millis, body: &str| StoredLeaderboard {
        fit,
        fitted_at: Timestamp(millis),
        last_vote_seq: millis,
        body: body.into(),
    };
    for (millis, body) in [(120_000, "newer"), (60_000, "first"), (60_001, "second"), (120_500, "newest")] {
        assert!(store.put_leaderboard(&leaderboard(0, millis, body)).await.unwrap().is_some());
    }
    assert_eq!(store.latest_leaderboard().await.unwrap(), Some(leaderboard(4, 120_500, "newest")));
    assert_eq!(store.put_leaderboard(&leaderboard(70, 180_000, "of one who knows more fits")).await.unwrap(), Some(71));
}

pub(super) async fn a_board_with_fewer_votes_hides_no_later_one(store: &Store) {
    let leaderboard = |fit, millis, last_vote_seq| StoredLeaderboard {
        fit,
        fitted_at: Timestamp(millis),
        last_vote_seq,
        body: "{}".into(),
    };
    assert_eq!(store.put_leaderboard(&leaderboard(0, 60_000, 7)).await.unwrap(), Some(1));
    assert_eq!(store.put_leaderboard(&leaderboard(0, 60_500, 6)).await.unwrap(), None);
    assert_eq!(store.latest_leaderboard().await.unwrap(), Some(leaderboard(1, 60_000, 7)), "in the same minute");
    assert_eq!(store.put_leaderboard(&leaderboard(0, 120_000, 5)).await.unwrap(), Some(2));
    assert_eq!(store.latest_leaderboard().await.unwrap(), Some(leaderboard(1, 60_000, 7)), "in a later minute");
    assert_eq!(store.put_leaderboard(&leaderboard(0, 120_100, 7)).await.unwrap(), Some(3));
    assert_eq!(
        store.latest_leaderboard().await.unwrap(),
        Some(leaderboard(3, 120_100, 7)),
        "as many votes, fitted later"
    );
    assert_eq!(store.put_leaderboard(&leaderboard(0, 1, 7)).await.unwrap(), Some(4));
    assert_eq!(store.latest_leaderboard().await.unwrap(), Some(leaderboard(4, 1, 7)), "whatever the clock says");
}

pub(super) async fn a_follower_takes_in_the_later_fit_whatever_the_clocks_say(store: &Store) {
    let put = async |fitted_at, last_vote_seq| {
        let body = serde_json::to_string(&LeaderboardSnapshot::default().leaderboard).unwrap();
        let leaderboard = StoredLeaderboard { fit: 0, fitted_at: Timestamp(fitted_at), last_vote_seq, body };
        store.put_leaderboard(&leaderboard).await.unwrap().unwrap()
    };
    put(9_000_000, 7).await;
    let leaderboard = LatestLeaderboard::open(store).await.unwrap();
    for (fitted_at, last_vote_seq) in [(8_000_000, 7), (1_000_000, 8), (2_000_000, 8)] {
        let fit = put(fitted_at, last_vote_seq).await;
        leaderboard.reload(store).await.unwrap();
        let latest = leaderboard.latest();
        assert_eq!(
            (latest.fit, latest.last_vote_seq, latest.fitted_at),
            (fit, last_vote_seq, Some(Timestamp(fitted_at)))
        );
    }
}
