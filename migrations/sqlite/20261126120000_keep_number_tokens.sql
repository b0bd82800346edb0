-- Numbers of a judge's reply with the probabilities of what could have stood in their place, as JSON; empty where none were asked for or
-- told. A score that is expected over them can be computed again.
ALTER TABLE bench_judgements ADD COLUMN number_tokens TEXT NOT NULL DEFAULT '';
