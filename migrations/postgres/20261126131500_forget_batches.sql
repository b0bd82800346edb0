-- An operator may give up a batch whose replies nobody asks for any more: it stays as a row that no run looks for.
ALTER TABLE bench_batches DROP CONSTRAINT bench_batches_state_check;
ALTER TABLE bench_batches ADD CONSTRAINT bench_batches_state_check
    CHECK (state IN ('intended', 'sent', 'ended', 'taken', 'unsent', 'failed', 'gone', 'forgotten'));
