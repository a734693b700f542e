#!/usr/bin/env bash
# Shows osssync on real files against the embedded server: a push, a change, a pull, and a 1 GiB
# transfer that is killed twice and goes on. Needs the release build; `make demo` sees to that.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=${OSSSYNC_PROGRAMS:-.build/release}
osssync() { "$programs/osssync" "$@"; }
folder=$(mktemp -d "${TMPDIR:-/tmp}/osssync-demo.XXXXXX")
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '$ %s\n' "$*"; }

# Runs osssync with JSON lines and kills it, hard, once it has moved the given number of bytes.
kill_after() {
    local bytes=$1 line finished
    shift
    coproc RUN { exec "$programs/osssync" "$@" --json; }
    local pid=$RUN_PID
    while read -r line <&"${RUN[0]}"; do
        case $line in *'"event":"progress"'*) ;; *) continue ;; esac
        finished=${line#*\"bytes_finished\":}
        finished=${finished%%[,\}]*}
        if [ "$finished" -ge "$bytes" ]; then
            kill -9 "$pid"
            echo "killed with SIGKILL after $((finished >> 20)) MiB"
            break
        fi
    done
    wait "$pid" 2>/dev/null || true
}

mkdir -p "$folder/server" "$folder/home" "$folder/photos/2026/summer"
cat > "$folder/credentials" <<'INI'
[default]
access-key-id = demo-id
access-key-secret = demo-secret
INI
chmod 600 "$folder/credentials"

say "1. A storage server of our own, on loopback"
show "osssync-server --root server --bucket demo"
exec 3< <(exec "$programs/osssync-server" --root "$folder/server" --bucket demo \
    --credentials "$folder/credentials" --region cn-demo --log "$folder/requests.jsonl")
server=$!
read -r ready <&3
url=${ready#*\"url\":\"}
url=${url%%\"*}
echo "it listens at $url"
export HOME=$folder/home OSS_ENDPOINT=$url OSS_REGION=cn-demo
export OSS_ACCESS_KEY_ID=demo-id OSS_ACCESS_KEY_SECRET=demo-secret
cd "$folder"
programs=$(cd "$OLDPWD" && cd "$programs" && pwd)

say "2. Push a directory"
for name in 'beach at dusk.jpg' 'café + friends 100%.jpg' '日本.jpg'; do
    head -c 300000 /dev/urandom > "photos/2026/summer/$name"
done
echo "remember the sunscreen" > photos/notes.txt
show "osssync push photos oss://demo/album"
osssync push photos oss://demo/album

say "3. Pull it elsewhere, and compare"
show "osssync pull copy oss://demo/album"
osssync pull copy oss://demo/album
diff -r --exclude=.osssync photos copy && echo "the trees are identical"

say "4. Change one file, rename one, delete one"
echo "and the hat" >> photos/notes.txt
mv 'photos/2026/summer/日本.jpg' 'photos/2026/japan.jpg'
rm 'photos/2026/summer/beach at dusk.jpg'
show "osssync push photos --delete"
osssync push photos --delete
show "osssync pull copy --delete"
osssync pull copy --delete
diff -r --exclude=.osssync photos copy && echo "the trees are identical"

say "5. Push a file of 1 GiB, with an accident"
head -c 1073741824 /dev/urandom > photos/film.mov
show "osssync push photos        # and kill -9 in the middle"
kill_after $((350 << 20)) push photos
show "osssync push photos        # the same command goes on"
osssync push photos

say "6. Pull it, with an accident"
show "osssync pull copy          # and kill -9 in the middle"
kill_after $((350 << 20)) pull copy
show "osssync pull copy          # the same command goes on"
osssync pull copy
cmp photos/film.mov copy/film.mov && echo "the film is identical"

say "7. Once more: nothing moves"
show "osssync push photos; osssync pull copy"
osssync push photos
osssync pull copy

say "Done. Everything was in $folder and is removed now."
