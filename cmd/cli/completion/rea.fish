# Completion of rea for fish.
function __rea_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    for line in (rea __complete -- $words[2..-1] "$cur" 2>/dev/null)
        if string match -q ':files*' -- $line
            __fish_complete_path "$cur"
        else
            echo $line
        end
    end
end
complete -c rea -f -a '(__rea_complete)'
