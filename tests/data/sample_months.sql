-- Battles of December 2025 and January 2026 (their ids begin with the time) and an imported one, as they were kept before there
-- were partitions.
INSERT INTO battles (id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, policy_version, pair_probability, language,
    created_at, updated_at) VALUES
    ('019b76da-a800-7000-8000-000000000001', 'v1', 'anonymous', 'voted', 1, 'one', 'two', 'weighted', 1, 1.0, 'en', 10, 20),
    ('019b76da-a7ff-7000-8000-000000000002', 'v2', 'anonymous', 'voted', 1, 'two', 'one', 'weighted', 1, 1.0, 'en', 10, 20),
    ('import-00000000000000000000000000000000-000000001', '', 'anonymous', 'voted', 1, 'two', 'one', 'import', 0, 0, '', 10, 10);
INSERT INTO turns (battle_id, turn, prompt, created_at)
    SELECT id, 1, 'Why?', 10 FROM battles WHERE id LIKE '019b%';
INSERT INTO replies (battle_id, turn, side, model, text, reasoning, ending, first_token_ms, duration_ms)
    SELECT id, 1, 'a', model_a, 'So.', '', 'complete', 5, 9 FROM battles WHERE id LIKE '019b%';
INSERT INTO votes (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, pairing_policy, policy_version,
    pair_probability, duration_ms_a, duration_ms_b, text_counts, rated, receipt, created_at)
    SELECT 'of ' || id, id, visitor, model_a, model_b, 'tie', 1, TRUE, 'en', pairing_policy, policy_version, pair_probability, 9, 9,
    '[]', TRUE, '{}', 20 FROM battles WHERE id LIKE '019b%' OR id LIKE 'import-%';
