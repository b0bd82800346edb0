-- Visitors may choose models: both of a battle, one that answers alone, or one beside a hidden one.

ALTER TABLE battles DROP CONSTRAINT battles_mode_check;
ALTER TABLE battles ADD CONSTRAINT battles_mode_check CHECK (mode IN ('anonymous', 'named', 'direct', 'one_hidden'));
