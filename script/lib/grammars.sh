# Shared by the scripts: where libpg_query comes from. Sourced after ui.sh and debian.sh.
#
# The -dev packages of different libpg_query versions conflict on one system. So each is downloaded
# (debian.sh) and unpacked in its own prefix, $grammars_dir/MAJOR/usr.
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
  local -a pending=() still sites suites
  local row major mirror work
  for row in "${grammar_table[@]}"; do
    read -r major _ <<<"$row"
    if $refresh || ! grammar_ready "$major"; then pending+=("$row"); fi
  done
  ((${#pending[@]} > 0)) || return 0

  check_keyring
  mkdir -p "$grammars_dir" || die "cannot write $grammars_dir: set PGPARSED_GRAMMARS_DIR"
  work=$(mktemp -d "$grammars_dir/.fetch.XXXXXX")
  # shellcheck disable=SC2064  # the directory of now
  trap "rm -rf -- '$work'" EXIT

  mapfile -t sites < <(mirrors)
  for mirror in "${sites[@]}"; do
    ((${#pending[@]} > 0)) || break
    mapfile -t suites < <(printf '%s\n' "${pending[@]}" | awk '{ print $2 }')
    open_private_apt "$work" "$mirror" "${suites[@]}"
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
    deb=$(private_download "$dir" "$name" "$suite") || return 1
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
