//! Query strings.

/// Formats parameters as a query string with the question mark; empty for none.
pub fn query_string(parameters: &[(&str, &str)]) -> String {
    let parts: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
}

/// Percent-encodes reserved bytes.
pub fn escaped(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    value.bytes().fold(String::new(), |out, byte| {
        if plain(byte) { out + &char::from(byte).to_string() } else { out + &format!("%{byte:02X}") }
    })
}
