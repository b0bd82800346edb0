//! Tokens with real signatures, and every kind of invalid one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const EXPECTED: Expected<'_> = Expected { issuer: "https://id.example", client_id: "arena", nonce: "nonce", now: NOW };

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn ed25519() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
}

fn p256() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap()
}

fn keys(of: &[Value]) -> KeySet {
    KeySet::parse(json!({ "keys": of }).to_string().as_bytes()).unwrap()
}

fn ed25519_key() -> Value {
    json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": "one", "x": encode(ed25519().public_key()) })
}

fn p256_key(pair: &EcdsaKeyPair) -> Value {
    let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
    json!({ "kty": "EC", "crv": "P-256", "kid": "two", "x": encode(x), "y": encode(y) })
}

fn claims() -> Value {
    let now = NOW.0 / 1_000;
    json!({ "iss": "https://id.example", "aud": "arena", "sub": "ada", "nonce": "nonce", "iat": now, "exp": now + 300 })
}

fn token(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
    let signature = encode(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

fn by_ed25519(message: &[u8]) -> Vec<u8> {
    ed25519().sign(message).as_ref().to_vec()
}

/// Verifies a valid token with these changed claims; `null` removes one.
fn with(changes: &[(&str, Value)]) -> Result<Identity, TokenError> {
    let mut claims = claims();
    for (name, value) in changes {
        claims[*name] = value.clone();
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(*name);
        }
    }
    let token = token(&json!({ "alg": "EdDSA", "kid": "one" }), &claims, by_ed25519);
    verify(&token, &keys(&[ed25519_key()]), EXPECTED)
}

fn signed_as(header: &Value, keys: &KeySet) -> Result<Identity, TokenError> {
    verify(&token(header, &claims(), by_ed25519), keys, EXPECTED)
}

#[test]
fn a_token_of_the_provider_is_believed_whatever_it_signs_with() {
    let pair = p256();
    let all = keys(&[ed25519_key(), p256_key(&pair), json!({ "kty": "future" }), json!(7)]);
    assert_eq!(signed_as(&json!({ "alg": "EdDSA", "kid": "one", "typ": "JWT" }), &all).unwrap().subject, "ada");
    assert_eq!(signed_as(&json!({ "alg": "EdDSA" }), &all).unwrap().subject, "ada", "the only key that suits");
    let by_p256 = |message: &[u8]| pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec();
    let token = token(&json!({ "alg": "ES256", "kid": "two" }), &claims(), by_p256);
    assert_eq!(verify(&token, &all, EXPECTED).unwrap().subject, "ada");
}

/// The key, message and signature of RFC 7515, A.2.
#[test]
fn the_rsa_signature_of_rfc_7515_is_right_and_another_is_not() {
    let n = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
    let message = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let signature = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let keys = keys(&[json!({ "kty": "RSA", "n": n, "e": "AQAB" })]);
    let key = keys.find(None, Algorithm::RS256).unwrap();
    let claims = signed_claims(&format!("{message}.{signature}"), key, Algorithm::RS256).unwrap();
    assert_eq!(claims["iss"], "joe");
    let other = format!("{message}.d{}", &signature[1..]);
    assert_eq!(signed_claims(&other, key, Algorithm::RS256), Err(TokenError::Signature));
}

#[test]
fn a_signature_that_anybody_could_make_is_refused() {
    let (all, public) = (keys(&[ed25519_key()]), ed25519().public_key().as_ref().to_vec());
    let nobody = |header: Value| token(&header, &claims(), |_| Vec::new());
    for header in [json!({ "alg": "none" }), json!({ "alg": "None", "kid": "one" }), json!({ "alg": "" }), json!({})] {
        assert_eq!(verify(&nobody(header.clone()), &all, EXPECTED), Err(TokenError::Algorithm), "{header}");
    }
    let by_public_key = |message: &[u8]| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &public);
        hmac::sign(&key, message).as_ref().to_vec()
    };
    let symmetric = token(&json!({ "alg": "HS256", "kid": "one" }), &claims(), by_public_key);
    assert_eq!(verify(&symmetric, &all, EXPECTED), Err(TokenError::Algorithm));
    // A provider that publishes a shared secret as a key.
    let secret = keys(&[json!({ "kty": "oct", "kid": "one", "k": encode(&public) })]);
    assert_eq!(verify(&symmetric, &secret, EXPECTED), Err(TokenError::Algorithm));
    assert_eq!(verify(&nobody(json!({ "alg": "EdDSA", "kid": "one" })), &all, EXPECTED), Err(TokenError::Signature));
}

#[test]
fn a_key_counts_for_its_own_kind_and_purpose_alone() {
    let header = json!({ "alg": "EdDSA", "kid": "one" });
    let changed = |name: &str, value: Value| {
        let mut key = ed25519_key();
        key[name] = value;
        signed_as(&header, &keys(&[key]))
    };
    assert_eq!(changed("use", json!("enc")), Err(TokenError::UnknownKey));
    assert_eq!(changed("alg", json!("ES256")), Err(TokenError::UnknownKey));
    assert_eq!(changed("kid", json!("three")), Err(TokenError::UnknownKey));
    assert!(changed("alg", json!("EdDSA")).is_ok());
    let es256 = json!({ "alg": "ES256", "kid": "one" });
    assert_eq!(signed_as(&es256, &keys(&[ed25519_key()])), Err(TokenError::UnknownKey));
    assert_eq!(signed_as(&header, &keys(&[])), Err(TokenError::UnknownKey));
    // Two keys that could have made the signature, and no key id.
    let twice = keys(&[ed25519_key(), ed25519_key()]);
    assert_eq!(signed_as(&json!({ "alg": "EdDSA" }), &twice), Err(TokenError::UnknownKey));
    // A key inside the token, or an address to fetch one from, is ignored.
    let brought = json!({ "alg": "EdDSA", "jwk": ed25519_key(), "jku": "https://evil.example/keys" });
    assert_eq!(signed_as(&brought, &keys(&[])), Err(TokenError::UnknownKey));
}

#[test]
fn a_token_of_another_kind_is_not_read() {
    let all = keys(&[ed25519_key()]);
    for (name, value) in [("typ", json!("at+jwt")), ("crit", json!(["exp"])), ("zip", json!("DEF"))] {
        let mut header = json!({ "alg": "EdDSA", "kid": "one" });
        header[name] = value;
        assert_eq!(signed_as(&header, &all), Err(TokenError::Unreadable), "{header}");
    }
    for garbage in ["", ".", "..", "...", "a.b.c", "é.é.é", "e30.e30.", &"x".repeat(MAX_TOKEN_BYTES + 1)] {
        assert!(verify(garbage, &all, EXPECTED).is_err(), "{garbage:.20}");
    }
}

#[test]
fn a_changed_token_is_not_believed() {
    let all = keys(&[ed25519_key()]);
    let good = token(&json!({ "alg": "EdDSA", "kid": "one" }), &claims(), by_ed25519);
    let mut parts: Vec<String> = good.split('.').map(str::to_owned).collect();
    let mut other = claims();
    other["sub"] = json!("eve");
    parts[1] = encode(other.to_string());
    assert_eq!(verify(&parts.join("."), &all, EXPECTED), Err(TokenError::Signature));
}

#[test]
fn a_token_is_for_this_arena_this_sign_in_and_from_this_provider() {
    assert!(with(&[]).is_ok());
    let here = EXPECTED.client_id;
    for (changes, expected) in [
        (vec![("iss", json!("https://evil.example"))], TokenError::Issuer),
        (vec![("iss", json!("https://id.example/"))], TokenError::Issuer),
        (vec![("iss", Value::Null)], TokenError::Issuer),
        (vec![("aud", json!("another"))], TokenError::Audience),
        (vec![("aud", Value::Null)], TokenError::Audience),
        (vec![("aud", json!([]))], TokenError::Audience),
        (vec![("aud", json!([here, "another"]))], TokenError::Audience),
        (vec![("aud", json!([here, "another"])), ("azp", json!("another"))], TokenError::Audience),
        (vec![("azp", json!("another"))], TokenError::Audience),
        (vec![("azp", json!(7))], TokenError::Audience),
        (vec![("nonce", json!("other"))], TokenError::Nonce),
        (vec![("nonce", Value::Null)], TokenError::Nonce),
        (vec![("sub", Value::Null)], TokenError::Subject),
        (vec![("sub", json!(""))], TokenError::Subject),
        (vec![("sub", json!("a\nb"))], TokenError::Subject),
        (vec![("sub", json!("x".repeat(256)))], TokenError::Subject),
    ] {
        assert_eq!(with(&changes), Err(expected), "{changes:?}");
    }
    assert!(with(&[("aud", json!([here, "another"])), ("azp", json!(here))]).is_ok());
    assert!(with(&[("aud", json!([here]))]).is_ok());
}

#[test]
fn a_token_holds_for_a_short_time_and_clocks_may_differ_by_a_minute() {
    let now = NOW.0 / 1_000;
    for (name, seconds, is_good) in [
        ("exp", -59, true),
        ("exp", -60, false),
        ("exp", 86_400, true),
        ("iat", 60, true),
        ("iat", 61, false),
        ("iat", -600, true),
        ("iat", -601, false),
        ("nbf", 60, true),
        ("nbf", 61, false),
    ] {
        let expected = if is_good { Ok(()) } else { Err(TokenError::Time) };
        assert_eq!(with(&[(name, json!(now + seconds))]).map(drop), expected, "{name} {seconds}");
    }
    for name in ["exp", "iat"] {
        for bad in [Value::Null, json!("1900000000"), json!(1e300), json!(-1.5), json!(true)] {
            assert_eq!(with(&[(name, bad.clone())]), Err(TokenError::Time), "{name} {bad}");
        }
    }
    assert!(with(&[("exp", json!(1_800_000_100.5))]).is_ok());
}

#[test]
fn claims_are_read_as_far_as_they_are_believed_and_never_printed() {
    let told = json!({
        "email": "ada@example.org", "email_verified": true, "preferred_username": "ada", "groups": ["a", 7, "b"],
        "realm_access": { "roles": ["staff"] }, "https://example.org/role": "chief",
    });
    let changes: Vec<(&str, Value)> = told.as_object().unwrap().iter().map(|(k, v)| (k.as_str(), v.clone())).collect();
    let identity = with(&changes).unwrap();
    assert_eq!((identity.verified_email(), identity.name()), (Some("ada@example.org"), Some("ada")));
    assert_eq!(identity.texts("groups"), ["a", "b"]);
    assert_eq!(identity.texts("realm_access.roles"), ["staff"]);
    assert_eq!(identity.texts("https://example.org/role"), ["chief"], "a name with dots of its own");
    assert!(identity.texts("realm_access").is_empty() && identity.texts("none.of.it").is_empty());
    assert!(!format!("{identity:?}").contains("ada"));
    for verified in [json!(false), json!("true"), json!(1), Value::Null] {
        let email = [("email", json!("ada@example.org")), ("email_verified", verified.clone())];
        assert_eq!(with(&email).unwrap().verified_email(), None, "{verified}");
    }
}
