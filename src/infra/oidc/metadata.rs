//! Provider metadata (OpenID Connect Discovery 1.0), limited to the fields in use.

use reqwest::Url;
use serde::Deserialize;

use crate::config::is_secure_transport;

/// Client authentication method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientProof {
    /// HTTP basic authentication, which every provider supports.
    Basic,
    /// Secret in the form.
    Form,
}

/// Endpoints of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Metadata {
    pub(super) authorization: Url,
    pub(super) token: Url,
    pub(super) keys: Url,
    pub(super) proof: ClientProof,
    /// Whether every callback names the provider (RFC 9207).
    pub(super) answers_name_issuer: bool,
}

#[derive(Deserialize)]
struct MetadataDocument {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default = "default_methods")]
    token_endpoint_auth_methods_supported: Vec<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

fn default_methods() -> Vec<String> {
    vec!["client_secret_basic".to_owned()]
}

/// Error of the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum MetadataError {
    #[error("its description cannot be read: is oidc.issuer its address?")]
    Unreadable,
    #[error("it describes an issuer other than oidc.issuer: write oidc.issuer exactly as the provider does")]
    Issuer,
    #[error("it names an address without TLS")]
    Address,
}

impl Metadata {
    /// Returns the address of a provider's metadata.
    pub(super) fn address(issuer: &str) -> String {
        format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'))
    }

    /// Parses the metadata, which must be of this issuer.
    pub(super) fn parse(bytes: &[u8], issuer: &str) -> Result<Self, MetadataError> {
        let document: MetadataDocument = serde_json::from_slice(bytes).map_err(|_| MetadataError::Unreadable)?;
        if document.issuer != issuer {
            return Err(MetadataError::Issuer);
        }
        let address = |text: &str| Url::parse(text).ok().filter(is_secure_transport).ok_or(MetadataError::Address);
        let methods = document.token_endpoint_auth_methods_supported;
        let has = |method: &str| methods.iter().any(|supported| supported == method);
        let by_form = has("client_secret_post") && !has("client_secret_basic");
        Ok(Self {
            authorization: address(&document.authorization_endpoint)?,
            token: address(&document.token_endpoint)?,
            keys: address(&document.jwks_uri)?,
            proof: if by_form { ClientProof::Form } else { ClientProof::Basic },
            answers_name_issuer: document.authorization_response_iss_parameter_supported,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://id.example/realm";

    fn document(changes: &[(&str, &str)]) -> Vec<u8> {
        let mut document = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example/realm/auth?tenant=1",
            "token_endpoint": "https://tokens.example/token",
            "jwks_uri": "https://keys.example/keys",
        });
        for (key, value) in changes {
            document[*key] = serde_json::from_str(value).unwrap();
        }
        document.to_string().into_bytes()
    }

    #[test]
    fn a_description_has_to_be_of_the_issuer_that_was_asked() {
        let read = Metadata::parse(&document(&[]), ISSUER).unwrap();
        assert_eq!((read.token.as_str(), read.proof), ("https://tokens.example/token", ClientProof::Basic));
        for other in ["\"https://evil.example\"", "\"https://id.example/realm/\"", "\"https://id.example\""] {
            assert_eq!(Metadata::parse(&document(&[("issuer", other)]), ISSUER), Err(MetadataError::Issuer), "{other}");
        }
        for address in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
            for bad in ["\"http://id.example/x\"", "\"javascript:alert(1)\"", "\"file:///etc/passwd\""] {
                let read = Metadata::parse(&document(&[(address, bad)]), ISSUER);
                assert_eq!(read, Err(MetadataError::Address), "{address} {bad}");
            }
        }
        for unreadable in [&b""[..], b"{}", b"[1]", b"<html>"] {
            assert_eq!(Metadata::parse(unreadable, ISSUER), Err(MetadataError::Unreadable));
        }
    }

    #[test]
    fn the_secret_goes_into_the_form_only_where_no_header_is_taken() {
        for (methods, expected) in [
            (r#"["client_secret_post"]"#, ClientProof::Form),
            (r#"["client_secret_post","client_secret_basic"]"#, ClientProof::Basic),
            (r#"["private_key_jwt"]"#, ClientProof::Basic),
        ] {
            let read = Metadata::parse(&document(&[("token_endpoint_auth_methods_supported", methods)]), ISSUER);
            assert_eq!(read.unwrap().proof, expected, "{methods}");
        }
    }
}
