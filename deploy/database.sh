# What backup.sh and restore.sh share; not a program of its own.
# shellcheck shell=bash

fail() {
    echo "error: $1" >&2
    exit 1
}

is_postgres() {
    [[ $1 =~ ^postgres(ql)?:// ]]
}

# Sets `address` without the password and hands the password over where other users of this machine cannot read it.
hide_password() {
    address=$1
    [[ ! $address =~ [?\&]password= ]] || fail 'write the password before the @ of the address, where it can be hidden'
    if [[ $address =~ ^(postgres(ql)?://[^:/@]*):([^/@]*)@(.*)$ ]]; then
        local password=${BASH_REMATCH[3]//\\/\\\\}
        address=${BASH_REMATCH[1]}@${BASH_REMATCH[4]}
        PGPASSWORD=$(printf '%b' "${password//%/\\x}")
        export PGPASSWORD
    fi
}

postgres() {
    psql --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 --dbname="$address" --command="$1"
}

# The database is only read: a mistake in a name makes no new one.
sqlite() {
    sqlite3 -readonly -bail -init /dev/null -cmd '.timeout 10000' "$1" "$2"
}

check_sqlite() {
    local said
    said=$(sqlite "$1" 'PRAGMA integrity_check') || fail "$1 cannot be read"
    [ "$said" = ok ] || fail "$1 is damaged: ${said%%$'\n'*}"
    [ -z "$(sqlite "$1" 'PRAGMA foreign_key_check')" ] || fail "$1 is damaged: rows refer to others that are missing"
    sqlite "$1" 'SELECT COUNT(*) FROM votes' >/dev/null || fail "$1 holds no arena"
}

# A name that begins with - is a file too, and no tool takes it for an option.
as_path() {
    case $1 in
        -*) echo "./$1" ;;
        *) echo "$1" ;;
    esac
}
