-- One name for the feature in code, commands and tables: prompts are labeled. The column says who labeled.
ALTER TABLE query_labels RENAME TO prompt_labels;
ALTER TABLE prompt_labels RENAME COLUMN annotator TO labeled_by;
DROP INDEX query_labels_by_time;
CREATE INDEX prompt_labels_by_time ON prompt_labels (ts);
DROP INDEX query_labels_by_confidence;
CREATE INDEX prompt_labels_by_confidence ON prompt_labels (scheme, confidence, query_id) WHERE source = 'model';
