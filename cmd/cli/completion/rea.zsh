#compdef rea
# Completion of rea for zsh.
_rea() {
    local -a candidates
    local word help
    while IFS=$'\t' read -r word help; do
        if [[ $word == :files ]]; then
            _files
        else
            candidates+=("${word//:/\\:}:${help}")
        fi
    done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#candidates )) && _describe 'rea' candidates
}
if [[ $funcstack[1] == _rea ]]; then
    _rea "$@"
else
    compdef _rea rea
fi
