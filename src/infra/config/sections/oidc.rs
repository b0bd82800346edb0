//! Sign-in through an OpenID Connect provider.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::config::value_checks::{is_variable_name, require_as};
use crate::config::{ConfigError, Environment};
use crate::domain::admin::role::Role;
use crate::domain::settings_rule::{RefusedValue, SignInRule, TextRule, VariableRule};
use crate::domain::text_direction;

/// `[oidc]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OidcSettings {
    /// Issuer URL, exactly as the provider publishes it; empty for no provider.
    pub issuer: String,
    /// Display name of the provider; empty for its host.
    pub name: String,
    /// Client id of the arena at the provider.
    pub client_id: String,
    /// Variable that holds the client secret; empty for a public client.
    pub client_secret_env: String,
    /// Whether administrators sign in there.
    pub admins: bool,
    /// Scopes requested for administrators, besides `openid`.
    pub scopes: Vec<String>,
    /// Claim that gives a role, such as `groups` or `realm_access.roles`; if empty, only users added by an owner can sign in.
    pub role_claim: String,
    /// Role for each value of the claim.
    pub roles: BTreeMap<String, Role>,
    /// Client secret from the variable.
    #[serde(skip)]
    pub client_secret: ClientSecret,
}

impl Default for OidcSettings {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            name: String::new(),
            client_id: String::new(),
            client_secret_env: String::new(),
            admins: false,
            scopes: vec!["email".to_owned()],
            role_claim: String::new(),
            roles: BTreeMap::new(),
            client_secret: ClientSecret::default(),
        }
    }
}

/// A secret that is not printed.
#[derive(Clone, Default)]
pub struct ClientSecret(Option<SecretString>);

impl ClientSecret {
    /// Returns the secret for the request that carries it.
    #[must_use]
    pub fn expose(&self) -> Option<&str> {
        self.0.as_ref().map(SecretString::expose_secret)
    }
}

impl From<&str> for ClientSecret {
    fn from(secret: &str) -> Self {
        Self(Some(SecretString::from(secret)))
    }
}

impl PartialEq for ClientSecret {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl std::fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "…" } else { "none" })
    }
}

impl OidcSettings {
    /// Whether a provider is configured.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !self.issuer.is_empty()
    }

    /// Returns the display name of the provider.
    #[must_use]
    pub fn shown_name(&self) -> String {
        let host = || reqwest::Url::parse(&self.issuer).ok().and_then(|url| url.host_str().map(str::to_owned));
        if self.name.is_empty() { host().unwrap_or_default() } else { self.name.clone() }
    }

    /// Reads the secret from its variable.
    pub(in crate::config) fn with_secret(mut self, env: &Environment) -> Self {
        self.client_secret = ClientSecret(env.secret(&self.client_secret_env));
        self
    }

    /// Checks that the named variable holds a secret.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] names the variable.
    pub fn check_secret(&self) -> Result<(), ConfigError> {
        require_as(
            self.client_secret_env.is_empty() || self.client_secret.0.is_some(),
            "oidc.client_secret_env",
            RefusedValue::UnsetVariable(self.client_secret_env.clone()),
            VariableRule::ClientSecret,
        )
    }

    /// Checks that these settings are usable for a provider.
    pub(in crate::config) fn check(&self, public_url: &str) -> Result<(), ConfigError> {
        require_as(
            self.client_secret_env.is_empty() || is_variable_name(&self.client_secret_env),
            "oidc.client_secret_env",
            // The value may be the secret itself.
            RefusedValue::Unusable,
            VariableRule::ClientSecretName,
        )?;
        require_as(is_line(&self.name), "oidc.name", RefusedValue::Unusable, TextRule::OneLine(60))?;
        let is_scope = |scope: &String| !scope.is_empty() && scope.bytes().all(is_scope_byte);
        let are_scopes = self.scopes.iter().all(is_scope);
        require_as(are_scopes, "oidc.scopes", RefusedValue::Unusable, SignInRule::Scopes)?;
        require_as(
            self.role_claim.is_empty() == self.roles.is_empty(),
            "oidc.roles",
            RefusedValue::Count(self.roles.len()),
            SignInRule::RolesOfClaim,
        )?;
        if !self.is_set() {
            let is_alone = !self.admins;
            return require_as(is_alone, "oidc.issuer", RefusedValue::Empty, SignInRule::IssuerForAdmins);
        }
        require_as(is_issuer(&self.issuer), "oidc.issuer", RefusedValue::Unusable, SignInRule::Issuer)?;
        require_as(!self.client_id.is_empty(), "oidc.client_id", RefusedValue::Empty, SignInRule::ClientId)?;
        require_as(!public_url.is_empty(), "server.public_url", RefusedValue::Empty, SignInRule::ReturnAddress)
    }
}

fn is_line(name: &str) -> bool {
    name.chars().count() <= 60 && !name.contains(char::is_control) && text_direction::in_name(name) == name
}

/// RFC 6749, 3.3.
fn is_scope_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\')
}

fn is_issuer(issuer: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(issuer) else { return false };
    let is_bare = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    is_bare && url.password().is_none() && is_secure_transport(&url)
}

/// Whether requests to an address cannot be intercepted: TLS, or within this machine.
#[must_use]
pub fn is_secure_transport(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let ip: Option<std::net::IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let is_here = host == "localhost" || ip.is_some_and(|ip| ip.is_loopback());
    url.has_host() && (url.scheme() == "https" || (url.scheme() == "http" && is_here))
}

#[cfg(test)]
mod tests {
    use crate::config::{Environment, Settings};

    const PROVIDER: &str = "[server]\npublic_url = \"https://arena.example\"\n[oidc]\nissuer = \"https://id.example/realm\"\n\
         client_id = \"arena\"\nadmins = true\n";

    fn parse(text: &str, env: &Environment) -> Result<Settings, String> {
        Settings::parse(text, "test", env).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn refuses(text: &str, key: &str) {
        let refused = parse(text, &Environment::default()).unwrap_err();
        assert!(refused.contains(key) && !refused.contains("canary"), "{refused}");
    }

    #[test]
    fn the_secret_comes_from_its_variable_and_is_never_printed() {
        let text = format!("{PROVIDER}client_secret_env = \"OIDC_SECRET\"\n");
        let settings = parse(&text, &Environment::of([("OIDC_SECRET", "canary")])).unwrap();
        assert_eq!(settings.oidc.client_secret.expose(), Some("canary"));
        assert!(settings.oidc.check_secret().is_ok());
        assert!(!format!("{settings:?}").contains("canary"));
        assert!(!toml::to_string(&settings).unwrap().contains("canary"));
        let missing = parse(&text, &Environment::default()).unwrap().oidc.check_secret().unwrap_err().to_string();
        assert!(missing.contains("OIDC_SECRET"), "{missing}");
        assert_eq!(settings.oidc.shown_name(), "id.example");
    }

    #[test]
    fn settings_that_no_provider_can_be_asked_with_are_refused_by_their_key() {
        for issuer in ["http://id.example", "id.example", "https://id.example/?x=canary", "https://a:canary@id.example"]
        {
            refuses(&PROVIDER.replace("https://id.example/realm", issuer), "oidc.issuer");
        }
        refuses(&PROVIDER.replace("https://arena.example", ""), "server.public_url");
        refuses(&PROVIDER.replace("client_id = \"arena\"", ""), "oidc.client_id");
        refuses(&format!("{PROVIDER}client_secret_env = \"canary secret\""), "oidc.client_secret_env");
        refuses(&format!("{PROVIDER}scopes = [\"email profile\"]"), "oidc.scopes");
        refuses(&format!("{PROVIDER}role_claim = \"groups\""), "oidc.roles");
        refuses("[oidc]\nadmins = true", "oidc.issuer");
        refuses("[access]\nmode = \"oidc\"", "oidc.issuer");
    }

    #[test]
    fn a_provider_on_this_machine_needs_no_tls() {
        for issuer in ["http://127.0.0.1:9000", "http://localhost:9000/realm", "http://[::1]:9000"] {
            let text = PROVIDER.replace("https://id.example/realm", issuer);
            assert!(parse(&text, &Environment::default()).is_ok(), "{issuer}");
        }
    }
}
