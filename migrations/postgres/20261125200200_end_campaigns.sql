-- A campaign may end before each unit has all its judgements: because the models are told apart, or because it was given only so
-- many judgements. `handed_out` counts assignments that were made and not withdrawn for their age, where there is such a limit.
ALTER TABLE campaigns ADD COLUMN ended TEXT CHECK (ended IN ('separated', 'max_judgements'));
ALTER TABLE campaigns ADD COLUMN ended_at BIGINT;
ALTER TABLE campaigns ADD COLUMN handed_out BIGINT NOT NULL DEFAULT 0;
