//! Rendering: charts as SVG, replies as safe HTML, reports, the documentation.

pub mod chart;
pub mod docs;
pub mod i18n;
pub mod link_preview;
pub mod markdown;
pub mod qr_code;
pub mod report;

use langya_domain as domain;
