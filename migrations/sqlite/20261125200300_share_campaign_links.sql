-- One link for many annotators: whoever opens it takes one of its places and becomes an annotator with a link of their own. The
-- token is kept as its hash. A participant is whom a recruitment platform knows by this name, to pay them; no export has it.
CREATE TABLE campaign_links (
    id TEXT NOT NULL PRIMARY KEY,
    campaign TEXT NOT NULL REFERENCES campaigns (id),
    token_hash TEXT NOT NULL UNIQUE,
    places BIGINT NOT NULL CHECK (places >= 1),
    taken BIGINT NOT NULL,
    quota BIGINT CHECK (quota >= 1),
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    CHECK (taken <= places)
);
CREATE INDEX campaign_links_of ON campaign_links (campaign);
ALTER TABLE campaign_annotators ADD COLUMN participant TEXT;
