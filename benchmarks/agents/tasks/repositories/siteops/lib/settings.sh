# Settings files with lines of key=value; comments begin with #.

# setting FILE KEY [DEFAULT]: the last value of a key.
setting() {
  local value
  value=$(grep -E "^[[:space:]]*$2[[:space:]]*=" "$1" | tail -n 1 | cut -d= -f2-)
  value=${value%%#*}
  value=$(sed -E 's/^[[:space:]]+|[[:space:]]+$//g' <<<"$value")
  echo "${value:-${3:-}}"
}

# settings_keys FILE: all keys, sorted.
settings_keys() {
  grep -vE '^[[:space:]]*(#|$)' "$1" | cut -d= -f1 | tr -d ' \t' | sort -u
}

# is_on VALUE: whether a value means yes.
is_on() {
  case ${1,,} in
    1 | yes | true | on) return 0 ;;
    *) return 1 ;;
  esac
}
