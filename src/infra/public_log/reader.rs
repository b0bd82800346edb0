//! Reads a public log: from an arena by HTTP, or from a folder with the same files.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use reqwest::{StatusCode, Url};

use crate::config::ConfigError;
use crate::llm::http_client;
use crate::llm::{HttpClient, connection_problem};

/// Timeout of a connection and of a response.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of a response in bytes: 256 entries of maximum length.
const MAX_RESPONSE_BYTES: usize = 256 * (2 + u16::MAX as usize);

/// Source of a public log.
#[derive(Debug, Clone)]
pub enum PublicLogSource {
    /// An arena, or any server with the same files.
    Http {
        /// Address of the log with a trailing slash.
        prefix: Url,
        /// HTTP client.
        client: HttpClient,
    },
    /// A local folder.
    Folder(PathBuf),
}

/// Error of reading a part of a log.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Neither an address nor a folder.
    #[error("{0:?} is neither the address of a log, such as https://arena.example/log, nor a folder with one")]
    Unknown(String),
    /// The part does not exist.
    #[error("{0} does not exist: a log is an address that ends in /log, or a folder with its files")]
    Missing(String),
    /// A file cannot be read.
    #[error("{path} cannot be read: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The server is unreachable.
    #[error("{url} cannot be read: {why}")]
    Http {
        /// Requested address.
        url: String,
        /// Description of the error.
        why: String,
    },
    /// The server refuses the request.
    #[error("{url} answers with status {status}")]
    Status {
        /// Requested address.
        url: String,
        /// HTTP status.
        status: StatusCode,
    },
    /// The part is longer than any of a valid log.
    #[error("{0} is too long to be part of a log")]
    TooLong(String),
    /// The HTTP client cannot be created.
    #[error(transparent)]
    Client(#[from] ConfigError),
}

impl SourceError {
    /// Whether the error is in the given address or path.
    #[must_use]
    pub fn is_input(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

impl PublicLogSource {
    /// Parses an address or the path of a folder.
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

    /// Returns the name under which knowledge of the log is stored.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Http { prefix, .. } => prefix.as_str().trim_end_matches('/').to_owned(),
            Self::Folder(path) => path.display().to_string(),
        }
    }

    /// Reads a part of the log, such as `checkpoint` or `tile/0/000`.
    ///
    /// # Errors
    /// [`SourceError`].
    pub async fn part(&self, path: &str) -> Result<Vec<u8>, SourceError> {
        match self {
            Self::Http { prefix, client } => fetch(client, join(prefix, path)?).await,
            Self::Folder(folder) => read(folder, path),
        }
    }

    /// Reads a document beside the log: of an arena, the address relative to its root; of a folder, the file in it.
    ///
    /// # Errors
    /// [`SourceError`].
    pub async fn read_document(&self, address: &str, file: &str) -> Result<Vec<u8>, SourceError> {
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
    let request = client.for_url(&url).get(url.clone()).timeout(RESPONSE_TIMEOUT);
    let mut response = request.send().await.map_err(failed)?;
    match response.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return Err(SourceError::Missing(url.to_string())),
        status => return Err(SourceError::Status { url: url.to_string(), status }),
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if bytes.len() + chunk.len() > MAX_RESPONSE_BYTES {
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
        let fits = usize::try_from(found.len()).is_ok_and(|bytes| bytes <= MAX_RESPONSE_BYTES);
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
