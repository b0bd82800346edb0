-- Rows as an arena of the first version keeps them: one battle voted on, one voted on in its second turn.
INSERT INTO models (id, name, organization, license, practice, first_seen_at) VALUES
    ('one', 'One', 'First Maker', 'MIT', FALSE, 1), ('two', '二', '', '', TRUE, 2);
INSERT INTO battles (id, visitor, mode, stage, turn, model_a, model_b, pairing_policy, policy_version,
    pair_probability, language, category, intent, created_at, updated_at) VALUES
    ('b1', 'v1', 'anonymous', 'voted', 1, 'one', 'two', 'weighted', 1, 1.0, 'en', NULL, NULL, 10, 20),
    ('b2', 'v2', 'anonymous', 'voted', 2, 'two', 'one', 'uniform', 1, 0.5, 'zh', 'maths', 'factual_qa', 30, 40);
INSERT INTO turns (battle_id, turn, prompt, created_at) VALUES
    ('b1', 1, 'Why?', 10), ('b2', 1, '为什么?', 30), ('b2', 2, 'And?', 35);
INSERT INTO replies (battle_id, turn, side, model, text, reasoning, ending, first_token_ms, duration_ms) VALUES
    ('b1', 1, 'a', 'one', 'So.', '', 'complete', 5, 9), ('b1', 1, 'b', 'two', '', '', 'stopped', NULL, 9),
    ('b2', 2, 'a', 'two', '因为', 'Hm.', 'cut', 5, 9), ('b2', 2, 'b', 'one', 'Because.', '', 'complete', 5, 9);
INSERT INTO side_failures (battle_id, turn, side, model, replaced_by, reason, failed_at) VALUES
    ('b1', 1, 'b', 'one', 'two', 'timed out', 11);
INSERT INTO votes (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, category, intent,
    satisfaction, pairing_policy, policy_version, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a,
    duration_ms_b, text_counts, rated, exclusion, receipt, created_at) VALUES
    ('w1', 'b1', 'v1', 'one', 'two', 'a', 1, TRUE, 'en', NULL, NULL, NULL, 'weighted', 1, 1.0, 5, NULL, 9, 9, '[]',
     TRUE, NULL, '{}', 20),
    ('w2', 'b2', 'v2', 'two', 'one', 'both_bad', 2, TRUE, 'zh', 'maths', 'factual_qa', 5, 'uniform', 1, 0.5, 5, 5, 9,
     9, '[]', FALSE, 'admin', '{}', 40);
INSERT INTO leaderboards (minute, fitted_at, last_vote_seq, body) VALUES (0, 50, 2, '{}');
