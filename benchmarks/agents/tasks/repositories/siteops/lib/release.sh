# Releases side by side, and a link to the one that is live.

# activate ROOT VERSION: point the link at a release, in one step.
activate() {
  local root=$1 version=$2
  [[ -d $root/releases/$version ]] || return 1
  ln -s "releases/$version" "$root/current.new"
  mv -T "$root/current.new" "$root/current"
}

active_release() {
  basename "$(readlink "$1/current")"
}

# previous_release ROOT: the newest release before the one that is live.
previous_release() {
  ls "$1/releases" | sort -V | awk -v live="$(active_release "$1")" '$0 == live { exit } { last = $0 } END { print last }'
}
