-- The row of benches/votes.rs, one transaction each, as fast as PostgreSQL takes it from pgbench (which would read :210 as
-- a variable, hence the spaces).
INSERT INTO bare_votes (id, battle_id, visitor, model_a, model_b, outcome, turn, anonymous, language, pairing_policy,
    policy_version, pair_probability, first_token_ms_a, first_token_ms_b, duration_ms_a, duration_ms_b, text_counts,
    receipt, created_at)
SELECT '01980000-0000-7000-9000-' || n, '01980000-0000-7000-8000-' || n, '8a5edab282632443219e051e4ade2d1d',
    'one', 'two', 'a', 1, TRUE, 'en', 'weighted', 1, 0.5, 210, 340, 2345, 3210,
    '[{"tokens": 3,"headings": 1,"lists": 1,"bold": 0},{"tokens": 0,"headings": 0,"lists": 0,"bold": 0}]',
    '{"vote":"01980000-0000-7000-9000-100000000000","outcome":"a","a":{"id":"qwen-14b","name":"Qwen 14B Chat","organization":"Alibaba","license":"Apache-2.0","practice": false,"rating": 1012.25,"rating_change": 1.93,"first_token_ms": 210,"duration_ms": 2345,"chars_per_second": 187.4},"b":{"id":"llama-8b","name":"Llama 3.1 8B Instruct","organization":"Meta","license":"Llama 3.1 Community","practice": false,"rating": 987.75,"rating_change": -1.93,"first_token_ms": 340,"duration_ms": 3210,"chars_per_second": 144.1}}',
    1795000000000
FROM nextval('vote_numbers') AS n;
