#!/usr/bin/env bash
# A short load of redis-benchmark. Usage: load.sh PORT PROTOCOL
set -euo pipefail
port=$1
three=()
[[ $2 == 3 ]] && three=(-3)

for connections in 1 50; do
    for pipeline in 1 16 64; do
        # Send whole pipelines only. If the last one exceeds the count, and the report is due at that
        # moment, redis-benchmark counts its only client as lost, whatever the server.
        requests=$((pipeline == 1 ? 2000 : 300 * 64))
        load=(redis-benchmark -p "$port" -t set,get,incr,mset,ping -n "$requests" -r 10000
            -c "$connections" -P "$pipeline" -q "${three[@]}")
        if ! out=$(timeout 120 "${load[@]}" 2>&1); then
            printf '%s\nended badly:\n%s\n' "${load[*]}" "$out" >&2
            exit 1
        fi
        if grep -qiE 'error|warning|could not|closed' <<<"$out"; then
            printf '%s\ncomplained:\n%s\n' "${load[*]}" "$out" >&2
            exit 1
        fi
        # PING_INLINE, PING_MBULK, SET, GET, INCR and MSET each report once.
        [[ $(grep -o 'requests per second' <<<"$out" | wc -l) == 6 ]] || {
            printf '%s\nfinished only:\n%s\n' "${load[*]}" "$out" >&2
            exit 1
        }
    done
done
