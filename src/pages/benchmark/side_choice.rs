//! The two fields that choose which models stand side by side.

use crate::render::i18n::pages::BenchmarkTexts;

/// One of the fields.
pub(super) struct SideChoice {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    /// The models, and whether each is chosen.
    pub(super) options: Vec<(String, bool)>,
}

/// The fields for the left and the right model.
pub(super) fn side_choices<'m>(
    words: &BenchmarkTexts,
    models: impl Iterator<Item = &'m str> + Clone,
    [left, right]: [&str; 2],
) -> [SideChoice; 2] {
    [("left", words.left_side, left), ("right", words.right_side, right)].map(|(name, label, chosen)| SideChoice {
        name,
        label,
        options: models.clone().map(|model| (model.to_owned(), model == chosen)).collect(),
    })
}
