-- A failure is kept once also where no run is named: rows from before runs had names, which a unique index takes for
-- different ones.
DELETE FROM side_failures AS later USING side_failures AS first
WHERE later.ctid > first.ctid AND later.battle_id = first.battle_id
    AND COALESCE(later.answered_by, '') = COALESCE(first.answered_by, '')
    AND later.turn = first.turn AND later.side = first.side AND later.model = first.model;
DROP INDEX side_failures_once;
CREATE UNIQUE INDEX side_failures_once ON side_failures (battle_id, COALESCE(answered_by, ''), turn, side, model);
