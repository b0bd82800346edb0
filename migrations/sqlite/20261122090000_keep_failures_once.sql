-- A failure is kept once also where no run is named: rows from before runs had names, which a unique index takes for
-- different ones.
DELETE FROM side_failures WHERE rowid NOT IN (
    SELECT MIN(rowid) FROM side_failures GROUP BY battle_id, COALESCE(answered_by, ''), turn, side, model
);
DROP INDEX side_failures_once;
CREATE UNIQUE INDEX side_failures_once ON side_failures (battle_id, COALESCE(answered_by, ''), turn, side, model);
