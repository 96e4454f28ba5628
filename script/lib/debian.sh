# Shared by the scripts: Debian packages of suites that are not this system's, downloaded by an apt
# with a state directory of its own (signatures are checked as always). Nothing of this touches the
# system, or needs root. Sourced after ui.sh.
# shellcheck shell=bash

fallback_mirror=http://deb.debian.org/debian

check_keyring() {
  [[ -r $(debian_keyring) ]] ||
    die "no $(debian_keyring): apt-get install debian-archive-keyring, or set PGPARSED_APT_KEYRING"
}

debian_keyring() {
  echo "${PGPARSED_APT_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}"
}

# Prints the archive mirrors to try, best first: the one that this system's apt uses for its own
# release, then Debian's.
mirrors() {
  {
    if [[ -n ${PGPARSED_DEBIAN_MIRROR:-} ]]; then echo "$PGPARSED_DEBIAN_MIRROR"; fi
    system_mirrors
    echo "$fallback_mirror"
  } | sed 's|/*$||' | awk '!seen[$0]++'
}

# Prints the URIs of Debian's main archive in this system's sources; apt reads both formats of those
# for us. Where package lists are there, they say whose archive they are; else the URI's usual end
# has to do.
system_mirrors() {
  local known
  # shellcheck disable=SC2016  # apt's variables, not ours
  known=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(RELEASE)|$(REPO_URI)' \
    'Created-By: Packages' 2>/dev/null |
    awk -F'|' '$1 == "Debian" && $2 == "Debian" && $3 == "main" && $4 !~ /-/ { print $5 }')
  if [[ -z $known ]]; then
    known=$(apt-get update --print-uris 2>/dev/null |
      sed -nE "s,^'(.*)/dists/[^/-]+/InRelease'.*,\1,p" |
      grep -E '/debian/?$|/mirrors/debian\.list/?$' | grep -v /linux/debian) || true
  fi
  if [[ -n $known ]]; then grep -v '^cdrom:' <<<"$known" || true; fi
}

# open_private_apt DIR MIRROR SUITE...: a fresh apt state in DIR with the suites. What the system's apt
# configuration says about transport (proxies, certificates, retries, clocks) holds here too; its
# hooks, further indexes and leave to skip signatures do not.
open_private_apt() {
  local dir=$1 mirror=$2 suites suite
  shift 2
  rm -rf -- "$dir/state" "$dir/cache"
  mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial" "$dir/deb"
  : >"$dir/status"
  suites=$(printf '%s\n' "$@" | sort -u)
  while read -r suite; do
    echo "deb [signed-by=$(debian_keyring)] $mirror $suite main"
  done <<<"$suites" >"$dir/sources.list"
  {
    apt-config dump | grep '^Acquire::' |
      grep -vE '^Acquire::(IndexTargets|Changelogs|Languages|Allow|PDiffs|GzipIndexes)' || true
    cat <<EOF
Acquire::Languages "none";
Acquire::PDiffs "false";
APT::Architectures { "$(dpkg --print-architecture)"; };
APT::Sandbox::User "root";
Dir::Cache "$dir/cache";
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$dir/state";
Dir::State::lists "$dir/state/lists";
Dir::State::status "$dir/status";
EOF
  } >"$dir/apt.conf"

  # A suite that fails leaves the others usable: what it held is missed at the download.
  run_logged "package lists of $(tr '\n' ' ' <<<"$suites")from $mirror" "$dir/update.log" \
    private_apt "$dir" -o APT::Update::Error-Mode=any update || explain_update "$dir/update.log"
}

# private_apt DIR ARGUMENT...: apt-get on DIR's state. The variable reaches this one command only.
private_apt() {
  local dir=$1
  shift
  APT_CONFIG=$dir/apt.conf apt-get -q "$@"
}

explain_update() {
  if grep -qE 'NO_PUBKEY|Missing key|not signed|verif' "$1"; then
    warn "$(debian_keyring) lacks a key: apt-get install --only-upgrade debian-archive-keyring," \
      "or name a newer keyring with PGPARSED_APT_KEYRING"
  elif grep -qE 'not valid yet|is expired|Expired' "$1"; then
    warn "a package list is out of date or from the future: check this system's clock"
  fi
}

# private_download DIR NAME SUITE: downloads a package with DIR's apt and prints where it lies, until
# the next download; 1, with a warning, if it cannot be had.
private_download() {
  local dir=$1 name=$2 suite=$3
  rm -f -- "$dir"/deb/*
  if ! (cd "$dir/deb" && private_apt "$dir" download "$name/$suite") >"$dir/download.log" 2>&1; then
    warn "cannot download $name from $suite: $(grep -m 1 '^E:' "$dir/download.log" || echo 'apt-get failed')"
    return 1
  fi
  echo "$dir"/deb/*.deb
}
