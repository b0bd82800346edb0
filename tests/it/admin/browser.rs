//! A browser of somebody who runs the arena: it keeps its two cookies and follows nothing.

use langya::domain::admin::action::AdminAction;
use langya::domain::admin::role::Role;
use langya::domain::time::Timestamp;
use langya::infra::config::Settings;
use langya::infra::storage::{ActedVia, Joined, JoiningUser, NewAdminInvite, NewAuditEntry};
use reqwest::{RequestBuilder, Response};

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;
use crate::support::visitor::http_client;

pub(crate) async fn arena(change: impl FnOnce(&mut Settings)) -> TestArena {
    TestArena::start_with(&[("one", &Scripted::saying("One.")), ("two", &Scripted::saying("Two."))], change).await
}

/// An arena in which the first model answers like this.
pub(crate) async fn arena_of(model: &Scripted) -> TestArena {
    TestArena::start(&[("one", model), ("two", &Scripted::saying("Two."))]).await
}

pub(crate) fn entry(id: &str) -> NewAuditEntry {
    NewAuditEntry {
        id: id.to_owned(),
        acted_at: Timestamp(1),
        actor: "test".to_owned(),
        action: AdminAction::Join,
        subject: String::new(),
        former: None,
        latter: None,
        via: ActedVia::Command,
        address: String::new(),
    }
}

/// An account as a link makes it.
pub(crate) async fn account(arena: &TestArena, name: &str, role: Role, passphrase_hash: &str) {
    let link = format!("link of {name}");
    let (created_at, expires_at, now) = (Timestamp(1), Timestamp(3), Timestamp(2));
    let invite = NewAdminInvite {
        id: &link,
        token_hash: &link,
        role,
        user_id: None,
        first_run: false,
        created_by: "",
        created_at,
        expires_at,
    };
    arena.app.store.insert_admin_invite(invite, None).await.unwrap();
    let user_id = format!("id of {name}");
    let joining = JoiningUser { token_hash: &link, user_id: &user_id, name, passphrase_hash, now };
    let joined = arena.app.store.join_admin(joining, &entry(&format!("0-{name}"))).await.unwrap();
    assert_eq!(joined, Joined::Done);
}

/// A browser with a session of a new account, which is called as its role.
pub(crate) async fn signed_in(arena: &TestArena, role: Role) -> Browser {
    account(arena, role.as_str(), role, "a hash, as of somebody who can sign in").await;
    let user = arena.app.store.admin_user(role.as_str()).await.unwrap().unwrap();
    let token = arena.app.admin_sessions.begin(&user, "127.0.0.1").await.unwrap();
    let mut browser = Browser::new(arena);
    browser.admin_cookie = Some(format!("langya_admin={token}"));
    browser
}

pub(crate) struct Browser {
    client: reqwest::Client,
    url: String,
    /// Of the pages that it sends forms from.
    pub(crate) origin: String,
    cookie: Option<String>,
    pub(crate) admin_cookie: Option<String>,
    pub(crate) forwarded_for: Option<String>,
}

impl Browser {
    pub(crate) fn new(arena: &TestArena) -> Self {
        Self::at(&arena.url)
    }

    pub(crate) fn at(url: &str) -> Self {
        let client = http_client().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self {
            client,
            url: url.to_owned(),
            origin: url.to_owned(),
            cookie: None,
            admin_cookie: None,
            forwarded_for: None,
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Response {
        let request = self.client.get(format!("{}{path}", self.url));
        self.send(request).await
    }

    /// Opens an address as people do: what is refused is a page.
    pub(crate) async fn open(&mut self, path: &str) -> Response {
        let request = self.client.get(format!("{}{path}", self.url)).header("accept", "text/html");
        self.send(request).await
    }

    async fn send(&mut self, mut request: RequestBuilder) -> Response {
        let cookies: Vec<&str> = [&self.cookie, &self.admin_cookie].into_iter().flatten().map(String::as_str).collect();
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        if let Some(address) = &self.forwarded_for {
            request = request.header("x-forwarded-for", address);
        }
        let response = request.send().await.unwrap();
        for set in response.headers().get_all("set-cookie") {
            let pair = set.to_str().unwrap().split(';').next().unwrap().to_owned();
            if pair.contains("langya_admin") {
                self.admin_cookie = Some(pair);
            } else if pair.contains("langya_session") {
                self.cookie = Some(pair);
            }
        }
        response
    }

    /// The token of the forms on a page.
    pub(crate) async fn form_token(&mut self, path: &str) -> String {
        let page = self.get(path).await.text().await.unwrap();
        page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)], origin: Option<&str>) -> Response {
        let encoded = fields.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+")));
        let body = encoded.collect::<Vec<_>>().join("&");
        let mut request = self.client.post(format!("{}{path}", self.url)).body(body);
        request = request.header("content-type", "application/x-www-form-urlencoded");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        self.send(request).await
    }

    /// Sends a form as a page of the session does.
    pub(crate) async fn post_form(&mut self, path: &str, fields: &[(&str, &str)]) -> Response {
        let (token, origin) = (self.form_token("/admin/account").await, self.origin.clone());
        self.post(path, &[&[("token", token.as_str())], fields].concat(), Some(&origin)).await
    }

    pub(crate) async fn sign_in(&mut self, name: &str, passphrase: &str, code: &str) -> Response {
        let (token, origin) = (self.form_token("/admin/sign-in").await, self.origin.clone());
        let fields = [("token", token.as_str()), ("name", name), ("passphrase", passphrase), ("code", code)];
        self.post("/admin/sign-in", &fields, Some(&origin)).await
    }

    /// Follows a link.
    pub(crate) async fn join(&mut self, code: &str, name: &str, passphrase: &str) -> Response {
        let (token, origin) = (self.form_token("/admin/welcome").await, self.origin.clone());
        let fields = [("token", token.as_str()), ("link", code), ("name", name), ("passphrase", passphrase)];
        self.post("/admin/welcome", &fields, Some(&origin)).await
    }
}
