-- A second factor that was begun and not confirmed expires. One whose start nobody noted counts as expired.

ALTER TABLE admin_users ADD COLUMN totp_pending_at BIGINT;
