-- Instances order leaderboards by their votes and by the number of the fit: the clocks of different machines disagree.
ALTER TABLE leaderboards ADD COLUMN fit BIGINT NOT NULL DEFAULT 0;
DROP INDEX leaderboards_by_vote;
CREATE INDEX leaderboards_by_vote ON leaderboards (last_vote_seq, fit);
CREATE INDEX leaderboards_by_fit ON leaderboards (fit);
