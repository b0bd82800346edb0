-- A rule that excludes a vote when it is cast adds its exclusion in the same commit. Such a vote was never counted as rated, so
-- what was counted before stays true; only exclusions after the vote, and withdrawals, ask for a recount.

ALTER TABLE vote_exclusions ADD COLUMN with_vote BOOLEAN NOT NULL DEFAULT FALSE;

-- What is counted to notice a change: small, however many votes are excluded when they are cast.
CREATE INDEX vote_exclusions_after_votes ON vote_exclusions (vote_seq) WHERE NOT with_vote;
CREATE INDEX vote_exclusions_withdrawn ON vote_exclusions (vote_seq) WHERE withdrawn_at IS NOT NULL;

DROP TRIGGER vote_exclusions_are_only_withdrawn;
CREATE TRIGGER vote_exclusions_are_only_withdrawn BEFORE UPDATE ON vote_exclusions
WHEN OLD.withdrawn_at IS NOT NULL OR NEW.withdrawn_at IS NULL OR NEW.id <> OLD.id OR NEW.vote_seq <> OLD.vote_seq
    OR NEW.rule <> OLD.rule OR NEW.reason <> OLD.reason OR NEW.excluded_by <> OLD.excluded_by
    OR NEW.excluded_at <> OLD.excluded_at OR NEW.with_vote <> OLD.with_vote
BEGIN SELECT RAISE(ABORT, 'an exclusion can only be withdrawn'); END;
