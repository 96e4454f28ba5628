# Shared by the scripts: a PostgreSQL server with its clients, for the tests that compare with one.
# Sourced after ui.sh and debian.sh.
#
# It is not installed: Debian's packages are downloaded (debian.sh) and unpacked in a prefix of their
# own, $postgresql_dir/MAJOR/usr, with those of their libraries that this system lacks. PostgreSQL
# finds its files relative to its programs, and the tests tell it where the libraries are.
# shellcheck shell=bash
: "${root:?}"

postgresql_major=15
postgresql_suite=bookworm
# The server (with the contrib modules), its clients, and the library of the clients.
postgresql_packages=("postgresql-$postgresql_major" "postgresql-client-$postgresql_major" libpq5)

postgresql_dir=$(realpath -m -- "${PGPARSED_POSTGRESQL_DIR:-$root/build/postgresql}")
postgresql_root=$postgresql_dir/$postgresql_major/usr

# Whether the prefix is complete. `fetched` is written last.
postgresql_ready() {
  [[ -f $postgresql_dir/$postgresql_major/fetched ]]
}

# fetch_postgresql REFRESH: fetches it if it is not there yet, or anyway if REFRESH is true. One that
# cannot be had is a warning (and what was there stays).
fetch_postgresql() {
  local refresh=$1 mirror work
  local -a sites
  if ! $refresh && postgresql_ready; then return; fi

  check_keyring
  mkdir -p "$postgresql_dir" || die "cannot write $postgresql_dir: set PGPARSED_POSTGRESQL_DIR"
  work=$(mktemp -d "$postgresql_dir/.fetch.XXXXXX")
  # shellcheck disable=SC2064  # the directory of now
  trap "rm -rf -- '$work'" EXIT
  mapfile -t sites < <(mirrors)
  for mirror in "${sites[@]}"; do
    open_private_apt "$work" "$mirror" "$postgresql_suite"
    if unpack_postgresql "$work"; then
      rm -rf -- "${postgresql_dir:?}/$postgresql_major"
      mv -- "$work/prefix" "$postgresql_dir/$postgresql_major"
      break
    fi
  done
  rm -rf -- "$work"
  trap - EXIT

  postgresql_ready ||
    warn "no PostgreSQL $postgresql_major: the tests that need one are left out; script/setup tries again"
}

# unpack_postgresql DIR: makes DIR/prefix with DIR's apt; 1 if something cannot be had.
unpack_postgresql() {
  local dir=$1 prefix=$1/prefix name deb missing library
  local -a candidates=()
  rm -rf -- "$prefix"
  mkdir -p "$prefix"
  for name in "${postgresql_packages[@]}"; do
    deb=$(private_download "$dir" "$name" "$postgresql_suite") || return 1
    say "PostgreSQL: $name $(dpkg-deb -f "$deb" Version) from $postgresql_suite"
    unpack_package "$deb" "$prefix" "$dir/fetched"
    mapfile -t -O "${#candidates[@]}" candidates < <(libraries_needed_by "$deb")
  done
  # The compiler of expressions is half of the size, and the tests run without it.
  rm -rf -- "$prefix/usr/lib/postgresql/$postgresql_major/lib"/{bitcode,llvmjit*}

  # Of the libraries that the packages need, and those in turn, the ones that are missing here. They
  # are known by their file names: the names of packages differ between releases.
  missing=$(missing_libraries "$prefix")
  local -A seen=()
  while [[ -n $missing ]] && ((${#candidates[@]} > 0)); do
    name=${candidates[0]}
    candidates=("${candidates[@]:1}")
    if [[ -n ${seen[$name]:-} ]]; then continue; fi
    seen[$name]=1
    [[ -n $(missing_packages "$name") ]] || continue
    deb=$(private_download "$dir" "$name" "$postgresql_suite") || continue
    library=$(dpkg-deb -c "$deb" | grep -oE '[^/ ]+\.so[.0-9]*' | grep -m 1 -Fx "$missing") || continue
    say "PostgreSQL: $name $(dpkg-deb -f "$deb" Version) for $library, which this system lacks"
    unpack_package "$deb" "$prefix" "$dir/fetched"
    mapfile -t -O "${#candidates[@]}" candidates < <(libraries_needed_by "$deb")
    missing=$(missing_libraries "$prefix")
  done
  if [[ -n $missing ]]; then
    warn "PostgreSQL $postgresql_major needs libraries that are not found: ${missing//$'\n'/, }"
    return 1
  fi
  mv -- "$dir/fetched" "$prefix/fetched"
}

# unpack_package DEB PREFIX LIST: and notes it in LIST. /lib is a part of /usr/lib, as it is where
# Debian installs it.
unpack_package() {
  dpkg-deb -x "$1" "$2"
  if [[ -d $2/lib ]]; then
    cp -a -- "$2/lib/." "$2/usr/lib/"
    rm -rf -- "$2/lib"
  fi
  echo "$(dpkg-deb -f "$1" Package) $(dpkg-deb -f "$1" Version) $postgresql_suite" >>"$3"
}

# Prints the libraries among the packages that DEB depends on, the first of alternatives, one a line.
libraries_needed_by() {
  dpkg-deb -f "$1" Depends | tr ',' '\n' | sed -nE 's/^ *(lib[^ |:(]+).*/\1/p' | grep -v '^libllvm' || true
}

# missing_libraries PREFIX: prints the shared libraries that programs and modules below PREFIX do not
# find, neither there nor in the system.
missing_libraries() {
  local path
  path=$(echo "$1"/usr/lib/*-linux-gnu*)
  find "$1/usr/lib" -type f \( -name '*.so*' -o -perm -u+x \) -exec \
    env LD_LIBRARY_PATH="$path" ldd {} + 2>/dev/null |
    awk '$2 == "=>" && $3 == "not" { print $1 }' | sort -u
}
