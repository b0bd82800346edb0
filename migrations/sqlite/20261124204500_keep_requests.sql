-- Requests to delete what was said in battles, with what was decided. They hold who asked and why, and nothing of the texts.

CREATE TABLE deletion_requests (
    id TEXT NOT NULL PRIMARY KEY,
    battle TEXT NOT NULL,
    -- The texts of the battle, or of all battles of its visitor.
    scope TEXT NOT NULL CHECK (scope IN ('battle', 'visitor')),
    reason TEXT NOT NULL,
    -- Name of the user who entered it; empty where it was asked on the battle's page.
    entered_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'done', 'refused')),
    answer TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    decided_at BIGINT,
    -- Battles whose texts were deleted.
    battles BIGINT NOT NULL
);
-- However often somebody asks, one request about the same texts waits.
CREATE UNIQUE INDEX deletion_requests_open_once ON deletion_requests (battle, scope) WHERE state = 'open';
