-- What a model said when it was asked what a text is about: each reply was paid for, and the same question is not asked again. Of the question
-- only a hash is kept and of the reply only the label, NULL where it named none, since both hold a visitor's words.
CREATE TABLE label_replies (
    model TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,
    label TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (model, request_sha256)
);
