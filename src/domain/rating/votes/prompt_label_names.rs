//! Labels of several names, such as LMArena's tags, joined by commas. A name that contains a comma, or starts or ends with white space,
//! is in double quotes, and a quote in it is doubled, as in CSV.

use std::borrow::Cow;

/// Splits a label into its names, without the white space around them.
#[must_use]
pub fn split_names(label: &str) -> Vec<Cow<'_, str>> {
    let (mut names, mut rest) = (Vec::new(), Some(label));
    while let Some(text) = rest {
        rest = if let Some((name, after)) = quoted_name(text) {
            names.push(name);
            after
        } else {
            let (name, after) = text.split_once(',').map_or((text, None), |(name, after)| (name, Some(after)));
            names.extend(Some(name.trim()).filter(|name| !name.is_empty()).map(Cow::Borrowed));
            after
        };
    }
    names
}

/// Joins names into a label; the inverse of [`split_names`].
#[must_use]
pub fn join_names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let spelled = |name: &str| {
        let is_plain = !name.contains(',') && !name.starts_with('"') && name == name.trim() && !name.is_empty();
        if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
    };
    names.into_iter().map(spelled).collect::<Vec<_>>().join(",")
}

/// Parses the quoted name at the start of a text, and returns it with the text after the comma; `None` without a quoted name.
fn quoted_name(text: &str) -> Option<(Cow<'_, str>, Option<&str>)> {
    let quoted = text.trim_start().strip_prefix('"')?;
    let mut from = 0;
    let end = loop {
        let quote = from + quoted[from..].find('"')?;
        if !quoted[quote + 1..].starts_with('"') {
            break quote;
        }
        from = quote + 2;
    };
    let name = Cow::Owned(quoted[..end].replace("\"\"", "\""));
    let after = quoted[end + 1..].trim_start();
    if after.is_empty() {
        return Some((name, None));
    }
    Some((name, Some(after.strip_prefix(',')?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(label: &str, names: &[&str]) {
        assert_eq!(split_names(label), names, "{label:?}");
    }

    #[test]
    fn commas_outside_quotes_separate_names() {
        check("coding", &["coding"]);
        check("coding,math", &["coding", "math"]);
        check(" coding , math ,", &["coding", "math"]);
        check("\"law, tax\",math", &["law, tax", "math"]);
        check("math, \"law, \"\"tax\"\"\" ", &["math", "law, \"tax\""]);
        check("", &[]);
    }

    #[test]
    fn quotes_that_enclose_no_name_are_text() {
        check("\"law\" and tax,math", &["\"law\" and tax", "math"]);
        check("\"law, tax", &["\"law", "tax"]);
        check("5\" screens", &["5\" screens"]);
    }

    #[test]
    fn joined_names_are_given_back() {
        let names = ["law, tax", "math", "\"quoted\"", "5\" screens", "\"", ",\"", " a ", "", " \""];
        assert_eq!(split_names(&join_names(names)), names);
        assert_eq!(join_names(["coding", "math"]), "coding,math");
    }
}
