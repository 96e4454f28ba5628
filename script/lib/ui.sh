# Shared by the scripts: messages, progress and root rights. Sourced; needs `set -euo pipefail`.
# The sourcing script sets `tool` (its name, the prefix of every line) and `root` (the checkout).
# shellcheck shell=bash
: "${tool:?}"

say() {
  printf '%s: %s\n' "$tool" "$*"
}

warn() {
  printf '%s: warning: %s\n' "$tool" "$*" >&2
}

# The one way out on an error: one line that says what to do.
die() {
  printf '%s: error: %s\n' "$tool" "$*" >&2
  exit 1
}

# usage_error MESSAGE: a wrong option. Exit 2, as getopt users expect.
usage_error() {
  printf '%s: error: %s (see %s --help)\n' "$tool" "$*" "$0" >&2
  exit 2
}

# run_logged LABEL LOG COMMAND...: runs COMMAND with its output in LOG, prints every ten seconds what
# the log's last line is, and the log's end if COMMAND fails. Returns COMMAND's status. COMMAND stays
# in the foreground, so that Ctrl-C reaches it.
run_logged() {
  local label=$1 log=$2 status=0 beat started=$SECONDS
  shift 2
  mkdir -p "$(dirname "$log")"
  : >"$log"
  say "$label"
  heartbeat "$log" &
  beat=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$beat" 2>/dev/null || true
  wait "$beat" 2>/dev/null || true
  if ((status != 0)); then
    printf '%s: failed after %d s; the end of %s:\n' "$tool" $((SECONDS - started)) "$log" >&2
    tail -n 15 "$log" | sed 's/^/    /' >&2
  fi
  return "$status"
}

# The sleeps hold no descriptor of ours: a reader of our output must not wait for the last one.
heartbeat() {
  local log=$1 parent=$$ started=$SECONDS line
  while sleep 10 >/dev/null 2>&1 9>&- && kill -0 "$parent" 2>/dev/null; do
    line=$(tail -n 1 "$log" | tr -d '\r' | cut -c 1-80)
    printf '%s:   %d s: %s\n' "$tool" $((SECONDS - started)) "${line:-working}"
  done
}

# as_root COMMAND...: COMMAND as root. Proxies of the environment pass through sudo, and no package
# asks a question.
as_root() {
  local -a settings=(DEBIAN_FRONTEND=noninteractive)
  local name
  for name in http_proxy https_proxy no_proxy; do
    [[ -z ${!name:-} ]] || settings+=("$name=${!name}")
  done
  if ((EUID == 0)); then
    env "${settings[@]}" "$@"
  else
    sudo env "${settings[@]}" "$@"
  fi
}

# Asks for sudo's password while the terminal is still ours; later calls find it remembered.
need_root_for() {
  ((EUID == 0)) && return
  command -v sudo >/dev/null ||
    die "$1 needs root: run script/setup as root once, or install sudo"
  sudo -v || die "$1 needs root, and sudo refused: run script/setup as root once"
}
