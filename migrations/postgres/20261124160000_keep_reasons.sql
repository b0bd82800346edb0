-- A voter may say why, for each side: words of a fixed list, joined by commas. NULL where nothing was said.

ALTER TABLE votes ADD COLUMN reasons_a TEXT CHECK (reasons_a <> '');
ALTER TABLE votes ADD COLUMN reasons_b TEXT CHECK (reasons_b <> '');
