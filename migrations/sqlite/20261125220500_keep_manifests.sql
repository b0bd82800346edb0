-- What a run was made of: versions, settings and hashes, as JSON. Without it nobody can tell later what differs between two runs.

ALTER TABLE bench_runs ADD COLUMN manifest TEXT NOT NULL DEFAULT '{}';
