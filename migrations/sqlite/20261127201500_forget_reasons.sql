-- Who asked for a deletion and why is needed until it is decided, and not kept after it.

UPDATE deletion_requests SET reason = '' WHERE state <> 'open';
