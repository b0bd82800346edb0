//! Parses and formats names of series: `COLUMN`, `arena:METRIC[:slice]`, `arena:satisfaction`, `bench:SUITE[@JUDGE][:part]`,
//! `verdicts:JUDGE`, `campaign:ID[:question]`, `campaign:ID@JUDGE`, `published:ID[:part]`.

use std::fmt;
use std::str::FromStr;

use crate::benchmark::scores::score::Part;
use crate::campaign::plan::is_id;
use crate::correlation::SeriesError;
use crate::rating::bootstrap_samples::Metric;
use crate::rating::votes::slice::{Slice, Turns};

/// Name of a series.
#[derive(Debug, Clone, PartialEq)]
pub enum SeriesName {
    /// Column of the table.
    Column(String),
    /// Metric of the arena's leaderboard, over all votes or a part of them.
    Arena {
        /// Leaderboard metric.
        metric: Metric,
        /// Part of the votes.
        part: VotePart,
    },
    /// Mean satisfaction of visitors by intent.
    Satisfaction,
    /// Ratings by a judge's verdicts on the arena's own battles.
    Verdicts(String),
    /// Ratings or mean scores of a campaign, in which people judge stored answers.
    Campaign {
        /// Campaign id.
        id: String,
        /// Part of the campaign.
        part: CampaignPart,
    },
    /// Score of a benchmark.
    Bench {
        /// Suite name.
        suite: String,
        /// Judge; `None` for the mean of all judges.
        judge: Option<String>,
        /// Key of the part; empty for the whole.
        part: String,
    },
    /// Published series: `ID` or `ID:part`.
    Published(String),
}

/// Part of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CampaignPart {
    /// People's judgements for the campaign's task.
    Task,
    /// People's answers to this question.
    Question(String),
    /// This judge's judgements of the same answers.
    Judge(String),
}

/// Part of the votes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VotePart(pub Slice);

impl FromStr for SeriesName {
    type Err = SeriesError;

    /// Parses a name. A slice is `language=…`, `category=…`, `intent=…`, `turns=first|multi`, `source=arena|import|campaign` or
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

/// Splits `ID`, `ID:question` or `ID@JUDGE` into the campaign and its part. A judge id may contain colons.
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
    /// Names the series of a part of a suite by the part's key.
    #[must_use]
    pub fn of_suite(suite: &str, key: &str) -> Self {
        let part = if key == Part::overall().key() { String::new() } else { key.to_owned() };
        Self::Bench { suite: suite.to_owned(), judge: None, part }
    }

    /// Names the series of the whole suite by each of its judges, if it has several. A judge id with a colon is left out: the name would
    /// parse as a judge and a part.
    #[must_use]
    pub fn by_single_judges(suite: &str, judges: &[String]) -> Vec<Self> {
        let of_judge =
            |judge: &String| Self::Bench { suite: suite.to_owned(), judge: Some(judge.clone()), part: String::new() };
        let is_readable = |name: &Self| name.to_string().parse::<Self>().is_ok_and(|read| read == *name);
        if judges.len() > 1 { judges.iter().map(of_judge).filter(is_readable).collect() } else { Vec::new() }
    }

    /// Returns whether the values have a zero point, so that their ratios are meaningful. The zero of a rating is a convention: an anchor
    /// moves it. For a column, a campaign or a publication the name does not determine it.
    #[must_use]
    pub fn has_zero_point(&self) -> bool {
        !matches!(self, Self::Arena { metric: Metric::Rating | Metric::Elo, .. } | Self::Verdicts(_))
    }

    /// Returns whether the series is read from the database.
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

    /// Returns the name with this judge, if it is of a benchmark and names none.
    #[must_use]
    pub fn judged_by(self, judge: &str) -> Self {
        match self {
            Self::Bench { suite, judge: None, part } => Self::Bench { suite, judge: Some(judge.to_owned()), part },
            other => other,
        }
    }

    /// Returns the name for a part of the votes; `None` if it is not of votes, or already of a part.
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
    /// Returns the title of a metric of these votes.
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

    /// Parses a slice in the name of a series; an empty text is all votes.
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
