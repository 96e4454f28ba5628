# Shared by the scripts: where libpg_query comes from. Sourced after ui.sh.
#
# The -dev packages of different libpg_query versions conflict on one system. So each is downloaded
# with an apt that has a state directory of its own (signatures are checked as always), and unpacked
# in its own prefix, $grammars_dir/MAJOR/usr. Nothing of this touches the system, or needs root.
# shellcheck shell=bash
: "${root:?}"

# One line a grammar: major, Debian suite, package, the upstream version that the code was tested
# with, and further packages of that suite that go into the same prefix.
grammar_table=(
  "18  sid       libpg-query-dev  18.1.0"
  "17  trixie    libpg-query-dev  17-6.1.0"
  "15  bookworm  libpg-query-dev  15-4.0.0  postgresql-server-dev-15"
)

grammars_dir=$(realpath -m -- "${PGPARSED_GRAMMARS_DIR:-$root/build/grammars}")
fallback_mirror=http://deb.debian.org/debian

# grammar_ready MAJOR: whether the prefix is complete. `fetched` is written last.
grammar_ready() {
  [[ -f $grammars_dir/$1/fetched ]]
}

# Prints the majors that are there, in the table's order.
ready_grammars() {
  local row major
  for row in "${grammar_table[@]}"; do
    read -r major _ <<<"$row"
    if grammar_ready "$major"; then echo "$major"; fi
  done
}

# fetch_grammars REFRESH: fetches what is not there yet, or everything if REFRESH is true. A grammar
# that cannot be had is a warning (and one that was there stays); none at all is an error.
fetch_grammars() {
  local refresh=$1
  local -a pending=() still sites
  local row major mirror work
  for row in "${grammar_table[@]}"; do
    read -r major _ <<<"$row"
    if $refresh || ! grammar_ready "$major"; then pending+=("$row"); fi
  done
  ((${#pending[@]} > 0)) || return 0

  [[ -r $(debian_keyring) ]] ||
    die "no $(debian_keyring): apt-get install debian-archive-keyring, or set PGPARSED_APT_KEYRING"
  mkdir -p "$grammars_dir" || die "cannot write $grammars_dir: set PGPARSED_GRAMMARS_DIR"
  work=$(mktemp -d "$grammars_dir/.fetch.XXXXXX")
  # shellcheck disable=SC2064  # the directory of now
  trap "rm -rf -- '$work'" EXIT

  mapfile -t sites < <(mirrors)
  for mirror in "${sites[@]}"; do
    ((${#pending[@]} > 0)) || break
    open_private_apt "$work" "$mirror" "${pending[@]}"
    still=()
    for row in "${pending[@]}"; do
      fetch_grammar "$work" "$row" || still+=("$row")
    done
    pending=("${still[@]}")
  done
  rm -rf -- "$work"
  trap - EXIT

  for row in "${pending[@]}"; do
    read -r major _ <<<"$row"
    if grammar_ready "$major"; then
      warn "grammar $major stays as it was"
    else
      warn "no grammar $major: the build goes on without it; script/setup tries again"
    fi
  done
  [[ -n $(ready_grammars) ]] ||
    die "no grammar could be fetched: see the warnings above, then run script/setup again"
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

# open_private_apt DIR MIRROR ROW...: a fresh apt state in DIR with the suites of the rows. What the
# system's apt configuration says about transport (proxies, certificates, retries, clocks) holds here
# too; its hooks, further indexes and leave to skip signatures do not.
open_private_apt() {
  local dir=$1 mirror=$2 suites suite
  shift 2
  rm -rf -- "$dir/state" "$dir/cache"
  mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial" "$dir/deb"
  : >"$dir/status"
  suites=$(printf '%s\n' "$@" | awk '{ print $2 }' | sort -u)
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

# fetch_grammar DIR ROW: downloads and unpacks one grammar; 1 if it cannot be had from DIR's apt.
fetch_grammar() {
  local dir=$1 major suite package known extra_line version name deb target
  local -a extra
  read -r major suite package known extra_line <<<"$2"
  read -ra extra <<<"$extra_line"
  target=$dir/$major
  rm -rf -- "$target"
  mkdir -p "$target"
  for name in "$package" "${extra[@]}"; do
    rm -f -- "$dir"/deb/*
    if ! (cd "$dir/deb" && private_apt "$dir" download "$name/$suite") >"$dir/download.log" 2>&1; then
      warn "cannot download $name from $suite: $(grep -m 1 '^E:' "$dir/download.log" || echo 'apt-get failed')"
      return 1
    fi
    deb=$(echo "$dir"/deb/*.deb)
    version=$(dpkg-deb -f "$deb" Version)
    if [[ $name == "$package" ]]; then
      if [[ $version != "$major"[.-]* ]]; then
        warn "$suite has $name $version now, which is not grammar $major: see grammar_table in" \
          "script/lib/grammars.sh"
        return 1
      fi
      [[ ${version%-*} == "$known" ]] ||
        warn "grammar $major: $suite has $name $version; pgparsed was tested with $known"
    fi
    say "grammar $major: $name $version from $suite"
    dpkg-deb -x "$deb" "$target"
    echo "$name $version $suite" >>"$target/fetched"
  done
  rm -rf -- "${grammars_dir:?}/$major"
  mv -- "$target" "$grammars_dir/$major"
}
