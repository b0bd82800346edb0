-- Visitors say after the vote what their question was about, where the classifier is wrong. A CHECK cannot be altered: the table is made anew.
CREATE TABLE prompt_labels_with_visitors (
    query_id TEXT NOT NULL REFERENCES battles (id),
    scheme TEXT NOT NULL CHECK (scheme IN ('superclue', 'urs')),
    source TEXT NOT NULL CHECK (source IN ('seed', 'model', 'visitor', 'review')),
    label TEXT NOT NULL,
    confidence DOUBLE PRECISION,
    labeled_by TEXT NOT NULL,
    ts BIGINT NOT NULL,
    PRIMARY KEY (query_id, scheme, source, labeled_by)
);
INSERT INTO prompt_labels_with_visitors (query_id, scheme, source, label, confidence, labeled_by, ts)
    SELECT query_id, scheme, source, label, confidence, labeled_by, ts FROM prompt_labels;
DROP TABLE prompt_labels;
ALTER TABLE prompt_labels_with_visitors RENAME TO prompt_labels;
CREATE INDEX prompt_labels_by_time ON prompt_labels (ts);
CREATE INDEX prompt_labels_by_confidence ON prompt_labels (scheme, confidence, query_id) WHERE source = 'model';
-- Reviewers see corrections first.
CREATE INDEX prompt_labels_of_visitors ON prompt_labels (scheme, ts, query_id) WHERE source = 'visitor';
