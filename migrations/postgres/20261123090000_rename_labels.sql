-- One name for the feature in code, commands and tables: prompts are labeled. The column says who labeled.
ALTER TABLE query_labels RENAME TO prompt_labels;
ALTER TABLE prompt_labels RENAME COLUMN annotator TO labeled_by;
ALTER INDEX query_labels_by_time RENAME TO prompt_labels_by_time;
ALTER INDEX query_labels_by_confidence RENAME TO prompt_labels_by_confidence;
