# Completion of linnet for bash. Made by: linnet completion bash
_linnet() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb='' part
    for part in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $part in
            browse|play|queue|announce|launch|data|app|pause|resume|seek|speed|volume|mute|trim|tracks|group|sources|status|stop|rename|doctor|update|reset|device|completion) verb=$part; break ;;
        esac
    done
    case $before in
        --on|-o)
            # Not compgen: it would run what a name says.
            COMPREPLY=()
            while IFS= read -r part; do
                [[ $part == "$word"* ]] && COMPREPLY+=("$part")
            done < <(linnet browse --timeout 1 2>/dev/null | sed 's/  .*//')
            return ;;
    esac
    case $verb in
        '') mapfile -t COMPREPLY < <(compgen -W "browse play queue announce launch data app pause resume seek speed volume mute trim tracks group sources status stop rename doctor update reset device completion --on --help --version" -- "$word") ;;
        browse) mapfile -t COMPREPLY < <(compgen -W "--timeout -T --json -j --help -h" -- "$word") ;;
        play) mapfile -t COMPREPLY < <(compgen -f -W "--start -s --speed --header -H --user-agent --allow-invalid-certificate --title -t --repeat -r --paused --no-wait -n --on -o --help -h" -- "$word") ;;
        queue) mapfile -t COMPREPLY < <(compgen -W "list add remove move jump next previous repeat clear --json -j --next -x --header -H --allow-invalid-certificate --on -o --help -h" -- "$word") ;;
        announce) mapfile -t COMPREPLY < <(compgen -f -W "cancel --volume -v --duck -d --header -H --no-wait -n --on -o --help -h" -- "$word") ;;
        launch) mapfile -t COMPREPLY < <(compgen -W "--url -u --no-wait -n --on -o --help -h" -- "$word") ;;
        data) mapfile -t COMPREPLY < <(compgen -W "send listen pipe --url -u --count -c --raw -r --file -f --on -o --help -h" -- "$word") ;;
        app) mapfile -t COMPREPLY < <(compgen -W "list new check run install remove --language -l --id -i --source -s --url -u --folder -f --json -j --on -o --help -h" -- "$word") ;;
        pause) mapfile -t COMPREPLY < <(compgen -W "--on -o --help -h" -- "$word") ;;
        resume) mapfile -t COMPREPLY < <(compgen -W "--on -o --help -h" -- "$word") ;;
        seek) mapfile -t COMPREPLY < <(compgen -W "--quick -q --on -o --help -h" -- "$word") ;;
        speed) mapfile -t COMPREPLY < <(compgen -W "--on -o --help -h" -- "$word") ;;
        volume) mapfile -t COMPREPLY < <(compgen -W "--on -o --help -h" -- "$word") ;;
        mute) mapfile -t COMPREPLY < <(compgen -W "on off toggle --on -o --help -h" -- "$word") ;;
        trim) mapfile -t COMPREPLY < <(compgen -W "--on -o --help -h" -- "$word") ;;
        tracks) mapfile -t COMPREPLY < <(compgen -W "audio description subtitles --on -o --help -h" -- "$word") ;;
        group) mapfile -t COMPREPLY < <(compgen -W "create add remove leave status volume dissolve --json -j --watch -w --keep-playing -k --watch-together --on -o --help -h" -- "$word") ;;
        sources) mapfile -t COMPREPLY < <(compgen -W "take yield prefer forget pair disconnect --json -j --watch -w --yes -y --seconds -s --on -o --help -h" -- "$word") ;;
        status) mapfile -t COMPREPLY < <(compgen -W "--json -j --watch -w --on -o --help -h" -- "$word") ;;
        stop) mapfile -t COMPREPLY < <(compgen -W "--on -o --help -h" -- "$word") ;;
        rename) mapfile -t COMPREPLY < <(compgen -W "--on -o --help -h" -- "$word") ;;
        doctor) mapfile -t COMPREPLY < <(compgen -W "--bundle -b --on -o --help -h" -- "$word") ;;
        update) mapfile -t COMPREPLY < <(compgen -f -W "status rollback check --json -j --allow-older --restart -r --url -u --save --due --found --help -h" -- "$word") ;;
        reset) mapfile -t COMPREPLY < <(compgen -W "--yes -y --no-restart --data -d --help -h" -- "$word") ;;
        device) mapfile -t COMPREPLY < <(compgen -W "settings button --remount --restart --data -d --help -h" -- "$word") ;;
        completion) mapfile -t COMPREPLY < <(compgen -W "bash zsh fish --help -h" -- "$word") ;;
    esac
}
complete -o filenames -F _linnet linnet
