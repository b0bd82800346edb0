-- An annotator whose judgements the operator leaves out of a campaign's report, with the reason. The judgements stay: when the row
-- is withdrawn, they count again.

CREATE TABLE campaign_exclusions (
    id TEXT NOT NULL PRIMARY KEY,
    campaign TEXT NOT NULL REFERENCES campaigns (id),
    annotator TEXT NOT NULL REFERENCES campaign_annotators (id),
    reason TEXT NOT NULL,
    excluded_by TEXT NOT NULL,
    excluded_at BIGINT NOT NULL,
    withdrawn_by TEXT,
    withdrawn_at BIGINT
);
CREATE UNIQUE INDEX campaign_exclusions_in_force ON campaign_exclusions (annotator) WHERE withdrawn_at IS NULL;
CREATE INDEX campaign_exclusions_of ON campaign_exclusions (campaign);
-- Whether one is in force, on the row that every judgement locks.
ALTER TABLE campaign_annotators ADD COLUMN left_out_at BIGINT;
