#compdef osssync
# written by osssync completions zsh
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
_osssync_place() {
    if [[ $PREFIX == (oss|s3)://*/* ]]; then
        local -a keys
        keys=("${(@f)$(_osssync_keys "${(Q)PREFIX}" "${(@Q)words}")}")
        compadd -S '' -- $keys
        return
    fi
    if [[ $words[2] == (pull|restore) ]]; then
        local -a paths
        paths=(${(f)"$(osssync completions paths -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
        (( $#paths )) && compadd -S '' -- $paths && return
    fi
    _files
}
_osssync() {
    local -a commands
    commands=(
        'init:link a directory with a bucket prefix'
        'pull:download what changed in the bucket to the directory'
        'push:upload what changed in the directory to the bucket'
        'sync:transfer changes both ways (unlike '\''rclone sync'\'')'
        'apply:carry out a plan that --save-plan saved'
        'watch:push changes in a directory as they happen; with --sync, both ways'
        'shard:divide a mirror into shards for several machines'
        'finish:end a round over all shards\: check that it is complete, then delete'
        'status:show what pull, push and sync would do'
        'explain:show the state of one path, and what would be done with it'
        'ls:list objects'
        'get:download one object'
        'put:upload one file'
        'presign:sign a URL for one request on one object'
        'uploads:list or abort unfinished multipart uploads in a bucket'
        'cancel:discard unfinished transfers'
        'free:remove local copies of files that the bucket has'
        'trash:list or delete what runs moved to the trash'
        'restore:get files back\: from the bucket, the trash or earlier versions'
        'undo:restore everything that a run deleted or replaced'
        'verify:compare the content of files with the recorded checksums'
        'log:show past runs, or the items of one run'
        'doctor:check configuration, network, disk, timers and the last runs'
        'mirrors:list the mirrors of this account, and how their last runs ended'
        'schedule:run pull, push, sync or verify regularly, by systemd, cron or launchd'
        'completions:print completions for a shell'
        'help:show this overview, or the help of a command or a topic'
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    case $words[2] in
        init)
            _arguments -s \
                '*--rebind[link DIR with REMOTE instead of the previous one]' \
                '*--check-write[also check that objects can be written, by starting and aborting an upload]' \
                '*--unlink[remove the link of DIR]' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        pull)
            _arguments -s \
                '*--dry-run[show what would be done, and change nothing]' \
                '*-n[show what would be done, and change nothing]' \
                '*--save-plan[like --dry-run, and also save the plan in FILE, outside of DIR, for '\''osssync apply FILE'\'']:file:_files' \
                '*--delete[delete what was deleted on the other side]' \
                '*--max-delete[delete nothing if more would be (default 50%)]:value: ' \
                '*--allow-empty[accept a listing or directory that is empty, but was not before]' \
                '*--rebind[confirm a different remote or directory, deletions with a rebuilt manifest, or missing mounts]' \
                '*--force[replace local changes]' \
                '*--on-conflict[which version a conflict keeps (default both)]:value:(keep-both local remote skip fail)' \
                '*--checksum[find local changes by content, not by time]' \
                '*--if-locked[while another run uses DIR\: fail with status 75]:value: ' \
                '*--links[skip, follow or store symbolic links]:value:(skip follow store)' \
                '*--names[how to handle keys that cannot be file names, such as those with '\''//'\''\: skip them]:value:(skip escape)' \
                '*--no-metadata[do not store modification times and permissions in objects, and do not restore them]' \
                '*--no-empty-dirs[ignore empty directories\: create neither them nor the objects that represent them]' \
                '*--empty-dirs[mirror empty directories, whatever DIR/.osssync/config says]' \
                '*--restore[request that the store restores archived objects for DAYS]' \
                '*--trash-days[keep trash for N days (default 7)]:value: ' \
                '*--trash[where removed versions go (default local)]:value:(none local remote)' \
                '*--backup-dir[move files to PATH, outside of DIR on the same file system, before they are deleted or replaced]:file:_files' \
                '*--exclude[skip files matching GLOB (gitignore syntax)]:value: ' \
                '*--include[include files that --exclude matches]:value: ' \
                '*--exclude-from[read patterns from FILE, one per line, in gitignore syntax]:file:_files' \
                '*--files-from[limit the run to the files and directories listed in FILE]:file:_files' \
                '*--exclude-if-present[skip directories of this machine that contain a file NAME, on both sides]:value: ' \
                '*--exclude-caches[skip directories of this machine that contain a valid CACHEDIR.TAG, on both sides]' \
                '*--one-file-system[skip directories of this machine in which another file system is mounted, on both sides]' \
                '*--min-size[skip files smaller than SIZE, such as 10K, on both sides]:value: ' \
                '*--max-size[skip files larger than SIZE, such as 1G]:value: ' \
                '*--min-age[skip files changed less than TIME ago, such as 15m, on both sides]:value: ' \
                '*--max-age[skip files changed more than TIME ago, such as 30d, on both sides]:value: ' \
                '*--as-of[download a versioned bucket as it was at TIME, to an empty directory or one with the same --as-of]:value: ' \
                '*--shard[process only the shards K, K+M, K+2M and so on, with K from 0 to M-1]:value: ' \
                '*--round[the name of the round, such as a date]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--part-size[transfer large files in parts of SIZE, such as 8M]:value: ' \
                '*--bwlimit[transfer at most RATE per second, such as 2M]:value: ' \
                '*--max-transfer[stop once SIZE was transferred, such as 10G]:value: ' \
                '*--max-duration[stop after TIME, such as 6h]:value: ' \
                '*--progress[how to show progress]:value:(auto bar plain none)' \
                '*--color[when to use colours]:value:(auto always never)' \
                '*--json[write one JSON object per line to stdout]' \
                '*--json-interval[with --json, report the progress at most every TIME, such as 10s]:value: ' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--log-file[append a log to FILE, outside of DIR]:file:_files' \
                '*--metrics-file[write metrics of the run to FILE, outside of DIR, in the Prometheus text format]:file:_files' \
                '*--html[write a page for a browser to FILE, outside of DIR]:file:_files' \
                '*--notify-url[post the summary as JSON to URL when the run ends]:value: ' \
                '*--notify-on[when to notify\: always]:value:(always failure)' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        push)
            _arguments -s \
                '*--dry-run[show what would be done, and change nothing]' \
                '*-n[show what would be done, and change nothing]' \
                '*--save-plan[like --dry-run, and also save the plan in FILE, outside of DIR, for '\''osssync apply FILE'\'']:file:_files' \
                '*--delete[delete what was deleted on the other side]' \
                '*--max-delete[delete nothing if more would be (default 50%)]:value: ' \
                '*--allow-empty[accept a listing or directory that is empty, but was not before]' \
                '*--rebind[confirm a different remote or directory, deletions with a rebuilt manifest, or missing mounts]' \
                '*--force[upload files that --checksum reports as damaged]' \
                '*--on-conflict[which version a conflict keeps (default both)]:value:(keep-both local remote skip fail)' \
                '*--checksum[find local changes by content, not by time]' \
                '*--if-locked[while another run uses DIR\: fail with status 75]:value: ' \
                '*--links[skip, follow or store symbolic links]:value:(skip follow store)' \
                '*--names[how to handle keys that cannot be file names, such as those with '\''//'\''\: skip them]:value:(skip escape)' \
                '*--no-metadata[do not store modification times and permissions in objects, and do not restore them]' \
                '*--no-empty-dirs[ignore empty directories\: create neither them nor the objects that represent them]' \
                '*--empty-dirs[mirror empty directories, whatever DIR/.osssync/config says]' \
                '*--trash-days[keep trash for N days (default 7)]:value: ' \
                '*--trash[where removed versions go (default local)]:value:(none local remote)' \
                '*--exclude[skip files matching GLOB (gitignore syntax)]:value: ' \
                '*--include[include files that --exclude matches]:value: ' \
                '*--exclude-from[read patterns from FILE, one per line, in gitignore syntax]:file:_files' \
                '*--files-from[limit the run to the files and directories listed in FILE]:file:_files' \
                '*--exclude-if-present[skip directories of this machine that contain a file NAME, on both sides]:value: ' \
                '*--exclude-caches[skip directories of this machine that contain a valid CACHEDIR.TAG, on both sides]' \
                '*--one-file-system[skip directories of this machine in which another file system is mounted, on both sides]' \
                '*--min-size[skip files smaller than SIZE, such as 10K, on both sides]:value: ' \
                '*--max-size[skip files larger than SIZE, such as 1G]:value: ' \
                '*--min-age[skip files changed less than TIME ago, such as 15m, on both sides]:value: ' \
                '*--max-age[skip files changed more than TIME ago, such as 30d, on both sides]:value: ' \
                '*--shard[process only the shards K, K+M, K+2M and so on, with K from 0 to M-1]:value: ' \
                '*--round[the name of the round, such as a date]:value: ' \
                '*--storage-class[write objects with this class, such as IA]:value: ' \
                '*--sse[let the store encrypt objects that are written]:value: ' \
                '*--acl[write objects with this access control list, such as private]:value: ' \
                '*--header[write objects with this header\: Cache-Control, Content-Disposition, Content-Encoding, Content-Language, Content-Type, Expires or metadata]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--part-size[transfer large files in parts of SIZE, such as 8M]:value: ' \
                '*--bwlimit[transfer at most RATE per second, such as 2M]:value: ' \
                '*--max-transfer[stop once SIZE was transferred, such as 10G]:value: ' \
                '*--max-duration[stop after TIME, such as 6h]:value: ' \
                '*--progress[how to show progress]:value:(auto bar plain none)' \
                '*--color[when to use colours]:value:(auto always never)' \
                '*--json[write one JSON object per line to stdout]' \
                '*--json-interval[with --json, report the progress at most every TIME, such as 10s]:value: ' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--log-file[append a log to FILE, outside of DIR]:file:_files' \
                '*--metrics-file[write metrics of the run to FILE, outside of DIR, in the Prometheus text format]:file:_files' \
                '*--html[write a page for a browser to FILE, outside of DIR]:file:_files' \
                '*--notify-url[post the summary as JSON to URL when the run ends]:value: ' \
                '*--notify-on[when to notify\: always]:value:(always failure)' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        sync)
            _arguments -s \
                '*--dry-run[show what would be done, and change nothing]' \
                '*-n[show what would be done, and change nothing]' \
                '*--save-plan[like --dry-run, and also save the plan in FILE, outside of DIR, for '\''osssync apply FILE'\'']:file:_files' \
                '*--delete[delete what was deleted on the other side]' \
                '*--max-delete[delete nothing if more would be (default 50%)]:value: ' \
                '*--allow-empty[accept a listing or directory that is empty, but was not before]' \
                '*--rebind[confirm a different remote or directory, deletions with a rebuilt manifest, or missing mounts]' \
                '*--force[upload files that --checksum reports as damaged]' \
                '*--on-conflict[which version a conflict keeps (default both)]:value:(keep-both local remote skip fail)' \
                '*--checksum[find local changes by content, not by time]' \
                '*--if-locked[while another run uses DIR\: fail with status 75]:value: ' \
                '*--links[skip, follow or store symbolic links]:value:(skip follow store)' \
                '*--names[how to handle keys that cannot be file names, such as those with '\''//'\''\: skip them]:value:(skip escape)' \
                '*--no-metadata[do not store modification times and permissions in objects, and do not restore them]' \
                '*--no-empty-dirs[ignore empty directories\: create neither them nor the objects that represent them]' \
                '*--empty-dirs[mirror empty directories, whatever DIR/.osssync/config says]' \
                '*--restore[request that the store restores archived objects for DAYS]' \
                '*--trash-days[keep trash for N days (default 7)]:value: ' \
                '*--trash[where removed versions go (default local)]:value:(none local remote)' \
                '*--exclude[skip files matching GLOB (gitignore syntax)]:value: ' \
                '*--include[include files that --exclude matches]:value: ' \
                '*--exclude-from[read patterns from FILE, one per line, in gitignore syntax]:file:_files' \
                '*--files-from[limit the run to the files and directories listed in FILE]:file:_files' \
                '*--exclude-if-present[skip directories of this machine that contain a file NAME, on both sides]:value: ' \
                '*--exclude-caches[skip directories of this machine that contain a valid CACHEDIR.TAG, on both sides]' \
                '*--one-file-system[skip directories of this machine in which another file system is mounted, on both sides]' \
                '*--min-size[skip files smaller than SIZE, such as 10K, on both sides]:value: ' \
                '*--max-size[skip files larger than SIZE, such as 1G]:value: ' \
                '*--min-age[skip files changed less than TIME ago, such as 15m, on both sides]:value: ' \
                '*--max-age[skip files changed more than TIME ago, such as 30d, on both sides]:value: ' \
                '*--shard[process only the shards K, K+M, K+2M and so on, with K from 0 to M-1]:value: ' \
                '*--round[the name of the round, such as a date]:value: ' \
                '*--storage-class[write objects with this class, such as IA]:value: ' \
                '*--sse[let the store encrypt objects that are written]:value: ' \
                '*--acl[write objects with this access control list, such as private]:value: ' \
                '*--header[write objects with this header\: Cache-Control, Content-Disposition, Content-Encoding, Content-Language, Content-Type, Expires or metadata]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--part-size[transfer large files in parts of SIZE, such as 8M]:value: ' \
                '*--bwlimit[transfer at most RATE per second, such as 2M]:value: ' \
                '*--max-transfer[stop once SIZE was transferred, such as 10G]:value: ' \
                '*--max-duration[stop after TIME, such as 6h]:value: ' \
                '*--progress[how to show progress]:value:(auto bar plain none)' \
                '*--color[when to use colours]:value:(auto always never)' \
                '*--json[write one JSON object per line to stdout]' \
                '*--json-interval[with --json, report the progress at most every TIME, such as 10s]:value: ' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--log-file[append a log to FILE, outside of DIR]:file:_files' \
                '*--metrics-file[write metrics of the run to FILE, outside of DIR, in the Prometheus text format]:file:_files' \
                '*--html[write a page for a browser to FILE, outside of DIR]:file:_files' \
                '*--notify-url[post the summary as JSON to URL when the run ends]:value: ' \
                '*--notify-on[when to notify\: always]:value:(always failure)' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        apply)
            _arguments -s \
                '*--if-locked[while another run uses DIR\: fail with status 75]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--bwlimit[transfer at most RATE per second, such as 2M]:value: ' \
                '*--max-transfer[stop once SIZE was transferred, such as 10G]:value: ' \
                '*--max-duration[stop after TIME, such as 6h]:value: ' \
                '*--progress[how to show progress]:value:(auto bar plain none)' \
                '*--color[when to use colours]:value:(auto always never)' \
                '*--json[write one JSON object per line to stdout]' \
                '*--json-interval[with --json, report the progress at most every TIME, such as 10s]:value: ' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--log-file[append a log to FILE, outside of DIR]:file:_files' \
                '*--metrics-file[write metrics of the run to FILE, outside of DIR, in the Prometheus text format]:file:_files' \
                '*--html[write a page for a browser to FILE, outside of DIR]:file:_files' \
                '*--notify-url[post the summary as JSON to URL when the run ends]:value: ' \
                '*--notify-on[when to notify\: always]:value:(always failure)' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        watch)
            _arguments -s \
                '*--delete[delete what was deleted on the other side]' \
                '*--max-delete[delete nothing if more would be (default 50%)]:value: ' \
                '*--force[upload files that --checksum reports as damaged]' \
                '*--on-conflict[which version a conflict keeps (default both)]:value:(keep-both local remote skip fail)' \
                '*--checksum[find local changes by content, not by time]' \
                '*--links[skip, follow or store symbolic links]:value:(skip follow store)' \
                '*--names[how to handle keys that cannot be file names, such as those with '\''//'\''\: skip them]:value:(skip escape)' \
                '*--no-metadata[do not store modification times and permissions in objects, and do not restore them]' \
                '*--no-empty-dirs[ignore empty directories\: create neither them nor the objects that represent them]' \
                '*--empty-dirs[mirror empty directories, whatever DIR/.osssync/config says]' \
                '*--trash-days[keep trash for N days (default 7)]:value: ' \
                '*--trash[where removed versions go (default local)]:value:(none local remote)' \
                '*--exclude[skip files matching GLOB (gitignore syntax)]:value: ' \
                '*--include[include files that --exclude matches]:value: ' \
                '*--exclude-from[read patterns from FILE, one per line, in gitignore syntax]:file:_files' \
                '*--exclude-if-present[skip directories of this machine that contain a file NAME, on both sides]:value: ' \
                '*--exclude-caches[skip directories of this machine that contain a valid CACHEDIR.TAG, on both sides]' \
                '*--one-file-system[skip directories of this machine in which another file system is mounted, on both sides]' \
                '*--min-size[skip files smaller than SIZE, such as 10K, on both sides]:value: ' \
                '*--max-size[skip files larger than SIZE, such as 1G]:value: ' \
                '*--min-age[skip files changed less than TIME ago, such as 15m, on both sides]:value: ' \
                '*--max-age[skip files changed more than TIME ago, such as 30d, on both sides]:value: ' \
                '*--sync[sync both ways instead of pushing, everything at this interval, such as 2m]' \
                '*--every[push everything at this interval, such as 15m or 1d]:value: ' \
                '*--settle[push a path once it has not changed for TIME]:value: ' \
                '*--storage-class[write objects with this class, such as IA]:value: ' \
                '*--sse[let the store encrypt objects that are written]:value: ' \
                '*--acl[write objects with this access control list, such as private]:value: ' \
                '*--header[write objects with this header\: Cache-Control, Content-Disposition, Content-Encoding, Content-Language, Content-Type, Expires or metadata]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--part-size[transfer large files in parts of SIZE, such as 8M]:value: ' \
                '*--bwlimit[transfer at most RATE per second, such as 2M]:value: ' \
                '*--max-transfer[stop once SIZE was transferred, such as 10G]:value: ' \
                '*--max-duration[stop after TIME, such as 6h]:value: ' \
                '*--progress[how to show progress]:value:(auto bar plain none)' \
                '*--color[when to use colours]:value:(auto always never)' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--log-file[append a log to FILE, outside of DIR]:file:_files' \
                '*--metrics-file[write metrics of the run to FILE, outside of DIR, in the Prometheus text format]:file:_files' \
                '*--html[write a page for a browser to FILE, outside of DIR]:file:_files' \
                '*--notify-url[post the summary as JSON to URL when the run ends]:value: ' \
                '*--notify-on[when to notify\: always]:value:(always failure)' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        shard)
            _arguments -s \
                '*--dry-run[only show the shards that would be created]' \
                '*-n[only show the shards that would be created]' \
                '*--count[create N shards, up to 1000]:value: ' \
                '*--cuts[use the cut points in FILE, the keys at which shards begin\: one per line, percent-encoded, in ascending order]:file:_files' \
                '*--tasks[estimate how long a first round takes with M concurrent tasks]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        finish)
            _arguments -s \
                '*--max-delete[delete nothing if more would be (default 50%)]:value: ' \
                '*--allow-empty[accept a listing or directory that is empty, but was not before]' \
                '*--if-locked[while another run uses DIR\: fail with status 75]:value: ' \
                '*--round[the round to end]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--progress[how to show progress]:value:(auto bar plain none)' \
                '*--color[when to use colours]:value:(auto always never)' \
                '*--json[write one JSON object per line to stdout]' \
                '*--json-interval[with --json, report the progress at most every TIME, such as 10s]:value: ' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        status)
            _arguments -s \
                '*--delete[delete what was deleted on the other side]' \
                '*--max-delete[delete nothing if more would be (default 50%)]:value: ' \
                '*--allow-empty[accept a listing or directory that is empty, but was not before]' \
                '*--all[do it for each mirror of this account, as '\''osssync mirrors'\'' lists them]' \
                '*--on-conflict[which version a conflict keeps (default both)]:value:(keep-both local remote skip fail)' \
                '*--checksum[find local changes by content, not by time]' \
                '*--exit-code[exit with 1 if the two sides differ]' \
                '*--follow[watch the run that works on DIR now]' \
                '*--links[skip, follow or store symbolic links]:value:(skip follow store)' \
                '*--names[how to handle keys that cannot be file names, such as those with '\''//'\''\: skip them]:value:(skip escape)' \
                '*--summary[show totals]' \
                '*--exclude[skip files matching GLOB (gitignore syntax)]:value: ' \
                '*--include[include files that --exclude matches]:value: ' \
                '*--exclude-from[read patterns from FILE, one per line, in gitignore syntax]:file:_files' \
                '*--files-from[limit the run to the files and directories listed in FILE]:file:_files' \
                '*--exclude-if-present[skip directories of this machine that contain a file NAME, on both sides]:value: ' \
                '*--exclude-caches[skip directories of this machine that contain a valid CACHEDIR.TAG, on both sides]' \
                '*--one-file-system[skip directories of this machine in which another file system is mounted, on both sides]' \
                '*--min-size[skip files smaller than SIZE, such as 10K, on both sides]:value: ' \
                '*--max-size[skip files larger than SIZE, such as 1G]:value: ' \
                '*--min-age[skip files changed less than TIME ago, such as 15m, on both sides]:value: ' \
                '*--max-age[skip files changed more than TIME ago, such as 30d, on both sides]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--bwlimit[transfer at most RATE per second, such as 2M]:value: ' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        explain)
            _arguments -s \
                '*--delete[delete what was deleted on the other side]' \
                '*--on-conflict[which version a conflict keeps (default both)]:value:(keep-both local remote skip fail)' \
                '*--checksum[find local changes by content, not by time]' \
                '*--links[skip, follow or store symbolic links]:value:(skip follow store)' \
                '*--names[how to handle keys that cannot be file names, such as those with '\''//'\''\: skip them]:value:(skip escape)' \
                '*--exclude[skip files matching GLOB (gitignore syntax)]:value: ' \
                '*--include[include files that --exclude matches]:value: ' \
                '*--exclude-from[read patterns from FILE, one per line, in gitignore syntax]:file:_files' \
                '*--exclude-if-present[skip directories of this machine that contain a file NAME, on both sides]:value: ' \
                '*--exclude-caches[skip directories of this machine that contain a valid CACHEDIR.TAG, on both sides]' \
                '*--one-file-system[skip directories of this machine in which another file system is mounted, on both sides]' \
                '*--min-size[skip files smaller than SIZE, such as 10K, on both sides]:value: ' \
                '*--max-size[skip files larger than SIZE, such as 1G]:value: ' \
                '*--min-age[skip files changed less than TIME ago, such as 15m, on both sides]:value: ' \
                '*--max-age[skip files changed more than TIME ago, such as 30d, on both sides]:value: ' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        ls)
            _arguments -s \
                '*--summary[show totals]' \
                '*--long[also show the ETag and the storage class, and for a single object its CRC-64]' \
                '*-l[also show the ETag and the storage class, and for a single object its CRC-64]' \
                '*--human-readable[show sizes in units, such as 1.5 MiB]' \
                '*-h[show sizes in units, such as 1.5 MiB]' \
                '*--versions[list all versions of objects, with their IDs, and delete markers]' \
                '*--top[list one level\: objects, and directories instead of their contents]' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*:place:_osssync_place'
            ;;
        get)
            _arguments -s \
                '*--force[replace an existing file]' \
                '*--head-url[a URL signed for HEAD, in addition to a SOURCE signed for GET]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--part-size[transfer large files in parts of SIZE, such as 8M]:value: ' \
                '*--progress[how to show progress]:value:(auto bar plain none)' \
                '*--color[when to use colours]:value:(auto always never)' \
                '*--json[write one JSON object per line to stdout]' \
                '*--json-interval[with --json, report the progress at most every TIME, such as 10s]:value: ' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        put)
            _arguments -s \
                '*--force[replace an existing object]' \
                '*--storage-class[write objects with this class, such as IA]:value: ' \
                '*--sse[let the store encrypt objects that are written]:value: ' \
                '*--acl[write objects with this access control list, such as private]:value: ' \
                '*--header[write objects with this header\: Cache-Control, Content-Disposition, Content-Encoding, Content-Language, Content-Type, Expires or metadata]:value: ' \
                '*--callback-url[let OSS call URL once the object is uploaded, and show the response]:value: ' \
                '*--callback-body[the body of that call, such as '\''key=${object}&size=${size}'\'']:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--part-size[transfer large files in parts of SIZE, such as 8M]:value: ' \
                '*--progress[how to show progress]:value:(auto bar plain none)' \
                '*--color[when to use colours]:value:(auto always never)' \
                '*--json[write one JSON object per line to stdout]' \
                '*--json-interval[with --json, report the progress at most every TIME, such as 10s]:value: ' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        presign)
            _arguments -s \
                '*--method[the request that the URL allows]:value:(GET HEAD PUT DELETE)' \
                '*--expires[how long the URL is valid, such as 90s, 15m or 2h]:value: ' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        uploads)
            _arguments -s \
                '*--abort[abort the listed uploads and delete their parts]' \
                '*--older-than[include only uploads started at least this long ago, such as 12h or 7d]:value: ' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        cancel)
            _arguments -s \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        free)
            _arguments -s \
                '*--dry-run[show what would be removed]' \
                '*-n[show what would be removed]' \
                '*--older-than[only files that were last modified at least this long ago, such as 90d]:value: ' \
                '*--until[remove no more than is needed to have SIZE of the disk free, such as 200G]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        trash)
            _arguments -s \
                '*--dry-run[with --empty\: show what would be deleted]' \
                '*-n[with --empty\: show what would be deleted]' \
                '*--empty[permanently delete the listed files]' \
                '*--older-than[include only what runs removed at least this long ago, such as 12h or 3d]:value: ' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        restore)
            _arguments -s \
                '*--dry-run[show what would be restored]' \
                '*-n[show what would be restored]' \
                '*--force[replace existing files and objects, which are moved to the trash]' \
                '*--links[skip, follow or store symbolic links]:value:(skip follow store)' \
                '*--names[how to handle keys that cannot be file names, such as those with '\''//'\''\: skip them]:value:(skip escape)' \
                '*--run[restore the version that run N removed]:value: ' \
                '*--at[restore the version that existed at TIME\: 2026-01-31, 2026-01-31T20\:15]:value: ' \
                '*--to[restore to PATH, beneath DIR or anywhere else, instead of the original path]:file:_files' \
                '*--list[show the versions that the bucket and the trash have, and restore none]' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        undo)
            _arguments -s \
                '*--dry-run[show what would be restored]' \
                '*-n[show what would be restored]' \
                '*--force[replace files and objects that have changed since]' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        verify)
            _arguments -s \
                '*--remote[also compare with the checksums in the bucket]' \
                '*--budget[stop after TIME, such as 30m, or after P percent of the recorded files]:value: ' \
                '*--repair[download damaged files again]' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--log-file[append a log to FILE, outside of DIR]:file:_files' \
                '*--metrics-file[write metrics of the run to FILE, outside of DIR, in the Prometheus text format]:file:_files' \
                '*--html[write a page for a browser to FILE, outside of DIR]:file:_files' \
                '*--notify-url[post the summary as JSON to URL when the run ends]:value: ' \
                '*--notify-on[when to notify\: always]:value:(always failure)' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        log)
            _arguments -s \
                '*--since[show only runs that began at most TIME ago, such as 7d or 12h]:value: ' \
                '*--path[show what the runs did with PATH, relative to DIR, or with everything beneath it]:file:_files' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--html[write a page for a browser to FILE, outside of DIR]:file:_files' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        doctor)
            _arguments -s \
                '*--all[do it for each mirror of this account, as '\''osssync mirrors'\'' lists them]' \
                '*--check-write[also check that objects can be written, by starting and aborting an upload]' \
                '*--max-age[fail if the last complete run ended longer ago, such as 26h]:value: ' \
                '*--json[write one JSON object per line to stdout]' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--verbose[show each item; -vv also why some are skipped]' \
                '*-v[show each item; -vv also why some are skipped]' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        mirrors)
            _arguments -s \
                '*--max-age[fail if the last complete run of one of them ended longer ago, such as 26h]:value: ' \
                '*--json[write one JSON object per line to stdout]' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        schedule)
            _arguments -s \
                '*--delete[delete what was deleted on the other side]' \
                '*--max-delete[delete nothing if more would be (default 50%)]:value: ' \
                '*--force[pull\: replace local changes]' \
                '*--on-conflict[which version a conflict keeps (default both)]:value:(keep-both local remote skip fail)' \
                '*--checksum[find local changes by content, not by time]' \
                '*--if-locked[while another run uses DIR\: fail with status 75]:value: ' \
                '*--links[skip, follow or store symbolic links]:value:(skip follow store)' \
                '*--names[how to handle keys that cannot be file names, such as those with '\''//'\''\: skip them]:value:(skip escape)' \
                '*--no-metadata[do not store modification times and permissions in objects, and do not restore them]' \
                '*--no-empty-dirs[ignore empty directories\: create neither them nor the objects that represent them]' \
                '*--empty-dirs[mirror empty directories, whatever DIR/.osssync/config says]' \
                '*--restore[request that the store restores archived objects for DAYS]' \
                '*--trash-days[keep trash for N days (default 7)]:value: ' \
                '*--trash[where removed versions go (default local)]:value:(none local remote)' \
                '*--backup-dir[move files to PATH, outside of DIR on the same file system, before they are deleted or replaced]:file:_files' \
                '*--exclude[skip files matching GLOB (gitignore syntax)]:value: ' \
                '*--include[include files that --exclude matches]:value: ' \
                '*--exclude-from[read patterns from FILE, one per line, in gitignore syntax]:file:_files' \
                '*--files-from[limit the run to the files and directories listed in FILE]:file:_files' \
                '*--exclude-if-present[skip directories of this machine that contain a file NAME, on both sides]:value: ' \
                '*--exclude-caches[skip directories of this machine that contain a valid CACHEDIR.TAG, on both sides]' \
                '*--one-file-system[skip directories of this machine in which another file system is mounted, on both sides]' \
                '*--min-size[skip files smaller than SIZE, such as 10K, on both sides]:value: ' \
                '*--max-size[skip files larger than SIZE, such as 1G]:value: ' \
                '*--min-age[skip files changed less than TIME ago, such as 15m, on both sides]:value: ' \
                '*--max-age[skip files changed more than TIME ago, such as 30d, on both sides]:value: ' \
                '*--remote[also compare with the checksums in the bucket]' \
                '*--budget[stop after TIME, such as 30m, or after P percent of the recorded files]:value: ' \
                '*--repair[download damaged files again]' \
                '*--pull[schedule a pull]' \
                '*--push[schedule a push]' \
                '*--sync[schedule a sync]' \
                '*--verify[schedule a verify]' \
                '*--every[run at this interval, such as 15m, 1h or 1d]:value: ' \
                '*--daily[run every day at HH\:MM, local time]:value: ' \
                '*--on-calendar[run on these days of the week, such as '\''Mon..Fri 02\:30'\'' or '\''Sat,Sun 4\:00'\'']:value: ' \
                '*--system[use systemd'\''s units of the system, which also run while USER is not logged in]' \
                '*--install[install or replace the schedule]' \
                '*--remove[remove the schedule]' \
                '*--list[list the schedules\: next start, directory, command]' \
                '*--test[start the run now, in the same way as the schedule]' \
                '*--format[the system that starts the run]:value:(systemd cron launchd)' \
                '*--storage-class[write objects with this class, such as IA]:value: ' \
                '*--sse[let the store encrypt objects that are written]:value: ' \
                '*--acl[write objects with this access control list, such as private]:value: ' \
                '*--header[write objects with this header\: Cache-Control, Content-Disposition, Content-Encoding, Content-Language, Content-Type, Expires or metadata]:value: ' \
                '*--jobs[make at most N requests at once]:value: ' \
                '*-j[make at most N requests at once]:value: ' \
                '*--part-size[transfer large files in parts of SIZE, such as 8M]:value: ' \
                '*--bwlimit[transfer at most RATE per second, such as 2M]:value: ' \
                '*--max-transfer[stop once SIZE was transferred, such as 10G]:value: ' \
                '*--max-duration[stop after TIME, such as 6h]:value: ' \
                '*--quiet[show only warnings and errors]' \
                '*-q[show only warnings and errors]' \
                '*--log-file[append a log to FILE, outside of DIR]:file:_files' \
                '*--metrics-file[write metrics of the run to FILE, outside of DIR, in the Prometheus text format]:file:_files' \
                '*--html[write a page for a browser to FILE, outside of DIR]:file:_files' \
                '*--notify-url[post the summary as JSON to URL when the run ends]:value: ' \
                '*--notify-on[when to notify\: always]:value:(always failure)' \
                '*--profile[use profile NAME of the configuration file]:value: ' \
                '*--config[read profiles from FILE instead of ~/.config/osssync/config]:file:_files' \
                '*--region[the region of the bucket, such as cn-hangzhou or eu-central-1]:value: ' \
                '*--endpoint[the endpoint, such as oss-cn-hangzhou.aliyuncs.com or http\://127.0.0.1\:9000]:value: ' \
                '*--addressing[put the bucket in the host name or in the path of requests]:value:(virtual path cname auto)' \
                '*--provider[the service of an s3\:// remote, if its endpoint does not identify it]:value:(aws minio seaweedfs r2 ceph generic)' \
                '*--signature[the version of the request signatures for oss\://]:value:(v4 v1)' \
                '*--state-dir[keep the manifest and unfinished transfers in PATH instead of DIR/.osssync]:file:_files' \
                '*--ca-file[trust the certificate authorities in FILE]:file:_files' \
                '*--insecure-http[allow plain http to other hosts\: anyone on the network path can read and change everything]' \
                '*--timeout[retry a request that transfers nothing for TIME, in seconds or with a unit, such as 2m]:value: ' \
                '*--retries[retry a failed request up to N times]:value: ' \
                '*--retry-wait[wait at most TIME, in seconds or with a unit, before a retry]:value: ' \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '*:place:_osssync_place'
            ;;
        completions)
            _arguments -s \
                '*--help[show this help]' \
                '*-h[show this help]' \
                '2:shell:(bash zsh fish)'
            ;;
        help)
            _arguments -s \
                '2:topic:(init pull push sync apply watch shard finish status explain ls get put presign uploads cancel free trash restore undo verify log doctor mirrors schedule completions help configuration connection deletions exit-codes filters names scale man)'
            ;;
    esac
}
_osssync "$@"
