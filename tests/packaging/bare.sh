# A new Debian in the folder $bare, for the scripts beside this file, which source it behind scripts/lib.sh.
# shellcheck shell=bash

# The process of a server in the new system, which ends with the script.
server=

# Becomes a program of the new system: in the background its process is the one that $! names.
exec_bare() { exec chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
in_bare() { (exec_bare "$@"); }
apt_bare() { in_bare DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends "$@" >&2; }

leave_bare() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; fi
  umount "$bare/proc" || true
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
  mount --bind /proc "$bare/proc"
  apt_bare update
}

# Waits until a kubeconfig is written in the new system, and asks its server: ask KUBECONFIG WORD...
ask() {
  local kubeconfig=$bare$1 tries=0
  shift
  until [[ -s $kubeconfig ]]; do
    ((++tries < 100)) || die "no server has written $kubeconfig"
    sleep 0.1
  done
  "$kubectl" --kubeconfig "$kubeconfig" "$@"
}

stop_server() {
  kill "$server"
  wait "$server" || die "the server ended with $?"
  server=
}
