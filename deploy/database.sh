# How scripts reach a PostgreSQL database; not a program of its own.
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
