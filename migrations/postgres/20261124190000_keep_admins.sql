-- The people who run the arena: accounts, links that make one, sessions, and the audit log of what they did. Of pass phrases, links,
-- sessions and recovery codes only hashes are kept. The secret of a second factor has to be known to check a code, so it is kept as it is.

CREATE TABLE admin_users (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'reviewer', 'operator', 'owner')),
    -- Empty after a reset, until a new one is chosen.
    passphrase_hash TEXT NOT NULL,
    totp_secret TEXT,
    -- A secret that no code has confirmed yet.
    totp_pending TEXT,
    -- The last step whose code was taken.
    totp_step BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT
);
CREATE TABLE admin_recovery_codes (
    code_hash TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES admin_users (id),
    used_at BIGINT
);
CREATE INDEX admin_recovery_codes_of ON admin_recovery_codes (user_id);
-- Links of one use: for a new user, or for a new pass phrase of one that was reset.
CREATE TABLE admin_invites (
    id TEXT NOT NULL PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'reviewer', 'operator', 'owner')),
    user_id TEXT REFERENCES admin_users (id),
    -- Printed at a start without an owner; void once there is one.
    first_run BOOLEAN NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE TABLE admin_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES admin_users (id),
    address TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX admin_sessions_of ON admin_sessions (user_id);
-- Ids sort by time.
CREATE TABLE admin_audit (
    id TEXT NOT NULL PRIMARY KEY,
    acted_at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    former TEXT,
    latter TEXT,
    via TEXT NOT NULL CHECK (via IN ('page', 'command')),
    address TEXT NOT NULL
);
-- Which leaks were confirmed, so that the review queue leaves them out.
CREATE INDEX admin_audit_confirmed ON admin_audit (subject) WHERE action = 'confirm_leak';

CREATE FUNCTION admin_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER admin_audit_is_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON admin_audit
FOR EACH STATEMENT EXECUTE FUNCTION admin_audit_is_append_only();
