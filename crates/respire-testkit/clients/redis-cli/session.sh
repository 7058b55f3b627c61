#!/usr/bin/env bash
# A session of redis-cli. Usage: session.sh PORT PROTOCOL
set -euo pipefail
port=$1 protocol=$2

cli() { redis-cli -p "$port" "-$protocol" --no-raw "$@"; }

expect() {
    local expected=$1 got
    shift
    got=$(cli "$@" 2>&1)
    if [[ $got != "$expected" ]]; then
        printf 'redis-cli %s\n  expected: %s\n  got:      %s\n' "$*" "$expected" "$got" >&2
        exit 1
    fi
}

expect OK flushall
expect PONG ping
expect OK set greeting "hello world"
expect '"hello world"' get greeting
expect '(nil)' get missing
expect '(integer) 1' incr counter
expect '(error) ERR value is not an integer or out of range' incr greeting
expect "(error) ERR unknown command 'nosuch', with args beginning with: 'a' 'b' " nosuch a b
expect OK set temporary x ex 100
expect '(integer) 100' ttl temporary
expect $'1) "hello world"\n2) (nil)\n3) "1"' mget greeting missing counter

# Everything in one connection: databases, transactions, errors inside them.
session=$(cli <<'END'
SELECT 3
MULTI
SET k 1
INCR k
LPOPNOT k
EXEC
MULTI
SET k 1
INCR k
GET k
EXEC
GET k
END
)
expected=$'OK\nOK\nQUEUED\nQUEUED'
[[ $session == "$expected"* && $session == *EXECABORT* && $session == *'"2"' ]] || {
    printf 'a session went otherwise:\n%s\n' "$session" >&2
    exit 1
}

# Mass insertion.
for i in {1..500}; do printf '*3\r\n$3\r\nSET\r\n$%d\r\nmass:%d\r\n$1\r\nv\r\n' $((5 + ${#i})) "$i"; done |
    redis-cli -p "$port" --pipe | grep -q 'errors: 0, replies: 500'
[[ $(redis-cli -p "$port" --scan --pattern 'mass:*' | sort -u | wc -l) == 500 ]]
[[ $(redis-cli -p "$port" keys 'mass:*' | wc -l) == 500 ]]

# Requests that redis-cli sends by itself.
redis-cli -p "$port" --bigkeys | grep -q 'Sampled 50[0-9] keys'
redis-cli -p "$port" --memkeys | grep -q 'Sampled 50[0-9] keys'
redis-cli -p "$port" --latency -i 1 --raw >/dev/null & latency=$!
kill "$latency" 2>/dev/null || true
wait "$latency" 2>/dev/null || true
redis-cli -p "$port" info server | grep -q redis_version
redis-cli -p "$port" -r 3 -i 0 ping | grep -c PONG | grep -qx 3
redis-cli -p "$port" -x set from-stdin <<<'text' | grep -qx OK
expect '"text\n"' get from-stdin
