//! Problems with Redis, described with a remedy. They never contain the address or free text of the server, either of which could hold a
//! password.

use redis::{ErrorKind, RedisError, ServerErrorKind};

/// Reason why Redis is unusable, or partly so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    /// No connection, or no response.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// `NOAUTH`
    #[error("it asks for a password: write redis.url as redis://:PASSWORD@HOST")]
    NoPassword,
    /// `WRONGPASS`
    #[error("it does not accept the password in redis.url")]
    WrongPassword,
    /// `NOPERM`
    #[error(
        "its user may not do what the arena needs: allow SET, PTTL, EVALSHA, PUBLISH and SUBSCRIBE on redis.prefix"
    )]
    Forbidden,
    /// `READONLY`
    #[error("it is a read-only replica: name its primary in redis.url")]
    ReadOnly,
    /// `OOM`
    #[error("its memory is full: raise its maxmemory")]
    OutOfMemory,
    /// `MISCONF`
    #[error("it cannot save its data and refuses writes: see its log")]
    CannotSave,
    /// No `HELLO`.
    #[error("it is older than version 6, which the arena needs")]
    TooOld,
    /// Any other error.
    #[error("it answers with the error {0}")]
    Other(String),
}

impl Problem {
    /// Converts an error of the client.
    pub(super) fn from_error(error: &RedisError) -> Self {
        match (error.kind(), error.code()) {
            (ErrorKind::RESP3NotSupported, _) => Self::TooOld,
            (ErrorKind::AuthenticationFailed, _) | (_, Some("WRONGPASS")) => Self::WrongPassword,
            (_, Some("NOAUTH")) => Self::NoPassword,
            (_, Some("OOM")) => Self::OutOfMemory,
            (_, Some("MISCONF")) => Self::CannotSave,
            (ErrorKind::Server(ServerErrorKind::ReadOnly), _) => Self::ReadOnly,
            (ErrorKind::Server(ServerErrorKind::NoPerm), _) => Self::Forbidden,
            (ErrorKind::Server(ServerErrorKind::BusyLoading), _) => Self::Unreachable("it loads its data".into()),
            (ErrorKind::Io, _) if error.is_timeout() => Self::Unreachable("no answer in time".into()),
            (ErrorKind::Io, _) => Self::Unreachable(error.to_string()),
            (_, Some(code)) => Self::Other(code.to_owned()),
            (_, None) => Self::Other(error.category().to_owned()),
        }
    }

    /// Whether only writes are refused, while messages still pass.
    pub(super) fn refuses_writes_only(&self) -> bool {
        matches!(self, Self::ReadOnly | Self::OutOfMemory | Self::CannotSave | Self::Forbidden)
    }

    /// Whether both are the same problem, so that it is logged once.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses an error line of the server with the client.
    fn answer(line: &str) -> RedisError {
        let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
        value.extract_error().unwrap_err()
    }

    #[track_caller]
    fn check(line: &str, expected: &Problem, refuses_writes_only: bool) {
        let problem = Problem::from_error(&answer(line));
        assert_eq!(&problem, expected, "{line}");
        assert_eq!(problem.refuses_writes_only(), refuses_writes_only, "{line}");
    }

    #[test]
    fn the_servers_errors_are_told_apart() {
        check("NOAUTH Authentication required.", &Problem::NoPassword, false);
        check("WRONGPASS invalid username-password pair or user is disabled.", &Problem::WrongPassword, false);
        check("READONLY You can't write against a read only replica.", &Problem::ReadOnly, true);
        check("OOM command not allowed when used memory > 'maxmemory'.", &Problem::OutOfMemory, true);
        check("MISCONF Redis is configured to save RDB snapshots, but", &Problem::CannotSave, true);
        check("NOPERM User x has no permissions to run the 'set' command", &Problem::Forbidden, true);
        check(
            "LOADING Redis is loading the dataset in memory",
            &Problem::Unreachable("it loads its data".into()),
            false,
        );
        check("ODD secret words", &Problem::Other("ODD".into()), false);
    }

    #[test]
    fn a_connection_that_fails_is_unreachable_whatever_the_reason() {
        let reasons = [std::io::ErrorKind::ConnectionRefused, std::io::ErrorKind::TimedOut];
        let [refused, late] = reasons.map(|kind| Problem::from_error(&std::io::Error::from(kind).into()));
        assert_eq!(late, Problem::Unreachable("no answer in time".into()));
        assert!(refused != late && refused.same_as(&late), "{refused}");
        assert!(!refused.same_as(&Problem::NoPassword));
    }
}
