-- What visitors were told before their first battle, and who agreed to which version of it and when. The text is kept with its version, since
-- it follows the settings and would otherwise be lost with the next change.

CREATE TABLE consent_texts (
    version TEXT NOT NULL PRIMARY KEY,
    -- In every language, as JSON.
    body TEXT NOT NULL,
    first_agreed_at BIGINT NOT NULL
);

CREATE TABLE consents (
    visitor TEXT NOT NULL,
    version TEXT NOT NULL REFERENCES consent_texts (version),
    agreed_at BIGINT NOT NULL,
    PRIMARY KEY (visitor, version)
);
