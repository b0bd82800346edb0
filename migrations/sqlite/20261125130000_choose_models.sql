-- Visitors may choose models: both of a battle, one that answers alone, or one beside a hidden one.

-- SQLite cannot change a CHECK; every battle so far is anonymous.
ALTER TABLE battles DROP COLUMN mode;
ALTER TABLE battles ADD COLUMN mode TEXT NOT NULL DEFAULT 'anonymous' CHECK (mode IN ('anonymous', 'named', 'direct', 'one_hidden'));
