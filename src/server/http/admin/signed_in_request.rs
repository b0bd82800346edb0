//! Admin requests: typed fields, session and origin.

use actix_web::{HttpRequest, web};

use crate::http::form_token;
use crate::http::request::address::{address_of, network_of};
use crate::http::request::error::PageError;
use crate::infra::storage::{ActedVia, AdminSessionRow};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::{Page, Section};
use crate::services::admin::actor::Actor;
use crate::services::admin::sessions::RequestOrigin;
use crate::state::AppState;

/// Key under which failed attempts from loopback addresses are counted too: behind a proxy that is not trusted, every client has one.
const LOOPBACK_NETWORK: &str = "this machine";

/// Admin request. `S` is the session, or `()`.
pub(super) struct Call<S> {
    pub(super) request: HttpRequest,
    pub(super) app: web::Data<AppState>,
    /// Fields of the form, or of the query.
    pub(super) fields: Fields,
    pub(super) session: S,
}

/// Request of a signed-in user with the required role.
pub(super) type SignedInRequest = Call<AdminSessionRow>;

/// Fields of a form or a query, in their order.
pub(super) struct Fields(Vec<(String, String)>);

impl From<Vec<(&'static str, String)>> for Fields {
    fn from(fields: Vec<(&'static str, String)>) -> Self {
        Self(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl Fields {
    pub(super) fn new(text: &str) -> Result<Self, PageError> {
        let fields = web::Query::<Vec<(String, String)>>::from_query(text);
        let unreadable = |_| PageError::InvalidQuery("the form cannot be read".to_owned());
        Ok(Self(fields.map_err(unreadable)?.into_inner()))
    }

    /// Returns the first field of a name; empty if missing.
    pub(super) fn one(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// Returns all fields of a name, in their order.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Returns a non-empty field.
    pub(super) fn given(&self, name: &str) -> Option<&str> {
        Some(self.one(name).trim()).filter(|value| !value.is_empty())
    }
}

impl<S> Call<S> {
    /// Returns the origin of the request.
    pub(super) fn origin(&self) -> RequestOrigin {
        let settings = self.app.settings.now();
        let trusted = &settings.server.trusted_proxies;
        RequestOrigin {
            address: address_of(&self.request, trusted),
            network: network_of(&self.request, trusted).unwrap_or_else(|| LOOPBACK_NETWORK.to_owned()),
        }
    }

    pub(super) fn page(&self) -> Page {
        Page::new(&self.request, Section::None)
    }
}

impl Call<()> {
    pub(super) fn signed_in(self, session: AdminSessionRow) -> SignedInRequest {
        Call { request: self.request, app: self.app, fields: self.fields, session }
    }

    /// Checks the CSRF token of the visitor's session, so that no other site can sign anyone in.
    pub(super) fn check_visitor(&self) -> Result<(), PageError> {
        let visitor = form_token::visitor(&self.request, &self.app);
        form_token::check(&self.request, &self.app, &visitor, self.fields.one("token"))
    }
}

impl SignedInRequest {
    /// Returns the actor for the audit log.
    pub(super) fn actor(&self) -> Actor {
        Actor { name: self.session.name.clone(), via: ActedVia::Page, address: self.origin().address }
    }

    /// Returns the frame of the page.
    pub(super) fn frame(&self, tab: AdminTab) -> AdminFrame {
        AdminFrame {
            name: self.session.name.clone(),
            role: self.session.role,
            token: super::form_token(&self.app, &self.session),
            tabs: AdminTab::ALL.into_iter().filter(|tab| super::may_read(self.session.role, tab.path())).collect(),
            tab,
            done: self.fields.one("done") == "1",
            problem: None,
        }
    }

    /// Returns the frame with the reason for a refusal.
    pub(super) fn frame_with(&self, tab: AdminTab, problem: &str) -> AdminFrame {
        AdminFrame { problem: Some(problem.to_owned()), ..self.frame(tab) }
    }
}
