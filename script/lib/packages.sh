# Shared by the scripts: the Debian packages that the build, the server and the tests need.
# Sourced after ui.sh.
# shellcheck shell=bash
: "${root:?}"

# The names are the same on Debian 12 and 13; one that differs would be added by codename here.
# shellcheck disable=SC2034  # read by script/setup
packages=(
  # build tools
  ca-certificates ccache cmake g++ git mold ninja-build pkg-config
  # gRPC, protobuf, Abseil
  libabsl-dev libgrpc++-dev libgrpc-dev libprotobuf-dev libprotoc-dev
  protobuf-compiler protobuf-compiler-grpc
  # the server: options, logs, metrics, HTTP, JSON, hashes, sandbox, TLS
  libcli11-dev libcpp-httplib-dev libfmt-dev libseccomp-dev libspdlog-dev libssl-dev
  libxxhash-dev nlohmann-json3-dev prometheus-cpp-dev
  # the workers: allocators, and strlcpy for grammar 18 on an older glibc
  libbsd-dev libjemalloc-dev libmimalloc-dev
  # tests and benchmarks
  libbenchmark-dev libgmock-dev libgtest-dev
)

# Stops on a system that these packages are not for.
check_system() {
  [[ -r /etc/os-release ]] || die "no /etc/os-release: pgparsed's set-up knows Debian 12 and 13"
  local id like version name
  # shellcheck disable=SC1091
  IFS='|' read -r id like version name < <(. /etc/os-release &&
    printf '%s|%s|%s|%s\n' "$ID" "${ID_LIKE:-}" "${VERSION_ID:-}" "${PRETTY_NAME:-$ID}")
  if ! command -v apt-get >/dev/null || [[ $id != debian && " $like " != *" debian "* ]]; then
    die "$name is not a Debian: use Debian 12 or 13, or the Dockerfile's image"
  fi
  if [[ $id == debian && $version =~ ^[0-9]+$ ]] && ((version < 12)); then
    die "$name is too old: its gRPC cannot build pgparsed; use Debian 12 or 13"
  fi
  if [[ $id != debian || ! $version =~ ^1[23](\.|$) ]]; then
    warn "$name is not tried; Debian 12 and 13 are"
  fi
}

# missing_packages NAME...: prints those that are not installed, one a line.
missing_packages() {
  # dpkg-query exits 1 when it does not know one of the names; the others are printed all the same.
  LC_ALL=C comm -13 \
    <({ dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true; } |
      sed -n 's/^installed //p' | LC_ALL=C sort -u) \
    <(printf '%s\n' "$@" | LC_ALL=C sort -u)
}

# install_packages NAME...: installs those that are missing; says nothing when none is.
install_packages() {
  local -a missing
  local logs=$root/build/setup-log
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  need_root_for "installing packages"
  say "missing packages: ${missing[*]}"
  run_logged "apt-get update" "$logs/apt-update.log" \
    as_root apt-get -q -o DPkg::Lock::Timeout=300 update ||
    die "apt-get update failed: see above, check the network and /etc/apt/sources.list*"
  run_logged "apt-get install (the packages above and what they need)" "$logs/apt-install.log" \
    as_root apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
    install --no-install-recommends "${missing[@]}" ||
    die "apt-get install failed: see above; after repairing that, run script/setup again"
}
