-- Few visitors say how satisfied they are: their votes are found without reading all others.
CREATE INDEX votes_with_satisfaction ON votes (seq, intent, satisfaction) WHERE rated AND satisfaction IS NOT NULL;
