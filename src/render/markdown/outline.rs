//! Heading levels: a reply is below the heading with its model's name, and no level may be skipped.

use comrak::nodes::{Node, NodeValue};

/// The level of the heading above a reply.
const PARENT_HEADING_LEVEL: u8 = 3;
/// The last level of HTML.
const MAX_HEADING_LEVEL: u8 = 6;

/// Open heading levels in the model's text: bit n for level n.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OpenHeadings(u8);

impl OpenHeadings {
    /// Sets each heading of a block to the next level below its parent.
    pub(super) fn adjust_heading_levels<'a>(&mut self, block: Node<'a>) {
        for node in block.descendants() {
            if let NodeValue::Heading(heading) = &mut node.data_mut().value {
                heading.level = self.place(heading.level);
            }
        }
    }

    /// The level at which a heading of this written level is shown.
    fn place(&mut self, written: u8) -> u8 {
        let bit = 1 << written.min(MAX_HEADING_LEVEL);
        // A heading closes all headings of the same or a lower rank.
        self.0 = (self.0 & (bit - 1)) | bit;
        let depth = u8::try_from(self.0.count_ones()).unwrap_or(MAX_HEADING_LEVEL);
        (PARENT_HEADING_LEVEL + depth).min(MAX_HEADING_LEVEL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_begin_below_the_name_of_the_model_and_leave_none_out() {
        let mut outline = OpenHeadings::default();
        let placed = [3, 3, 4, 2, 3, 6, 1, 2, 3, 4].map(|written| outline.place(written));
        assert_eq!(placed, [4, 4, 5, 4, 5, 6, 4, 5, 6, 6]);
    }
}
