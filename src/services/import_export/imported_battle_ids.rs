//! Battle ids of imported votes, chosen so that a vote counts once by whatever route it is imported.
//!
//! A UUID is globally unique: the battle is stored as `import-` and the UUID, and an arena that gets its own vote back via another one
//! recognises it. A battle that another arena has named by a file keeps that name. Any other id is local to its log, as `1` of one is not
//! `1` of another: such a battle is named by its file and the vote's number.

use crate::domain::battle::BattleId;
use crate::domain::rating::votes::vote_log::{Labels, VoteLog};
use crate::infra::storage::{Store, StoreError};

/// Maximum number of battles per look-up statement.
const BATCH_SIZE: usize = 5_000;
/// Prefix of imported battle ids.
const IMPORTED_ID_PREFIX: &str = "import-";

/// Battle ids of a file, one for each vote.
pub(super) struct BattleNames<'f> {
    file: &'f str,
    /// Ids as in the file.
    given: Labels,
    /// Stored ids of battles with a globally unique id.
    kept: Labels,
    /// Number of each vote in the file.
    numbers: Vec<usize>,
}

impl<'f> BattleNames<'f> {
    /// Takes the ids out of the log of the file with this id.
    pub(super) fn new(file: &'f str, log: &mut VoteLog) -> Self {
        let votes = log.len();
        let none = || Labels { rows: vec![Labels::NONE; votes], ..Labels::default() };
        let given = log.battle_ids.take().unwrap_or_else(none);
        let mut kept = Labels::default();
        for &battle in &given.rows {
            let name = given.names.as_slice().get(battle as usize).and_then(|id| globally_unique_id(id));
            // A battle has one vote here; further votes of a log on the same battle are named by the file.
            let name = name.filter(|name| kept.names.find(name).is_none());
            kept.push(name.as_deref());
        }
        Self { file, given, kept, numbers: (1..=votes).collect() }
    }

    /// Returns the ids of a vote and of its battle.
    pub(super) fn of(&self, row: usize) -> (String, BattleId) {
        let vote = format!("{}-{:09}", self.file, self.numbers[row]);
        let battle = self.kept.names.as_slice().get(self.kept.rows[row] as usize).unwrap_or(&vote);
        let battle = BattleId::new(battle.as_str());
        (vote, battle)
    }

    /// Returns, for each vote, whether its battle has no vote here.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) async fn are_new(&self, store: &Store) -> Result<Vec<bool>, StoreError> {
        let given = self.given.names.as_slice();
        let mut new_ids = Vec::with_capacity(given.len());
        for page in given.chunks(BATCH_SIZE) {
            let names: Vec<[String; 2]> = page.iter().map(|id| known_as(id)).collect();
            let here = store.voted_battles(names.as_flattened()).await?;
            new_ids.extend(names.iter().map(|names| !names.iter().any(|name| here.contains(name))));
        }
        let rows: Vec<usize> = (0..self.numbers.len()).collect();
        let mut new_votes = Vec::with_capacity(rows.len());
        for page in rows.chunks(BATCH_SIZE) {
            let names: Vec<String> = page.iter().map(|&row| self.of(row).1.to_string()).collect();
            let here = store.voted_battles(&names).await?;
            let is_new = |row: usize| new_ids.get(self.given.rows[row] as usize).copied().unwrap_or(true);
            new_votes.extend(page.iter().zip(&names).map(|(&row, name)| is_new(row) && !here.contains(name)));
        }
        Ok(new_votes)
    }

    /// Keeps only the selected votes.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        let (mut numbers, mut names) = (keep.iter(), keep.iter());
        self.numbers.retain(|_| numbers.next().is_some_and(|keep| *keep));
        self.kept.rows.retain(|_| names.next().is_some_and(|keep| *keep));
    }
}

/// Returns the stored id of a battle with a globally unique id; `None` for a local id.
fn globally_unique_id(id: &str) -> Option<String> {
    match id.strip_prefix(IMPORTED_ID_PREFIX) {
        Some(rest) if is_uuid(rest) || is_of_a_file(rest) => Some(id.to_owned()),
        None if is_uuid(id) => Some(format!("{IMPORTED_ID_PREFIX}{id}")),
        Some(_) | None => None,
    }
}

/// Returns the ids that a battle may have here: the UUID alone in its own arena, the import's id in others.
fn known_as(id: &str) -> [String; 2] {
    let other = match id.strip_prefix(IMPORTED_ID_PREFIX) {
        Some(rest) if is_uuid(rest) => rest.to_owned(),
        _ => globally_unique_id(id).unwrap_or_else(|| id.to_owned()),
    };
    [id.to_owned(), other]
}

fn is_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// Whether this is the digest of a file and the number of a vote in it.
fn is_of_a_file(text: &str) -> bool {
    text.split_once('-').is_some_and(|(digest, number)| {
        let is_digest = digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest && (9..=12).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "01985e5f-0c3b-7e6a-9c55-2f3b1a4d6e7f";

    #[track_caller]
    fn check(id: &str, lasting: Option<&str>, other: &str) {
        assert_eq!(globally_unique_id(id).as_deref(), lasting, "{id}");
        assert_eq!(known_as(id), [id, other], "{id}");
    }

    #[test]
    fn a_battle_with_a_unique_id_is_known_in_its_own_arena_and_in_others() {
        let imported = format!("import-{UUID}");
        check(UUID, Some(&imported), &imported);
        check(&imported, Some(&imported), UUID);
        let of_a_file = "import-0123456789abcdef0123456789abcdef-000000017";
        check(of_a_file, Some(of_a_file), of_a_file);
    }

    #[test]
    fn an_id_that_says_nothing_outside_of_its_log_is_not_kept() {
        for id in ["1", "", "import-1", "elsewhere", "01985e5f-0c3b-7e6a-9c55_2f3b1a4d6e7f", "import-0123-000000017"] {
            check(id, None, id);
        }
    }

    #[test]
    fn of_several_votes_on_a_battle_one_has_its_name() {
        let mut log = VoteLog::default();
        let mut ids = Labels::default();
        [Some(UUID), Some(UUID), Some("7"), None].into_iter().for_each(|id| {
            log.push("a", "b", crate::domain::battle::Outcome::AWins).unwrap();
            ids.push(id);
        });
        log.battle_ids = Some(ids);
        let mut names = BattleNames::new("import-x", &mut log);
        let battles = |names: &BattleNames<'_>, rows| -> Vec<String> {
            (0..rows).map(|row| names.of(row).1.to_string()).collect()
        };
        let [second, third, fourth] = [2, 3, 4].map(|number| format!("import-x-00000000{number}"));
        let first = format!("import-{UUID}");
        assert_eq!(battles(&names, 4), [first, second, third.clone(), fourth.clone()]);
        assert_eq!(names.of(0).0, "import-x-000000001");
        names.retain(&[false, false, true, true]);
        assert_eq!(battles(&names, 2), [third, fourth], "numbers are those of the file");
    }
}
