# One job at a time, by a folder that only one can make.

# lock NAME: take a lock; 1 if somebody else has it.
lock() {
  mkdir "${LOCK_ROOT:-/tmp}/$1.lock" 2>/dev/null && echo $$ >"${LOCK_ROOT:-/tmp}/$1.lock/owner"
}

unlock() {
  rm -rf "${LOCK_ROOT:-/tmp}/$1.lock"
}

# lock_owner NAME: who has it, by process id.
lock_owner() {
  cat "${LOCK_ROOT:-/tmp}/$1.lock/owner" 2>/dev/null
}

# with_lock NAME COMMAND…: run a command while holding a lock.
with_lock() {
  local name=$1 status
  shift
  lock "$name" || return 75
  "$@"
  status=$?
  unlock "$name"
  return "$status"
}
