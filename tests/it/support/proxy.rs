//! Proxy that forwards everything until a visitor's first message, and then drops the connection: for some visitors when the message is
//! sent, for the others when its answer comes back, which they do not receive.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// Proxy that runs until it is dropped.
pub(crate) struct LossyProxy {
    address: SocketAddr,
    lost_answers: Arc<AtomicUsize>,
    acceptor: JoinHandle<()>,
}

/// Time at which a connection is dropped.
#[derive(Clone, Copy)]
enum Loss {
    Message,
    Answer,
}

impl LossyProxy {
    /// Starts a proxy before the server at this address, `http://HOST:PORT`.
    pub(crate) async fn before(url: &str) -> Self {
        let server = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let lost_answers = Arc::default();
        let acceptor = tokio::spawn(accept(listener, server, Arc::clone(&lost_answers)));
        Self { address, lost_answers, acceptor }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the number of sent answers that did not arrive.
    pub(crate) fn lost_answers(&self) -> usize {
        self.lost_answers.load(Ordering::SeqCst)
    }
}

impl Drop for LossyProxy {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

async fn accept(listener: TcpListener, server: String, lost_answers: Arc<AtomicUsize>) {
    let mut connections = JoinSet::new();
    for loss in [Loss::Answer, Loss::Answer, Loss::Message].into_iter().cycle() {
        let Ok((visitor, _)) = listener.accept().await else { return };
        let (server, lost_answers) = (server.clone(), Arc::clone(&lost_answers));
        connections.spawn(async move {
            // If the connection ends early, there is nothing to drop.
            if let Ok(true) = pass(visitor, &server, loss).await {
                lost_answers.fetch_add(1, Ordering::SeqCst);
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Forwards one connection until it is to be dropped; returns whether an answer was lost.
async fn pass(mut visitor: TcpStream, server: &str, loss: Loss) -> std::io::Result<bool> {
    let mut server = TcpStream::connect(server).await?;
    let (mut from_visitor, mut from_server) = ([0; 16 * 1024], [0; 16 * 1024]);
    let (mut upgraded, mut asked) = (false, false);
    loop {
        tokio::select! {
            read = visitor.read(&mut from_visitor) => {
                let bytes = &from_visitor[..read?];
                if bytes.is_empty() {
                    return Ok(false);
                }
                server.write_all(bytes).await?;
                asked |= upgraded && is_text(bytes);
                if asked && matches!(loss, Loss::Message) {
                    return Ok(false);
                }
            }
            read = server.read(&mut from_server) => {
                let bytes = &from_server[..read?];
                if bytes.is_empty() || asked && is_text(bytes) {
                    return Ok(!bytes.is_empty());
                }
                upgraded = true;
                visitor.write_all(bytes).await?;
            }
        }
    }
}

/// Returns whether a text frame begins here, possibly after pings and pongs without content.
fn is_text(bytes: &[u8]) -> bool {
    match bytes {
        [0x81, ..] => true,
        [0x89 | 0x8A, 0x00, rest @ ..] => is_text(rest),
        // A visitor's frame has the mask's four bytes.
        [0x89 | 0x8A, 0x80, _, _, _, _, rest @ ..] => is_text(rest),
        _ => false,
    }
}
