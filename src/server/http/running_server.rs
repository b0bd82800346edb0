//! The server while it runs, and its two ends: first it takes no more connections, later it closes those that it has.
//!
//! The threads that serve connections also run turns and keep connections to providers and databases alive, so they
//! stay until all of that has ended, even those that serve nobody any more.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use tokio::task::JoinHandle;

/// How long clients may take to read what was sent to them last.
pub(super) const LAST_BYTES: Duration = Duration::from_secs(2);
/// How long the accepting thread may take to let go of the listening socket.
const LET_GO: Duration = Duration::from_millis(50);

/// A running server.
#[derive(Debug)]
pub struct RunningServer {
    handle: ServerHandle,
    door: TcpListener,
    server: JoinHandle<io::Result<()>>,
}

impl RunningServer {
    /// Runs the server on the present thread; `door` is its listening socket.
    pub(super) fn new(server: Server, door: TcpListener) -> Self {
        Self { handle: server.handle(), door, server: actix_web::rt::spawn(server) }
    }

    /// Waits for an end that nobody asked for.
    ///
    /// # Errors
    /// Why the server failed.
    pub async fn failed(&mut self) -> io::Result<()> {
        (&mut self.server).await.map_err(io::Error::other)?
    }

    /// Refuses new connections from now on; those that are open are served on.
    ///
    /// # Errors
    /// Where the system does not close a listening socket that is in use; new connections then wait in its queue.
    pub async fn close_door(&self) -> io::Result<()> {
        self.handle.pause().await;
        // A pause alone lets new connections queue, and a load balancer would wait for them. The accepting thread is
        // given a moment to let go of the socket, which it would otherwise report as broken.
        tokio::time::sleep(LET_GO).await;
        TcpStream::from(OwnedFd::from(self.door.try_clone()?)).shutdown(Shutdown::Both)
    }

    /// Closes what is still open and ends the server's threads.
    pub async fn stop(&self) {
        self.handle.stop(true).await;
    }

    /// As [`RunningServer::stop`], without waiting for it.
    pub fn begin_stop(&self) {
        // The command is sent at once; the future only waits for it to be done.
        drop(self.handle.stop(true));
    }
}
