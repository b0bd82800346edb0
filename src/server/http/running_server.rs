//! The running server and its two-stage shutdown: first it refuses new connections, later it closes the open ones.
//!
//! The threads that serve connections also run turns and keep connections to providers and databases alive, so all of them run until that
//! has ended, even without clients.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use tokio::task::JoinHandle;

/// Time limit for clients to read the last bytes sent.
pub(super) const LAST_BYTES_TIMEOUT: Duration = Duration::from_secs(2);
/// Time for the accepting thread to release the listening socket.
const SOCKET_RELEASE_DELAY: Duration = Duration::from_millis(50);

/// Handle of the running server.
#[derive(Debug)]
pub struct RunningServer {
    handle: ServerHandle,
    door: TcpListener,
    server: JoinHandle<io::Result<()>>,
}

impl RunningServer {
    /// Runs the server on the current thread; `door` is its listening socket.
    pub(super) fn new(server: Server, door: TcpListener) -> Self {
        Self { handle: server.handle(), door, server: actix_web::rt::spawn(server) }
    }

    /// Waits until the server ends unexpectedly.
    ///
    /// # Errors
    /// I/O error that ended the server.
    pub async fn failed(&mut self) -> io::Result<()> {
        (&mut self.server).await.map_err(io::Error::other)?
    }

    /// Refuses new connections from now on; open ones are still served.
    ///
    /// # Errors
    /// I/O error if the system cannot close the listening socket; new connections then wait in its queue.
    pub async fn stop_accepting(&self) -> io::Result<()> {
        self.handle.pause().await;
        // Pausing alone would queue new connections, and a load balancer would wait for them. The accepting thread first gets a moment to
        // release the socket, which it would otherwise report as broken.
        tokio::time::sleep(SOCKET_RELEASE_DELAY).await;
        TcpStream::from(OwnedFd::from(self.door.try_clone()?)).shutdown(Shutdown::Both)
    }

    /// Closes open connections and ends the server's threads.
    pub async fn stop(&self) {
        self.handle.stop(true).await;
    }

    /// Like [`RunningServer::stop`], without waiting.
    pub fn begin_stop(&self) {
        // The command is sent at once; the future only waits for completion.
        drop(self.handle.stop(true));
    }
}
