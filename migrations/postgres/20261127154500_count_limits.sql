-- What of the rate limits is used, while Redis cannot be asked: the moment at which all of it will have come back, in microseconds
-- since 1970 by this server's clock, for each window. Who loses these rows loses an outage's counts, so no commit waits for them.
CREATE UNLOGGED TABLE limit_counts (
    name TEXT PRIMARY KEY,
    minute_due BIGINT NOT NULL,
    hour_due BIGINT NOT NULL,
    day_due BIGINT NOT NULL
);
