//! The contract of what visitors agreed to.

use langya::domain::battle::VisitorId;
use langya::domain::time::Timestamp;
use langya::infra::storage::{ConsentRow, ConsentVersion, Store};

pub(super) async fn a_consent_is_kept_once_with_its_text(store: &Store) {
    let [one, other] = ["one", "other"].map(VisitorId::new);
    let text = |version, body| ConsentVersion { version, body };
    assert!(!store.has_consent(&one, "1").await.unwrap());
    store.put_consent(&one, text("1", "first"), Timestamp(10)).await.unwrap();
    store.put_consent(&one, text("1", "else"), Timestamp(20)).await.unwrap();
    store.put_consent(&other, text("1", "first"), Timestamp(30)).await.unwrap();
    store.put_consent(&one, text("2", "second"), Timestamp(40)).await.unwrap();
    let row = |version: &str, agreed_at, body: &str| ConsentRow {
        version: version.into(),
        agreed_at: Timestamp(agreed_at),
        body: body.into(),
    };
    assert_eq!(store.consents_of(&one).await.unwrap(), [row("1", 10, "first"), row("2", 40, "second")]);
    assert_eq!(store.consents_of(&other).await.unwrap(), [row("1", 30, "first")]);
    assert!(store.has_consent(&other, "1").await.unwrap() && !store.has_consent(&other, "2").await.unwrap());
}
