-- Several instances may serve one arena: a turn is answered by one run of one of them, and they know of each other.

-- The run that answers the latest turn, so that one that was stopped for a while cannot write over the one that took
-- the turn from it.
ALTER TABLE battles ADD COLUMN answered_by TEXT;

-- A failure that is reported twice, because its first commit's answer was lost, is kept once.
ALTER TABLE side_failures ADD COLUMN answered_by TEXT;
DROP INDEX side_failures_by_battle;
CREATE UNIQUE INDEX side_failures_once ON side_failures (battle_id, answered_by, turn, side, model);

-- Who serves: each instance writes its row every few seconds. May be emptied at any time.
CREATE TABLE instances (
    id TEXT NOT NULL PRIMARY KEY,
    beats BIGINT NOT NULL,
    settings TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);

-- The latest leaderboard is the one with the latest votes, even where an instance that was stopped for a while puts an
-- older one beside it in a later minute.
CREATE INDEX leaderboards_by_vote ON leaderboards (last_vote_seq, minute);
