-- A judge that reasons before it replies: what the provider sends of that in a field of its own is kept beside the reply, to be read by
-- people. No verdict is ever read in it.
ALTER TABLE bench_judgements ADD COLUMN reasoning TEXT NOT NULL DEFAULT '';
