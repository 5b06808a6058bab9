# A new Debian in the folder $bare, for the scripts beside this file, which source it behind scripts/lib.sh.
# shellcheck shell=bash

# The process of a server in the new system, which ends with the script.
server=

# The command, words before its own, by which a program of this system reaches the new one's network.
reach=()

# Becomes a program of the new system: in the background its process is the one that $! names.
exec_bare() { exec chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
in_bare() { (exec_bare "$@"); }
apt_bare() { in_bare DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends "$@" >&2; }

# The folders of this system that the new one has, too.
mounted=()

# Lets the new system have a folder of this one: mount_bare FOLDER PLACE.
mount_bare() {
  mkdir -p "$bare$2"
  mount --bind "$1" "$bare$2"
  mounted+=("$bare$2")
}

unmount_bare() {
  local folder
  for folder in "${mounted[@]}"; do umount "$folder" || return; done
  mounted=()
}

leave_bare() {
  if [[ -n $server ]] && kill "$server" 2>/dev/null; then wait "$server" || true; fi
  # What cannot be unmounted would be deleted with the rest.
  unmount_bare || return
  rm -rf --one-file-system "$bare"
}

# Makes the new system, which goes when the script ends: enter_bare SUITE.
enter_bare() {
  [[ $(id -u) == 0 ]] || die "a new Debian needs root"
  [[ ! -e $bare ]] || die "$bare exists"
  command -v debootstrap >/dev/null || die "debootstrap is missing"
  kubectl=$(unpacked kubernetes-client)/usr/bin/kubectl
  trap leave_bare EXIT
  debootstrap --variant=minbase "$1" "$bare" >&2
  mount_bare /proc /proc
  apt_bare update
}

# Copies files of packages to /srv in the new system and installs there what they depend on, so that only
# what is ours comes and goes below. Sets `packages` to their names: bring_packages FILE...
bring_packages() {
  local file
  packages=()
  for file in "$@"; do
    cp "$file" "$bare/srv"
    packages+=("$(dpkg-deb -f "$file" Package)")
  done
  in_bare sh -c 'apt-get -q -y -s --no-install-recommends install /srv/*.deb' |
    sed -n 's/^Inst \([^ ]*\) .*/\1/p' | { grep -vxF "$(printf '%s\n' "${packages[@]}")" || true; } |
    xargs -r chroot "$bare" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install >&2
}

# Prints every file of the new system that packages may have left; dpkg's and apt's own records are theirs.
files_of_bare() {
  (cd "$bare" && find . -xdev \( -path ./proc -o -path ./var/lib/dpkg -o -path ./var/lib/apt \
    -o -path ./var/cache -o -path ./var/log -o -path ./root -o -path ./tmp \) -prune -o -print | sort)
}

# Fails unless the new system has the files that it had: expect_files LIST.
expect_files() { diff <(printf '%s\n' "$1") <(files_of_bare) >&2 || die "the packages have left files"; }

# Waits until a kubeconfig is written in the new system, and asks its server: ask KUBECONFIG WORD...
ask() {
  local kubeconfig=$bare$1 tries=0
  shift
  until [[ -s $kubeconfig ]]; do
    ((++tries < 100)) || die "no server has written $kubeconfig"
    sleep 0.1
  done
  "${reach[@]}" "$kubectl" --kubeconfig "$kubeconfig" "$@"
}

stop_server() {
  kill "$server"
  wait "$server" || die "the server ended with $?"
  server=
}
