# bash completion for osssync; written by osssync completions bash
_osssync_keys() {
    local address=$1 bucket=${1#*://} word="" key count=0
    local -a options
    options=()
    bucket=${address%%://*}://${bucket%%/*}/
    shift
    while (( $# > 1 )); do
        case $1 in
            --profile|--config|--region|--endpoint|--addressing|--provider|--signature|--ca-file) options+=("$1" "$2"); shift ;;
            --insecure-http) options+=("$1") ;;
        esac
        shift
    done
    osssync ls --top --timeout 5 --retries 0 "${options[@]}" -- "$address" 2>/dev/null | cut -c 43- |
        while IFS= read -r key; do
            case $key in *\\*) continue ;; esac
            (( ++count > 200 )) && break
            printf '%s\n' "$bucket$key"
        done
    (( count <= 200 )) || printf '%s\n' "$address"
}
# An address is several words, because ":" and "=" end one; the last one is replaced.
_osssync_address() {
    local first=$COMP_CWORD word= start= key i
    local -a line
    while [[ ${COMP_WORDS[first]} != @(oss|s3)?(://*) ]]; do
        (( --first > 0 )) || return 1
    done
    for (( i = first; i <= COMP_CWORD; i++ )); do
        start=$word
        word+=${COMP_WORDS[i]}
    done
    [[ $word == @(oss|s3)://*/* ]] || return
    [[ ${COMP_LINE:0:COMP_POINT} == *"$word" ]] || return
    [[ ${COMP_WORDS[COMP_CWORD]} == [:=] ]] && start=$word
    word=${word//\\} start=${start//\\}
    compopt -o nospace 2>/dev/null
    read -ra line <<<"$COMP_LINE"
    while IFS= read -r key; do
        [[ $key == "$start"* ]] || continue
        printf -v key %q "${key#"$start"}"
        COMPREPLY+=("$key")
    done < <(_osssync_keys "$word" "${line[@]}")
}
# The last word is one of a path in a mirror; what is printed is whole.
_osssync_paths() {
    local path words=()
    for path in "${COMP_WORDS[@]:1:COMP_CWORD}"; do words+=("${path//\\}"); done
    compopt -o nospace 2>/dev/null
    while IFS= read -r path; do
        printf -v path %q "$path"
        COMPREPLY+=("$path")
    done < <(osssync completions paths -- "${words[@]}" 2>/dev/null)
    (( ${#COMPREPLY[@]} ))
}
_osssync() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local command= word
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            init|pull|push|sync|apply|watch|shard|finish|status|explain|ls|get|put|presign|uploads|cancel|free|trash|restore|undo|verify|log|doctor|mirrors|schedule|completions|help) command=$word; break ;;
        esac
    done
    _osssync_address && return
    case $prev in
        --save-plan) compopt -o default; return ;;
        --max-delete) return ;;
        --on-conflict) mapfile -t COMPREPLY < <(compgen -W 'keep-both local remote skip fail' -- "$cur"); return ;;
        --if-locked) return ;;
        --links) mapfile -t COMPREPLY < <(compgen -W 'skip follow store' -- "$cur"); return ;;
        --names) mapfile -t COMPREPLY < <(compgen -W 'skip escape' -- "$cur"); return ;;
        --trash-days) return ;;
        --trash) mapfile -t COMPREPLY < <(compgen -W 'none local remote' -- "$cur"); return ;;
        --backup-dir) compopt -o default; return ;;
        --exclude) return ;;
        --include) return ;;
        --exclude-from) compopt -o default; return ;;
        --files-from) compopt -o default; return ;;
        --exclude-if-present) return ;;
        --min-size) return ;;
        --max-size) return ;;
        --min-age) return ;;
        --max-age) return ;;
        --run) return ;;
        --at) return ;;
        --as-of) return ;;
        --since) return ;;
        --path) compopt -o default; return ;;
        --to) compopt -o default; return ;;
        --budget) return ;;
        --shard) return ;;
        --round) return ;;
        --count) return ;;
        --cuts) compopt -o default; return ;;
        --tasks) return ;;
        --every) return ;;
        --settle) return ;;
        --daily) return ;;
        --on-calendar) return ;;
        --format) mapfile -t COMPREPLY < <(compgen -W 'systemd cron launchd' -- "$cur"); return ;;
        --head-url) return ;;
        --storage-class) return ;;
        --sse) return ;;
        --acl) return ;;
        --header) return ;;
        --callback-url) return ;;
        --callback-body) return ;;
        --method) mapfile -t COMPREPLY < <(compgen -W 'GET HEAD PUT DELETE' -- "$cur"); return ;;
        --expires) return ;;
        --older-than) return ;;
        --until) return ;;
        --jobs|-j) return ;;
        --part-size) return ;;
        --bwlimit) return ;;
        --max-transfer) return ;;
        --max-duration) return ;;
        --progress) mapfile -t COMPREPLY < <(compgen -W 'auto bar plain none' -- "$cur"); return ;;
        --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur"); return ;;
        --json-interval) return ;;
        --log-file) compopt -o default; return ;;
        --metrics-file) compopt -o default; return ;;
        --html) compopt -o default; return ;;
        --notify-url) return ;;
        --notify-on) mapfile -t COMPREPLY < <(compgen -W 'always failure' -- "$cur"); return ;;
        --profile) return ;;
        --config) compopt -o default; return ;;
        --region) return ;;
        --endpoint) return ;;
        --addressing) mapfile -t COMPREPLY < <(compgen -W 'virtual path cname auto' -- "$cur"); return ;;
        --provider) mapfile -t COMPREPLY < <(compgen -W 'aws minio seaweedfs r2 ceph generic' -- "$cur"); return ;;
        --signature) mapfile -t COMPREPLY < <(compgen -W 'v4 v1' -- "$cur"); return ;;
        --state-dir) compopt -o default; return ;;
        --ca-file) compopt -o default; return ;;
        --timeout) return ;;
        --retries) return ;;
        --retry-wait) return ;;
    esac
    case $command:$cur in
        :-*) mapfile -t COMPREPLY < <(compgen -W '--help --version' -- "$cur") ;;
        :*) mapfile -t COMPREPLY < <(compgen -W 'init pull push sync apply watch shard finish status explain ls get put presign uploads cancel free trash restore undo verify log doctor mirrors schedule completions help' -- "$cur") ;;
        help:*) mapfile -t COMPREPLY < <(compgen -W 'init pull push sync apply watch shard finish status explain ls get put presign uploads cancel free trash restore undo verify log doctor mirrors schedule completions help configuration connection deletions exit-codes filters names scale man' -- "$cur") ;;
        completions:*) mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$cur") ;;
        init:-*) mapfile -t COMPREPLY < <(compgen -W '--rebind --check-write --unlink --json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        pull:-*) mapfile -t COMPREPLY < <(compgen -W '--dry-run --save-plan --delete --max-delete --allow-empty --rebind --force --on-conflict --checksum --if-locked --links --names --no-metadata --no-empty-dirs --empty-dirs --restore --trash-days --trash --backup-dir --exclude --include --exclude-from --files-from --exclude-if-present --exclude-caches --one-file-system --min-size --max-size --min-age --max-age --as-of --shard --round --jobs --part-size --bwlimit --max-transfer --max-duration --progress --color --json --json-interval --quiet --verbose --log-file --metrics-file --html --notify-url --notify-on --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        push:-*) mapfile -t COMPREPLY < <(compgen -W '--dry-run --save-plan --delete --max-delete --allow-empty --rebind --force --on-conflict --checksum --if-locked --links --names --no-metadata --no-empty-dirs --empty-dirs --trash-days --trash --exclude --include --exclude-from --files-from --exclude-if-present --exclude-caches --one-file-system --min-size --max-size --min-age --max-age --shard --round --storage-class --sse --acl --header --jobs --part-size --bwlimit --max-transfer --max-duration --progress --color --json --json-interval --quiet --verbose --log-file --metrics-file --html --notify-url --notify-on --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        sync:-*) mapfile -t COMPREPLY < <(compgen -W '--dry-run --save-plan --delete --max-delete --allow-empty --rebind --force --on-conflict --checksum --if-locked --links --names --no-metadata --no-empty-dirs --empty-dirs --restore --trash-days --trash --exclude --include --exclude-from --files-from --exclude-if-present --exclude-caches --one-file-system --min-size --max-size --min-age --max-age --shard --round --storage-class --sse --acl --header --jobs --part-size --bwlimit --max-transfer --max-duration --progress --color --json --json-interval --quiet --verbose --log-file --metrics-file --html --notify-url --notify-on --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        apply:-*) mapfile -t COMPREPLY < <(compgen -W '--if-locked --jobs --bwlimit --max-transfer --max-duration --progress --color --json --json-interval --quiet --verbose --log-file --metrics-file --html --notify-url --notify-on --profile --config --region --endpoint --addressing --provider --signature --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        watch:-*) mapfile -t COMPREPLY < <(compgen -W '--delete --max-delete --force --on-conflict --checksum --links --names --no-metadata --no-empty-dirs --empty-dirs --trash-days --trash --exclude --include --exclude-from --exclude-if-present --exclude-caches --one-file-system --min-size --max-size --min-age --max-age --sync --every --settle --storage-class --sse --acl --header --jobs --part-size --bwlimit --max-transfer --max-duration --progress --color --json --quiet --verbose --log-file --metrics-file --html --notify-url --notify-on --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        shard:-*) mapfile -t COMPREPLY < <(compgen -W '--dry-run --count --cuts --tasks --jobs --json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        finish:-*) mapfile -t COMPREPLY < <(compgen -W '--max-delete --allow-empty --if-locked --round --jobs --progress --color --json --json-interval --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        status:-*) mapfile -t COMPREPLY < <(compgen -W '--delete --max-delete --allow-empty --all --on-conflict --checksum --exit-code --follow --links --names --summary --exclude --include --exclude-from --files-from --exclude-if-present --exclude-caches --one-file-system --min-size --max-size --min-age --max-age --jobs --bwlimit --json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        explain:-*) mapfile -t COMPREPLY < <(compgen -W '--delete --on-conflict --checksum --links --names --exclude --include --exclude-from --exclude-if-present --exclude-caches --one-file-system --min-size --max-size --min-age --max-age --json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        ls:-*) mapfile -t COMPREPLY < <(compgen -W '--summary --long --human-readable --versions --top --json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        get:-*) mapfile -t COMPREPLY < <(compgen -W '--force --head-url --jobs --part-size --progress --color --json --json-interval --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        put:-*) mapfile -t COMPREPLY < <(compgen -W '--force --storage-class --sse --acl --header --callback-url --callback-body --jobs --part-size --progress --color --json --json-interval --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        presign:-*) mapfile -t COMPREPLY < <(compgen -W '--method --expires --json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        uploads:-*) mapfile -t COMPREPLY < <(compgen -W '--abort --older-than --json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        cancel:-*) mapfile -t COMPREPLY < <(compgen -W '--json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        free:-*) mapfile -t COMPREPLY < <(compgen -W '--dry-run --older-than --until --jobs --json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        trash:-*) mapfile -t COMPREPLY < <(compgen -W '--dry-run --empty --older-than --json --quiet --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        restore:-*) mapfile -t COMPREPLY < <(compgen -W '--dry-run --force --links --names --run --at --to --list --json --quiet --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        undo:-*) mapfile -t COMPREPLY < <(compgen -W '--dry-run --force --json --quiet --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        verify:-*) mapfile -t COMPREPLY < <(compgen -W '--remote --budget --repair --json --quiet --verbose --log-file --metrics-file --html --notify-url --notify-on --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        log:-*) mapfile -t COMPREPLY < <(compgen -W '--since --path --json --quiet --verbose --html --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        doctor:-*) mapfile -t COMPREPLY < <(compgen -W '--all --check-write --max-age --json --quiet --verbose --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        mirrors:-*) mapfile -t COMPREPLY < <(compgen -W '--max-age --json --help' -- "$cur") ;;
        schedule:-*) mapfile -t COMPREPLY < <(compgen -W '--delete --max-delete --force --on-conflict --checksum --if-locked --links --names --no-metadata --no-empty-dirs --empty-dirs --restore --trash-days --trash --backup-dir --exclude --include --exclude-from --files-from --exclude-if-present --exclude-caches --one-file-system --min-size --max-size --min-age --max-age --remote --budget --repair --pull --push --sync --verify --every --daily --on-calendar --system --install --remove --list --test --format --storage-class --sse --acl --header --jobs --part-size --bwlimit --max-transfer --max-duration --quiet --log-file --metrics-file --html --notify-url --notify-on --profile --config --region --endpoint --addressing --provider --signature --state-dir --ca-file --insecure-http --timeout --retries --retry-wait --help' -- "$cur") ;;
        completions:-*) mapfile -t COMPREPLY < <(compgen -W '--help' -- "$cur") ;;
        pull:*|restore:*) _osssync_paths || compopt -o default ;;
        *) compopt -o default ;;
    esac
}
complete -F _osssync osssync
