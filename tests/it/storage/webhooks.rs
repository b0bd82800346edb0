//! What every database promises of messages to webhooks.

use langya::domain::admin::action::AdminAction;
use langya::domain::time::Timestamp;
use langya::domain::webhook::{DeliveryState, WebhookEvent};
use langya::infra::storage::{NewWebhookMessage, Store, WebhookMessageRow, WebhookPosition};

use super::admin::entry;

const EVENT: WebhookEvent = WebhookEvent::VotesRecorded;

fn position(votes: i64) -> WebhookPosition {
    WebhookPosition { position: votes, state: "{}".into() }
}

/// Keeps a message about the votes up to a number.
async fn keep(store: &Store, id: &str, former: i64, upto: i64) -> bool {
    let message =
        NewWebhookMessage { id, webhook: "ours", event: EVENT, body: "{\"琅\":1}", created_at: Timestamp(10) };
    store.insert_webhook_message(message, former, &position(upto)).await.unwrap()
}

async fn due(store: &Store, now: i64) -> Vec<WebhookMessageRow> {
    store.due_webhook_messages(Timestamp(now), 9).await.unwrap()
}

pub(super) async fn a_message_waits_alone_is_sent_by_one_and_is_settled_once(store: &Store) {
    let position_stored = async || store.webhook_position("ours", EVENT).await.unwrap();
    assert_eq!((position_stored().await, keep(store, "m0", 0, 1).await), (None, false), "it begins with a position");
    for votes in [3, 4] {
        store.begin_webhook("ours", EVENT, &position(votes)).await.unwrap();
    }
    assert_eq!(position_stored().await, Some(position(3)), "what was cast between two beginnings is sent");
    assert!(!keep(store, "m1", 2, 5).await && keep(store, "m1", 3, 5).await && !keep(store, "m2", 5, 6).await);
    assert_eq!((position_stored().await, due(store, 9).await.len()), (Some(position(5)), 0));
    let [message] = &due(store, 10).await[..] else { panic!("one") };
    assert_eq!((message.body.as_str(), message.failures, message.settled_at), ("{\"琅\":1}", 0, None));
    let claim = async || store.claim_webhook_message(message, Timestamp(70)).await.unwrap();
    let (one, two) = futures_util::join!(claim(), claim());
    assert!(one != two, "one of two");
    assert_eq!(due(store, 69).await.len(), 0);

    let settle = async |state, failures| {
        let settled_at = (state != DeliveryState::Waiting).then_some(Timestamp(80));
        let settled = WebhookMessageRow { state, failures, settled_at, error: "no".into(), ..message.clone() };
        store.settle_webhook_message(&settled).await.unwrap();
    };
    settle(DeliveryState::Dead, 14).await;
    settle(DeliveryState::Delivered, 0).await;
    let listed = async |state| store.webhook_messages(state, 9).await.unwrap();
    let dead = listed(Some(DeliveryState::Dead)).await;
    assert_eq!((dead.len(), dead[0].failures, dead[0].error.as_str()), (1, 14, "no"), "it is settled already");
    let retry = async |id: &str, audit: &str| {
        let audit = entry(audit, AdminAction::RetryWebhook);
        store.retry_webhook_message(id, Timestamp(90), &audit).await.unwrap()
    };
    assert!(!retry("m9", "1").await && retry("m1", "2").await && !retry("m1", "3").await);
    assert_eq!(due(store, 90).await[0].failures, 0);
    settle(DeliveryState::Delivered, 0).await;
    assert!(keep(store, "m3", 5, 6).await);
    let delete = async |state, before| store.delete_old_webhook_messages(state, Timestamp(before)).await.unwrap();
    let deleted = (
        delete(DeliveryState::Delivered, 80).await,
        delete(DeliveryState::Dead, 81).await,
        delete(DeliveryState::Delivered, 81).await,
    );
    assert_eq!(deleted, (0, 0, 1));
    assert_eq!(listed(None).await.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["m3"]);
}
