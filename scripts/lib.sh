# Shared by the scripts; sourced, never run. Everything it says goes to stderr.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/libapiserver
build=${APISERVER_BUILD:-$root/build}

# A fresh clone in another folder then hits the compiler cache.
export CCACHE_BASEDIR=$root
export CCACHE_NOHASHDIR=1
# What ccache asks for where headers are precompiled.
export CCACHE_SLOPPINESS=pch_defines,time_macros

say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The packages of the sections named, marked "unpacked" or not: packages_of installed|unpacked SECTION...
packages_of() {
  local kind=$1
  shift
  awk -v kind="$kind" -v wanted=" $* " -v here="$(dpkg --print-architecture)" '
    /^\[/ { section = substr($1, 2, length($1) - 2); next }
    /^#/ || NF == 0 || index(wanted, " " section " ") == 0 { next }
    $2 != "" && $2 != "unpacked" && $2 != here { next }
    ($2 == "unpacked") == (kind == "unpacked") { print $1 }
  ' "$root/cmake/debian-packages.txt"
}

# The packages of the sections named that are not installed.
missing_packages() {
  local package have
  have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
  # These two are often there from another origin.
  if command -v npm >/dev/null; then have+=$'\nnpm'; fi
  if command -v go >/dev/null; then have+=$'\ngolang-go'; fi
  packages_of installed "$@" | grep -vxF "$have" || true
}

# Runs a command as root, or says what root should run: as_root COMMAND...
as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "neither root nor sudo here; as root run: apt-get update && apt-get install -y" \
      "--no-install-recommends ${missing[*]:-ca-certificates}"
  fi
}

# apt-get as root, without questions.
apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@" </dev/null >&2; }

updated=false
# Fetches apt's lists, once per run.
update_apt() {
  if $updated; then return; fi
  say "apt-get update"
  apt_get update -q
  updated=true
}

# Installs what is missing of the sections named, saying so first.
install_packages() {
  local missing
  command -v dpkg-query >/dev/null ||
    die "this is no Debian: install what cmake/debian-packages.txt stands for"
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  say "installing: ${missing[*]}"
  # The lists of a fresh system are empty, those of an old one name files that are gone.
  update_apt
  apt_get install -q -y --no-install-recommends "${missing[@]}"
}

# Prints the folder that a package is unpacked in, after fetching it if need be: unpacked PACKAGE.
unpacked() {
  local package=$1 folder=$cache/unpacked/$1 part
  if [[ ! -e $folder ]]; then
    if [[ -z $(apt-cache show "$package" 2>/dev/null) ]]; then update_apt; fi
    say "unpacking $package into $folder"
    mkdir -p "$cache/unpacked"
    part=$(mktemp -d "$cache/unpacked/.XXXXXX")
    # Not root: apt would download as _apt, which may not enter our cache.
    (cd "$part" && apt-get download -q -o APT::Sandbox::User=root "$package" >&2 && dpkg -x ./*.deb tree) ||
      die "cannot download $package"
    mv -T "$part/tree" "$folder" 2>/dev/null || [[ -e $folder ]] || die "cannot fill $folder"
    rm -rf "$part"
  fi
  printf '%s\n' "$folder"
}

# Fetches the unpacked packages of the sections named and lets the tests find them in PATH.
unpack_packages() {
  local package folder
  for package in $(packages_of unpacked "$@"); do
    folder=$(unpacked "$package")
    PATH=$folder/usr/bin:$PATH
  done
  export PATH
}

# Whether the build tree has the option switched on.
configured_with() { grep -qs "^$1:BOOL=ON$" "$build/CMakeCache.txt"; }

# Configures the build tree with the options named, unless it already has them: configure OPTION...
# What an earlier script has switched on stays on, so that nothing is built twice.
configure() {
  local option changed=false values=()
  [[ -e $build/build.ninja ]] || changed=true
  for option in APISERVER_TESTS APISERVER_BENCH; do
    if configured_with $option; then
      values+=("-D$option=ON")
    elif [[ " $* " == *" $option "* ]]; then
      values+=("-D$option=ON")
      changed=true
    else
      values+=("-D$option=OFF")
    fi
  done
  if ! $changed; then return; fi
  say "configuring $build"
  (cd "$root" && cmake --preset dev "${values[@]}" >&2)
}

# Builds the targets named, everything if none is.
compile() {
  say "building ${*:-everything}"
  ninja -C "$build" "$@" >&2
}
