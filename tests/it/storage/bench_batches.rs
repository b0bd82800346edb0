//! What every database promises of batches.

use langya::domain::battle::ModelId;
use langya::domain::benchmark::suite_id::SuiteId;
use langya::domain::time::Timestamp;
use langya::infra::storage::{BatchRowState, BenchBatchRow, Store};

pub(super) async fn a_batch_is_open_until_its_replies_are_taken(store: &Store) {
    let suite = SuiteId::new("urs");
    let row = |id: &str, at| BenchBatchRow {
        id: id.to_owned(),
        suite: suite.clone(),
        model: ModelId::new("琅"),
        provider_id: None,
        requests: vec!["0a".to_owned(), "0b".to_owned()],
        state: BatchRowState::Intended,
        created_at: Timestamp(at),
    };
    let open = async || store.open_bench_batches(&suite).await.unwrap();
    let (first, second) = (row("1", 7), row("2", 8));
    store.insert_bench_batch(&second).await.unwrap();
    store.insert_bench_batch(&first).await.unwrap();
    store.insert_bench_batch(&first).await.unwrap();
    assert_eq!(open().await, [first.clone(), second.clone()], "each once, the oldest first, to the last bit");
    assert!(store.open_bench_batches(&SuiteId::new("other")).await.unwrap().is_empty());
    let update = async |id: &str, state, name| store.update_bench_batch(id, state, name, Timestamp(9)).await.unwrap();
    update("1", BatchRowState::Sent, Some("batch_1")).await;
    update("1", BatchRowState::Ended, None).await;
    let ended = BenchBatchRow { provider_id: Some("batch_1".to_owned()), state: BatchRowState::Ended, ..first };
    assert_eq!(open().await, [ended, second], "the provider's name for it stays");
    let over = [BatchRowState::Taken, BatchRowState::Unsent, BatchRowState::Failed, BatchRowState::Gone];
    update("1", BatchRowState::Taken, None).await;
    for state in over {
        update("2", BatchRowState::Sent, None).await;
        assert_eq!(open().await.len(), 1);
        update("2", state, None).await;
        assert!(open().await.is_empty(), "{state:?}");
    }
    assert!(!store.forget_bench_batch("2", Timestamp(10)).await.unwrap(), "it is over");
    for state in [BatchRowState::Intended, BatchRowState::Sent, BatchRowState::Ended] {
        update("2", state, Some("batch_2")).await;
        assert_eq!(store.all_open_bench_batches().await.unwrap(), open().await, "{state:?}");
        assert!(store.forget_bench_batch("2", Timestamp(10)).await.unwrap(), "{state:?}");
        assert!(open().await.is_empty() && store.all_open_bench_batches().await.unwrap().is_empty(), "{state:?}");
        assert!(!store.forget_bench_batch("2", Timestamp(11)).await.unwrap(), "it is forgotten already");
    }
}
