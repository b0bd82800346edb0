-- Entries about requests that were entered for somebody once held the reason, which says who asks: nobody may have to keep that for ever.
-- No other entry changes, and from here on none can again.

DROP TRIGGER admin_audit_is_never_changed;
UPDATE admin_audit SET latter = json_remove(latter, '$.reason') WHERE action = 'enter_request' AND latter LIKE '%"reason"%';
CREATE TRIGGER admin_audit_is_never_changed BEFORE UPDATE ON admin_audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
