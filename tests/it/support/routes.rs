//! Paths of the route table.

use langya::server::http::admin::ADMIN_ROUTES;

/// Lists each path of the route table except websockets, with values for its parameters.
pub(crate) fn addresses() -> Vec<String> {
    all_addresses().into_iter().filter(|path| !path.starts_with("/ws/")).collect()
}

/// Lists each path including websockets.
pub(crate) fn all_addresses() -> Vec<String> {
    let mut admin: Vec<&str> = ADMIN_ROUTES.iter().map(|route| route.path).collect();
    admin.dedup();
    let in_table = templates().into_iter().map(given);
    let addresses: Vec<String> = in_table.chain(admin.into_iter().map(str::to_owned)).collect();
    assert!(addresses.len() >= 60, "the route table is written in another way: mend this search: {addresses:?}");
    addresses
}

/// Lists each path of the route table except the admin's, with its parameters in braces.
pub(crate) fn templates() -> Vec<String> {
    let table = include_str!("../../../src/server/http/mod.rs");
    table.split("\nfn ").flat_map(in_function).collect()
}

/// Lists the paths in one function of the table. Paths after a scope are below its path.
fn in_function(text: &str) -> Vec<String> {
    let mut scope = "";
    let mut found = Vec::new();
    for (at, call) in text.match_indices("(\"") {
        let (before, path) = (&text[..at], text[at + call.len()..].split('"').next().unwrap());
        if before.ends_with("web::scope") {
            scope = path;
        } else if [".route", "web::resource", "get_and_head"].iter().any(|call| before.ends_with(call)) {
            found.push(format!("{scope}{path}"));
        }
    }
    found
}

fn given(path: String) -> String {
    let parameters = [
        ("{suite}", "urs"),
        ("{id:.+}", "1"),
        ("{path:.*}", "style.css"),
        ("{path:.+}", "0/000"),
        ("/{vote}", "/1"),
        ("/{token}", "/1"),
        ("/{page}", "/start"),
        ("/{id}", "/1"),
    ];
    parameters.iter().fold(path, |path, (parameter, given)| path.replace(parameter, given))
}
