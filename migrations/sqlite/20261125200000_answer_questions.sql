-- What an annotator answered to questions beside a judgement, as JSON; empty for a judgement without any.

ALTER TABLE campaign_judgements ADD COLUMN answers TEXT NOT NULL DEFAULT '';
