//! One's own account.

use askama::Template;

use super::AdminFrame;
use crate::http::pages::Page;
use crate::http::pages::time::time_text;
use crate::infra::storage::AdminSessionRow;
use crate::render::i18n::fill;
use crate::render::qr_code::{self, QrPicture};
use crate::services::admin::second_factor::{CONFIRM_MINUTES, SecondFactor};

/// The page.
#[derive(Template)]
#[template(path = "admin/account.html")]
pub(crate) struct AccountPage {
    pub(crate) page: Page,
    pub(crate) frame: AdminFrame,
    pub(crate) sessions: Vec<SessionLine>,
    pub(crate) factor: SecondFactor,
    /// What the provider is called where this user signs in there.
    pub(crate) provider: Option<String>,
    /// Shown once.
    pub(crate) recovery_codes: Vec<String>,
}

impl AccountPage {
    /// What to do with a secret that waits for its first code.
    fn pending_lead(&self) -> String {
        fill(self.page.t().admin.account.factor_pending, &[("n", &CONFIRM_MINUTES.to_string())])
    }

    /// The address of a secret that waits for its first code, for the camera of a telephone.
    fn qr_code(&self) -> Option<QrPicture> {
        match &self.factor {
            SecondFactor::Pending { address, .. } => qr_code::picture(address),
            SecondFactor::Off | SecondFactor::On => None,
        }
    }
}

/// A session.
pub(crate) struct SessionLine {
    pub(crate) row: AdminSessionRow,
    /// Whether this request belongs to it.
    pub(crate) is_own: bool,
}

impl SessionLine {
    fn times(&self) -> [String; 3] {
        [self.row.created_at, self.row.seen_at, self.row.expires_at].map(|time| time_text(time.0))
    }
}
