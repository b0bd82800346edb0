-- Digests of first questions, by which votes on the question of a benchmark item are found: in the row of the text, so that it goes when the
-- text is deleted. A job fills them.
ALTER TABLE turns ADD COLUMN digest TEXT;
CREATE INDEX turns_by_digest ON turns (digest) WHERE digest IS NOT NULL;
CREATE INDEX turns_without_digest ON turns (battle_id) WHERE turn = 1 AND digest IS NULL;
