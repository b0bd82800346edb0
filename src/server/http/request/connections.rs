//! Limits of a connection's resources: the system drops clients that do not read.

use std::any::Any;
use std::io;

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use socket2::SockRef;

use crate::ws::outbox::SEND_TIMEOUT;

/// Send buffer per connection in bytes. By default it would grow to megabytes each, and hide for long that the client does not read.
const SEND_BUFFER_BYTES: usize = 64 * 1024;

/// Callback for `HttpServer::on_connect`: limits the send buffer.
pub(in crate::http) fn limit(connection: &dyn Any, _: &mut Extensions) {
    let Some(stream) = connection.downcast_ref::<TcpStream>() else { return };
    if let Err(error) = limit_stream(stream) {
        tracing::debug!(error = %error, "the socket options of a connection could not be set");
    }
}

fn limit_stream(stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(SEND_TIMEOUT))?;
    Ok(())
}
