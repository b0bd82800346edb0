//! A column of texts, each distinct text stored once.

/// Texts by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Texts {
    /// The distinct texts.
    pub(super) names: Vec<String>,
    /// One a row; [`Texts::NONE`] where it has none.
    pub(super) rows: Vec<u32>,
}

impl Texts {
    pub(super) const NONE: u32 = u32::MAX;

    /// The text of a row.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        self.names.get(*self.rows.get(row)? as usize).map(String::as_str)
    }

    /// Adds a text that is looked for among few.
    pub(super) fn push(&mut self, text: Option<&str>) {
        let place = text.map(|text| {
            self.names.iter().position(|name| name == text).unwrap_or_else(|| {
                self.names.push(text.to_owned());
                self.names.len() - 1
            })
        });
        self.rows.push(place.map_or(Self::NONE, |place| u32::try_from(place).unwrap_or(Self::NONE)));
    }
}
