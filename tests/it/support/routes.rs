//! The addresses of the arena.

/// Each address of the route table but the sockets, with something in place of its parameters.
pub(crate) fn addresses() -> Vec<String> {
    let table = include_str!("../../../src/server/http/mod.rs");
    let named = [".route(\"", "web::resource(\""].into_iter().flat_map(|call| table.split(call).skip(1));
    let path = |rest: &str| rest.split('"').next().unwrap().to_owned();
    let given = |path: String| path.replace("{suite}", "urs").replace("{id:.+}", "1").replace("{path:.*}", "style.css");
    let addresses: Vec<String> = named.map(path).map(given).filter(|path| !path.starts_with("/ws/")).collect();
    let admin = langya::server::http::admin::ADMIN_ROUTES.iter().map(|route| route.path.to_owned());
    let mut admin: Vec<String> = admin.collect();
    admin.dedup();
    let addresses: Vec<String> = addresses.into_iter().chain(admin).collect();
    assert!(addresses.len() >= 30, "the route table is written in another way: mend this search: {addresses:?}");
    addresses
}
