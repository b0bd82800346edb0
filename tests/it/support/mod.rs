//! What the tests share: a real arena on a free port with scripted models, a visitor who talks to it, a scripted
//! model server, and the real program.

pub(crate) mod arena;
pub(crate) mod instance;
pub(crate) mod log;
pub(crate) mod postgres;
pub(crate) mod program;
pub(crate) mod proxy;
pub(crate) mod redis;
pub(crate) mod scripted;
pub(crate) mod upstream;
pub(crate) mod visitor;
pub(crate) mod wire;

use std::time::Duration;

/// Asks again until there is an answer; only a failing test waits long.
pub(crate) async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            match ask().await {
                Some(answer) => return answer,
                None => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), asking).await.expect("what the test waits for comes in time")
}
