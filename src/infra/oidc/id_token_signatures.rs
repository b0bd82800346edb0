//! Signatures of ID tokens, verified by ring, which TLS uses already.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

/// Accepted algorithms: public keys only, so that a public key cannot be misused as a shared secret.
pub(super) const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(Error::from(ErrorKind::UnsupportedAlgorithm)),
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs ring as the verifier of tokens.
pub(super) fn install() {
    // An error means that it is already installed.
    let _ = PROVIDER.install_default();
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let is_usable = ALGORITHMS.contains(algorithm) && algorithm.family() == key.family();
    let verifier = RingVerifier { algorithm: *algorithm, key: key.kind().clone() };
    if is_usable { Ok(Box::new(verifier)) } else { Err(Error::from(ErrorKind::UnsupportedAlgorithm)) }
}

struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKeyKind,
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let checked = match (&self.key, rsa(self.algorithm), point(self.algorithm)) {
            (DecodingKeyKind::RsaModulusExponent { n, e }, Some(parameters), _) => {
                let key = RsaPublicKeyComponents { n: without_zeros(n), e: without_zeros(e) };
                key.verify(parameters, message, signature)
            }
            (DecodingKeyKind::SecretOrDer(key), _, Some(parameters)) => {
                UnparsedPublicKey::new(parameters, key).verify(message, signature)
            }
            _ => return Err(signature::Error::new()),
        };
        checked.map_err(|_| signature::Error::new())
    }
}

fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        Algorithm::RS256 => Some(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Some(&RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Some(&RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Some(&RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Some(&RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Some(&RSA_PSS_2048_8192_SHA512),
        _ => None,
    }
}

fn point(algorithm: Algorithm) -> Option<&'static dyn VerificationAlgorithm> {
    match algorithm {
        Algorithm::ES256 => Some(&ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Some(&ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Some(&ED25519),
        _ => None,
    }
}

/// Strips leading zeros, which some providers write and ring refuses.
fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}
