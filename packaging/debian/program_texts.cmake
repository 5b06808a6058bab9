# cmake -D program=FILE -D prefix=FOLDER -P program_texts.cmake: writes the manual page and the shells'
# completions of a program of program::RunStandalone to where Debian keeps them below FOLDER, /usr. The
# program tells them itself.
get_filename_component(name ${program} NAME)
set(told_man share/man/man8/${name}.8)
set(told_completion_bash share/bash-completion/completions/${name})
set(told_completion_zsh share/zsh/vendor-completions/_${name})
set(told_completion_fish share/fish/vendor_completions.d/${name}.fish)
foreach(command IN ITEMS man "completion bash" "completion zsh" "completion fish")
  string(REPLACE " " "_" variable "told_${command}")
  separate_arguments(words UNIX_COMMAND ${command})
  # The home of the user who reads them stands in defaults, not that of the user who packs.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=XDG_DATA_HOME HOME=~ ${program} ${words}
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${prefix}/${${variable}} "${text}")
  file(CHMOD ${prefix}/${${variable}} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
