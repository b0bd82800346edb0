//! What the operator sees of a model's health.

use langya::domain::battle::ModelId;
use langya::domain::time::Timestamp;
use langya::infra::config::StorageSettings;
use langya::infra::llm::breaker::BreakerPhase;
use langya::infra::storage::{BreakerReport, IfMissing, Store};

use crate::support::arena::card;

#[actix_web::test]
async fn every_phase_of_a_breaker_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let settings = StorageSettings { data_dir: folder.path().to_owned(), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Create).await.unwrap();
    store.register_models(&[card("one")], Timestamp(1)).await.unwrap();
    for phase in [BreakerPhase::Open, BreakerPhase::HalfOpen, BreakerPhase::Closed] {
        let report = BreakerReport { state: phase.as_str().to_owned(), failures: 3 };
        store.put_breaker(&ModelId::new("one"), &report, Timestamp(2)).await.unwrap();
        assert_eq!(store.registered_models().await.unwrap()[0].breaker, report);
    }
}
