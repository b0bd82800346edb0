//! Cookie values of a request, read as bytes. Programs on other ports of this host and sites of a parent domain set cookies that browsers
//! send along; a cookie that is not text must not hide the arena's own.

use actix_web::HttpRequest;
use actix_web::http::header::COOKIE;

/// Returns the values of the cookies of this name, in the order sent. Those of the arena are plain text.
pub(in crate::http) fn cookie_values<'r>(request: &'r HttpRequest, name: &'r str) -> impl Iterator<Item = &'r str> {
    let pairs = request.headers().get_all(COOKIE).flat_map(|header| header.as_bytes().split(|byte| *byte == b';'));
    pairs.filter_map(move |pair| {
        let value = pair.trim_ascii().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        std::str::from_utf8(value).ok()
    })
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;

    use super::*;

    #[track_caller]
    fn check(lines: &[&[u8]], expected: &[&str]) {
        let request = lines.iter().fold(TestRequest::default(), |request, line| {
            request.append_header((COOKIE, HeaderValue::from_bytes(line).unwrap()))
        });
        let request = request.to_http_request();
        assert_eq!(cookie_values(&request, "ours").collect::<Vec<_>>(), expected, "{lines:?}");
    }

    #[test]
    fn a_cookie_that_cannot_be_read_hides_no_other() {
        check(&[], &[]);
        check(&[b"ours=1"], &["1"]);
        for foreign in [&b"noname"[..], b"=x", b"a=\xff", b"\xff=a", b"a=%ff", b"", b"ours", b"ours=\xff", b"Ours=2"] {
            check(&[&[foreign, b"; ours=1"].concat()], &["1"]);
            check(&[&[&b"ours=1;"[..], foreign].concat()], &["1"]);
            check(&[foreign, b"ours=1"], &["1"]);
        }
        check(&[b"ours=1; ours=2", b" ours=a=b ;x"], &["1", "2", "a=b"]);
    }
}
