//! How a series is asked for: `COLUMN`, `arena:METRIC[:slice]`, `arena:satisfaction`, `bench:SUITE[@JUDGE][:part]`,
//! `verdicts:JUDGE`, `campaign:ID[:question]`, `campaign:ID@JUDGE`, `published:ID[:part]`.

use std::fmt;
use std::str::FromStr;

use crate::benchmark::score::Part;
use crate::campaign::plan::is_id;
use crate::correlation::SeriesError;
use crate::rating::bootstrap_samples::Metric;
use crate::rating::slice::{Slice, Turns};

/// What a series is.
#[derive(Debug, Clone, PartialEq)]
pub enum SeriesName {
    /// A column of the table.
    Column(String),
    /// A metric of the arena's leaderboard, of all votes or a part of them.
    Arena {
        /// Which metric.
        metric: Metric,
        /// Of which votes.
        part: VotePart,
    },
    /// How satisfied visitors are, by intent.
    Satisfaction,
    /// Ratings by a judge's verdicts on the arena's own battles.
    Verdicts(String),
    /// Ratings or mean scores by a campaign, in which people judge stored answers.
    Campaign {
        /// The campaign.
        id: String,
        /// Of what in it.
        part: CampaignPart,
    },
    /// A score of a benchmark.
    Bench {
        /// The suite.
        suite: String,
        /// The judge; `None` for the mean of all judges.
        judge: Option<String>,
        /// The part's key; empty for the whole.
        part: String,
    },
    /// What was published: `ID` or `ID:part`.
    Published(String),
}

/// What of a campaign a series is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CampaignPart {
    /// What people said for its task.
    Task,
    /// What they answered to this question.
    Question(String),
    /// What this judge said of the same answers.
    Judge(String),
}

/// A part of the votes that a series can be of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VotePart(pub Slice);

impl FromStr for SeriesName {
    type Err = SeriesError;

    /// Reads a name. A slice is `language=…`, `category=…`, `intent=…`, `turns=first|multi`, `source=arena|import|campaign` or
    /// `long_prompts`, or several of them joined by commas or, where a comma would end the name, by `+`.
    fn from_str(text: &str) -> Result<Self, SeriesError> {
        let unknown = || SeriesError::Unknown(text.to_owned());
        let Some((source, rest)) = text.split_once(':') else { return Ok(Self::Column(text.to_owned())) };
        match source {
            "arena" if rest == "satisfaction" => Ok(Self::Satisfaction),
            "arena" => {
                let (metric, slice) = rest.split_once(':').unwrap_or((rest, ""));
                let metric = Metric::parse(metric).ok_or_else(unknown)?;
                Ok(Self::Arena { metric, part: VotePart::parse(slice).ok_or_else(unknown)? })
            }
            "bench" => {
                let (suite, part) = rest.split_once(':').unwrap_or((rest, ""));
                let (suite, judge) = match suite.split_once('@') {
                    Some((suite, judge)) => (suite, Some(judge.to_owned())),
                    None => (suite, None),
                };
                let named = !suite.is_empty() && judge.as_deref() != Some("");
                let name = Self::Bench { suite: suite.to_owned(), judge, part: part.to_owned() };
                named.then_some(name).ok_or_else(unknown)
            }
            "verdicts" if !rest.is_empty() => Ok(Self::Verdicts(rest.to_owned())),
            "campaign" => {
                // A column may have such a name.
                let column = || Self::Column(text.to_owned());
                Ok(campaign_part(rest).map_or_else(column, |(id, part)| Self::Campaign { id: id.to_owned(), part }))
            }
            "published" if !rest.is_empty() => Ok(Self::Published(rest.to_owned())),
            // A column may have a colon in its name.
            _ => Ok(Self::Column(text.to_owned())),
        }
    }
}

/// A campaign and what of it: `ID`, `ID:question` or `ID@JUDGE`. The id of a judge may have colons.
fn campaign_part(text: &str) -> Option<(&str, CampaignPart)> {
    if let Some((id, judge)) = text.split_once('@') {
        return (is_id(id) && !judge.is_empty()).then(|| (id, CampaignPart::Judge(judge.to_owned())));
    }
    let Some((id, question)) = text.split_once(':') else {
        return is_id(text).then_some((text, CampaignPart::Task));
    };
    (is_id(id) && is_id(question)).then(|| (id, CampaignPart::Question(question.to_owned())))
}

impl fmt::Display for SeriesName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => f.write_str(name),
            Self::Arena { metric, part } => match part.to_string() {
                whole if whole.is_empty() => write!(f, "arena:{}", metric.as_str()),
                part => write!(f, "arena:{}:{part}", metric.as_str()),
            },
            Self::Satisfaction => f.write_str("arena:satisfaction"),
            Self::Verdicts(judge) => write!(f, "verdicts:{judge}"),
            Self::Campaign { id, part: CampaignPart::Task } => write!(f, "campaign:{id}"),
            Self::Campaign { id, part: CampaignPart::Question(question) } => write!(f, "campaign:{id}:{question}"),
            Self::Campaign { id, part: CampaignPart::Judge(judge) } => write!(f, "campaign:{id}@{judge}"),
            Self::Bench { suite, judge, part } => {
                write!(f, "bench:{suite}")?;
                judge.iter().try_for_each(|judge| write!(f, "@{judge}"))?;
                if part.is_empty() { Ok(()) } else { write!(f, ":{part}") }
            }
            Self::Published(id) => write!(f, "published:{id}"),
        }
    }
}

impl SeriesName {
    /// The series of a part of a suite, by its key; the whole needs no part.
    #[must_use]
    pub fn of_suite(suite: &str, key: &str) -> Self {
        let part = if key == Part::overall().key() { String::new() } else { key.to_owned() };
        Self::Bench { suite: suite.to_owned(), judge: None, part }
    }

    /// Series of the whole suite by each of its judges, where it has several. A judge id with a colon is left out: the name would parse as a
    /// judge and a part.
    #[must_use]
    pub fn by_single_judges(suite: &str, judges: &[String]) -> Vec<Self> {
        let of_judge =
            |judge: &String| Self::Bench { suite: suite.to_owned(), judge: Some(judge.clone()), part: String::new() };
        let is_readable = |name: &Self| name.to_string().parse::<Self>().is_ok_and(|read| read == *name);
        if judges.len() > 1 { judges.iter().map(of_judge).filter(is_readable).collect() } else { Vec::new() }
    }

    /// Whether its numbers have a zero point, so that a ratio of them says something. That of a rating is a convention: an anchor moves
    /// it. What a column, a campaign or a publication holds its name does not say.
    #[must_use]
    pub fn has_zero_point(&self) -> bool {
        !matches!(self, Self::Arena { metric: Metric::Rating | Metric::Elo, .. } | Self::Verdicts(_))
    }

    /// Whether it is read out of the database.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        match self {
            Self::Column(_) => false,
            Self::Published(id) => !super::published_series::is_printed(id),
            Self::Arena { .. }
            | Self::Satisfaction
            | Self::Verdicts(_)
            | Self::Campaign { .. }
            | Self::Bench { .. } => true,
        }
    }

    /// The same by one judge, where it is of a benchmark and names none.
    #[must_use]
    pub fn judged_by(self, judge: &str) -> Self {
        match self {
            Self::Bench { suite, judge: None, part } => Self::Bench { suite, judge: Some(judge.to_owned()), part },
            other => other,
        }
    }

    /// The same of a part of the votes; none where it is not of votes, or of a part already.
    #[must_use]
    pub fn of_part(&self, part: &VotePart) -> Option<Self> {
        match self {
            Self::Arena { metric, part: whole } if *whole == VotePart::default() => {
                Some(Self::Arena { metric: *metric, part: part.clone() })
            }
            _ => None,
        }
    }
}

impl VotePart {
    /// The title of a metric of these votes.
    #[must_use]
    pub fn title(&self, metric: Metric) -> String {
        let metric = match metric {
            Metric::Rating => "arena rating",
            Metric::Elo => "arena Elo rating",
            Metric::WinTieRate => "arena win-and-tie rate",
        };
        match self.0.describe().as_slice() {
            [] => metric.to_owned(),
            parts => format!("{metric}, {}", parts.join(", ")),
        }
    }

    /// Reads a slice as it stands in the name of a series; an empty text is all votes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split([',', '+']).filter(|part| !part.is_empty());
        parts.try_fold(Slice::default(), with_part).map(Self)
    }
}

impl fmt::Display for VotePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slice { language, category, intent, turns, long_prompts, source, .. } = &self.0;
        let named = [("language", language), ("category", category), ("intent", intent)];
        let mut parts: Vec<String> =
            named.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?))).collect();
        parts.extend(turns.map(|turns| match turns {
            Turns::First => "turns=first".to_owned(),
            Turns::Multi => "turns=multi".to_owned(),
        }));
        parts.extend(long_prompts.then(|| "long_prompts".to_owned()));
        parts.extend(source.map(|source| format!("source={}", source.as_str())));
        f.write_str(&parts.join("+"))
    }
}

fn with_part(slice: Slice, part: &str) -> Option<Slice> {
    let (name, value) = part.split_once('=').unwrap_or((part, ""));
    let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
    Some(match name {
        "language" => Slice { language: Some(text()?), ..slice },
        "category" => Slice { category: Some(text()?), ..slice },
        "intent" => Slice { intent: Some(text()?), ..slice },
        "turns" => Slice { turns: Some(value.parse().ok()?), ..slice },
        "source" => Slice { source: Some(value.parse().ok()?), ..slice },
        "long_prompts" if value.is_empty() => Slice { long_prompts: true, ..slice },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        let name: SeriesName = text.parse().unwrap();
        assert_eq!(name.to_string(), shown, "{name:?}");
        assert_eq!(shown.parse::<SeriesName>().unwrap(), name);
    }

    #[test]
    fn a_name_is_written_as_it_was_read() {
        for name in [
            "close",
            "a: b",
            "arena:elo",
            "arena:satisfaction",
            "verdicts:gpt-4",
            "campaign:pilot-2",
            "campaign:pilot-2:clear",
            "campaign:pilot-2@judge:7b",
            "arena:rating:long_prompts+source=campaign",
            "bench:urs",
            "bench:urs@gpt-4:intents",
        ] {
            check(name, name);
        }
        check("bench:mtbench101:CM/turn:2", "bench:mtbench101:CM/turn:2");
        check("published:urs:Factual_QA", "published:urs:Factual_QA");
        check("arena:rating:turns=first,language=zh", "arena:rating:language=zh+turns=first");
        check("arena:win_tie_rate:long_prompts", "arena:win_tie_rate:long_prompts");
        check("arena:rating:", "arena:rating");
    }

    #[test]
    fn what_is_no_name_says_what_can_be_asked() {
        for text in ["arena:fame", "arena:", "bench:", "bench:urs@", "arena:rating:turns=9", "arena:rating:language="] {
            let refused = text.parse::<SeriesName>().unwrap_err().to_string();
            assert!(refused.contains(text) && refused.contains("arena:win_tie_rate"), "{refused}");
        }
    }
}
