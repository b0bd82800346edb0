-- What judge models said of the arena's own battles that people had voted on. Insert-only: what was asked and paid for is
-- never asked again, and every figure can be worked out anew.
--
-- In game 1 the judge sees the sides as the visitor did, in game 2 the other way round. `prompt_sha256` is of the judge's
-- instructions before a conversation is put in: a battle that was voted on never changes, so it, the game and the
-- instructions say to the letter what was asked, and no conversation is kept twice. Tokens are estimated where the provider
-- counts none, so that a budget can be kept by what is here.
CREATE TABLE battle_verdicts (
    id TEXT NOT NULL PRIMARY KEY,
    battle_id TEXT NOT NULL REFERENCES battles (id),
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
    created_at BIGINT NOT NULL
);
-- What failed may be asked again, and is never taken for a verdict.
CREATE UNIQUE INDEX battle_verdicts_once ON battle_verdicts (battle_id, judge, game, prompt_sha256) WHERE status = 'ok';
CREATE INDEX battle_verdicts_by_judge ON battle_verdicts (judge, prompt_sha256);
-- What was spent since a moment.
CREATE INDEX battle_verdicts_by_time ON battle_verdicts (created_at);

CREATE TRIGGER battle_verdicts_are_never_changed BEFORE UPDATE ON battle_verdicts
BEGIN SELECT RAISE(ABORT, 'verdicts are insert-only'); END;
CREATE TRIGGER battle_verdicts_are_never_deleted BEFORE DELETE ON battle_verdicts
BEGIN SELECT RAISE(ABORT, 'verdicts are insert-only'); END;
