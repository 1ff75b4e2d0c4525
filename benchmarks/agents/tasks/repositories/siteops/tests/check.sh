# is ACTUAL EXPECTED WHAT
is() {
  if [[ $1 != "$2" ]]; then
    printf 'not so: %s\n  got:    %s\n  wanted: %s\n' "$3" "$1" "$2" >&2
    exit 1
  fi
}
