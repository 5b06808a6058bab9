# Completes apiserver-gen in bash.
_apiserver_gen() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
  if ((COMP_CWORD == 1)); then
    words='types project --help'
  else
    case $before in
      --out) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
      --namespace | --kind | --group | --version | --plural) return ;;
    esac
    case ${COMP_WORDS[1]} in
      types) words='--namespace --out --kind' ;;
      project) words='--group --kind --version --plural --out --force' ;;
    esac
    if [[ $word != -* && ${COMP_WORDS[1]} == types ]]; then
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
    fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _apiserver_gen apiserver-gen
