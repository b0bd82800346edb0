//! Stored leaderboards: the JSON of `langya fit`, and the notes as data.

use serde::{Deserialize, Serialize};

use crate::rating::leaderboards::leaderboard::Leaderboard;
use crate::rating::notes::RatingNote;

#[derive(Serialize)]
struct StoredBody<'a> {
    #[serde(flatten)]
    leaderboard: &'a Leaderboard,
    rating_notes: &'a [RatingNote],
}

#[derive(Deserialize)]
struct StoredNotes {
    rating_notes: Vec<RatingNote>,
}

/// Serialises a leaderboard as JSON.
#[must_use]
pub fn to_json(leaderboard: &Leaderboard) -> String {
    let body = StoredBody { leaderboard, rating_notes: &leaderboard.notes };
    serde_json::to_string(&body).expect("a leaderboard is plain text and finite numbers")
}

/// Parses a stored leaderboard. Without notes as data, its notes are the English texts.
///
/// # Errors
/// The JSON has another format.
pub fn from_json(body: &str) -> Result<Leaderboard, serde_json::Error> {
    let mut leaderboard: Leaderboard = serde_json::from_str(body)?;
    if let Ok(StoredNotes { rating_notes }) = serde_json::from_str(body) {
        leaderboard.notes = rating_notes;
    }
    Ok(leaderboard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::counts::comparison::ComparisonSet;
    use crate::rating::leaderboards::ranking::rank;
    use crate::rating::options::LeaderboardOptions;
    use crate::rating::strengths::elo::EloTable;

    #[test]
    fn notes_are_stored_as_data_beside_their_english_texts() {
        let leaderboard = rank(&ComparisonSet::new(), &EloTable::default(), &LeaderboardOptions::default()).unwrap();
        let json = to_json(&leaderboard);
        assert!(json.contains("no rated votes yet") && json.contains("no_votes"), "{json}");
        assert_eq!(from_json(&json).unwrap(), leaderboard);
    }

    #[test]
    fn a_leaderboard_with_notes_as_texts_only_can_be_read() {
        let leaderboard = rank(&ComparisonSet::new(), &EloTable::default(), &LeaderboardOptions::default()).unwrap();
        let read = from_json(&serde_json::to_string(&leaderboard).unwrap()).unwrap();
        assert_eq!(read.notes, [RatingNote::Text { text: RatingNote::NoVotes.to_string() }]);
        assert_eq!(read.models, leaderboard.models);
    }
}
