//! Texts go once they are as old as the settings allow; votes stay, and the public log stays valid.

use langya::domain::admin::role::Role;
use langya::domain::battle::BattleId;
use langya::infra::rng::SharedRng;
use langya::infra::storage::AuditFilter;
use langya::services::admin::actor::Actor;
use langya::services::retention::Retention;

use super::browser::{arena, signed_in};
use crate::storage::{ready, vote};
use crate::support::program::langya_beside;
use crate::support::until;
use crate::support::visitor::get;

#[actix_web::test]
async fn old_texts_go_and_votes_and_the_log_stay() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let arena = arena(|settings| settings.storage.data_dir = data).await;
    let store = &arena.app.store;
    let mut visitor = arena.visitor().await;
    visitor.ask("A fresh question?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    let (old, fresh) = (BattleId::new("old"), visitor.battle());
    ready(store, "old").await;
    store.insert_vote(&vote("v", "old", 1)).await.unwrap();
    let log = &arena.app.public_log;
    until(async || (log.latest().await.unwrap()?.head.size >= 2).then_some(())).await;
    let texts = async |battle: &BattleId| store.turns(battle).await.unwrap().len();

    let beside = async |arguments: &[&str]| langya_beside(folder.path(), arguments).await;
    let never = beside(&["retention", "--data-dir", "data"]).await;
    assert!(never.code == Some(2) && never.stderr.contains("kept forever"), "{never:?}");
    let dry = beside(&["retention", "--data-dir", "data", "--text-days", "30", "--dry-run"]).await;
    assert!(dry.stderr.contains("the texts of 1 battle would be deleted"), "{dry:?}");
    assert_eq!((texts(&old).await, texts(&fresh).await), (1, 1), "a dry run changes nothing");

    let mut settings = (*arena.app.settings.now()).clone();
    settings.retention.text_days = 30;
    arena.app.settings.replace(settings);
    // The job waits until it has seen the clock for ten minutes.
    let (rng, actor) = (&SharedRng::seeded(1), Actor::of_command("langya".to_owned()));
    let retention = Retention { store, rng, clock: arena.app.clock.as_ref(), actor };
    assert_eq!(retention.run(&arena.app.settings.now().retention).await.unwrap(), 1);
    assert_eq!((texts(&old).await, texts(&fresh).await), (0, 1));
    assert_eq!(store.last_vote_seq().await.unwrap(), 2, "votes stay");
    let audit = store.audit_entries(&AuditFilter::default(), 9).await.unwrap();
    let [entry] = &audit[..] else { panic!("one run deleted something: {audit:?}") };
    let told = (entry.actor.as_str(), entry.action.as_str(), entry.subject.as_str());
    assert_eq!(told, ("langya", "delete_texts", "retention"));
    assert_eq!(
        (entry.former.as_deref(), entry.latter.as_deref()),
        (Some(r#"{"battles":1}"#), Some(r#"{"text_days":30}"#))
    );

    let verified = beside(&["verify", &format!("{}/log", arena.url)]).await;
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let about = get(&format!("{}/about", arena.url)).await.text().await.unwrap();
    assert!(about.contains("30 days, unless you delete them earlier"), "{about}");
    let mut operator = signed_in(&arena, Role::Operator).await;
    let requests = operator.get("/admin/requests").await.text().await.unwrap();
    assert!(requests.contains("deleted after 30 days"), "{requests}");
    let again = beside(&["retention", "--data-dir", "data", "--text-days", "30"]).await;
    assert!(again.stderr.contains("the texts of 0 battles are deleted"), "{again:?}");
}
