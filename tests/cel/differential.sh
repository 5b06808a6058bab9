#!/usr/bin/env bash
# Builds cel-go's program and compares its answers to random expressions with ours.
#
# usage: tests/cel/differential.sh [FLAGS OF cel_differential]
# Exits 77 if there is no Go. APISERVER_BUILD: the build tree, build/ unless given.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${APISERVER_BUILD:-$root/build}

if ! command -v go >/dev/null; then
  echo "skipped: go is not installed"
  exit 77
fi
oracle=$build/tests/cel/cel-oracle
(cd "$root/tests/oracle/cel" && go build -o "$oracle" .)
cmake --build "$build" --target cel_differential
exec "$build/tests/cel/cel_differential" --oracle "$oracle" \
  --worlds "$root/tests/cel/worlds.jsonl" "$@"
