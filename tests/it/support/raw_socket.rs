//! Low-level websocket client: sends any bytes, including invalid ones, and reads only when the test does.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{TcpSocket, TcpStream};

/// Maximum wait for an expected event; reached only by a failing test.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Receive buffer of a client that does not read, in bytes.
const RECEIVE_BUFFER: u32 = 4096;
/// Ping frame of a client.
const PING: [u8; 6] = [0x89, 0x80, 0, 0, 0, 0];

/// Connection after its upgrade.
pub(crate) struct RawSocket {
    stream: TcpStream,
    /// Bytes read since.
    read: Vec<u8>,
    /// Number of bytes inspected.
    seen: usize,
}

impl RawSocket {
    /// Opens `/ws/battle` of the arena at this address.
    pub(crate) async fn open(url: &str) -> Self {
        let address = url.strip_prefix("http://").unwrap();
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(RECEIVE_BUFFER).unwrap();
        let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let upgrade = format!(
            "GET /ws/battle HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(upgrade.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Self { stream, read: Vec::new(), seen: 0 }
    }

    /// Sends bytes to a server that reads them.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Sends bytes and discards what is received meanwhile, so that neither end waits for the other.
    pub(crate) async fn pour(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (mut reader, mut writer) = self.stream.split();
        let mut nowhere = tokio::io::sink();
        tokio::select! {
            sent = writer.write_all(bytes) => sent,
            _ = tokio::io::copy(&mut reader, &mut nowhere) => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }

    /// Reads until these words are received.
    pub(crate) async fn until(&mut self, words: &str) {
        let found = async {
            while !String::from_utf8_lossy(&self.read[self.seen..]).contains(words) {
                assert!(self.stream.read_buf(&mut self.read).await.unwrap() > 0, "the connection ended");
            }
        };
        let found = tokio::time::timeout(TIMEOUT, found).await;
        assert!(found.is_ok(), "{words:?} never came: {}", String::from_utf8_lossy(&self.read));
        self.seen = self.read.len();
    }

    /// Reads until the server ends the connection; returns the code of its close frame, if there was one.
    pub(crate) async fn close_code(mut self) -> Option<u16> {
        let ended = async { while matches!(self.stream.read_buf(&mut self.read).await, Ok(1..)) {} };
        assert!(tokio::time::timeout(TIMEOUT, ended).await.is_ok(), "the connection lingers");
        let mut rest = self.read.as_slice();
        while let Some((opcode, payload, after)) = server_frame(rest) {
            if opcode == 0x8 {
                return Some(u16::from_be_bytes(payload.get(..2)?.try_into().ok()?));
            }
            rest = after;
        }
        None
    }

    /// Waits until the server has closed the connection, without reading: the next write shows it.
    pub(crate) async fn until_cut(&mut self) {
        let cut = async {
            while self.stream.try_write(&PING).is_ok() {
                // Only the answer to the ping is awaited; without one, the next ping retries.
                let _ = tokio::time::timeout(Duration::from_millis(200), self.stream.ready(Interest::ERROR)).await;
            }
        };
        assert!(tokio::time::timeout(TIMEOUT, cut).await.is_ok(), "the connection lingers");
    }

    /// Ends the connection with a TCP reset.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }
}

/// Returns opcode, payload and remaining bytes of the first frame; `None` if it is incomplete.
fn server_frame(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (start, length) = match bytes.get(1)? {
        126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?),
        short => (2, usize::from(*short)),
    };
    let end = start + length;
    Some((bytes[0] & 0x0f, bytes.get(start..end)?, &bytes[end..]))
}

/// Builds a client frame from its first byte and its payload, with a mask of zeros.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length @ ..126), _) => vec![0x80 | length],
        (_, Ok(length)) => [&[0xfe], length.to_be_bytes().as_slice()].concat(),
        _ => [&[0xff], (payload.len() as u64).to_be_bytes().as_slice()].concat(),
    };
    [&[first], length.as_slice(), &[0; 4], payload].concat()
}

/// Builds a complete text message.
pub(crate) fn text_frame(text: &str) -> Vec<u8> {
    frame(0x81, text.as_bytes())
}
