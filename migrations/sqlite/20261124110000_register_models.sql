-- The register of models: who was configured when and with which weight and why, how pairs were drawn, and the battles of each
-- model by finished day.

-- What the settings in force said of a model, written by the leading instance whenever that changed. The key lets one of two
-- writers have its way. `provider_model` is a digest under a key of the database: equal for two entries of one model.
CREATE TABLE model_changes (
    model TEXT NOT NULL REFERENCES models (id),
    number BIGINT NOT NULL CHECK (number >= 1),
    changed_at BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'retired')),
    weight DOUBLE PRECISION NOT NULL,
    name TEXT NOT NULL,
    organization TEXT NOT NULL,
    license TEXT NOT NULL,
    practice BOOLEAN NOT NULL,
    provider_model TEXT,
    reason TEXT NOT NULL,
    author TEXT NOT NULL CHECK (author IN ('settings', 'command')),
    PRIMARY KEY (model, number)
);
CREATE TABLE pairing_changes (
    number BIGINT NOT NULL PRIMARY KEY CHECK (number >= 1),
    changed_at BIGINT NOT NULL,
    policy TEXT NOT NULL,
    policy_version BIGINT NOT NULL,
    uniform_share DOUBLE PRECISION NOT NULL,
    elo_width DOUBLE PRECISION NOT NULL,
    new_model_votes BIGINT NOT NULL,
    new_model_boost DOUBLE PRECISION NOT NULL
);

-- Nothing is forgotten.
CREATE TRIGGER model_changes_are_never_changed BEFORE UPDATE ON model_changes
BEGIN SELECT RAISE(ABORT, 'the register of models is insert-only'); END;
CREATE TRIGGER model_changes_are_never_deleted BEFORE DELETE ON model_changes
BEGIN SELECT RAISE(ABORT, 'the register of models is insert-only'); END;
CREATE TRIGGER pairing_changes_are_never_changed BEFORE UPDATE ON pairing_changes
BEGIN SELECT RAISE(ABORT, 'the register of models is insert-only'); END;
CREATE TRIGGER pairing_changes_are_never_deleted BEFORE DELETE ON pairing_changes
BEGIN SELECT RAISE(ABORT, 'the register of models is insert-only'); END;

-- Derived: battles by day (days since 1970, UTC) of each source, which is `arena` or the id of an import, and how far each
-- source is counted. Both may be emptied together: the leading instance counts from the beginning then.
CREATE TABLE counted_sources (
    source TEXT NOT NULL PRIMARY KEY,
    through_day BIGINT NOT NULL
);
CREATE TABLE battle_days (
    source TEXT NOT NULL,
    day BIGINT NOT NULL,
    model TEXT NOT NULL,
    battles BIGINT NOT NULL,
    PRIMARY KEY (source, day, model)
);
