//! Validation of a server's address. Errors repeat no part of it that may belong to a password.

/// Allowed parameters after the `?` of an address; others are mistakes, and may be secrets.
const ADDRESS_OPTIONS: [&str; 16] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "user",
];
/// Remedy for a password that breaks an address.
pub(super) const PERCENT_ENCODING: &str =
    "percent-encode what is not a letter or a digit in the password: %40 for @, %2F for /, %23 for #, %3F for ?";

/// Returns the problem with the parameters of an address, if any.
pub(super) fn option_fault(address: &str) -> Option<String> {
    let (_, rest) = address.split_once('?')?;
    let mut names = rest.split('&').filter_map(|option| option.split('=').next());
    let unknown = names.find(|name| !ADDRESS_OPTIONS.contains(name) && !name.starts_with("options["))?;
    // A password ends at the last @, so everything before it may be a part of one.
    Some(if rest.contains('@') {
        format!("it has an unknown option, or a ? in its password; {PERCENT_ENCODING}")
    } else {
        format!("it has an unknown option {unknown:?}")
    })
}
