# Completes apiserver-gen in fish.
complete -c apiserver-gen -f
complete -c apiserver-gen -n '__fish_use_subcommand' -a types -d 'Write C++ structs for kinds'
complete -c apiserver-gen -n '__fish_use_subcommand' -a project -d 'Write a server program of one kind'
complete -c apiserver-gen -n '__fish_use_subcommand' -l help -d 'Print the usage'
complete -c apiserver-gen -n '__fish_seen_subcommand_from types' -F
complete -c apiserver-gen -n '__fish_seen_subcommand_from types' -l namespace -x -d 'The C++ namespace of the structs'
complete -c apiserver-gen -n '__fish_seen_subcommand_from types project' -l out -r -F -d 'Where it is written'
complete -c apiserver-gen -n '__fish_seen_subcommand_from types project' -l kind -x -d 'A kind'
complete -c apiserver-gen -n '__fish_seen_subcommand_from project' -l group -x -d 'The API group'
complete -c apiserver-gen -n '__fish_seen_subcommand_from project' -l version -x -d 'The version'
complete -c apiserver-gen -n '__fish_seen_subcommand_from project' -l plural -x -d 'The resource'
complete -c apiserver-gen -n '__fish_seen_subcommand_from project' -l force -d 'Write over files that exist'
