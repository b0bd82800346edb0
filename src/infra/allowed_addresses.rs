//! Address filter for model servers: allows this machine, configured private networks and the Internet, and nothing else that the arena can
//! reach.
//!
//! Checks the address at connection time, not when its name is configured: by then the name can resolve elsewhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use ipnet::IpNet;

/// Private networks: loopback, private, shared by a provider's customers (CGNAT), unique local, and the local-use IPv4 translation prefix
/// (RFC 8215), whose destination depends on the network.
const PRIVATE_NETWORKS: [&str; 9] = [
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "::1/128",
    "fc00::/7",
    "fec0::/10",
    "64:ff9b:1::/48",
];
/// Cloud metadata services that answer with credentials, besides the link-local addresses.
const METADATA_V4: [[u8; 4]; 3] = [[100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192]];
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

/// Addresses allowed for model servers. Clones share the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedAddresses {
    private: Arc<[IpNet]>,
}

impl Default for AllowedAddresses {
    /// Allows every private network: models usually run there.
    fn default() -> Self {
        Self::new(&private_networks())
    }
}

impl AllowedAddresses {
    /// Allows the Internet and these private networks.
    #[must_use]
    pub fn new(private: &[IpNet]) -> Self {
        Self { private: private.into() }
    }

    /// Whether a model server may have this address. Link-local and metadata addresses are refused in every notation.
    #[must_use]
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = effective_address(ip);
        let is_private = private_networks().iter().any(|network| network.contains(&ip));
        !is_forbidden(ip) && (!is_private || self.private.iter().any(|network| network.contains(&ip)))
    }
}

/// Networks to pass to [`AllowedAddresses::new`] so that all private addresses are allowed.
#[must_use]
pub fn private_networks() -> Vec<IpNet> {
    PRIVATE_NETWORKS.iter().map(|network| network.parse().expect("a network")).collect()
}

/// Returns the effective destination address: IPv6 can embed IPv4 in several ways, and the unspecified address means this machine.
fn effective_address(ip: IpAddr) -> IpAddr {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    let canonical = ip.to_canonical();
    let carried = match canonical {
        IpAddr::V4(_) => canonical,
        IpAddr::V6(ip) => match ip.segments() {
            // NAT64 (RFC 6052), 6to4, RFC 2765 translation, and the deprecated IPv4-compatible form (RFC 4291).
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => v4(high, low),
            [0, 0, 0, 0, 0xffff, 0, high, low] => v4(high, low),
            [0, 0, 0, 0, 0, 0, high, low] if high > 0 => v4(high, low),
            _ => canonical,
        },
    };
    match carried {
        IpAddr::V4(ip) if ip.octets()[0] == 0 => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        carried => carried,
    }
}

fn is_forbidden(ip: IpAddr) -> bool {
    let is_forbidden_v4 = |ip: Ipv4Addr| ip.is_link_local() || METADATA_V4.contains(&ip.octets());
    match ip {
        IpAddr::V4(ip) => is_forbidden_v4(ip),
        IpAddr::V6(ip) => {
            ip.is_unicast_link_local()
                || METADATA_V6.contains(&ip)
                || translations(ip).is_some_and(|carried| carried.into_iter().any(is_forbidden_v4))
        }
    }
}

/// Returns the IPv4 addresses that a local-use translated address (RFC 8215) may embed: their position depends on the length of the
/// network's prefix (RFC 6052), which only that network knows.
fn translations(ip: Ipv6Addr) -> Option<[Ipv4Addr; 4]> {
    const EMBEDDED_OCTETS: [[usize; 4]; 4] = [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]];
    let octets = ip.octets();
    let is_translated = octets.starts_with(&[0, 0x64, 0xff, 0x9b, 0, 1]);
    is_translated.then(|| EMBEDDED_OCTETS.map(|place| Ipv4Addr::from(place.map(|at| octets[at]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(allowed: &AllowedAddresses, address: &str, expected: bool) {
        assert_eq!(allowed.contains(address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    fn metadata_and_link_local_addresses_are_out_of_reach_in_every_spelling() {
        let whole = AllowedAddresses::new(&["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()]);
        for address in [
            "169.254.169.254",
            "169.254.0.1",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fe80::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::a9fe:a9fe",
            "64:ff9b:1:fffe::a9fe:a9fe",
            "64:ff9b:1:a9fe:a9:fe00::",
            "64:ff9b:1:a9:fe:a9fe::",
            "64:ff9b:1:0:a9:fea9:fe00:0",
            "::ffff:0:169.254.169.254",
            "2002:a9fe:a9fe::1",
            "::169.254.169.254",
        ] {
            check(&whole, address, false);
            check(&AllowedAddresses::default(), address, false);
        }
    }

    #[test]
    fn private_networks_are_reached_by_default_and_only_those_that_are_named_otherwise() {
        let one = AllowedAddresses::new(&["10.1.0.0/16".parse().unwrap()]);
        for (address, by_default, with_one, with_none) in [
            ("127.0.0.1", true, false, false),
            ("::1", true, false, false),
            ("0.0.0.0", true, false, false),
            ("0.1.2.3", true, false, false),
            ("::", true, false, false),
            ("10.1.2.3", true, true, false),
            ("::ffff:10.1.2.3", true, true, false),
            ("64:ff9b::a01:203", true, true, false),
            ("64:ff9b:1::a01:203", true, false, false),
            ("64:ff9b:1::808:808", true, false, false),
            ("64:ff9b:1:808:8:800::", true, false, false),
            ("10.2.2.3", true, false, false),
            ("172.16.0.1", true, false, false),
            ("192.168.1.1", true, false, false),
            ("100.64.0.1", true, false, false),
            ("fd12::1", true, false, false),
            ("2002:7f00:1::", true, false, false),
            ("172.32.0.1", true, true, true),
            ("8.8.8.8", true, true, true),
            ("2001:4860:4860::8888", true, true, true),
            ("64:ff9b::808:808", true, true, true),
        ] {
            check(&AllowedAddresses::default(), address, by_default);
            check(&one, address, with_one);
            check(&AllowedAddresses::new(&[]), address, with_none);
        }
        let translated = AllowedAddresses::new(&["64:ff9b:1::/48".parse().unwrap()]);
        check(&translated, "64:ff9b:1::808:808", true);
    }
}
