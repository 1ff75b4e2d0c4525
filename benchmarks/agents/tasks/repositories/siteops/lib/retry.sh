# Doing things again that may fail for a while.

# backoff ATTEMPT: seconds to wait before the next attempt: 1, 2, 4, … and never more than a minute.
backoff() {
  local seconds=$((1 << ($1 - 1)))
  echo $((seconds > 60 ? 60 : seconds))
}

# retry TIMES COMMAND…: run a command until it succeeds, TIMES times at most; its last status is the result.
retry() {
  local times=$1 attempt=1 status=0
  shift
  while true; do
    "$@" && return 0
    status=$?
    ((attempt >= times)) && return "$status"
    ${RETRY_SLEEP:-sleep} "$(backoff "$attempt")"
    attempt=$((attempt + 1))
  done
}
