//! `GET /api/v1/votes`: the vote log as JSON Lines, streamed while it is read; the admin's download uses the same stream.
//!
//! Each page of votes is read after the client has received the previous one, so memory stays bounded. A client that reads nothing for a
//! while is disconnected.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::CACHE_CONTROL;
use actix_web::{HttpRequest, HttpResponse, web};
use bytes::Bytes;
use futures_util::{Stream, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;

use super::super::api_keys;
use super::super::request::error::PageError;
use crate::domain::admin::key_scope::KeyScope;
use crate::infra::config::VoteAccess;
use crate::infra::storage::Store;
use crate::services::admin::api_keys::KeyRefused;
use crate::services::import_export::vote_log_pages::{LineFormat, PAGE_SIZE, vote_lines};
use crate::state::AppState;

/// Maximum number of concurrent streams; each holds at most three pages.
const MAX_CONCURRENT_STREAMS: usize = 16;
/// Timeout of a client that reads nothing.
const CLIENT_READ_TIMEOUT: Duration = Duration::from_secs(15);

/// Query parameters of the vote log.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(in crate::http) struct VotesQuery {
    /// Cursor: `seq` of the last vote already known; 0 begins with the first.
    after: i64,
    /// Maximum number of votes; all by default.
    limit: Option<u32>,
}

/// Semaphore of the concurrent streams.
#[derive(Clone)]
pub(in crate::http) struct VoteReaders(Arc<Semaphore>);

impl Default for VoteReaders {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONCURRENT_STREAMS)))
    }
}

impl VoteReaders {
    /// Acquires a permit for a stream.
    pub(in crate::http) fn take(&self) -> Result<OwnedSemaphorePermit, PageError> {
        Arc::clone(&self.0).try_acquire_owned().map_err(|_| PageError::Full)
    }
}

/// Message from the reading task to the response. A response without `End` was broken off.
enum StreamPart {
    Lines(Bytes),
    End,
}

/// Range and format of the votes to stream.
pub(in crate::http) struct WantedVotes {
    /// Cursor: `seq` of the last vote before the range.
    pub(in crate::http) after: i64,
    /// `seq` of the last vote that the client may see.
    pub(in crate::http) upto: i64,
    /// Maximum number of votes.
    pub(in crate::http) limit: u32,
    pub(in crate::http) format: LineFormat,
}

/// State of a stream.
struct Reading {
    store: Store,
    after: i64,
    /// Last vote at its start: later votes are left to the next request.
    upto: i64,
    left: u32,
    format: LineFormat,
    /// Header line, until it is sent.
    header: Option<Vec<u8>>,
    parts: mpsc::Sender<StreamPart>,
    _place: OwnedSemaphorePermit,
}

/// `GET /api/v1/votes`
///
/// # Errors
/// [`PageError`] without the required key, and for invalid parameters.
pub(in crate::http) async fn votes(
    request: HttpRequest,
    app: web::Data<AppState>,
    readers: web::Data<VoteReaders>,
) -> Result<HttpResponse, PageError> {
    let access = app.settings.now().api.votes;
    if access == VoteAccess::Off {
        return Err(PageError::Missing("this arena does not give its votes away: see /log".into()));
    }
    // Clients without a key only get votes that the published leaderboard counts, as with every other public statistic.
    let upto = if access == VoteAccess::Public && api_keys::bearer(&request).is_none() {
        app.leaderboard.latest().last_public_seq()
    } else {
        match api_keys::admit(&request, &app, Some(KeyScope::Read)).await {
            Ok(_) => i64::MAX,
            // A key without the scope gives the same access as no key.
            Err(KeyRefused::Scope(_)) if access == VoteAccess::Public => app.leaderboard.latest().last_public_seq(),
            Err(refused) => return Err(refused.into()),
        }
    };
    let query = web::Query::<VotesQuery>::from_query(request.query_string());
    let refused = |_| PageError::InvalidQuery("after is the seq of a vote, and limit a number of votes".into());
    let VotesQuery { after, limit } = query.map_err(refused)?.into_inner();
    let place = readers.take()?;
    let wanted = WantedVotes { after, upto, limit: limit.unwrap_or(u32::MAX), format: LineFormat::Json };
    stream_votes(&app, place, wanted).await
}

/// Builds the streamed response for an authorised client with a permit.
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn stream_votes(
    app: &AppState,
    place: OwnedSemaphorePermit,
    wanted: WantedVotes,
) -> Result<HttpResponse, PageError> {
    let WantedVotes { after, upto, limit: left, format } = wanted;
    let upto = upto.min(app.store.last_vote_seq().await?);
    let header = format.header().map_err(|_| PageError::Early)?;
    let (parts, answer) = mpsc::channel(1);
    let reading = Reading { store: app.store.clone(), after, upto, left, format, header, parts, _place: place };
    let shutdown = app.tasks.shutdown();
    app.tasks.spawn("votes", async move {
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = reading.run() => {}
        }
    });
    let kind = match format {
        LineFormat::Json => "application/x-ndjson",
        LineFormat::Csv => "text/csv; charset=utf-8",
    };
    Ok(HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-cache")).content_type(kind).streaming(body(answer)))
}

impl Reading {
    async fn run(mut self) {
        while let Some(part) = self.next().await {
            let is_end = matches!(part, StreamPart::End);
            if !is_taken(&self.parts, part).await || is_end {
                return;
            }
        }
    }

    /// Reads the next page, or returns the end; `None` if the database fails.
    async fn next(&mut self) -> Option<StreamPart> {
        if let Some(header) = self.header.take() {
            return Some(StreamPart::Lines(header.into()));
        }
        if self.left == 0 {
            return Some(StreamPart::End);
        }
        match vote_lines(&self.store, self.after, self.upto, self.left.min(PAGE_SIZE), self.format).await {
            Ok(None) => Some(StreamPart::End),
            Ok(Some(lines)) => {
                self.after = lines.last_seq;
                self.left = if self.left == u32::MAX { self.left } else { self.left.saturating_sub(lines.votes) };
                Some(StreamPart::Lines(lines.text.into()))
            }
            Err(error) => {
                tracing::error!(error = ?error, "votes could not be read for the API");
                None
            }
        }
    }
}

/// Whether the client accepts a part before the timeout.
async fn is_taken(parts: &mpsc::Sender<StreamPart>, part: StreamPart) -> bool {
    matches!(timeout(CLIENT_READ_TIMEOUT, parts.send(part)).await, Ok(Ok(())))
}

/// Builds the body: it ends normally, or with an error, so that an incomplete stream is not mistaken for a complete one.
fn body(parts: mpsc::Receiver<StreamPart>) -> impl Stream<Item = io::Result<Bytes>> {
    stream::unfold(Some(parts), |parts| async {
        let mut parts = parts?;
        match parts.recv().await {
            Some(StreamPart::Lines(lines)) => Some((Ok(lines), Some(parts))),
            Some(StreamPart::End) => None,
            None => Some((Err(io::ErrorKind::BrokenPipe.into()), None)),
        }
    })
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_is_left_and_its_answer_is_broken_off() {
        let (parts, answer) = mpsc::channel(1);
        assert!(is_taken(&parts, StreamPart::Lines("one\n".into())).await);
        assert!(!is_taken(&parts, StreamPart::Lines("two\n".into())).await, "the first waits still");
        drop(parts);
        let sent: Vec<_> = body(answer).collect().await;
        assert!(
            sent.len() == 2 && sent[0].as_ref().is_ok_and(|lines| lines == "one\n") && sent[1].is_err(),
            "{sent:?}"
        );
    }

    #[tokio::test]
    async fn an_answer_that_was_read_to_its_end_ends_as_it_should() {
        let (parts, answer) = mpsc::channel(2);
        assert!(is_taken(&parts, StreamPart::Lines("one\n".into())).await && is_taken(&parts, StreamPart::End).await);
        let sent: Vec<_> = body(answer).collect().await;
        assert!(sent.len() == 1 && sent[0].is_ok(), "{sent:?}");
    }

    #[test]
    fn so_many_readers_have_a_place_and_one_that_leaves_makes_room() {
        let readers = VoteReaders::default();
        let mut places: Vec<_> = (0..MAX_CONCURRENT_STREAMS).map(|_| readers.take().unwrap()).collect();
        assert!(matches!(readers.take(), Err(PageError::Full)));
        places.pop();
        assert!(readers.take().is_ok());
    }
}
