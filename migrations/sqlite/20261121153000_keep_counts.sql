-- A process that starts, or fits once, need not read a log of millions of votes again.

-- Derived: how often each pair met and how it went, up to a vote. One row; may be emptied at any time.
CREATE TABLE vote_counts (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    last_vote_seq BIGINT NOT NULL,
    body TEXT NOT NULL
);

-- What a fit reads of a vote, without the receipt and the rest: a tenth of the pages.
CREATE INDEX votes_for_fits ON votes (seq, created_at, model_a, model_b, outcome, rated, exclusion, visitor, language, category,
    intent, turn, pair_probability);
