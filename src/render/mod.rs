//! What people look at: charts as SVG, replies as safe HTML, reports.

pub mod chart;
pub mod i18n;
pub mod markup;
pub mod qr_code;
pub mod report;

use langya_domain as domain;
