//! The account page of the admin.

use askama::Template;

use super::AdminFrame;
use crate::Page;
use crate::domain::admin::second_factor::{CONFIRM_MINUTES, SecondFactor};
use crate::frame::time::time_text;
use crate::infra::storage::AdminSessionRow;
use crate::render::i18n::fill;
use crate::render::qr_code::{self, QrPicture};

/// Template of the account page.
#[derive(Template)]
#[template(path = "admin/account.html")]
pub struct AccountPage {
    pub page: Page,
    pub frame: AdminFrame,
    pub sessions: Vec<SessionLine>,
    pub factor: SecondFactor,
    /// Name of the identity provider if this user signs in there.
    pub provider: Option<String>,
    /// New recovery codes, shown once.
    pub recovery_codes: Vec<String>,
}

impl AccountPage {
    /// Returns the instructions for confirming a new second factor.
    fn pending_lead(&self) -> String {
        fill(self.page.t().admin.account.factor_pending, &[("n", &CONFIRM_MINUTES.to_string())])
    }

    /// Returns the QR code of the `otpauth:` URI of an unconfirmed second factor.
    fn qr_code(&self) -> Option<QrPicture> {
        match &self.factor {
            SecondFactor::Pending { address, .. } => qr_code::picture(address),
            SecondFactor::Off | SecondFactor::On => None,
        }
    }
}

/// Row of a session.
pub struct SessionLine {
    pub row: AdminSessionRow,
    /// Whether this request belongs to the session.
    pub is_own: bool,
}

impl SessionLine {
    fn times(&self) -> [String; 3] {
        [self.row.created_at, self.row.seen_at, self.row.expires_at].map(|time| time_text(time.0))
    }
}
