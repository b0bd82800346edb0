-- Imported votes come with battles that are voted on already. To end them once more was a new version of each of their rows, and on
-- PostgreSQL all other votes wait for the statement that inserts an import's votes.
CREATE OR REPLACE FUNCTION votes_end_their_battle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE battles SET stage = 'voted', updated_at = cast_now.created_at FROM cast_now
    WHERE battles.id = cast_now.battle_id AND battles.stage <> 'voted';
    RETURN NULL;
END $$;
