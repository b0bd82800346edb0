//! Checkpoint text that a log signs: its name, size and root hash.

use super::hash::TreeHash;
use super::merkle_proof::TreeHead;

/// State of a log (C2SP tlog-checkpoint).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the log, an address without its scheme.
    pub origin: String,
    /// Size and root hash of the tree.
    pub head: TreeHead,
}

impl Checkpoint {
    /// Formats the text to sign.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.head.size, self.head.root.to_base64())
    }

    /// Parses the text of a checkpoint, ignoring extension lines after the root. Returns `None` for any non-canonical text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        let number: u64 = size.parse().ok()?;
        let head = TreeHead { size: number, root: TreeHash::from_base64(root)? };
        let is_plain = !origin.is_empty() && number.to_string() == size && lines.all(|line| !line.is_empty());
        is_plain.then(|| Self { origin: origin.to_owned(), head })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_survives_and_has_one_spelling() {
        let head = TreeHead { size: 109_482, root: TreeHash::leaf(b"x") };
        let checkpoint = Checkpoint { origin: "arena.example/log".into(), head };
        let text = checkpoint.to_text();
        assert_eq!(Checkpoint::parse(&text), Some(checkpoint.clone()));
        assert_eq!(Checkpoint::parse(&(text.clone() + "an extension\n")), Some(checkpoint));
        let root = head.root.to_base64();
        for text in [
            format!("\n1\n{root}\n"),
            format!("o\n01\n{root}\n"),
            format!("o\n+1\n{root}\n"),
            format!("o\n-1\n{root}\n"),
            format!("o\n1\n{}\n", &root[1..]),
            format!("o\n1\n{root}"),
            format!("o\n1\n{root}\n\n"),
            "o\n1\n".to_owned(),
        ] {
            assert_eq!(Checkpoint::parse(&text), None, "{text:?}");
        }
    }
}
