-- Texts that the moderation service flagged, with what a reviewer decided. The texts themselves stay in turns and replies, so deleting them
-- there leaves nothing here.

CREATE TABLE moderation_flags (
    id TEXT NOT NULL PRIMARY KEY,
    battle TEXT NOT NULL,
    turn BIGINT NOT NULL,
    -- Which text of the turn.
    part TEXT NOT NULL CHECK (part IN ('prompt', 'reply_a', 'reply_b')),
    -- What the service called it, joined by commas.
    categories TEXT NOT NULL,
    flagged_at BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'kept', 'removed')),
    decided_by TEXT NOT NULL,
    decided_at BIGINT
);
CREATE INDEX moderation_flags_open ON moderation_flags (id) WHERE state = 'open';
