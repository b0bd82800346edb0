//! What may stand in the address of a server. Errors name no part of it that may belong to a password.

/// What an address may say after its `?`; whatever else stands there is a slip, and might be a secret.
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
/// What to do where a password breaks an address.
pub(super) const PERCENT_ENCODING: &str =
    "percent-encode what is not a letter or a digit in the password: %40 for @, %2F for /, %23 for #, %3F for ?";

/// What is wrong with what stands after the `?` of an address, if anything.
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
