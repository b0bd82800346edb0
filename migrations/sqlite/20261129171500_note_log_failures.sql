-- The instance that leads appends to the public log for all of them. Where it cannot, the others have to know at once: a vote that they
-- promise to be in the log would not come into it.

ALTER TABLE instances ADD COLUMN log_fails BOOLEAN NOT NULL DEFAULT FALSE;
