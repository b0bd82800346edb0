//! `langya correlate --papers`: compares the papers' claims with the papers' tables.

use std::fmt::Write as _;

use crate::domain::benchmark::paper_claims::{Claim, ClaimVerdict, Number};
use crate::error::CommandResult;

/// Formats the studies as a table.
pub(super) fn table(claims: &[Claim]) -> String {
    let mut text = String::new();
    for claim in claims {
        let verdict = match claim.verdict {
            ClaimVerdict::Reproduced => "reproduced",
            ClaimVerdict::Contradiction => "CONTRADICTION",
            ClaimVerdict::NotPrinted => "nothing printed to compare with",
        };
        let line = format!("{:<4} {}, {}: {}\n     {verdict}\n", claim.id, claim.paper, claim.place, claim.says.en);
        text.push_str(&line);
        for number in &claim.numbers {
            writeln!(text, "     {:<12} {:<12} {}", printed(number), number.written(), number.name.en)
                .expect("a String takes what is written");
        }
        if let Some(contradiction) = &claim.contradiction {
            writeln!(text, "     {}", contradiction.en).expect("a String takes what is written");
        }
    }
    format!("     {:<12} {:<12}\n", "printed", "ours") + &text
}

/// Formats the claims as CSV, one row per number.
///
/// # Errors
/// The CSV cannot be written.
pub(super) fn csv(claims: &[Claim]) -> CommandResult<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["claim", "paper", "place", "says", "number", "printed", "ours", "agrees", "contradiction"])?;
    for claim in claims {
        let contradiction = claim.contradiction.as_ref().map_or("", |text| text.en.as_str());
        for number in &claim.numbers {
            writer.write_record([
                claim.id,
                claim.paper,
                claim.place,
                &claim.says.en,
                &number.name.en,
                number.printed.as_deref().unwrap_or_default(),
                &number.ours.to_string(),
                number.agrees.map_or("", |agrees| if agrees { "true" } else { "false" }),
                contradiction,
            ])?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn printed(number: &Number) -> &str {
    number.printed.as_deref().unwrap_or("–")
}
