-- A rule or a person excludes a vote from the ratings, and can withdraw that, without a change to the vote.

-- `seq` of votes is no key of the whole partitioned table, so no foreign key can name it.
CREATE TABLE vote_exclusions (
    id TEXT NOT NULL PRIMARY KEY,
    vote_seq BIGINT NOT NULL,
    rule TEXT NOT NULL,
    reason TEXT NOT NULL,
    excluded_by TEXT NOT NULL,
    excluded_at BIGINT NOT NULL,
    withdrawn_by TEXT,
    withdrawn_at BIGINT,
    CHECK ((withdrawn_by IS NULL) = (withdrawn_at IS NULL))
);
-- A rule excludes a vote once at a time.
CREATE UNIQUE INDEX vote_exclusions_in_force ON vote_exclusions (vote_seq, rule) WHERE withdrawn_at IS NULL;
-- Nothing is forgotten: an exclusion changes once, when it is withdrawn.
CREATE FUNCTION vote_exclusions_are_only_withdrawn() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.withdrawn_at IS NULL AND NEW.withdrawn_at IS NOT NULL
        AND (NEW.id, NEW.vote_seq, NEW.rule, NEW.reason, NEW.excluded_by, NEW.excluded_at)
            = (OLD.id, OLD.vote_seq, OLD.rule, OLD.reason, OLD.excluded_by, OLD.excluded_at) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'an exclusion can only be withdrawn';
END $$;
CREATE TRIGGER vote_exclusions_are_only_withdrawn BEFORE UPDATE OR DELETE ON vote_exclusions
FOR EACH ROW EXECUTE FUNCTION vote_exclusions_are_only_withdrawn();
CREATE TRIGGER vote_exclusions_are_never_emptied BEFORE TRUNCATE ON vote_exclusions
FOR EACH STATEMENT EXECUTE FUNCTION vote_exclusions_are_only_withdrawn();

INSERT INTO vote_exclusions (id, vote_seq, rule, reason, excluded_by, excluded_at)
    SELECT 'vote ' || id, seq, COALESCE(NULLIF(exclusion, ''), 'not_rated'), 'excluded when it was cast', 'langya', created_at
    FROM votes WHERE NOT rated;

DROP INDEX votes_for_fits;
DROP INDEX votes_with_satisfaction;
ALTER TABLE votes DROP COLUMN rated, DROP COLUMN exclusion;
CREATE INDEX votes_for_fits ON votes (seq, created_at, model_a, model_b, outcome, visitor, language, category, intent, turn,
    pair_probability);
CREATE INDEX votes_with_satisfaction ON votes (seq, intent, satisfaction) WHERE satisfaction IS NOT NULL;
