#compdef apiserver-gen
# Completes apiserver-gen in zsh.
_apiserver-gen() {
  if ((CURRENT == 2)); then
    _values command 'types[Write C++ structs for kinds]' 'project[Write a server program of one kind]' '--help[Print the usage]'
    return
  fi
  case ${words[2]} in
    types)
      shift words
      ((CURRENT--))
      _arguments '--namespace[The C++ namespace of the structs]:name:' '--out[Where the header is written]:file:_files' \
        '*--kind[A kind to choose]:kind:' '*:file:_files'
      ;;
    project)
      shift words
      ((CURRENT--))
      _arguments '1:name:' '--group[The API group]:group:' '--kind[The kind]:kind:' '--version[The version]:version:' \
        '--plural[The resource]:plural:' '--out[The folder of the project]:folder:_files -/' \
        '--force[Write over files that exist]'
      ;;
  esac
}
_apiserver-gen "$@"
