//! Client addresses. For limits the address is only used in memory, and only a pseudonym of its network is passed on; the address itself is
//! stored for admin users only.
//!
//! `X-Forwarded-For` can be written by anyone. Each proxy appends the address of its peer, so entries are read from the right as long as a
//! trusted proxy appended them.

use std::net::{IpAddr, SocketAddr};

use actix_web::HttpRequest;
use ipnet::IpNet;
use sha2::{Digest, Sha256};

use crate::domain::hex::hex;

const FORWARDED: &str = "x-forwarded-for";
/// Prefix length of an IPv4 network; people behind one router often share it.
const IPV4_NETWORK_BITS: u8 = 24;
const IPV6_NETWORK_BITS: u8 = 56;
/// Pseudonym shared by all clients with unreadable addresses, which therefore share a limit.
const UNREADABLE_ADDRESS: &str = "unreadable";

/// Returns the pseudonym of the network of a request; `None` for loopback addresses, whose programs are not one household and which no
/// network limit can stop.
pub(in crate::http) fn network_of(request: &HttpRequest, trusted: &[IpNet]) -> Option<String> {
    let Client { address, hides_another } = client_of(request, trusted)?;
    if hides_another {
        return Some(digest(UNREADABLE_ADDRESS));
    }
    (!address.is_loopback()).then(|| pseudonym(address))
}

/// Client of a request, as far as it can be traced.
struct Client {
    /// Address of the client, or of the last proxy with a readable address.
    address: IpAddr,
    /// Whether that proxy forwards a client with an unreadable address, such as `unknown`.
    hides_another: bool,
}

fn client_of(request: &HttpRequest, trusted: &[IpNet]) -> Option<Client> {
    let peer = request.peer_addr()?.ip();
    // Bytes that are not text come from the client, and must not hide what a proxy appended after them.
    let forwarded: Vec<_> =
        request.headers().get_all(FORWARDED).map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    Some(client(peer, &forwarded, trusted))
}

/// Returns the client address, for the admin's audit log; empty if unknown.
pub(in crate::http) fn address_of(request: &HttpRequest, trusted: &[IpNet]) -> String {
    client_of(request, trusted).map(|client| client.address.to_string()).unwrap_or_default()
}

/// Returns the client: the peer, or the client named by trusted proxies. `forwarded` are the header's lines in order; empty lines are
/// ignored.
fn client(peer: IpAddr, forwarded: &[impl AsRef<str>], trusted: &[IpNet]) -> Client {
    let mut address = peer.to_canonical();
    let lines = forwarded.iter().rev().map(|line| line.as_ref().trim()).filter(|line| !line.is_empty());
    for entry in lines.flat_map(|line| line.rsplit(',')) {
        if !trusted.iter().any(|network| network.contains(&address)) {
            break;
        }
        let Some(sender) = parse(&without_zone(entry.trim())) else { return Client { address, hides_another: true } };
        address = sender;
    }
    Client { address, hides_another: false }
}

/// Removes the zone of an IPv6 address, as in `fe80::1%eth0`: it names an interface of the proxy.
fn without_zone(entry: &str) -> String {
    let Some((address, zone)) = entry.split_once('%') else { return entry.to_owned() };
    let rest = zone.find(']').map_or("", |end| &zone[end..]);
    format!("{address}{rest}")
}

/// Parses an address, with or without a port.
fn parse(entry: &str) -> Option<IpAddr> {
    let bare = entry.strip_prefix('[').and_then(|entry| entry.strip_suffix(']')).unwrap_or(entry);
    let address = bare.parse().ok().or_else(|| entry.parse().ok().map(|socket: SocketAddr| socket.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

fn pseudonym(address: IpAddr) -> String {
    let bits = if address.is_ipv4() { IPV4_NETWORK_BITS } else { IPV6_NETWORK_BITS };
    digest(&IpNet::new_assert(address, bits).trunc().to_string())
}

fn digest(network: &str) -> String {
    hex(&Sha256::digest(format!("langya network {network}"))[..16])
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], expected: &str) {
        let trusted = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap());
        assert_eq!(client(ip(peer), forwarded, &trusted).address, ip(expected), "{peer} {forwarded:?}");
    }

    #[test]
    fn the_header_of_a_stranger_is_not_read() {
        check("198.51.100.7", &[], "198.51.100.7");
        check("198.51.100.7", &["203.0.113.9"], "198.51.100.7");
        check("198.51.100.7", &["10.0.0.1"], "198.51.100.7");
    }

    #[test]
    fn a_trusted_proxy_says_whom_it_heard() {
        check("10.0.0.1", &["203.0.113.9"], "203.0.113.9");
        check("10.0.0.1", &["203.0.113.9, 10.0.0.2"], "203.0.113.9");
        check("10.0.0.1", &["203.0.113.9", "10.0.0.2"], "203.0.113.9");
        check("::ffff:10.0.0.1", &["203.0.113.9:4711"], "203.0.113.9");
        check("fd00::1", &["[2001:db8::9]:4711"], "2001:db8::9");
        check("fd00::1", &["::ffff:203.0.113.9"], "203.0.113.9");
        check("fd00::1", &["[2001:db8::9]"], "2001:db8::9");
        check("10.0.0.1", &["fe80::1%eth0"], "fe80::1");
        check("10.0.0.1", &["[fe80::1%eth0]:4711"], "fe80::1");
    }

    #[test]
    fn what_a_client_writes_into_the_header_before_the_proxy_is_not_believed() {
        check("10.0.0.1", &["192.0.2.66, 203.0.113.9"], "203.0.113.9");
        check("10.0.0.1", &["10.9.9.9, 203.0.113.9"], "203.0.113.9");
        check("10.0.0.1", &["192.0.2.66", "203.0.113.9, 10.0.0.2"], "203.0.113.9");
        check("10.0.0.1", &["192.0.2.66, junk"], "10.0.0.1");
        check("10.0.0.1", &["192.0.2.66, junk, 10.0.0.2"], "10.0.0.2");
        check("10.0.0.1", &["192.0.2.66,,"], "10.0.0.1");
    }

    #[test]
    fn a_header_of_proxies_only_leads_to_the_first_of_them() {
        check("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
        check("10.0.0.1", &[""], "10.0.0.1");
        check("10.0.0.1", &[], "10.0.0.1");
    }

    #[test]
    fn bytes_that_are_no_text_do_not_hide_what_the_proxy_wrote_after_them() {
        let request = |header: &'static [u8]| {
            TestRequest::default()
                .peer_addr("10.0.0.1:4711".parse().unwrap())
                .insert_header((FORWARDED, HeaderValue::from_bytes(header).unwrap()))
                .to_http_request()
        };
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let network = network_of(&request(b"\xff, 203.0.113.9"), &trusted);
        assert_eq!(network, Some(pseudonym(ip("203.0.113.9"))));
        assert_ne!(network, network_of(&request(b"\xff, 198.51.100.9"), &trusted));
    }

    #[test]
    fn this_machine_is_no_network_unless_it_speaks_for_another() {
        let trusted = ["127.0.0.0/8".parse().unwrap()];
        let network = |peer: &str, forwarded: &'static str| {
            let request = TestRequest::default().peer_addr(peer.parse().unwrap()).insert_header((FORWARDED, forwarded));
            network_of(&request.to_http_request(), &trusted)
        };
        for peer in ["127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert_eq!(network(peer, ""), None, "{peer}");
        }
        assert_eq!(network("127.0.0.1:1", "127.0.0.2"), None);
        assert_eq!(network("127.0.0.1:1", "203.0.113.9"), Some(pseudonym(ip("203.0.113.9"))));
        assert_eq!(network("192.0.2.7:1", "127.0.0.1"), Some(pseudonym(ip("192.0.2.7"))));
    }

    #[test]
    fn clients_whose_addresses_cannot_be_read_are_one_network_and_not_the_proxy() {
        let trusted = ["127.0.0.0/8".parse().unwrap(), "10.0.0.0/8".parse().unwrap()];
        for peer in ["127.0.0.1:1", "10.0.0.1:1"] {
            for forwarded in ["unknown", "203.0.113.9,", ",", "203.0.113.9, unix:", "_hidden", "unknown, 10.0.0.2"] {
                let request = TestRequest::default().peer_addr(peer.parse().unwrap());
                let network = network_of(&request.insert_header((FORWARDED, forwarded)).to_http_request(), &trusted);
                assert_eq!(network, Some(digest(UNREADABLE_ADDRESS)), "{peer} {forwarded:?}");
            }
        }
    }

    #[test]
    fn a_network_has_one_pseudonym_that_does_not_hold_the_address() {
        let same = |a: &str, b: &str| pseudonym(ip(a)) == pseudonym(ip(b));
        assert!(same("203.0.113.9", "203.0.113.200") && !same("203.0.113.9", "203.0.114.9"));
        assert!(same("2001:db8::9", "2001:db8:0:ff::1") && !same("2001:db8::9", "2001:db8:0:100::1"));
        assert_eq!(pseudonym(ip("203.0.113.9")).len(), 32);
    }
}
