#!/usr/bin/env bash
# Writes a whole copy of the arena's database to one file, while the arena runs.
#
#   backup.sh data/langya.db FILE                        SQLite (needs sqlite3)
#   backup.sh postgres://USER:PASSWORD@HOST/NAME FILE    PostgreSQL (needs pg_dump of the server's version or newer)
#
# The file appears only when it is whole and was read back; one that is there already is never touched. restore.sh
# takes it in again.
set -euo pipefail
umask 077
here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=database.sh
. "$here/database.sh"

[ $# = 2 ] || fail 'give a database and a file: backup.sh DATABASE FILE'
database=$(as_path "$1")
file=$(as_path "$2")
[ ! -e "$file" ] || fail "$file exists already: choose another name"
partial=$file.partial
[ ! -e "$partial" ] || fail "$partial is left from a backup that did not end: remove it"
trap 'rm -f -- "$partial"' EXIT

if is_postgres "$database"; then
    hide_password "$database"
    pg_dump --format=custom --no-owner --no-privileges --file="$partial" --dbname="$address" ||
        fail 'pg_dump failed; what it said stands above'
    # Reads and unpacks everything.
    pg_restore --file=/dev/null "$partial" || fail 'the copy cannot be read back'
else
    [ -f "$database" ] || fail "there is no database at $database"
    before=$(sqlite "$database" 'SELECT COUNT(*) FROM votes') || fail "$database cannot be read as an arena"
    # One consistent state, also while votes come in.
    sqlite "$database" "VACUUM INTO '${partial//\'/\'\'}'" || fail "$database cannot be copied"
    check_sqlite "$partial"
    kept=$(sqlite "$partial" 'SELECT COUNT(*) FROM votes')
    [ "$kept" -ge "$before" ] || fail "the copy holds $kept votes and the database held $before"
fi

sync -- "$partial"
# A link, unlike a rename, fails where the name was taken in the meantime.
ln -- "$partial" "$file"
sync -- "$(dirname -- "$file")"
echo "kept in $file: $(stat --format=%s -- "$file") bytes"
