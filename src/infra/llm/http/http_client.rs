//! HTTP client of all models, with a connection pool for each thread.
//!
//! A connection is driven by the thread that opened it. If a turn on another thread reads from it, each token wakes two threads instead of
//! one, so each thread has its own connections. Every address is checked against [`AllowedAddresses`] when it is connected to.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder, Url, redirect};
use thread_local::ThreadLocal;

use super::body_drain::BackgroundDrain;
use super::key_redaction::KnownKeys;
use crate::allowed_addresses::AllowedAddresses;
use crate::config::ConfigError;

/// Maximum number of idle connections of a thread to one host, kept for the pool's half minute: as many as battles that end together.
const IDLE_CONNECTIONS: usize = 512;

/// HTTP client of all models. Clones share the connections.
#[derive(Debug, Clone)]
pub struct HttpClient {
    allowed: AllowedAddresses,
    /// Clients for this machine without TLS, as used by most local models.
    plain: Arc<Pools>,
    direct: Arc<Pools>,
    proxied: Arc<Pools>,
    background_drain: BackgroundDrain,
    known_keys: KnownKeys,
}

/// Creates the HTTP client: TLS by rustls with ring, no redirects, no proxy to this machine itself. Each thread reads the system's
/// certificates at its first request by TLS or through a proxy.
///
/// # Errors
/// [`ConfigError::NoHttpClient`] if the system cannot create it.
pub fn http_client(connect_timeout: Duration) -> Result<HttpClient, ConfigError> {
    http_client_within(connect_timeout, &AllowedAddresses::default())
}

/// Creates the client like [`http_client`], restricted to allowed addresses.
///
/// # Errors
/// Same as [`http_client`].
pub fn http_client_within(connect_timeout: Duration, allowed: &AllowedAddresses) -> Result<HttpClient, ConfigError> {
    // An error means that an earlier call has installed a provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let proxied = HttpRecipe { connect_timeout, proxied: true, certificates: true, allowed: allowed.clone() };
    let direct = HttpRecipe { proxied: false, ..proxied.clone() };
    let plain = HttpRecipe { certificates: false, ..direct.clone() };
    let pools = |recipe| Pools::new(recipe).map(Arc::new);
    Ok(HttpClient {
        allowed: allowed.clone(),
        plain: pools(plain)?,
        direct: pools(direct)?,
        proxied: pools(proxied)?,
        background_drain: BackgroundDrain::default(),
        known_keys: KnownKeys::default(),
    })
}

impl HttpClient {
    /// Returns this thread's client for an address: loopback is never reached through a proxy.
    pub(crate) fn for_url(&self, url: &Url) -> &Client {
        let local = url.host_str() == Some("localhost") || address_in(url).is_some_and(|ip| ip.is_loopback());
        let pools = match (local, url.scheme()) {
            (true, "http") => &self.plain,
            (true, _) => &self.direct,
            (false, _) => &self.proxied,
        };
        pools.of_this_thread()
    }

    /// Returns the background drain for the bodies of finished replies.
    pub(super) fn background_drain(&self) -> &BackgroundDrain {
        &self.background_drain
    }

    /// Shares the known keys of an earlier client, present and future.
    pub(in crate::llm) fn with_known_keys(self, known_keys: &KnownKeys) -> Self {
        Self { known_keys: known_keys.clone(), ..self }
    }

    /// Returns the keys of all used models, which no reply may show.
    pub(in crate::llm) fn known_keys(&self) -> &KnownKeys {
        &self.known_keys
    }

    /// Whether the IP address in a URL is allowed. A host name is checked when it is connected to.
    pub(crate) fn reaches(&self, url: &Url) -> bool {
        address_in(url).is_none_or(|ip| self.allowed.contains(ip))
    }
}

fn address_in(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_matches(['[', ']']).parse().ok()
}

/// One client per thread, all with the same configuration.
#[derive(Debug)]
struct Pools {
    recipe: HttpRecipe,
    /// Fallback for a machine without certificates: local models work, and only TLS providers are unreachable.
    without_certificates: Client,
    first: OnceLock<Client>,
    clients: ThreadLocal<Client>,
}

impl Pools {
    fn new(recipe: HttpRecipe) -> Result<Self, ConfigError> {
        let without_certificates = recipe.builder().tls_certs_only([]).build();
        let without_certificates =
            without_certificates.map_err(|error| ConfigError::NoHttpClient { reason: innermost(&error) })?;
        Ok(Self { recipe, without_certificates, first: OnceLock::new(), clients: ThreadLocal::new() })
    }

    /// Returns this thread's client. If it cannot be created, shares the first one's connections.
    fn of_this_thread(&self) -> &Client {
        self.clients.get_or(|| match self.recipe.builder().build() {
            Ok(client) => {
                self.first.get_or_init(|| client.clone());
                client
            }
            Err(error) => self.first.get().cloned().unwrap_or_else(|| {
                tracing::warn!(
                    reason = innermost(&error),
                    "no certificates: install ca-certificates to reach models by https"
                );
                self.without_certificates.clone()
            }),
        })
    }
}

/// Configuration of a client.
#[derive(Debug, Clone)]
struct HttpRecipe {
    connect_timeout: Duration,
    proxied: bool,
    certificates: bool,
    allowed: AllowedAddresses,
}

impl HttpRecipe {
    fn builder(&self) -> ClientBuilder {
        let builder = Client::builder()
            .connect_timeout(self.connect_timeout)
            .redirect(redirect::Policy::none())
            .tcp_nodelay(true)
            .pool_idle_timeout(Duration::from_secs(30))
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .dns_resolver(ResolveAllowed(self.allowed.clone()))
            .user_agent(concat!("langya/", env!("CARGO_PKG_VERSION")));
        let builder = if self.proxied { builder } else { builder.no_proxy() };
        if self.certificates { builder } else { builder.tls_certs_only([]) }
    }
}

fn innermost(error: &dyn Error) -> String {
    let mut current = error;
    while let Some(source) = current.source() {
        current = source;
    }
    current.to_string()
}

/// DNS resolver that drops addresses that are not allowed. Connections use only its results.
#[derive(Debug, Clone)]
struct ResolveAllowed(AllowedAddresses);

impl Resolve for ResolveAllowed {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.0.clone();
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed: Vec<SocketAddr> =
                found.iter().filter(|address| allowed.contains(address.ip())).copied().collect();
            if allowed.is_empty() && !found.is_empty() {
                return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn loopback_names_resolve() {
        let resolver = ResolveAllowed(AllowedAddresses::default());
        let addresses: Vec<_> = resolver.resolve("localhost".parse().unwrap()).await.unwrap().collect();
        assert!(addresses.iter().all(|address| address.ip().is_loopback()) && !addresses.is_empty());
    }

    #[tokio::test]
    async fn a_name_that_leads_out_of_reach_is_not_connected_to() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url: Url = format!("http://localhost:{}/v1", listener.local_addr().unwrap().port()).parse().unwrap();
        let http = http_client_within(Duration::from_secs(5), &AllowedAddresses::new(&[])).unwrap();
        assert!(http.reaches(&url), "a name says nothing of its address yet");
        // Reached only if a connection arrived.
        let request = http.for_url(&url).get(url.clone()).timeout(Duration::from_secs(20));
        let error = request.send().await.unwrap_err();
        let said = super::super::transport::connection_error(&error).to_string();
        assert!(said.contains("the name leads to a forbidden address"), "{said}");
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "nobody came");
    }

    #[test]
    fn each_thread_has_a_client_of_its_own_and_keeps_it() {
        let http = http_client(Duration::from_secs(1)).unwrap();
        let url = "http://127.0.0.1:1/v1".parse().unwrap();
        let address = || std::ptr::from_ref(http.for_url(&url)).addr();
        let mine = address();
        let theirs = std::thread::scope(|scope| scope.spawn(address).join().unwrap());
        assert_ne!(mine, theirs);
        assert_eq!(mine, address());
    }
}
