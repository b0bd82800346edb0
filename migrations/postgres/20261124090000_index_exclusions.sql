-- The public list of exclusions is read by time, the latest first.

CREATE INDEX vote_exclusions_by_time ON vote_exclusions (excluded_at, id);
