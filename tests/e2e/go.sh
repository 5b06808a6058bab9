# Finds the go that a Go module of these tests asks for; sourced, never run, after scripts/lib.sh.
# shellcheck shell=bash

# Puts the go that the go.mod of a folder asks for first in PATH where the one there is older, which Go
# must be in: provide_go FOLDER. Debian's go cannot fetch another by itself, but it can fetch a module
# and check its sum, and Go's releases are modules too.
provide_go() {
  local wanted version module folder part
  wanted=$(sed -n 's/^go //p' "$1/go.mod")
  # There, because a go from 1.21 on may switch to the version that go.mod asks for.
  version=$(cd "$1" && go env GOVERSION) || die "go does not run"
  if [[ $(printf '%s\n' "go$wanted" "$version" | sort -V | head -n 1) == "go$wanted" ]]; then return; fi
  module=golang.org/toolchain@v0.0.1-go$wanted.$(go env GOHOSTOS)-$(go env GOHOSTARCH)
  folder=$cache/go/${module#*@}
  if [[ ! -e $folder ]]; then
    say "fetching go $wanted with $version"
    mkdir -p "$cache/go"
    part=$(mktemp -d "$cache/go/.XXXXXX")
    (cd "$part" && GOMODCACHE=$part GOFLAGS=-modcacherw go mod download "$module" >&2) ||
      die "go cannot fetch $module"
    # What a module cannot hold: modes, and a go.mod below its root.
    (cd "$part/$module" && chmod -R +x bin pkg/tool && find src -name _go.mod -execdir cp {} go.mod \;) ||
      die "$module is not as expected"
    mv -T "$part/$module" "$folder" 2>/dev/null || [[ -e $folder ]] || die "cannot fill $folder"
    rm -rf "$part"
  fi
  export PATH=$folder/bin:$PATH GOTOOLCHAIN=local
  unset GOROOT
}
