//! A column of texts, each text of its dictionary stored once.

use std::ops::Index;

/// List of texts in one buffer, without an allocation per text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextList {
    joined: String,
    ends: Vec<usize>,
}

impl TextList {
    /// Adds a text and returns its place.
    pub(super) fn push(&mut self, text: &str) -> u32 {
        let place = u32::try_from(self.ends.len()).unwrap_or(Texts::NONE);
        self.joined.push_str(text);
        self.ends.push(self.joined.len());
        place
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, place: usize) -> Option<&str> {
        let end = *self.ends.get(place)?;
        let begin = if place == 0 { 0 } else { self.ends[place - 1] };
        Some(&self.joined[begin..end])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|place| &self[place])
    }
}

impl Index<usize> for TextList {
    type Output = str;

    fn index(&self, place: usize) -> &str {
        self.get(place).expect("a text has the place that `push` returned")
    }
}

impl<T: AsRef<str>> FromIterator<T> for TextList {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut list = Self::default();
        texts.into_iter().for_each(|text| _ = list.push(text.as_ref()));
        list
    }
}

/// Texts of rows by index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Texts {
    /// The texts; a file may have duplicates.
    pub(super) names: TextList,
    /// Index of each row's text; [`Texts::NONE`] without one.
    pub(super) rows: Vec<u32>,
}

impl Texts {
    pub(super) const NONE: u32 = u32::MAX;

    /// The text of a row.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        self.names.get(*self.rows.get(row)? as usize)
    }

    /// Adds a text, found by linear search among few.
    pub(super) fn push(&mut self, text: Option<&str>) {
        let place = text.map(|text| {
            let known = self.names.iter().position(|name| name == text);
            known.and_then(|place| u32::try_from(place).ok()).unwrap_or_else(|| self.names.push(text))
        });
        self.rows.push(place.unwrap_or(Self::NONE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_places() {
        let list: TextList = ["ann", "", "b\u{e9}a", "ann"].into_iter().collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), ["ann", "", "b\u{e9}a", "ann"]);
        assert_eq!((list.len(), list.get(4)), (4, None));
        let mut texts = Texts::default();
        [Some("x"), None, Some("y"), Some("x")].into_iter().for_each(|text| texts.push(text));
        assert_eq!(texts.rows, [0, Texts::NONE, 1, 0]);
        assert_eq!((texts.text(2), texts.text(1), texts.text(4)), (Some("y"), None, None));
    }
}
