-- Images beside the first question of a battle: written anew without metadata, apart from the texts, and shown to the models and to who may read
-- the battle. One that was sent and not asked about is deleted after a day.
CREATE TABLE images (
    id TEXT NOT NULL PRIMARY KEY,
    visitor TEXT NOT NULL,
    media_type TEXT NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg')),
    width BIGINT NOT NULL,
    height BIGINT NOT NULL,
    file BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX images_by_visitor ON images (visitor);
CREATE INDEX images_by_time ON images (created_at);
CREATE TABLE battle_images (
    battle_id TEXT NOT NULL REFERENCES battles (id),
    position BIGINT NOT NULL,
    image_id TEXT NOT NULL REFERENCES images (id),
    PRIMARY KEY (battle_id, position)
);
CREATE INDEX battle_images_by_image ON battle_images (image_id);
