#!/usr/bin/env bash
# Takes a past month out of an arena on PostgreSQL, while it runs: its votes and replies as Parquet into an archive, and then
# its partition of replies off the table.
#
#   ARCHIVE_COMMAND='aws s3 cp "$1" "s3://bucket/$2"' archive-month.sh postgres://USER:PASSWORD@HOST/NAME YYYY-MM [--votes]
#
# ARCHIVE_COMMAND stores the file $1 under the name $2, and must fail where it has not. LANGYA names the program (langya).
#
# With --votes the partition of votes leaves too. Leaderboards go on from the kept counts, but whatever reads the log (slices,
# charts, a fit by voters, exports, judges' reports) knows nothing of the month any more; a fit of everything is then
# `langya fit --votes` with the archived files. Nothing is dropped: detached tables stay until you drop them.
set -euo pipefail
umask 077
here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=database.sh
. "$here/database.sh"

usage='give a database and a month: archive-month.sh postgres://… YYYY-MM [--votes]'
[ $# = 2 ] || [ "$#:${3-}" = 3:--votes ] || fail "$usage"
is_postgres "$1" || fail "$usage"
[[ $2 =~ ^[0-9]{4}-(0[1-9]|1[0-2])$ ]] || fail "$usage"
[ -n "${ARCHIVE_COMMAND-}" ] || fail "say how to store a file, such as ARCHIVE_COMMAND='cp \"\$1\" \"/mnt/archive/\$2\"'"
database=$1
month=$2
votes_too=${3-}
[[ $month < $(date --utc +%Y-%m) ]] || fail "$month has not ended yet"
hide_password "$database"
suffix=${month/-/_}

# Sets `since` and `until` so that they hold every time of a query, in whole seconds.
set_period() { # FROM-CLAUSE WITH created_at
    local ends
    ends=$(postgres "SELECT MIN(created_at) / 1000 || ' ' || MAX(created_at) / 1000 + 1 FROM $1")
    [ -n "$ends" ] || return 1
    since=${ends% *}
    until=${ends#* }
}

# Exports what began in the period, compares the rows with the table's, and stores the file.
archive() { # WHAT FROM-CLAUSE WITH created_at
    local name=$1-$month.parquet times said expected
    times=(--since "$(date --utc --date="@$since" +%FT%TZ)" --until "$(date --utc --date="@$until" +%FT%TZ)")
    expected=$(postgres "SELECT COUNT(*) FROM $2 WHERE created_at >= $since * 1000::BIGINT AND created_at < $until * 1000::BIGINT")
    # The address goes over in the environment: it may hold a password.
    said=$(LANGYA__STORAGE__DATABASE=$database "${LANGYA:-langya}" export "$1" "${times[@]}" --format parquet \
        --out "$work/$name" 2>&1) || fail "$1 of $month cannot be exported: $said"
    # "1 vote written" or "2 votes written"
    [[ $said =~ (^|[^0-9])([0-9]+)\ [a-z]+\ written$ && ${BASH_REMATCH[2]} == "$expected" ]] || fail "the table holds $expected $1 of the period, but: $said"
    sh -c "$ARCHIVE_COMMAND" archive "$work/$name" "$name" || fail "ARCHIVE_COMMAND failed for $name; nothing was detached"
    echo "archived $name: $expected $1"
}

detach() { # TABLE ROWS
    local partition=${1}_$suffix
    # Nobody waits longer than this for the lock; a row that is written until then undoes the detaching.
    postgres "SET lock_timeout = '5s'; ALTER TABLE $1 DETACH PARTITION $partition;
        DO \$\$ BEGIN IF (SELECT COUNT(*) FROM $partition) <> $2 THEN RAISE 'rows came meanwhile'; END IF; END \$\$" ||
        fail "$partition was not detached; what psql said stands above"
    echo "detached $partition: DROP TABLE $partition frees its space"
}

for table in votes replies; do
    attached=$(postgres "SELECT COUNT(*) FROM pg_inherits
        WHERE inhrelid = to_regclass('${table}_$suffix') AND inhparent = '$table'::regclass") ||
        fail 'the database cannot be asked; what psql said stands above'
    [ "$attached" = 1 ] || fail "$table has no partition of $month: it never had one, or it is detached already"
done
first=$(postgres "SELECT first_battle_id('$month-01')")
next=$(postgres "SELECT first_battle_id(CAST(DATE '$month-01' + INTERVAL '1 month' AS DATE))")
under_way=$(postgres "SELECT COUNT(*) FROM battles WHERE id >= '$first' AND id < '$next' AND stage IN ('answering', 'ready')")
[ "$under_way" = 0 ] || fail "battles of $month that are not over yet: $under_way. They are when battle.abandon_after_minutes have passed"

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
replies=$(postgres "SELECT COUNT(*) FROM replies_$suffix")
votes=$(postgres "SELECT COUNT(*) FROM votes_$suffix")
if [ -n "$votes_too" ] && [ "$votes" != 0 ]; then
    counted=$(postgres "SELECT COALESCE(MAX(last_vote_seq), 0) >= (SELECT MAX(seq) FROM votes_$suffix) FROM vote_counts")
    [ "$counted" = t ] || fail 'the kept counts do not hold all votes of the month yet: let the arena run for a minute'
fi
if set_period "votes_$suffix"; then archive votes votes; fi
if set_period "replies_$suffix JOIN battles ON battles.id = battle_id"; then
    archive replies 'replies JOIN battles ON battles.id = battle_id'
fi
detach replies "$replies"
if [ -n "$votes_too" ]; then detach votes "$votes"; fi
