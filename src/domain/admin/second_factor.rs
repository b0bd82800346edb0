//! State of an account's second factor, a code of an authenticator app.

/// Time limit for confirming a secret by its first code, in minutes.
pub const CONFIRM_MINUTES: i64 = 15;

/// Second factor of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecondFactor {
    /// Disabled.
    Off,
    /// Waiting for the first code of a new secret.
    Pending {
        /// Secret in base 32 for typing.
        secret: String,
        /// `otpauth` address for authenticator apps.
        address: String,
    },
    /// Enabled.
    On,
}
