//! High-ratio gzip for small texts that every first visit loads; the middleware compresses the rest with a faster level.

use std::io::Write as _;

use actix_web::http::header::{ACCEPT_ENCODING, HeaderMap};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Whether a request accepts gzip.
pub fn is_accepted(headers: &HeaderMap) -> bool {
    let accepted = |part: &str| {
        let (coding, quality) = part.split_once(';').unwrap_or((part, ""));
        coding.trim().eq_ignore_ascii_case("gzip") && !matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    };
    headers.get_all(ACCEPT_ENCODING).filter_map(|value| value.to_str().ok()).any(|all| all.split(',').any(accepted))
}

/// Compresses a text with gzip.
pub fn compressed(text: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 3), level);
    encoder.write_all(text).expect("writing to a Vec does not fail");
    encoder.finish().expect("writing to a Vec does not fail")
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn gzip_is_sent_to_whom_it_is_welcome_and_reads_as_before() {
        for (header, welcome) in
            [("gzip, deflate, br", true), ("br, GZIP;q=0.5", true), ("gzip;q=0", false), ("br", false)]
        {
            let request = TestRequest::default().insert_header((ACCEPT_ENCODING, header)).to_http_request();
            assert_eq!(is_accepted(request.headers()), welcome, "{header}");
        }
        let text = "the same text ".repeat(100);
        let small = compressed(text.as_bytes(), Compression::best());
        assert!(small.len() < text.len() / 10);
        let mut read = String::new();
        flate2::read::GzDecoder::new(small.as_slice()).read_to_string(&mut read).unwrap();
        assert_eq!(read, text);
    }
}
