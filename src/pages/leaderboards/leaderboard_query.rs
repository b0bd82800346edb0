//! Query parameters of the leaderboard: `?language=zh&turns=multi&until=2026-11-21`.

use actix_web::web;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::rating::leaderboards::leaderboard_filter::{CountedVotes, LeaderboardFilter};
use crate::domain::rating::votes::slice::{SliceColumn, Turns, VoteSource};
use crate::domain::time::{Timestamp, parse_end};
use crate::frame::invalid_query::InvalidQuery;
use crate::frame::query_string::query_string;

/// Query parameters of the vote selection; an empty one counts as absent, as forms send it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LeaderboardQuery {
    /// Language code.
    pub language: String,
    /// Category of the prompt.
    pub category: String,
    /// Intent of the prompt.
    pub intent: String,
    /// `first` or `multi`.
    pub turns: String,
    /// `long` for long prompts only.
    pub prompts: String,
    /// `arena`, `import` or `campaign`: the source of the votes.
    pub source: String,
    /// `drop` to leave out ties and "both bad".
    pub ties: String,
    /// `control` to control for reply style.
    pub style: String,
    /// `control` to control for the side.
    pub side: String,
    /// `show` to estimate how often each model's reply is acceptable.
    pub level: String,
    /// `language`, `category` or `intent`, to pool ratings over its slices.
    pub pool_by: String,
    /// Day, whose votes are included, or time of the last vote.
    pub until: String,
    /// `with_excluded` to count excluded votes too, `unique_prompts` to count one vote of each voter and prompt.
    pub votes: String,
}

impl LeaderboardQuery {
    /// Parses the query string; unknown parameters are ignored.
    ///
    /// # Errors
    /// [`InvalidQuery`].
    pub fn parse(query_string: &str) -> Result<Self, InvalidQuery> {
        let query = web::Query::<Self>::from_query(query_string);
        query.map(web::Query::into_inner).map_err(|_| InvalidQuery("each parameter is given once".into()))
    }

    /// Converts the parameters to a filter.
    ///
    /// # Errors
    /// [`InvalidQuery`] names the parameter and the allowed values.
    pub fn filter(&self) -> Result<LeaderboardFilter, InvalidQuery> {
        let text = |value: &str| Some(value.to_owned()).filter(|value| !value.is_empty());
        let turns: Option<Turns> = text(&self.turns)
            .map(|turns| turns.parse())
            .transpose()
            .map_err(|_| InvalidQuery(format!("turns is {:?}: first or multi", self.turns)))?;
        let source: Option<VoteSource> = text(&self.source)
            .map(|source| source.parse())
            .transpose()
            .map_err(|_| InvalidQuery(format!("source is {:?}: arena, import or campaign", self.source)))?;
        let pool_by: Option<SliceColumn> = text(&self.pool_by)
            .map(|column| column.parse())
            .transpose()
            .map_err(|_| InvalidQuery(format!("pool_by is {:?}: language, category or intent", self.pool_by)))?;
        let style = switch("style", &self.style, "control")?;
        let side = switch("side", &self.side, "control")?;
        for name in [("style", style), ("side", side)].into_iter().filter_map(|(name, on)| on.then_some(name)) {
            if pool_by.is_some() {
                return Err(InvalidQuery(format!("{name} and pool_by exclude each other: leave out one")));
            }
        }
        Ok(LeaderboardFilter {
            language: text(&self.language),
            category: text(&self.category),
            intent: text(&self.intent),
            turns,
            long_prompts: switch("prompts", &self.prompts, "long")?,
            source,
            without_ties: switch("ties", &self.ties, "drop")?,
            style,
            side,
            level: switch("level", &self.level, "show")?,
            pool_by,
            until: text(&self.until).map(|until| end_of(&until)).transpose()?,
            votes: self.counted_votes()?,
        })
    }

    fn counted_votes(&self) -> Result<CountedVotes, InvalidQuery> {
        if self.votes.is_empty() {
            return Ok(CountedVotes::Rated);
        }
        self.votes.parse().map_err(|expected| InvalidQuery(format!("votes is {:?}: {expected}", self.votes)))
    }

    /// Returns the non-empty parameters with their values.
    #[must_use]
    pub fn given(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("language", &self.language),
            ("category", &self.category),
            ("intent", &self.intent),
            ("turns", &self.turns),
            ("prompts", &self.prompts),
            ("source", &self.source),
            ("ties", &self.ties),
            ("style", &self.style),
            ("side", &self.side),
            ("level", &self.level),
            ("pool_by", &self.pool_by),
            ("until", &self.until),
            ("votes", &self.votes),
        ];
        all.into_iter().map(|(name, value)| (name, value.as_str())).filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Returns the query string; empty for none.
    #[must_use]
    pub fn query_string(&self) -> String {
        query_string(&self.given())
    }
}

fn switch(name: &str, value: &str, on: &str) -> Result<bool, InvalidQuery> {
    match value {
        "" => Ok(false),
        value if value == on => Ok(true),
        other => Err(InvalidQuery(format!("{name} is {other:?}: write {name}={on}, or leave it out"))),
    }
}

fn end_of(text: &str) -> Result<Timestamp, InvalidQuery> {
    let end = parse_end(text)
        .ok_or_else(|| InvalidQuery(format!("until is {text:?}: write 2026-11-21 or 2026-11-21T08:00:00Z")))?;
    Ok(Timestamp(end.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_what_is_asked() {
        let query = LeaderboardQuery::parse("lang=en&language=zh&turns=multi&until=2026-11-20&category=").unwrap();
        let filter = query.filter().unwrap();
        assert_eq!((filter.language.as_deref(), filter.turns), (Some("zh"), Some(Turns::Multi)));
        assert_eq!((filter.category, filter.until), (None, Some(Timestamp(1_795_219_200_000))), "the day is in it");
        assert!(LeaderboardQuery::parse("").unwrap().filter().unwrap().is_plain());
        let exact = LeaderboardQuery { until: "2026-11-21T00:00:00Z".into(), ..LeaderboardQuery::default() };
        assert_eq!(exact.filter().unwrap().until, filter.until);
        let in_utc = LeaderboardQuery { until: "2026-11-21T00:00:00".into(), ..LeaderboardQuery::default() };
        assert_eq!(in_utc.filter().unwrap().until, filter.until, "a time without a zone is not a day");
    }

    #[test]
    fn an_address_is_written_as_it_was_read() {
        let (language, style) = ("a b&c=d/中".into(), "control".into());
        let query = LeaderboardQuery { language, ties: "drop".into(), style, ..LeaderboardQuery::default() };
        assert_eq!(query.query_string(), "?language=a%20b%26c%3Dd%2F%E4%B8%AD&ties=drop&style=control");
        assert!(query.filter().unwrap().style);
        assert_eq!(LeaderboardQuery::parse(&query.query_string()[1..]).unwrap(), query);
        assert_eq!(LeaderboardQuery::default().query_string(), "");
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_what_can() {
        for (query_string, said) in [
            ("turns=7", "turns is \"7\": first or multi"),
            ("source=web", "source is \"web\": arena, import or campaign"),
            ("ties=x", "ties is \"x\": write ties=drop, or leave it out"),
            ("pool_by=model", "pool_by is \"model\": language, category or intent"),
            ("pool_by=intent&style=control", "style and pool_by exclude each other: leave out one"),
            ("style=on", "style is \"on\": write style=control, or leave it out"),
            ("level=control", "level is \"control\": write level=show, or leave it out"),
            ("side=control&pool_by=intent", "side and pool_by exclude each other: leave out one"),
            ("until=9999-12-31", "until is \"9999-12-31\": write 2026-11-21 or 2026-11-21T08:00:00Z"),
            ("until=yesterday", "until is \"yesterday\": write 2026-11-21 or 2026-11-21T08:00:00Z"),
        ] {
            let refused = LeaderboardQuery::parse(query_string).unwrap().filter().unwrap_err();
            assert!(refused.to_string().contains(said), "{refused}");
        }
    }
}
