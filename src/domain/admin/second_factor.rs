//! Whether an account asks for a code of an authenticator app beside its passphrase.

/// Minutes within which the first code has to confirm a secret.
pub const CONFIRM_MINUTES: i64 = 15;

/// Whether a user has a second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecondFactor {
    /// No.
    Off,
    /// A secret waits for its first code.
    Pending {
        /// As people type it.
        secret: String,
        /// As apps read it.
        address: String,
    },
    /// Yes.
    On,
}
