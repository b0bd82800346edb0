-- Campaigns: people judge stored answers. What is judged is fixed when a campaign is made; judgements are only added, and one that
-- is taken back stays with its time.

CREATE TABLE campaigns (
    id TEXT NOT NULL PRIMARY KEY,
    -- The file as it was read, as JSON.
    plan TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('draft', 'open', 'paused', 'closed')),
    items BIGINT NOT NULL,
    units BIGINT NOT NULL,
    shared_units BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE campaign_items (
    campaign TEXT NOT NULL REFERENCES campaigns (id),
    item BIGINT NOT NULL,
    name TEXT NOT NULL,
    prompt TEXT NOT NULL,
    reference TEXT NOT NULL,
    category TEXT NOT NULL,
    language TEXT NOT NULL,
    PRIMARY KEY (campaign, item)
);
CREATE TABLE campaign_answers (
    campaign TEXT NOT NULL,
    item BIGINT NOT NULL,
    model TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (campaign, item, model),
    FOREIGN KEY (campaign, item) REFERENCES campaign_items (campaign, item)
);
-- What one judgement is about, in the order in which it is handed out. `given` counts the assignments that were made and not
-- withdrawn for their age; a shared unit goes to every annotator, whatever was given.
CREATE TABLE campaign_units (
    campaign TEXT NOT NULL,
    unit BIGINT NOT NULL,
    item BIGINT NOT NULL,
    models TEXT NOT NULL,
    shared BOOLEAN NOT NULL,
    gold TEXT,
    given BIGINT NOT NULL,
    PRIMARY KEY (campaign, unit),
    FOREIGN KEY (campaign, item) REFERENCES campaign_items (campaign, item)
);
CREATE INDEX campaign_units_by_need ON campaign_units (campaign, shared, given, unit);
-- An invited person: the link's token is kept as its hash.
CREATE TABLE campaign_annotators (
    id TEXT NOT NULL PRIMARY KEY,
    campaign TEXT NOT NULL REFERENCES campaigns (id),
    token_hash TEXT NOT NULL UNIQUE,
    quota BIGINT CHECK (quota >= 1),
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    seen_at BIGINT,
    first_time BIGINT NOT NULL,
    repeats BIGINT NOT NULL,
    shared BIGINT NOT NULL,
    judged BIGINT NOT NULL,
    side_balance TEXT NOT NULL
);
CREATE INDEX campaign_annotators_of ON campaign_annotators (campaign);
CREATE TABLE campaign_assignments (
    id TEXT NOT NULL PRIMARY KEY,
    campaign TEXT NOT NULL,
    annotator TEXT NOT NULL REFERENCES campaign_annotators (id),
    number BIGINT NOT NULL,
    unit BIGINT NOT NULL,
    item BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('fresh', 'shared', 'repeat')),
    shown TEXT NOT NULL,
    given_at BIGINT NOT NULL,
    judged_at BIGINT,
    released_at BIGINT,
    UNIQUE (annotator, number),
    FOREIGN KEY (campaign, unit) REFERENCES campaign_units (campaign, unit)
);
CREATE INDEX campaign_assignments_by_item ON campaign_assignments (annotator, item);
CREATE INDEX campaign_assignments_waiting ON campaign_assignments (campaign, annotator, number)
WHERE judged_at IS NULL AND released_at IS NULL;
CREATE TABLE campaign_judgements (
    id TEXT NOT NULL PRIMARY KEY,
    assignment TEXT NOT NULL REFERENCES campaign_assignments (id),
    revision BIGINT NOT NULL,
    judgement TEXT NOT NULL,
    judged_at BIGINT NOT NULL,
    withdrawn_at BIGINT,
    UNIQUE (assignment, revision)
);
