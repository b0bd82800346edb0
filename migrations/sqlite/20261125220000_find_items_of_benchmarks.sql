-- The page of an item reads what was answered and judged of it, among hundreds of thousands of rows of its suite. As many columns as
-- the other indexes of the suite have, or SQLite prefers one of those.

CREATE INDEX bench_answers_by_item ON bench_answers (suite, version, sample, item);
CREATE INDEX bench_judgements_by_item ON bench_judgements (suite, version, sample, item);
-- What annotators of campaigns said of the same item.
CREATE INDEX campaign_items_by_name ON campaign_items (name);
CREATE INDEX campaign_assignments_of_item ON campaign_assignments (campaign, item);
