-- A rule that excludes a vote when it is cast adds its exclusion in the same commit. Such a vote was never counted as rated, so
-- what was counted before stays true; only exclusions after the vote, and withdrawals, ask for a recount.

ALTER TABLE vote_exclusions ADD COLUMN with_vote BOOLEAN NOT NULL DEFAULT FALSE;

-- What is counted to notice a change: small, however many votes are excluded when they are cast.
CREATE INDEX vote_exclusions_after_votes ON vote_exclusions (vote_seq) WHERE NOT with_vote;
CREATE INDEX vote_exclusions_withdrawn ON vote_exclusions (vote_seq) WHERE withdrawn_at IS NOT NULL;

CREATE OR REPLACE FUNCTION vote_exclusions_are_only_withdrawn() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.withdrawn_at IS NULL AND NEW.withdrawn_at IS NOT NULL
        AND (NEW.id, NEW.vote_seq, NEW.rule, NEW.reason, NEW.excluded_by, NEW.excluded_at, NEW.with_vote)
            = (OLD.id, OLD.vote_seq, OLD.rule, OLD.reason, OLD.excluded_by, OLD.excluded_at, OLD.with_vote) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'an exclusion can only be withdrawn';
END $$;
