//! Where a public log is read from: an arena by HTTP, or a folder with the same files.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use reqwest::{StatusCode, Url};

use crate::config::ConfigError;
use crate::llm::{HttpClient, connection_problem, http_client};

/// Longest wait for a connection and for an answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of an answer at most: 256 entries of the greatest length.
const MOST_BYTES: usize = 256 * (2 + u16::MAX as usize);

/// Where a log is read from.
#[derive(Debug, Clone)]
pub enum PublicLogSource {
    /// An arena, or any server of the same files.
    Http {
        /// Address of the log, with a slash at its end.
        prefix: Url,
        /// Asks it.
        client: HttpClient,
    },
    /// A folder.
    Folder(PathBuf),
}

/// Why a part of a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Neither an address nor a folder.
    #[error("{0:?} is neither the address of a log, such as https://arena.example/log, nor a folder with one")]
    Unknown(String),
    /// There is no such part.
    #[error("{0} does not exist: a log is an address that ends in /log, or a folder with its files")]
    Missing(String),
    /// A file cannot be read.
    #[error("{path} cannot be read: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The server cannot be asked.
    #[error("{url} cannot be read: {why}")]
    Http {
        /// The address.
        url: String,
        /// Why.
        why: String,
    },
    /// The server refuses.
    #[error("{url} answers with status {status}")]
    Status {
        /// The address.
        url: String,
        /// The status.
        status: StatusCode,
    },
    /// No log has so long a part.
    #[error("{0} is too long to be part of a log")]
    TooLong(String),
    /// No client can be made.
    #[error(transparent)]
    Client(#[from] ConfigError),
}

impl SourceError {
    /// Whether another address or path avoids the error.
    #[must_use]
    pub fn is_input(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

impl PublicLogSource {
    /// Reads an address or the path of a folder.
    ///
    /// # Errors
    /// [`SourceError::Unknown`], [`SourceError::Client`].
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        if text.starts_with("http://") || text.starts_with("https://") {
            let prefix = Url::parse(&format!("{}/", text.trim_end_matches('/')));
            let prefix = prefix.map_err(|_| SourceError::Unknown(text.to_owned()))?;
            return Ok(Self::Http { prefix, client: http_client(CONNECT_TIMEOUT)? });
        }
        if Path::new(text).is_dir() {
            return Ok(Self::Folder(PathBuf::from(text)));
        }
        Err(SourceError::Unknown(text.to_owned()))
    }

    /// Its name, under which what is known of it is kept.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Http { prefix, .. } => prefix.as_str().trim_end_matches('/').to_owned(),
            Self::Folder(path) => path.display().to_string(),
        }
    }

    /// A part of the log, such as `checkpoint` or `tile/0/000`.
    ///
    /// # Errors
    /// [`SourceError`].
    pub async fn part(&self, path: &str) -> Result<Vec<u8>, SourceError> {
        match self {
            Self::Http { prefix, client } => fetch(client, join(prefix, path)?).await,
            Self::Folder(folder) => read(folder, path),
        }
    }

    /// What the arena says beside its log: of an arena, the address below its own; of a folder, the file in it.
    ///
    /// # Errors
    /// [`SourceError`].
    pub async fn beside(&self, address: &str, file: &str) -> Result<Vec<u8>, SourceError> {
        match self {
            Self::Http { prefix, client } => fetch(client, join(prefix, &format!("../{address}"))?).await,
            Self::Folder(folder) => read(folder, file),
        }
    }
}

fn join(prefix: &Url, path: &str) -> Result<Url, SourceError> {
    prefix.join(path).map_err(|_| SourceError::Unknown(format!("{prefix}{path}")))
}

async fn fetch(client: &HttpClient, url: Url) -> Result<Vec<u8>, SourceError> {
    let failed = |error: reqwest::Error| SourceError::Http { url: url.to_string(), why: connection_problem(&error) };
    let request = client.for_url(&url).get(url.clone()).timeout(ANSWER_TIMEOUT);
    let mut response = request.send().await.map_err(failed)?;
    match response.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return Err(SourceError::Missing(url.to_string())),
        status => return Err(SourceError::Status { url: url.to_string(), status }),
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if bytes.len() + chunk.len() > MOST_BYTES {
            return Err(SourceError::TooLong(url.to_string()));
        }
        bytes.extend(chunk);
    }
    Ok(bytes)
}

fn read(folder: &Path, path: &str) -> Result<Vec<u8>, SourceError> {
    let is_below = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_below {
        return Err(SourceError::Missing(path.to_owned()));
    }
    let path = folder.join(path);
    let read = std::fs::metadata(&path).and_then(|found| {
        let fits = usize::try_from(found.len()).is_ok_and(|bytes| bytes <= MOST_BYTES);
        if fits { std::fs::read(&path).map(Some) } else { Ok(None) }
    });
    match read {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(SourceError::TooLong(path.display().to_string())),
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            Err(SourceError::Missing(path.display().to_string()))
        }
        Err(source) => Err(SourceError::File { path, source }),
    }
}
