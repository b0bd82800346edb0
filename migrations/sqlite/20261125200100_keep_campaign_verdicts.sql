-- What judge models said of the pairs of answers of a campaign that people judge: as battle_verdicts, with a unit in the place of a
-- battle. In game 1 the judge sees the answers in the order of the models' names, in game 2 the other way round. Verdicts are never
-- changed, and go with their campaign where it is deleted.
CREATE TABLE campaign_verdicts (
    id TEXT NOT NULL PRIMARY KEY,
    campaign TEXT NOT NULL,
    unit BIGINT NOT NULL,
    judge TEXT NOT NULL,
    game BIGINT NOT NULL CHECK (game IN (1, 2)),
    prompt_sha256 TEXT NOT NULL,
    params TEXT NOT NULL,
    raw_text TEXT NOT NULL,
    earlier TEXT NOT NULL,
    parsed TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('ok', 'parse_failed', 'out_of_range', 'refused', 'empty_answer', 'transport_failed')),
    attempts BIGINT NOT NULL,
    latency_ms BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    FOREIGN KEY (campaign, unit) REFERENCES campaign_units (campaign, unit)
);
-- What failed may be asked again, and is never taken for a verdict.
CREATE UNIQUE INDEX campaign_verdicts_once ON campaign_verdicts (campaign, unit, judge, game, prompt_sha256) WHERE status = 'ok';
CREATE INDEX campaign_verdicts_by_judge ON campaign_verdicts (judge, prompt_sha256);

CREATE TRIGGER campaign_verdicts_are_never_changed BEFORE UPDATE ON campaign_verdicts
BEGIN SELECT RAISE(ABORT, 'verdicts are insert-only'); END;
