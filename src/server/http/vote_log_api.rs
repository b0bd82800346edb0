//! `GET /api/v1/votes`: the vote log in lines of JSON, as it is sent while it is read; admins download it the same way.
//!
//! A page of votes is read when the one before it has been taken, so a slow reader slows the reading and memory stays flat. A
//! reader that takes nothing for a while loses its place to others.

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

use super::api_keys;
use super::error::PageError;
use crate::domain::admin::key_scope::KeyScope;
use crate::infra::config::VoteAccess;
use crate::infra::storage::Store;
use crate::services::admin::api_keys::KeyRefused;
use crate::services::transfer::vote_lines::{LineFormat, PAGE, vote_lines};
use crate::state::AppState;

/// Readers at the same time; each holds three pages at most.
const READERS: usize = 16;
/// How long a reader may take nothing in.
const PATIENCE: Duration = Duration::from_secs(15);

/// The parameters as they stand in the address.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct VotesQuery {
    /// The `seq` of the last vote that is known already; 0 begins with the first.
    after: i64,
    /// Votes at most; all where nothing is said.
    limit: Option<u32>,
}

/// Places of readers.
#[derive(Clone)]
pub(super) struct VoteReaders(Arc<Semaphore>);

impl Default for VoteReaders {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(READERS)))
    }
}

impl VoteReaders {
    /// A place, until it is dropped.
    pub(super) fn take(&self) -> Result<OwnedSemaphorePermit, PageError> {
        Arc::clone(&self.0).try_acquire_owned().map_err(|_| PageError::Full)
    }
}

/// What goes from the reading to the answer. An answer without an end was broken off.
enum StreamPart {
    Lines(Bytes),
    End,
}

/// What a reader gets of the log.
pub(super) struct WantedVotes {
    /// The `seq` of the last vote before.
    pub(super) after: i64,
    /// The `seq` of the last vote that the reader may see.
    pub(super) upto: i64,
    /// Votes at most.
    pub(super) limit: u32,
    pub(super) format: LineFormat,
}

/// One reading of the log.
struct Reading {
    store: Store,
    after: i64,
    /// The last vote when it began: what is cast meanwhile is for the next request.
    upto: i64,
    left: u32,
    format: LineFormat,
    /// What stands before the first vote, until it is sent.
    header: Option<Vec<u8>>,
    parts: mpsc::Sender<StreamPart>,
    _place: OwnedSemaphorePermit,
}

/// `GET /api/v1/votes`
///
/// # Errors
/// [`PageError`] for whom the operator does not let in, and for parameters that cannot be.
pub(super) async fn votes(
    request: HttpRequest,
    app: web::Data<AppState>,
    readers: web::Data<VoteReaders>,
) -> Result<HttpResponse, PageError> {
    let access = app.settings.now().api.votes;
    if access == VoteAccess::Off {
        return Err(PageError::Missing("this arena does not give its votes away: see /log".into()));
    }
    // Who needs no key gets no vote that the leaderboard does not count yet, as with every other public figure.
    let upto = if access == VoteAccess::Public && api_keys::bearer(&request).is_none() {
        app.leaderboard.latest().shown_upto()
    } else {
        match api_keys::admit(&request, &app, Some(KeyScope::Read)).await {
            Ok(_) => i64::MAX,
            // A key without the scope gives no more than none does.
            Err(KeyRefused::Scope(_)) if access == VoteAccess::Public => app.leaderboard.latest().shown_upto(),
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

/// The answer to a reader who has a place and may read the votes.
///
/// # Errors
/// [`PageError`].
pub(super) async fn stream_votes(
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

    /// The next page, or the end; `None` where the database fails.
    async fn next(&mut self) -> Option<StreamPart> {
        if let Some(header) = self.header.take() {
            return Some(StreamPart::Lines(header.into()));
        }
        if self.left == 0 {
            return Some(StreamPart::End);
        }
        match vote_lines(&self.store, self.after, self.upto, self.left.min(PAGE), self.format).await {
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

/// Whether the reader takes a part before its patience ends.
async fn is_taken(parts: &mpsc::Sender<StreamPart>, part: StreamPart) -> bool {
    matches!(timeout(PATIENCE, parts.send(part)).await, Ok(Ok(())))
}

/// The answer: it ends as it should, or is broken off, so that nobody takes a part for the whole.
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
        let mut places: Vec<_> = (0..READERS).map(|_| readers.take().unwrap()).collect();
        assert!(matches!(readers.take(), Err(PageError::Full)));
        places.pop();
        assert!(readers.take().is_ok());
    }
}
