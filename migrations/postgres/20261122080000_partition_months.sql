-- A month of votes or replies can leave the database in one step: both tables are partitioned by month.
--
-- The partition key is the battle's id. It is a UUIDv7, whose first twelve digits are the milliseconds since 1970, so a range
-- of ids is a range of time; and because a unique key of a partitioned table must contain the partition key, one vote a
-- battle and one reply a side and turn stay keys of the whole table. Digits and hyphens stand at the same places in all such
-- ids, so they sort alike under every collation.
--
-- `seq` and `id` of votes are unique within each partition only. Across partitions, `seq` comes from one sequence and is drawn
-- under the lock of `votes_come_in_order`, and `id` holds 74 random bits.
--
-- Rows with other ids (imports have a partition of their own) and of months without a partition go to the default partition.

ALTER TABLE votes RENAME TO votes_whole;
ALTER TABLE votes_whole DROP CONSTRAINT votes_pkey, DROP CONSTRAINT votes_id_key, DROP CONSTRAINT votes_battle_id_key;
DROP INDEX votes_for_fits, votes_with_satisfaction;
ALTER TABLE replies RENAME TO replies_whole;
ALTER TABLE replies_whole DROP CONSTRAINT replies_pkey;

CREATE TABLE replies (
    battle_id TEXT NOT NULL,
    turn BIGINT NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('a', 'b')),
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    reasoning TEXT NOT NULL,
    ending TEXT NOT NULL CHECK (ending IN ('complete', 'stopped', 'cut', 'failed')),
    first_token_ms BIGINT,
    duration_ms BIGINT NOT NULL
) PARTITION BY RANGE (battle_id);

-- Partitions cannot have identity columns before PostgreSQL 17.
CREATE SEQUENCE vote_numbers;
SELECT setval('vote_numbers', last_value, is_called) FROM votes_seq_seq;
CREATE TABLE votes (
    seq BIGINT NOT NULL DEFAULT nextval('vote_numbers'),
    id TEXT NOT NULL,
    battle_id TEXT NOT NULL,
    visitor TEXT NOT NULL,
    model_a TEXT NOT NULL,
    model_b TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('a', 'b', 'tie', 'both_bad')),
    turn BIGINT NOT NULL,
    anonymous BOOLEAN NOT NULL,
    language TEXT NOT NULL,
    category TEXT,
    intent TEXT,
    satisfaction BIGINT CHECK (satisfaction BETWEEN 1 AND 5),
    pairing_policy TEXT NOT NULL,
    policy_version BIGINT NOT NULL,
    pair_probability DOUBLE PRECISION NOT NULL,
    first_token_ms_a BIGINT,
    first_token_ms_b BIGINT,
    duration_ms_a BIGINT NOT NULL,
    duration_ms_b BIGINT NOT NULL,
    text_counts TEXT NOT NULL,
    rated BOOLEAN NOT NULL,
    exclusion TEXT,
    receipt TEXT NOT NULL,
    created_at BIGINT NOT NULL
) PARTITION BY RANGE (battle_id);
ALTER SEQUENCE vote_numbers OWNED BY votes.seq;

-- The smallest id of a battle that begins in this month (UTC).
CREATE FUNCTION first_battle_id(month DATE) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT overlay(lpad(to_hex(CAST(extract(epoch FROM month) * 1000 AS BIGINT)), 12, '0') PLACING '-' FROM 9 FOR 0)
        || '-0000-0000-000000000000'
$$;

-- The month in which a battle began; NULL where its id does not begin with a time.
CREATE FUNCTION month_of_battle(id TEXT) RETURNS DATE LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$' THEN
        CAST(date_trunc('month', to_timestamp(
            CAST(CAST('x' || left(replace(id, '-', ''), 12) AS BIT(48)) AS BIGINT) / 1000.0) AT TIME ZONE 'UTC') AS DATE)
    END
$$;

-- The table is made first and attached then: that lets readers and writers of the parent go on. Statement triggers of the
-- parent do not watch statements that name a partition, so a partition of votes gets one of its own.
CREATE FUNCTION add_partition(parent TEXT, suffix TEXT, bounds TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    partition TEXT := parent || '_' || suffix;
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition, parent);
    IF parent = 'votes' THEN
        EXECUTE format('ALTER TABLE %I ADD UNIQUE (seq), ADD UNIQUE (id)', partition);
        EXECUTE format('CREATE TRIGGER votes_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON %I '
            'FOR EACH STATEMENT EXECUTE FUNCTION votes_are_insert_only()', partition);
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I %s', parent, partition, bounds);
END $$;

-- Adds what is missing of a month and returns the number of new partitions. A table of that name that was detached stays
-- detached. Where the default partition holds rows of the month already, they stay there, and the month gets no partition.
CREATE FUNCTION add_month(month DATE) RETURNS INTEGER LANGUAGE plpgsql AS $$
DECLARE
    parent TEXT;
    suffix TEXT := to_char(month, 'YYYY_MM');
    bounds TEXT := format('FOR VALUES FROM (%L) TO (%L)', first_battle_id(month),
        first_battle_id(CAST(month + INTERVAL '1 month' AS DATE)));
    added INTEGER := 0;
BEGIN
    FOREACH parent IN ARRAY ARRAY['votes', 'replies'] LOOP
        CONTINUE WHEN to_regclass(parent || '_' || suffix) IS NOT NULL;
        BEGIN
            PERFORM add_partition(parent, suffix, bounds);
            added := added + 1;
        EXCEPTION WHEN check_violation THEN
            RAISE WARNING '% of % stay in the default partition, which holds some already', parent, suffix;
        END;
    END LOOP;
    RETURN added;
END $$;

-- This month and the next ones, by the server's clock. Waits for no lock for long: who has to wait tries later.
CREATE FUNCTION add_months_ahead(months INTEGER) RETURNS INTEGER LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    first DATE := CAST(date_trunc('month', now() AT TIME ZONE 'UTC') AS DATE);
    added INTEGER := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('langya partitions ' || current_schema, 0));
    FOR ahead IN 0..months LOOP
        added := added + add_month(CAST(first + ahead * INTERVAL '1 month' AS DATE));
    END LOOP;
    RETURN added;
END $$;

-- Every month in which a battle began.
CREATE FUNCTION add_months_of_battles() RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    month DATE;
    months DATE[] := ARRAY(SELECT DISTINCT month_of_battle(id) FROM battles WHERE month_of_battle(id) IS NOT NULL);
BEGIN
    FOREACH month IN ARRAY months LOOP
        PERFORM add_month(month);
    END LOOP;
END $$;

SELECT add_partition('votes', 'default', 'DEFAULT');
SELECT add_partition('replies', 'default', 'DEFAULT');
SELECT add_partition('votes', 'imported', $$FOR VALUES FROM ('import-0') TO ('import-g')$$);
SELECT add_months_of_battles();
SELECT add_months_ahead(3);

INSERT INTO replies (battle_id, turn, side, model, text, reasoning, ending, first_token_ms, duration_ms)
    SELECT battle_id, turn, side, model, text, reasoning, ending, first_token_ms, duration_ms FROM replies_whole;
INSERT INTO votes (seq, id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, category, intent,
        satisfaction, pairing_policy, policy_version, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a,
        duration_ms_b, text_counts, rated, exclusion, receipt, created_at)
    SELECT seq, id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, category, intent,
        satisfaction, pairing_policy, policy_version, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a,
        duration_ms_b, text_counts, rated, exclusion, receipt, created_at FROM votes_whole;
DROP TABLE votes_whole, replies_whole;

-- Keys, indexes and triggers after the rows: each is checked or built once, and no vote ends its battle a second time.
ALTER TABLE replies ADD PRIMARY KEY (battle_id, turn, side),
    ADD FOREIGN KEY (model) REFERENCES models (id),
    ADD FOREIGN KEY (battle_id, turn) REFERENCES turns (battle_id, turn);
ALTER TABLE votes ADD PRIMARY KEY (battle_id),
    ADD FOREIGN KEY (battle_id) REFERENCES battles (id),
    ADD FOREIGN KEY (model_a) REFERENCES models (id),
    ADD FOREIGN KEY (model_b) REFERENCES models (id);
CREATE INDEX votes_for_fits ON votes (seq, created_at, model_a, model_b, outcome, rated, exclusion, visitor, language, category,
    intent, turn, pair_probability);
CREATE INDEX votes_with_satisfaction ON votes (seq, intent, satisfaction) WHERE rated AND satisfaction IS NOT NULL;
CREATE TRIGGER votes_come_in_order BEFORE INSERT ON votes
FOR EACH STATEMENT EXECUTE FUNCTION votes_come_in_order();
CREATE TRIGGER votes_end_their_battle AFTER INSERT ON votes REFERENCING NEW TABLE AS cast_now
FOR EACH STATEMENT EXECUTE FUNCTION votes_end_their_battle();
CREATE TRIGGER votes_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON votes
FOR EACH STATEMENT EXECUTE FUNCTION votes_are_insert_only();
