-- Visitors say after the vote what their question was about, where the classifier is wrong.
ALTER TABLE prompt_labels DROP CONSTRAINT query_labels_source_check;
ALTER TABLE prompt_labels ADD CONSTRAINT prompt_labels_source_check CHECK (source IN ('seed', 'model', 'visitor', 'review'));
-- Reviewers see corrections first.
CREATE INDEX prompt_labels_of_visitors ON prompt_labels (scheme, ts, query_id) WHERE source = 'visitor';
