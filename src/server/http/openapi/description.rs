//! Descriptions of the document: the doc comments of the code, without links to code.

use serde_json::Value;

/// Removes the links from every description of a document.
pub(super) fn without_links(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "description" => *text = plain(text),
                    other => without_links(other),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(without_links),
        _ => {}
    }
}

/// Replaces links in a comment by their texts and joins the lines of each paragraph.
#[must_use]
pub fn plain(comment: &str) -> String {
    let mut out = String::with_capacity(comment.len());
    let mut rest = comment;
    while let Some((before, after)) = rest.split_once("[`") {
        out.push_str(before);
        let Some((text, behind)) = after.split_once("`]") else {
            out.push_str("[`");
            rest = after;
            continue;
        };
        let target = behind.strip_prefix('(').and_then(|target| target.split_once(')'));
        out.push_str(&format!("`{text}`"));
        rest = target.map_or(behind, |(_, behind)| behind);
    }
    out.push_str(rest);
    out.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn links_of_the_code_become_their_texts() {
        assert_eq!(plain("See [`a`](Self::a) and [`B`].\nMore.\n\nEnd [1]."), "See `a` and `B`. More.\n\nEnd [1].");
        assert_eq!(plain("open [`a"), "open [`a");
    }
}
