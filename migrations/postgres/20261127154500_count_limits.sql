-- What of the rate limits is used, while Redis cannot be asked: the moment at which all of it will have come back, in microseconds
-- since 1970 by this server's clock, for each window. Who loses these rows loses an outage's counts, so no commit waits for them.
CREATE UNLOGGED TABLE limit_counts (
    name TEXT PRIMARY KEY,
    minute_due BIGINT NOT NULL,
    hour_due BIGINT NOT NULL,
    day_due BIGINT NOT NULL
);

-- Counts one more on all of these limits where all of them grant it, as the script in Redis does: one statement, so that nobody holds
-- a row longer than it takes to count. `intervals`, `spans` and `known` are microseconds, for each name and then for each window;
-- an interval of 0 is no limit, and `known` is how far ahead the moment is as the caller knows. Answers with the microseconds to wait
-- and the number of the name that says so, or with 0 and how far ahead the moment of each name and window then is.
CREATE FUNCTION charge_limits(names TEXT[], intervals BIGINT[], spans BIGINT[], known BIGINT[]) RETURNS BIGINT[] LANGUAGE plpgsql AS $$
DECLARE
    windows CONSTANT INTEGER := 3;
    moment BIGINT;
    stored BIGINT[];
    dues BIGINT[] := '{}';
    due BIGINT;
    place INTEGER;
    wait BIGINT := 0;
    slowest INTEGER := 0;
BEGIN
    -- Locked in the order of their names, so that no two wait for each other; the clock is read behind the locks.
    INSERT INTO limit_counts AS counts (name, minute_due, hour_due, day_due)
    SELECT asked, 0, 0, 0 FROM unnest(names) AS asked ORDER BY asked
    ON CONFLICT (name) DO UPDATE SET name = excluded.name;
    moment := EXTRACT(EPOCH FROM clock_timestamp()) * 1000000;
    FOR i IN 1 .. cardinality(names) LOOP
        SELECT ARRAY[minute_due, hour_due, day_due] INTO STRICT stored FROM limit_counts WHERE name = names[i];
        FOR w IN 1 .. windows LOOP
            place := windows * (i - 1) + w;
            due := GREATEST(stored[w], moment + known[place], moment);
            IF intervals[place] > 0 THEN
                due := LEAST(due, moment + spans[place]) + intervals[place];
                IF due - moment - spans[place] > wait THEN
                    wait := due - moment - spans[place];
                    slowest := i;
                END IF;
            END IF;
            dues := dues || due;
        END LOOP;
    END LOOP;
    IF wait > 0 THEN
        DELETE FROM limit_counts WHERE name = ANY (names) AND GREATEST(minute_due, hour_due, day_due) = 0;
        RETURN ARRAY[wait, slowest];
    END IF;
    UPDATE limit_counts SET minute_due = dues[windows * (number - 1) + 1], hour_due = dues[windows * (number - 1) + 2],
        day_due = dues[windows * (number - 1) + 3]
    FROM unnest(names) WITH ORDINALITY AS asked (asked_name, number) WHERE name = asked_name;
    RETURN ARRAY[0::BIGINT] || ARRAY(
        SELECT reached - moment FROM unnest(dues) WITH ORDINALITY AS reaches (reached, number) ORDER BY number
    );
END $$;
