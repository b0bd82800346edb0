-- The first arena: who was asked what, what each side answered, what the person said, and the board that follows.

-- Every model that ever took part keeps its row, so that old votes keep their names.
CREATE TABLE models (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    organization TEXT NOT NULL,
    license TEXT NOT NULL,
    practice BOOLEAN NOT NULL,
    first_seen_at BIGINT NOT NULL,
    breaker TEXT NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open', 'half_open')),
    breaker_failures BIGINT NOT NULL DEFAULT 0,
    breaker_changed_at BIGINT
);

CREATE TABLE battles (
    id TEXT NOT NULL PRIMARY KEY,
    visitor TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('anonymous')),
    stage TEXT NOT NULL CHECK (stage IN ('answering', 'ready', 'voted', 'voided', 'abandoned')),
    turn BIGINT NOT NULL,
    model_a TEXT NOT NULL REFERENCES models (id),
    model_b TEXT NOT NULL REFERENCES models (id),
    pairing_policy TEXT NOT NULL,
    policy_version BIGINT NOT NULL,
    pair_probability DOUBLE PRECISION NOT NULL,
    language TEXT NOT NULL,
    category TEXT,
    intent TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
-- The abandonment job looks for idle battles without a vote.
CREATE INDEX battles_unfinished ON battles (updated_at) WHERE stage IN ('answering', 'ready');

CREATE TABLE turns (
    battle_id TEXT NOT NULL REFERENCES battles (id),
    turn BIGINT NOT NULL,
    prompt TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (battle_id, turn)
);

-- The reply that counts for each side and turn; answering anew replaces it.
CREATE TABLE replies (
    battle_id TEXT NOT NULL,
    turn BIGINT NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('a', 'b')),
    model TEXT NOT NULL REFERENCES models (id),
    text TEXT NOT NULL,
    reasoning TEXT NOT NULL,
    ending TEXT NOT NULL CHECK (ending IN ('complete', 'stopped', 'cut', 'failed')),
    first_token_ms BIGINT,
    duration_ms BIGINT NOT NULL,
    PRIMARY KEY (battle_id, turn, side),
    FOREIGN KEY (battle_id, turn) REFERENCES turns (battle_id, turn)
);

-- What went wrong on a side, and what was done about it: for the operator, never for the visitor.
CREATE TABLE side_failures (
    battle_id TEXT NOT NULL REFERENCES battles (id),
    turn BIGINT NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('a', 'b')),
    model TEXT NOT NULL REFERENCES models (id),
    replaced_by TEXT REFERENCES models (id),
    reason TEXT NOT NULL,
    failed_at BIGINT NOT NULL
);
CREATE INDEX side_failures_by_battle ON side_failures (battle_id);

CREATE TABLE votes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    battle_id TEXT NOT NULL UNIQUE REFERENCES battles (id),
    visitor TEXT NOT NULL,
    model_a TEXT NOT NULL REFERENCES models (id),
    model_b TEXT NOT NULL REFERENCES models (id),
    outcome TEXT NOT NULL CHECK (outcome IN ('a', 'b', 'tie', 'both_bad')),
    turn BIGINT NOT NULL,
    anonymous BOOLEAN NOT NULL,
    language TEXT NOT NULL,
    category TEXT,
    intent TEXT,
    satisfaction BIGINT CHECK (satisfaction BETWEEN 1 AND 5),
    pairing_policy TEXT NOT NULL,
    policy_version BIGINT NOT NULL,
    pair_probability DOUBLE PRECISION NOT NULL,
    first_token_ms_a BIGINT,
    first_token_ms_b BIGINT,
    duration_ms_a BIGINT NOT NULL,
    duration_ms_b BIGINT NOT NULL,
    text_counts TEXT NOT NULL,
    rated BOOLEAN NOT NULL,
    exclusion TEXT,
    receipt TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- A vote ends its battle, in the same commit and whoever inserts it.
CREATE TRIGGER votes_end_their_battle AFTER INSERT ON votes
BEGIN UPDATE battles SET stage = 'voted', updated_at = NEW.created_at WHERE id = NEW.battle_id; END;
CREATE TRIGGER votes_are_never_changed BEFORE UPDATE ON votes
BEGIN SELECT RAISE(ABORT, 'votes are insert-only'); END;
CREATE TRIGGER votes_are_never_deleted BEFORE DELETE ON votes
BEGIN SELECT RAISE(ABORT, 'votes are insert-only'); END;

-- Derived: the last fit of each minute.
CREATE TABLE leaderboards (
    minute BIGINT NOT NULL PRIMARY KEY,
    fitted_at BIGINT NOT NULL,
    last_vote_seq BIGINT NOT NULL,
    body TEXT NOT NULL
);
