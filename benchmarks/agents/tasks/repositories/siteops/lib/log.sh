# Messages with a level; LOG_LEVEL says from which level on they are shown.

LOG_LEVEL=${LOG_LEVEL:-info}

log_rank() {
  case $1 in
    debug) echo 0 ;;
    info) echo 1 ;;
    warn) echo 2 ;;
    *) echo 3 ;;
  esac
}

# log LEVEL WORDS…: write a line to standard error, if the level is shown.
log() {
  local level=$1
  shift
  if (($(log_rank "$level") >= $(log_rank "$LOG_LEVEL"))); then
    printf '%s: %s\n' "$level" "$*" >&2
  fi
}

die() {
  log error "$@"
  exit 1
}
