//! Selection lists for the two models shown side by side.

use crate::render::i18n::pages::BenchmarkTexts;

/// Selection list of one side.
pub(super) struct SideChoice {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) options: Vec<SideOption>,
}

/// Option for a model.
pub(super) struct SideOption {
    pub(super) id: String,
    /// Display name.
    pub(super) name: String,
    pub(super) is_chosen: bool,
}

/// Returns the lists for the left and the right model; `name` maps model ids to display names.
pub(super) fn side_choices<'m>(
    words: &BenchmarkTexts,
    models: impl Iterator<Item = &'m str> + Clone,
    [left, right]: [&str; 2],
    name: &dyn Fn(&str) -> String,
) -> [SideChoice; 2] {
    let option = |id: &str, chosen: &str| SideOption { id: id.to_owned(), name: name(id), is_chosen: id == chosen };
    [("left", words.left_side, left), ("right", words.right_side, right)].map(|(field, label, chosen)| SideChoice {
        name: field,
        label,
        options: models.clone().map(|model| option(model, chosen)).collect(),
    })
}
