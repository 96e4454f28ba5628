# Shared by the scripts: configuring and building one CMake preset. Sourced after ui.sh, grammars.sh
# and postgresql.sh.
# shellcheck shell=bash
: "${root:?}" "${grammars_dir:?}" "${postgresql_root:?}"

known_presets=(release debug asan tsan)

check_preset() {
  local preset
  for preset in "${known_presets[@]}"; do
    [[ $1 != "$preset" ]] || return 0
  done
  usage_error "unknown preset '$1': one of ${known_presets[*]}"
}

# Prints how many compilers to run at once: one a core, but no more than the memory that is free,
# here and in the cgroup, has room for at 1.5 GiB each (a source that includes gRPC takes up to that).
build_jobs() {
  if [[ -n ${CMAKE_BUILD_PARALLEL_LEVEL:-} ]]; then
    echo "$CMAKE_BUILD_PARALLEL_LEVEL"
    return
  fi
  local jobs room limit
  jobs=$(nproc)
  room=$(awk '$1 == "MemAvailable:" { print int($2 / (1536 * 1024)) }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [[ $limit =~ ^[0-9]+$ ]] && ((limit / (1536 << 20) < room)); then
    room=$((limit / (1536 << 20)))
  fi
  if ((room < jobs)); then jobs=$room; fi
  echo $((jobs > 0 ? jobs : 1))
}

# configure PRESET: runs CMake unless nothing that it was told has changed since the last time. (A
# changed CMakeLists.txt is ninja's own business.)
configure() {
  local preset=$1 dir=$root/build/$1 stamp told major
  local -a settings=()
  stamp=$dir/.configured
  if [[ ${CI:-} == true ]]; then settings+=(-DPGPARSED_WERROR=ON); fi
  for major in $(ready_grammars); do
    settings+=("-DPGPARSED_GRAMMAR_${major}_ROOT=$grammars_dir/$major/usr"
      "-DPGPARSED_GRAMMAR_${major}_SERVER_ROOT=$grammars_dir/$major/usr")
  done
  if postgresql_ready; then settings+=("-DPGPARSED_POSTGRESQL_ROOT=$postgresql_root"); fi

  told=$(
    printf '%s\n' "$root" "${settings[@]}"
    for major in $(ready_grammars); do cat "$grammars_dir/$major/fetched"; done
    cksum <"$root/CMakePresets.json"
  )
  if [[ -f $dir/build.ninja && -f $stamp && $told == "$(<"$stamp")" ]]; then return; fi
  say "cmake --preset $preset, with the grammars in $grammars_dir"
  rm -f -- "$stamp"
  (cd "$root" && cmake --preset "$preset" "${settings[@]}") ||
    die "cmake --preset $preset failed: see above; after removing build/$preset it starts afresh"
  printf '%s\n' "$told" >"$stamp"
}

# build PRESET [TARGET...]: everything, or the targets.
build() {
  local preset=$1 target jobs
  local -a targets=()
  shift
  for target in "$@"; do targets+=(--target "$target"); done
  jobs=$(build_jobs)
  configure "$preset"
  # What another checkout compiled is good here too: ccache then sees paths relative to the checkout.
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=true
  say "building $preset with $jobs job(s)${*:+: $*}"
  cmake --build "$root/build/$preset" -j "$jobs" "${targets[@]}" ||
    die "the build of $preset failed: see above"
}
