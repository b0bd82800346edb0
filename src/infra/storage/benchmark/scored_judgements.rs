//! Judgements as needed for scores: of one judging variant, without the replies.
//!
//! Thousands of judgements are read as one row, each column as a list: a separate row for each of hundreds of thousands takes many times
//! longer in a driver.

use std::cmp::Ordering;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;

use crate::domain::benchmark::item::ItemSampling;
use crate::domain::benchmark::record::ScoredJudgement;
use crate::domain::benchmark::scores::judgement::{Game, JudgeTokens, Judgement, Status};
use crate::domain::judging::verdict::{Rating, Verdict};
use crate::metrics::store_time;
use crate::storage::benchmark::judgements::{BenchJudgementRow, has_null_score};
use crate::storage::{AnswerRound, Database, Store, StoreError, on_reader, unsigned};

/// Row numbers in one page.
const PAGE: i64 = 1 << 14;
/// Number of concurrent page reads.
const CONCURRENT_READS: usize = 2;

const LAST_ROW: &str = "SELECT COALESCE(MAX(rowid), 0) FROM bench_judgements";
/// SQLite reads pages of row numbers in order, without sorting. A verdict contains no line break: its JSON is compact.
const SQLITE_PAGE: &str = "SELECT COUNT(*), json_group_array(id), json_group_array(item), json_group_array(turn), json_group_array(model), \
     json_group_array(judge), json_group_array(baseline), json_group_array(game), json_group_array(status), \
     json_group_array(created_at), json_group_array(CASE WHEN attempts > 0 THEN input_tokens END), \
     json_group_array(CASE WHEN attempts > 0 THEN output_tokens END), COALESCE(string_agg(parsed, char(10)), '') \
     FROM bench_judgements INDEXED BY bench_judgements_by_suite \
     WHERE suite = $1 AND version = $2 AND sample = $3 AND variant = $4 AND rowid > $5 AND rowid <= $6";
/// PostgreSQL has no row numbers, and uses a page for each model.
const POSTGRES_PAGES: &str = "SELECT COUNT(*), json_agg(id)::TEXT, json_agg(item)::TEXT, json_agg(turn)::TEXT, json_agg(model)::TEXT, \
     json_agg(judge)::TEXT, json_agg(baseline)::TEXT, json_agg(game)::TEXT, json_agg(status)::TEXT, \
     json_agg(created_at)::TEXT, json_agg(CASE WHEN attempts > 0 THEN input_tokens END)::TEXT, \
     json_agg(CASE WHEN attempts > 0 THEN output_tokens END)::TEXT, string_agg(parsed, chr(10)) \
     FROM bench_judgements WHERE suite = $1 AND version = $2 AND sample = $3 AND variant = $4 GROUP BY model";

type RawPage = (i64, String, String, String, String, String, String, String, String, String, String, String, String);

/// Judgements with their ids.
type JudgementPage = Vec<(String, ScoredJudgement)>;

impl From<BenchJudgementRow> for ScoredJudgement {
    fn from(row: BenchJudgementRow) -> Self {
        Self { baseline: row.baseline, judgement: row.judgement }
    }
}

impl Store {
    /// Reads the judgements of a sample and judging variant in insertion order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn scored_judgements(
        &self,
        set: &AnswerRound,
        variant: &str,
    ) -> Result<Vec<ScoredJudgement>, StoreError> {
        let _time = store_time("scored_judgements");
        let pages = match self.database {
            Database::Sqlite(_) => self.pages_of_sqlite(set, variant).await?,
            Database::Postgres(_) => self.pages_of_postgres(set, variant).await?,
        };
        Ok(blocking(move || in_order(pages)).await)
    }

    async fn pages_of_sqlite(&self, set: &AnswerRound, variant: &str) -> Result<Vec<JudgementPage>, StoreError> {
        let last: i64 = on_reader!(self, |pool| sqlx::query_scalar(LAST_ROW).fetch_one(pool).await)?;
        let read = async |(after, upto): (i64, i64)| {
            let page: RawPage = on_reader!(self, |pool| {
                sqlx::query_as(SQLITE_PAGE)
                    .bind(set.suite.as_str())
                    .bind(&set.version)
                    .bind(i64::from(set.sample))
                    .bind(variant)
                    .bind(after)
                    .bind(upto)
                    .fetch_one(pool)
                    .await
            })?;
            blocking(move || rows(page)).await
        };
        stream::iter(pages(last)).map(read).buffered(CONCURRENT_READS).try_collect().await
    }

    async fn pages_of_postgres(&self, set: &AnswerRound, variant: &str) -> Result<Vec<JudgementPage>, StoreError> {
        let pages: Vec<RawPage> = on_reader!(self, |pool| {
            sqlx::query_as(POSTGRES_PAGES)
                .bind(set.suite.as_str())
                .bind(&set.version)
                .bind(i64::from(set.sample))
                .bind(variant)
                .fetch_all(pool)
                .await
        })?;
        let read = async |page| blocking(move || rows(page)).await;
        stream::iter(pages).map(read).buffered(CONCURRENT_READS).try_collect().await
    }
}

/// Returns the row number ranges of all pages: after the first of a pair, up to the second.
fn pages(last: i64) -> impl Iterator<Item = (i64, i64)> {
    (0..).map(|page| page * PAGE).take_while(move |after| *after < last).map(|after| (after, after + PAGE))
}

async fn blocking<T: Send + 'static>(compute: impl FnOnce() -> T + Send + 'static) -> T {
    let computed = tokio::task::spawn_blocking(compute).await;
    computed.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
}

/// Merges all judgements in insertion order. Each page is sorted, and pages mostly follow one another.
fn in_order(mut pages: Vec<JudgementPage>) -> Vec<ScoredJudgement> {
    let follow = |pair: &[JudgementPage]| {
        pair[0].last().zip(pair[1].first()).is_none_or(|(one, other)| by_time(one, other).is_le())
    };
    pages.retain(|page| !page.is_empty());
    if !pages.windows(2).all(follow) {
        let mut all: JudgementPage = pages.into_iter().flatten().collect();
        all.sort_by(by_time);
        pages = vec![all];
    }
    let mut rows = Vec::with_capacity(pages.iter().map(Vec::len).sum());
    pages.into_iter().for_each(|page| rows.extend(page.into_iter().map(|(_, row)| row)));
    rows
}

fn by_time((id, one): &(String, ScoredJudgement), (other_id, other): &(String, ScoredJudgement)) -> Ordering {
    (one.judgement.ts, id).cmp(&(other.judgement.ts, other_id))
}

/// Parses the judgements of a page in order.
fn rows(page: RawPage) -> Result<JudgementPage, StoreError> {
    let (count, ids, items, turns, models, judges, baselines, games, statuses, times, inputs, outputs, verdicts) = page;
    let count = unsigned(count, "bench_judgements", "COUNT(*)", "a page")?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let (turns, games, times) = (list::<i64>(&turns)?, list::<u8>(&games)?, list::<i64>(&times)?);
    let (mut inputs, mut outputs) =
        (list::<Option<u64>>(&inputs)?.into_iter(), list::<Option<u64>>(&outputs)?.into_iter());
    let names = [&ids, &items, &models, &judges, &baselines];
    let [ids, items, models, judges, baselines] = names.map(|column| list::<String>(column));
    let (mut ids, mut items, mut models) = (ids?.into_iter(), items?.into_iter(), models?.into_iter());
    let (mut judges, mut baselines) = (judges?.into_iter(), baselines?.into_iter());
    let mut statuses = list::<&str>(&statuses)?.into_iter();
    let (mut turns, mut games, mut times) = (turns.into_iter(), games.into_iter(), times.into_iter());
    let mut verdicts = verdicts.split('\n');
    let mut rows = JudgementPage::with_capacity(times.len());
    let mut next = || {
        let raw = RawBenchVerdict {
            item: items.next()?,
            turn: turns.next()?,
            model: models.next()?,
            judge: judges.next()?,
            game: games.next()?,
            status: statuses.next()?,
            created_at: times.next()?,
            tokens: [inputs.next()?, outputs.next()?],
        };
        Some((ids.next()?, baselines.next()?, raw, verdicts.next()?))
    };
    for _ in 0..count {
        let (id, baseline, raw, verdict) = next().ok_or_else(|| inconsistent("a page", "parsed", String::new()))?;
        let judgement = raw.judgement(&id, verdict)?;
        rows.push((id, ScoredJudgement { baseline, judgement }));
    }
    rows.sort_by(by_time);
    Ok(rows)
}

/// Parses the values of a column.
fn list<'c, T: Deserialize<'c>>(column: &'c str) -> Result<Vec<T>, StoreError> {
    serde_json::from_str(column).map_err(|error| inconsistent("a page", "a list", error.to_string()))
}

fn inconsistent(row: &str, column: &'static str, value: String) -> StoreError {
    StoreError::Inconsistent { table: "bench_judgements", column, row: row.to_owned(), value }
}

struct RawBenchVerdict<'c> {
    item: String,
    turn: i64,
    model: String,
    judge: String,
    game: u8,
    status: &'c str,
    created_at: i64,
    /// Tokens of the prompt and the reply.
    tokens: [Option<u64>; 2],
}

impl RawBenchVerdict<'_> {
    fn judgement(self, id: &str, verdict: &str) -> Result<Judgement, StoreError> {
        let (parsed, status) = match parse(verdict) {
            Ok(parsed) => {
                (parsed, self.status.parse().map_err(|_| inconsistent(id, "status", self.status.to_owned()))?)
            }
            Err(_) if has_null_score(verdict) => (None, Status::OutOfRange),
            Err(_) => return Err(inconsistent(id, "parsed", verdict.to_owned())),
        };
        Ok(Judgement {
            turn: u32::try_from(self.turn).map_err(|_| inconsistent(id, "turn", self.turn.to_string()))?,
            game: Game::try_from(self.game).map_err(|_| inconsistent(id, "game", self.game.to_string()))?,
            suite: String::new(),
            suite_version: String::new(),
            judge_prompt_sha256: String::new(),
            params: ItemSampling::default(),
            raw_text: String::new(),
            attempts: 0,
            latency_ms: None,
            tokens: tokens(self.tokens),
            item_id: self.item,
            model: self.model,
            judge_model: self.judge,
            parsed,
            status,
            ts: self.created_at,
        })
    }
}

fn tokens([prompt, reply]: [Option<u64>; 2]) -> Option<JudgeTokens> {
    Some(JudgeTokens { prompt: prompt?, reply: reply? })
}

/// Parses a stored verdict. Most are ratings, which parse much faster if that form is tried first.
fn parse(verdict: &str) -> serde_json::Result<Option<Verdict>> {
    serde_json::from_str::<Rating>(verdict)
        .map(|rating| Some(Verdict::Rating(rating)))
        .or_else(|_| serde_json::from_str(verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_every_row_number_once() {
        let of = |last| pages(last).collect::<Vec<_>>();
        assert_eq!(of(0), []);
        assert_eq!((of(1), of(PAGE)), (vec![(0, PAGE)], vec![(0, PAGE)]));
        assert_eq!(of(PAGE + 1), [(0, PAGE), (PAGE, 2 * PAGE)]);
    }

    #[test]
    fn judgements_of_all_pages_are_in_the_order_of_their_times_and_ids() {
        let row = |(created_at, id): &(i64, &str)| {
            let raw = RawBenchVerdict {
                item: (*id).to_owned(),
                turn: 1,
                model: String::new(),
                judge: String::new(),
                game: 1,
                status: "ok",
                created_at: *created_at,
                tokens: [None; 2],
            };
            (
                (*id).to_owned(),
                ScoredJudgement { baseline: String::new(), judgement: raw.judgement(id, "null").unwrap() },
            )
        };
        let ordered = |pages: &[&[(i64, &str)]]| {
            let pages = pages.iter().map(|page| page.iter().map(row).collect()).collect();
            in_order(pages).into_iter().map(|row| row.judgement.item_id).collect::<String>()
        };
        assert_eq!(ordered(&[&[(1, "a"), (2, "b")], &[(2, "c"), (4, "d")]]), "abcd");
        assert_eq!(ordered(&[&[(1, "a"), (5, "b")], &[], &[(2, "c")]]), "acb", "a page that was imported later");
        assert_eq!(ordered(&[&[(2, "b")], &[], &[(2, "a")]]), "ab", "ids tell what was stored at the same time");
        assert_eq!(ordered(&[]), "");
    }
}
