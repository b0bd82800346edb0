#!/usr/bin/env bash
# Takes a backup in: into a place where nothing is, and nowhere else. The arena must not run on that place yet.
#
#   restore.sh FILE data/langya.db                        SQLite (needs sqlite3)
#   restore.sh FILE postgres://USER:PASSWORD@HOST/NAME    PostgreSQL: a database that exists and is empty
set -euo pipefail
umask 077
here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=database.sh
. "$here/database.sh"

[ $# = 2 ] || fail 'give a file and a database: restore.sh FILE DATABASE'
file=$(as_path "$1")
database=$(as_path "$2")
[ -f "$file" ] || fail "there is no file $file"
case $(head --bytes=5 -- "$file") in
    PGDMP) kind=postgres ;;
    SQLit) kind=sqlite ;;
    *) fail "$file is no backup of an arena" ;;
esac

if is_postgres "$database"; then
    [ "$kind" = postgres ] || fail "$file is a copy of SQLite: langya import moves an arena from SQLite to PostgreSQL"
    hide_password "$database"
    tables=$(postgres "SELECT COUNT(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'v', 'S') AND nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'") ||
        fail 'the database cannot be reached; what psql said stands above'
    [ "$tables" = 0 ] || fail 'the database is not empty: make a new one (createdb) and restore into that'
    # All of it or nothing.
    pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname="$address" "$file" ||
        fail 'nothing was restored; what pg_restore said stands above'
    postgres 'ANALYZE' >/dev/null
    votes=$(postgres 'SELECT COUNT(*) FROM votes')
else
    [ "$kind" = sqlite ] || fail "$file is a copy of PostgreSQL: restore it into a PostgreSQL database"
    for taken in "$database" "$database-wal" "$database-shm"; do
        [ ! -e "$taken" ] || fail "$taken exists already: restore to another place, or move it away"
    done
    partial=$database.partial
    [ ! -e "$partial" ] || fail "$partial is left from a restore that did not end: remove it"
    trap 'rm -f -- "$partial"' EXIT
    check_sqlite "$file"
    mkdir -p -- "$(dirname -- "$database")"
    cp -- "$file" "$partial"
    cmp --silent -- "$file" "$partial" || fail 'the copy differs from the file: is the disk full or broken?'
    sync -- "$partial"
    ln -- "$partial" "$database"
    sync -- "$(dirname -- "$database")"
    votes=$(sqlite "$database" 'SELECT COUNT(*) FROM votes')
fi
echo "restored: $votes votes"
