-- Replies that were paid for and settled nothing: an answer without text, a judge's reply that could not be read. Each is kept
-- as it comes, so that a run that ends in between, at a limit or by a kill, goes on from the last instead of paying again. A
-- request that the provider refuses for good is kept too, and is not sent again.
--
-- `request_sha256` says what was asked, as exactly as the result does; `result` is the id that the answer, judgement or verdict
-- has once there is one: until then a later run goes on with these attempts. `requests` counts the tries that a reply took.
CREATE TABLE request_attempts (
    id TEXT NOT NULL PRIMARY KEY,
    result TEXT NOT NULL,
    model TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('unsettled', 'refused')),
    text TEXT NOT NULL,
    requests BIGINT NOT NULL,
    latency_ms BIGINT NOT NULL,
    input_tokens BIGINT,
    output_tokens BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX request_attempts_by_request ON request_attempts (model, request_sha256);

CREATE TRIGGER request_attempts_are_never_changed BEFORE UPDATE ON request_attempts
BEGIN SELECT RAISE(ABORT, 'attempts are insert-only'); END;
CREATE TRIGGER request_attempts_are_never_deleted BEFORE DELETE ON request_attempts
BEGIN SELECT RAISE(ABORT, 'attempts are insert-only'); END;
