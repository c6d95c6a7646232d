//! Which addresses may be called.
//!
//! Endpoints come from the database. Without a check, who may register a model could make the worker call services of the
//! machine or of the local network, for example the metadata service of a cloud. So addresses that are not public are refused,
//! unless the operator allows them. The check is made on the addresses that are connected to, not on an earlier resolution.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The host has no address that may be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Its addresses are private and not allowed.
    #[error(
        "the address of {0} is not public; REGROUND_ALLOW_PRIVATE lists the private addresses that may be called"
    )]
    Private(String),
    /// A key would be sent to a public address without encryption, or to one that is not among its hosts.
    #[error("the key is not sent to {0} without https and REGROUND_KEY_NAME_HOSTS")]
    Plain(String),
}

/// Hosts and networks that may be private addresses.
#[derive(Debug, Clone, Default)]
pub struct AllowedAddresses {
    hosts: BTreeSet<String>,
    networks: Vec<IpNet>,
}

impl AllowedAddresses {
    /// Reads hosts, addresses and networks in CIDR notation.
    pub fn new<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Self {
        let mut allowed = Self::default();
        for entry in entries {
            let entry = entry.as_ref().trim();
            if let Ok(network) = entry.parse::<IpNet>() {
                allowed.networks.push(network);
            } else if let Ok(address) = bare(entry).parse::<IpAddr>() {
                allowed.networks.push(address.into());
            } else if !entry.is_empty() {
                allowed.hosts.insert(entry.to_ascii_lowercase());
            }
        }
        allowed
    }

    /// Returns whether the address of this host may be called.
    pub fn permits(&self, host: &str, address: IpAddr) -> bool {
        is_public(address) || self.lists(host, address)
    }

    /// Returns whether the address is private and allowed, so that a key may be sent without encryption.
    pub fn permits_plain(&self, host: &str, address: IpAddr) -> bool {
        !is_public(address) && self.lists(host, address)
    }

    /// Returns whether a host may have an allowed private address: it is listed, or it is a name and networks are listed.
    pub fn may_list(&self, host: &str) -> bool {
        match literal(host) {
            Some(address) => self.permits_plain(host, address),
            None => !self.networks.is_empty() || self.hosts.contains(&host.to_ascii_lowercase()),
        }
    }

    fn lists(&self, host: &str, address: IpAddr) -> bool {
        let address = inner(address);
        self.hosts.contains(&host.to_ascii_lowercase())
            || self
                .networks
                .iter()
                .any(|network| network.contains(&address))
    }
}

/// Returns the literal address of a URL's host, if it is one.
pub fn literal(host: &str) -> Option<IpAddr> {
    bare(host).parse().ok()
}

fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Returns the IPv4 address inside an IPv6 address: mapped, compatible, of NAT64 or of 6to4. Such addresses would get around
/// the check.
fn inner(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else {
        return address;
    };
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let v4 = |high: u16, low: u16| {
        let [[w, x], [y, z]] = [high.to_be_bytes(), low.to_be_bytes()];
        IpAddr::V4(Ipv4Addr::new(w, x, y, z))
    };
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => v4(g, h),
        [0, 0, 0, 0, 0, 0] if g != 0 => v4(g, h),
        [0x2002, _, _, _, _, _] => v4(b, c),
        _ => address,
    }
}

/// Returns whether an address is reachable from everywhere: not private, loopback, link-local, unique-local, shared (CGNAT),
/// multicast, reserved or unspecified.
pub fn is_public(address: IpAddr) -> bool {
    match inner(address) {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let refused = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b))
        || a >= 224;
    !refused
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    // Only 2000::/3 is assigned to public addresses; 2001::/32 is Teredo, 2001:db8::/32 is for documentation.
    (a & 0xe000) == 0x2000 && !(a == 0x2001 && (b == 0 || b == 0x0db8))
}

/// Resolves names to addresses that may be called.
pub(super) struct CheckedResolver {
    pub(super) allowed: Arc<AllowedAddresses>,
    /// Only private addresses that are allowed, for keys without encryption or without hosts.
    pub(super) only_private: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (allowed, only_private) = (Arc::clone(&self.allowed), self.only_private);
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let usable = found
                .into_iter()
                .filter(|found| check(&allowed, &host, found.ip(), only_private).is_ok())
                .collect::<Vec<_>>();
            if usable.is_empty() {
                return Err(refusal(&host, only_private).into());
            }
            Ok(Box::new(usable.into_iter()) as Addrs)
        })
    }
}

/// Checks one address of a host.
///
/// # Errors
/// [`AddressError`] if it may not be called.
pub(super) fn check(
    allowed: &AllowedAddresses,
    host: &str,
    address: IpAddr,
    only_private: bool,
) -> Result<(), AddressError> {
    let permitted = if only_private {
        allowed.permits_plain(host, address)
    } else {
        allowed.permits(host, address)
    };
    if permitted {
        Ok(())
    } else {
        Err(refusal(host, only_private && is_public(address)))
    }
}

fn refusal(host: &str, plain: bool) -> AddressError {
    if plain {
        AddressError::Plain(host.to_owned())
    } else {
        AddressError::Private(host.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn addresses_that_are_not_public() {
        for private in [
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "127.0.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
        ] {
            assert!(!is_public(ip(private)), "{private}");
        }
        for public in [
            "1.1.1.1",
            "100.128.0.1",
            "172.32.0.1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(ip(public)), "{public}");
        }
    }

    #[test]
    fn hosts_and_networks_are_allowed() {
        let allowed = AllowedAddresses::new(["10.0.0.0/8", "[::1]", "TEI.internal", ""]);
        assert!(allowed.permits("any", ip("10.9.9.9")));
        assert!(allowed.permits("any", ip("::ffff:10.9.9.9")));
        assert!(allowed.permits("any", ip("::1")));
        assert!(allowed.permits("tei.INTERNAL", ip("192.168.0.4")));
        assert!(!allowed.permits("other.internal", ip("192.168.0.4")));
        assert!(allowed.permits("other", ip("1.1.1.1")));
        assert!(!allowed.permits_plain("tei.internal", ip("1.1.1.1")));
    }
}
