-- What a language model said of the battles of rated votes: which of their texts give a model away. Nothing of its own words is kept. A vote
-- is checked once; what never came through has no row and is asked again.
CREATE TABLE leak_checks (
    -- Number of the vote in the log.
    vote_seq BIGINT NOT NULL PRIMARY KEY,
    -- The model that was asked.
    judge TEXT NOT NULL,
    -- SHA-256 of its instructions before texts are put in.
    prompt_sha256 TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('ok', 'unreadable', 'refused', 'too_long', 'without_text')),
    -- The texts that give a model away, such as 'prompt 1, reply B 2'; empty where none does or none was named.
    leaks TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
-- What was spent since a moment.
CREATE INDEX leak_checks_by_time ON leak_checks (created_at);
