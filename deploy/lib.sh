# shellcheck shell=bash
# Shared by the scripts here; sourced, with `set -euo pipefail` on.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

note() { printf '\n== %s\n' "$*" >&2; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# npm_install DIR: what DIR/package-lock.json pins, into DIR/node_modules; nothing when it is there.
# Install scripts are not run: no package here needs its own.
npm_install() {
  local want
  want=$(sha256sum < "$1/package-lock.json")
  [[ "$(cat "$1/node_modules/.lock-sum" 2> /dev/null)" == "$want" ]] && return
  note "npm: $(cd "$1" && pwd)"
  (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier >&2)
  echo "$want" > "$1/node_modules/.lock-sum"
}

# build PRESET [TARGET...]: configures build/PRESET when it is new, and builds (everything without a target).
# ninja runs CMake again by itself when a CMakeLists.txt changed.
build() {
  local preset=$1
  shift
  note "build: $preset $*"
  [[ -f "$root/build/$preset/build.ninja" ]] || (cd "$root" && cmake --preset "$preset" >&2)
  ninja -C "$root/build/$preset" -j "$(nproc)" "$@" >&2
}

# wait_for_file FILE PID: until FILE has content; fails when PID ends or 30 s have passed.
wait_for_file() {
  local deadline=$((SECONDS + 30))
  until [[ -s "$1" ]]; do
    kill -0 "$2" 2> /dev/null || return 1
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}
