//! OpenID Connect provider on a free port: real sockets, real signatures, and configurable faults.

use std::collections::HashMap;
use std::sync::Arc;

use actix_web::dev::ServerHandle;
use actix_web::http::header;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use ring::hmac;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Map, Value, json};

pub(crate) const CLIENT: &str = "arena";
pub(crate) const SECRET: &str = "canary-client-secret";

/// Signature of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signing {
    /// Signed with the key of this number, which is published once it signs.
    Key(u8),
    /// Signed with a key that is published under the id of another one.
    Forged,
    /// Unsigned, with `alg` "none".
    None,
    /// HMAC with the published key as the secret.
    PublicKeyAsSecret,
}

/// Configured behaviour of the provider.
#[derive(Debug, Clone)]
pub(crate) struct ProviderBehaviour {
    pub(crate) signing: Signing,
    /// Additional claims of the next tokens.
    pub(crate) claims: Map<String, Value>,
    /// Issuer in its discovery document; its address where there is none.
    pub(crate) calls_itself: Option<String>,
    /// Paths that answer with an endless body, or never.
    pub(crate) endless: &'static str,
    pub(crate) silent: &'static str,
    /// Path that answers 500.
    pub(crate) broken: &'static str,
    /// Whether a code may be redeemed repeatedly.
    pub(crate) forgets_codes: bool,
}

/// Data for which a code was issued.
#[derive(Debug, Clone)]
struct Issued {
    nonce: String,
    challenge: String,
    redirect: String,
}

struct State {
    url: String,
    conduct: ProviderBehaviour,
    codes: HashMap<String, Issued>,
    asked: HashMap<String, usize>,
}

type Shared = web::Data<Mutex<State>>;

/// Running provider. Dropping it stops it.
pub(crate) struct IdentityProvider {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    server: ServerHandle,
}

impl IdentityProvider {
    pub(crate) fn start() -> Self {
        let conduct = ProviderBehaviour {
            signing: Signing::Key(1),
            claims: Map::new(),
            calls_itself: None,
            endless: "",
            silent: "",
            broken: "",
            forgets_codes: false,
        };
        let state =
            Arc::new(Mutex::new(State { url: String::new(), conduct, codes: HashMap::new(), asked: HashMap::new() }));
        let shared = web::Data::from(Arc::clone(&state));
        let server = HttpServer::new(move || App::new().app_data(shared.clone()).default_service(web::to(answer)));
        let server = server.workers(1).disable_signals().shutdown_timeout(0).bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", server.addrs()[0]);
        state.lock().url.clone_from(&url);
        let server = server.run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Self { url, state, server: handle }
    }

    /// Changes the behaviour from now on.
    pub(crate) fn behave(&self, change: impl FnOnce(&mut ProviderBehaviour)) {
        change(&mut self.state.lock().conduct);
    }

    /// Sets the claims of the next sign-ins.
    pub(crate) fn says(&self, claims: Value) {
        self.behave(|conduct| conduct.claims = claims.as_object().unwrap().clone());
    }

    /// Counts the requests for a path.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.state.lock().asked.get(path).copied().unwrap_or(0)
    }
}

impl Drop for IdentityProvider {
    fn drop(&mut self) {
        drop(self.server.stop(false));
    }
}

async fn answer(request: HttpRequest, state: Shared, body: web::Bytes) -> HttpResponse {
    let path = request.path().to_owned();
    let conduct = {
        let mut state = state.lock();
        *state.asked.entry(path.clone()).or_default() += 1;
        state.conduct.clone()
    };
    match path.as_str() {
        path if path == conduct.silent => std::future::pending().await,
        path if path == conduct.endless => endless(),
        path if path == conduct.broken => HttpResponse::InternalServerError().body("canary-of-the-provider"),
        "/.well-known/openid-configuration" => description(&state.lock()),
        "/keys" => HttpResponse::Ok().json(json!({ "keys": published(conduct.signing) })),
        "/authorize" => authorize(&request, &mut state.lock()),
        "/token" => token(&request, &body, &mut state.lock()),
        _ => HttpResponse::NotFound().finish(),
    }
}

fn endless() -> HttpResponse {
    let chunk = web::Bytes::from(vec![b' '; 65_536]);
    HttpResponse::Ok().streaming(futures_util::stream::repeat_with(move || Ok::<_, std::io::Error>(chunk.clone())))
}

fn description(state: &State) -> HttpResponse {
    let url = &state.url;
    HttpResponse::Ok().json(json!({
        "issuer": state.conduct.calls_itself.as_ref().unwrap_or(url),
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "jwks_uri": format!("{url}/keys"),
    }))
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn pair(number: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[number; 32]).unwrap()
}

fn published(signing: Signing) -> Vec<Value> {
    let number = if let Signing::Key(number) = signing { number } else { 1 };
    let x = encode(pair(number).public_key());
    vec![json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": format!("key {number}"), "x": x })]
}

/// Signs in everyone at once, and redirects them back.
fn authorize(request: &HttpRequest, state: &mut State) -> HttpResponse {
    let query = web::Query::<HashMap<String, String>>::from_query(request.query_string()).unwrap();
    let (is_code, is_hashed) = (query["response_type"] == "code", query["code_challenge_method"] == "S256");
    assert!(is_code && is_hashed && query["client_id"] == CLIENT, "{query:?}");
    let code = format!("code {}", state.codes.len());
    let issued = Issued {
        nonce: query["nonce"].clone(),
        challenge: query["code_challenge"].clone(),
        redirect: query["redirect_uri"].clone(),
    };
    let mut back = reqwest::Url::parse(&issued.redirect).unwrap();
    back.query_pairs_mut().append_pair("code", &code).append_pair("state", &query["state"]);
    state.codes.insert(code, issued);
    HttpResponse::Found().insert_header((header::LOCATION, back.as_str())).finish()
}

fn token(request: &HttpRequest, body: &[u8], state: &mut State) -> HttpResponse {
    let form = std::str::from_utf8(body).unwrap();
    let form = web::Query::<HashMap<String, String>>::from_query(form).unwrap().into_inner();
    let refused = || HttpResponse::BadRequest().json(json!({ "error": "invalid_grant" }));
    let expected = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(format!("{CLIENT}:{SECRET}")));
    if request.headers().get(header::AUTHORIZATION).is_none_or(|given| given.as_bytes() != expected.as_bytes()) {
        return HttpResponse::Unauthorized().finish();
    }
    let issued = match state.conduct.forgets_codes {
        true => state.codes.get(&form["code"]).cloned(),
        false => state.codes.remove(&form["code"]),
    };
    let Some(issued) = issued else { return refused() };
    let challenge = encode(digest(&SHA256, form["code_verifier"].as_bytes()));
    if challenge != issued.challenge || form["redirect_uri"] != issued.redirect {
        return refused();
    }
    HttpResponse::Ok()
        .json(json!({ "access_token": "unused", "token_type": "Bearer", "id_token": id_token(state, &issued) }))
}

fn id_token(state: &State, issued: &Issued) -> String {
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
    let mut claims = json!({
        "iss": state.url, "aud": CLIENT, "sub": "subject of ada", "nonce": issued.nonce, "iat": now, "exp": now + 300,
    });
    claims.as_object_mut().unwrap().extend(state.conduct.claims.clone());
    let (algorithm, number) = match state.conduct.signing {
        Signing::Key(number) => ("EdDSA", number),
        Signing::Forged => ("EdDSA", 1),
        Signing::None => ("none", 1),
        Signing::PublicKeyAsSecret => ("HS256", 1),
    };
    let header = json!({ "alg": algorithm, "kid": format!("key {number}"), "typ": "JWT" });
    let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
    let signature = match state.conduct.signing {
        Signing::Key(number) => pair(number).sign(message.as_bytes()).as_ref().to_vec(),
        Signing::Forged => pair(99).sign(message.as_bytes()).as_ref().to_vec(),
        Signing::None => Vec::new(),
        Signing::PublicKeyAsSecret => {
            let key = hmac::Key::new(hmac::HMAC_SHA256, pair(1).public_key().as_ref());
            hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
        }
    };
    format!("{message}.{}", encode(signature))
}
