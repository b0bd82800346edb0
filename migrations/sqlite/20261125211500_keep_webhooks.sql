-- What other programs are told: how far each webhook was told of each event, and an outbox of messages, which are sent until they are
-- taken or given up.

CREATE TABLE webhook_positions (
    webhook TEXT NOT NULL,
    event TEXT NOT NULL,
    -- The last vote, or the time of the last leaderboard.
    position BIGINT NOT NULL,
    -- JSON.
    state TEXT NOT NULL,
    PRIMARY KEY (webhook, event)
);
-- Ids sort by time.
CREATE TABLE webhook_messages (
    id TEXT NOT NULL PRIMARY KEY,
    webhook TEXT NOT NULL,
    event TEXT NOT NULL,
    -- JSON.
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead')),
    error TEXT NOT NULL,
    settled_at BIGINT
);
CREATE INDEX webhook_messages_waiting ON webhook_messages (next_at) WHERE state = 'waiting';
