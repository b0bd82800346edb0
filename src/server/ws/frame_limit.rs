//! A limit on the declared length of websocket frames, applied before buffering.
//!
//! The codec buffers a frame until it is complete and checks its length only then, so a frame that declares a terabyte would be buffered
//! for as long as the client sends. [`FrameLimit`] parses the headers in transit and passes short frames unchanged. A long one ends the
//! stream with [`PayloadError::Overflow`]: at once if its header exceeds `MAX_DISCARDED_BYTES`, and otherwise after its payload was
//! discarded, since a client that is still sending would find the connection reset and never read the reason.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::error::PayloadError;
use bytes::{Bytes, BytesMut};
use futures_util::Stream;

/// Maximum length in bytes of a frame that is discarded; a longer one ends the stream at its header.
const MAX_DISCARDED_BYTES: u64 = 16 * 1024 * 1024;

/// Byte stream of websocket frames, none longer than the limit.
pub struct FrameLimit<S> {
    inner: S,
    limit: u64,
    /// Incomplete frame header.
    header: BytesMut,
    /// Remaining bytes of the current frame's payload.
    payload_left: u64,
    /// Remaining bytes of an overlong frame to discard; the stream ends after them.
    discarding: Option<u64>,
}

impl<S> FrameLimit<S> {
    /// Passes frames with a payload of at most `limit` bytes.
    pub fn new(inner: S, limit: usize) -> Self {
        let limit = limit as u64;
        Self { inner, limit, header: BytesMut::new(), payload_left: 0, discarding: None }
    }

    /// Returns the part of a chunk that may pass.
    fn admit(&mut self, chunk: Bytes) -> Bytes {
        let mut data = chunk;
        if !self.header.is_empty() {
            self.header.extend_from_slice(&data);
            data = std::mem::take(&mut self.header).freeze();
        }
        let mut at = 0;
        while at < data.len() {
            if self.payload_left > 0 {
                let step = usize::try_from(self.payload_left).unwrap_or(usize::MAX).min(data.len() - at);
                at += step;
                self.payload_left -= step as u64;
                continue;
            }
            match FrameHeader::parse(&data[at..]) {
                None => {
                    self.header.extend_from_slice(&data[at..]);
                    break;
                }
                Some(header) if header.payload > self.limit => {
                    let came = (data.len() - at) as u64;
                    let frame = header.payload.saturating_add(header.bytes as u64);
                    self.discarding = Some(if frame > MAX_DISCARDED_BYTES { 0 } else { frame.saturating_sub(came) });
                    break;
                }
                Some(header) => {
                    at += header.bytes;
                    self.payload_left = header.payload;
                }
            }
        }
        data.truncate(at);
        data
    }
}

struct FrameHeader {
    bytes: usize,
    payload: u64,
}

impl FrameHeader {
    /// Parses the header at the start of `data` (RFC 6455, section 5.2); `None` if incomplete.
    fn parse(data: &[u8]) -> Option<Self> {
        let second = *data.get(1)?;
        let mask = if second & 0x80 == 0 { 0 } else { 4 };
        let (length_bytes, payload) = match second & 0x7f {
            126 => (2, u64::from(u16::from_be_bytes(data.get(2..4)?.try_into().ok()?))),
            127 => (8, u64::from_be_bytes(data.get(2..10)?.try_into().ok()?)),
            short => (0, u64::from(short)),
        };
        let bytes = 2 + length_bytes + mask;
        (data.len() >= bytes).then_some(Self { bytes, payload })
    }
}

impl<S: Stream<Item = Result<Bytes, PayloadError>> + Unpin> Stream for FrameLimit<S> {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if self.discarding == Some(0) {
                return Poll::Ready(Some(Err(PayloadError::Overflow)));
            }
            let next = ready!(Pin::new(&mut self.inner).poll_next(cx));
            let (Some(Ok(chunk)), discarding) = (&next, self.discarding) else { return Poll::Ready(next) };
            if let Some(left) = discarding {
                self.discarding = Some(left.saturating_sub(chunk.len() as u64));
                continue;
            }
            let passed = self.admit(chunk.clone());
            if !passed.is_empty() {
                return Poll::Ready(Some(Ok(passed)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, StreamExt, stream};
    use proptest::prelude::*;

    use super::*;

    /// Returns the result of a future that is ready at once.
    fn now<F: Future>(future: F) -> F::Output {
        future.now_or_never().expect("every chunk is there already")
    }

    fn frame(payload: usize) -> Vec<u8> {
        let mut bytes = vec![0x81];
        match payload {
            0..=125 => bytes.push(0x80 | u8::try_from(payload).unwrap()),
            126..=65_535 => {
                bytes.push(0x80 | 126);
                bytes.extend(u16::try_from(payload).unwrap().to_be_bytes());
            }
            _ => {
                bytes.push(0x80 | 127);
                bytes.extend((payload as u64).to_be_bytes());
            }
        }
        bytes.extend([7; 4]);
        bytes.extend(vec![b'x'; payload]);
        bytes
    }

    /// Sends bytes in chunks of one size; returns the passed bytes, and whether the limit ended the stream.
    fn pass(bytes: &[u8], chunk: usize, limit: usize) -> (Vec<u8>, bool) {
        let chunks: Vec<_> = bytes.chunks(chunk).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let mut limited = FrameLimit::new(stream::iter(chunks), limit);
        let mut passed = Vec::new();
        while let Some(item) = now(limited.next()) {
            match item {
                Ok(bytes) => passed.extend(bytes),
                Err(_) => return (passed, true),
            }
        }
        (passed, false)
    }

    proptest! {
        #[test]
        fn short_frames_pass_unchanged_however_they_are_cut(
            sizes in proptest::collection::vec(0_usize..400, 0..8), chunk in 1_usize..700,
        ) {
            let bytes: Vec<u8> = sizes.into_iter().flat_map(frame).collect();
            prop_assert_eq!(pass(&bytes, chunk, 400), (bytes, false));
        }

        #[test]
        fn an_overlong_frame_never_passes(before in 0_usize..130, long in 401_usize..70_000, chunk in 1_usize..900) {
            let bytes = [frame(before), frame(long)].concat();
            prop_assert_eq!(pass(&bytes, chunk, 400), (frame(before), true));
        }
    }

    #[test]
    fn a_frame_that_claims_more_than_anybody_means_ends_the_stream_by_its_header() {
        for claimed in [MAX_DISCARDED_BYTES, 1 << 40, 1 << 62, u64::MAX] {
            let header = [&[0x81, 0xff][..], &claimed.to_be_bytes(), &[7; 4]].concat();
            let nothing_more = stream::pending();
            let mut limited = FrameLimit::new(stream::iter([Ok(Bytes::from(header))]).chain(nothing_more), 400);
            assert!(matches!(now(limited.next()), Some(Err(PayloadError::Overflow))), "{claimed}");
        }
    }

    #[test]
    fn a_frame_of_a_bearable_length_passes_by_before_the_stream_ends() {
        let frame = frame(1 << 20);
        let (most, last) = frame.split_at(frame.len() - 1);
        let chunks = [most, last].map(|chunk| Ok(Bytes::copy_from_slice(chunk)));
        let mut limited = FrameLimit::new(stream::iter(chunks), 400);
        assert!(matches!(now(limited.next()), Some(Err(PayloadError::Overflow))));
        assert_eq!(now(limited.inner.by_ref().count()), 0, "all of it was read");
    }
}
