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

-- Visitors who sign in there.
ALTER TABLE sign_ins DROP CONSTRAINT sign_ins_method_check;
ALTER TABLE sign_ins ADD CONSTRAINT sign_ins_method_check CHECK (method IN ('invite', 'passphrase', 'account'));
