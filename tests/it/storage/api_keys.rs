//! What every database promises of API keys.

use langya::domain::admin::action::AdminAction;
use langya::domain::admin::key_scope::KeyScope;
use langya::domain::time::Timestamp;
use langya::infra::storage::{AuditFilter, NewApiKey, Store};

use super::admin::entry;

pub(super) async fn a_key_is_found_by_its_hash_until_it_expires_or_is_revoked(store: &Store) {
    for (id, expires_at) in [("k1", Some(Timestamp(100))), ("k2", None)] {
        let new = NewApiKey {
            id,
            name: "nightly",
            key_hash: &format!("hash of {id}"),
            scopes: &[KeyScope::Admin, KeyScope::Read],
            created_by: "ada",
            created_at: Timestamp(1),
            expires_at,
        };
        store.insert_api_key(new, &entry(&format!("1-{id}"), AdminAction::CreateKey)).await.unwrap();
        assert!(store.insert_api_key(new, &entry(&format!("2-{id}"), AdminAction::CreateKey)).await.is_err());
    }
    let found = async |id: &str, now: i64| store.api_key(&format!("hash of {id}"), Timestamp(now)).await.unwrap();
    let key = found("k1", 99).await.unwrap();
    assert_eq!((key.id.as_str(), key.scopes), ("k1", vec![KeyScope::Read, KeyScope::Admin]));
    assert_eq!((found("k1", 100).await, found("k3", 2).await), (None, None), "it has expired, and one is none");
    for (day, kept) in [(20, 20), (10, 20), (30, 30)] {
        store.note_api_key_use("k2", Timestamp(day)).await.unwrap();
        assert_eq!(found("k2", 999).await.unwrap().used_day, Some(Timestamp(kept)), "{day}");
    }
    let revoke = async |id: &str, audit: &str| {
        store.revoke_api_key(id, Timestamp(7), &entry(audit, AdminAction::RevokeKey)).await.unwrap()
    };
    assert!(revoke("k2", "3").await);
    assert!(!revoke("k2", "4").await && !revoke("k3", "5").await, "once");
    assert_eq!(found("k2", 8).await, None);
    let listed = store.api_keys().await.unwrap();
    let listed: Vec<_> = listed.iter().map(|key| (key.id.as_str(), key.revoked_at)).collect();
    assert_eq!(listed, [("k2", Some(Timestamp(7))), ("k1", None)]);
    let audit = store.audit_entries(&AuditFilter::default(), 9).await.unwrap();
    assert_eq!(audit.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["3", "1-k2", "1-k1"]);
}
