-- People who run the arena and sign in at a provider of OpenID Connect. Of who they are there only hashes are kept: of the issuer and
-- subject, which the first sign-in of somebody who was added by e-mail puts in place of that of the address.

CREATE TABLE admin_identities (
    user_id TEXT NOT NULL PRIMARY KEY REFERENCES admin_users (id),
    subject_hash TEXT UNIQUE,
    email_hash TEXT UNIQUE,
    -- Whether an owner gave the role, or a claim of the provider gives it at each sign-in.
    role_from TEXT NOT NULL CHECK (role_from IN ('owner', 'claim')),
    CHECK ((subject_hash IS NULL) <> (email_hash IS NULL))
);

-- Visitors who sign in there: another method, which a table of SQLite takes only when it is made.
CREATE TABLE sign_ins_with_accounts (
    visitor TEXT NOT NULL PRIMARY KEY,
    method TEXT NOT NULL CHECK (method IN ('invite', 'passphrase', 'account')),
    invite_id TEXT REFERENCES invites (id),
    signed_in_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    CHECK ((method = 'invite') = (invite_id IS NOT NULL))
);
INSERT INTO sign_ins_with_accounts (visitor, method, invite_id, signed_in_at, expires_at, ended_at)
SELECT visitor, method, invite_id, signed_in_at, expires_at, ended_at FROM sign_ins;
DROP TABLE sign_ins;
ALTER TABLE sign_ins_with_accounts RENAME TO sign_ins;
CREATE INDEX sign_ins_ended ON sign_ins (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sign_ins_of_invites ON sign_ins (invite_id) WHERE invite_id IS NOT NULL;
