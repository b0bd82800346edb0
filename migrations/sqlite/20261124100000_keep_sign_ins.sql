-- Optional sign-in: invite codes, of which only hashes are kept, and who is signed in, so that signing out ends a session on every
-- instance. An arena that is open to everybody writes neither.

CREATE TABLE invites (
    id TEXT NOT NULL PRIMARY KEY,
    code_hash TEXT NOT NULL UNIQUE,
    note TEXT NOT NULL,
    quota BIGINT NOT NULL CHECK (quota >= 1),
    uses BIGINT NOT NULL CHECK (uses BETWEEN 0 AND quota),
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);
CREATE TABLE sign_ins (
    visitor TEXT NOT NULL PRIMARY KEY,
    method TEXT NOT NULL CHECK (method IN ('invite', 'passphrase')),
    invite_id TEXT REFERENCES invites (id),
    signed_in_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    CHECK ((method = 'invite') = (invite_id IS NOT NULL))
);
CREATE INDEX sign_ins_ended ON sign_ins (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sign_ins_of_invites ON sign_ins (invite_id) WHERE invite_id IS NOT NULL;
