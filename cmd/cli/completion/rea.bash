# Completion of rea for bash.
_rea() {
    local cur=${COMP_WORDS[COMP_CWORD]} word help file
    COMPREPLY=()
    while IFS=$'\t' read -r word help; do
        if [[ $word == :files ]]; then
            compopt -o filenames 2>/dev/null
            [[ $cur == = ]] && cur=
            while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$cur")
        else
            COMPREPLY+=("$word")
        fi
    done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _rea rea
