//! Hostile Markdown to safe HTML.
