//! The HTTP client of all models, with a pool of connections for each thread.
//!
//! A connection is driven by the thread that opened it. Where a turn that another thread runs reads from it, each token
//! wakes two threads instead of one, so each thread keeps connections of its own. Every address is held against [`AllowedAddresses`] at the
//! moment when it is connected to.

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

/// Idle connections that a thread keeps to one host, for the pool's half minute: as many as battles that end together.
const IDLE_CONNECTIONS: usize = 512;

/// The HTTP client of all models. Cloning shares the connections.
#[derive(Debug, Clone)]
pub struct HttpClient {
    allowed: AllowedAddresses,
    /// For this machine without TLS, as most local models are asked.
    plain: Arc<Pools>,
    direct: Arc<Pools>,
    proxied: Arc<Pools>,
    background_drain: BackgroundDrain,
    known_keys: KnownKeys,
}

/// Makes the one HTTP client: TLS by rustls with ring, no redirects, no proxy on the way to this machine itself. The system's
/// certificates are read by each thread that asks for something by TLS or through a proxy, at its first request.
///
/// # Errors
/// [`ConfigError::NoHttpClient`] where the system has no means for it.
pub fn http_client(connect_timeout: Duration) -> Result<HttpClient, ConfigError> {
    http_client_within(connect_timeout, &AllowedAddresses::default())
}

/// As [`http_client`], for addresses that are allowed.
///
/// # Errors
/// As [`http_client`].
pub fn http_client_within(connect_timeout: Duration, allowed: &AllowedAddresses) -> Result<HttpClient, ConfigError> {
    // An error says that a provider is installed already, by an earlier call.
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
    /// This thread's client for an address: loopback is never asked through a proxy.
    pub(crate) fn for_url(&self, url: &Url) -> &Client {
        let local = url.host_str() == Some("localhost") || address_in(url).is_some_and(|ip| ip.is_loopback());
        let pools = match (local, url.scheme()) {
            (true, "http") => &self.plain,
            (true, _) => &self.direct,
            (false, _) => &self.proxied,
        };
        pools.of_this_thread()
    }

    /// What reads the rest of bodies whose replies have ended.
    pub(super) fn background_drain(&self) -> &BackgroundDrain {
        &self.background_drain
    }

    /// The same with the keys of an earlier client, and those that it is told later.
    pub(super) fn with_known_keys(self, known_keys: &KnownKeys) -> Self {
        Self { known_keys: known_keys.clone(), ..self }
    }

    /// The keys of the models that are asked, which no reply may show.
    pub(super) fn known_keys(&self) -> &KnownKeys {
        &self.known_keys
    }

    /// Whether the address that stands in a URL is within reach. One with a name is asked for when it is connected to.
    pub(crate) fn reaches(&self, url: &Url) -> bool {
        address_in(url).is_none_or(|ip| self.allowed.contains(ip))
    }
}

fn address_in(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_matches(['[', ']']).parse().ok()
}

/// One client a thread, all made alike.
#[derive(Debug)]
struct Pools {
    recipe: HttpRecipe,
    /// A machine without certificates still has its local models: only providers behind TLS are out of its reach.
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

    /// A client that cannot be made a second time shares the first one's connections.
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

/// How a client is made.
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

/// Resolves names like the system does and leaves out what is out of reach. What it returns is what is connected to.
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
        // Reached only where somebody came.
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
