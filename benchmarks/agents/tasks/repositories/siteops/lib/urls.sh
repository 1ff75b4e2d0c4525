# Addresses of pages.

# url_host URL: host without port.
url_host() {
  local rest=${1#*://}
  rest=${rest%%/*}
  echo "${rest%%:*}"
}

# url_encode TEXT: everything but letters, digits and -._~ as %XX.
url_encode() {
  local text=$1 out="" letter at
  for ((at = 0; at < ${#text}; at++)); do
    letter=${text:at:1}
    case $letter in
      [a-zA-Z0-9.~_-]) out+=$letter ;;
      *) out+=$(printf '%%%02X' "'$letter") ;;
    esac
  done
  echo "$out"
}

# url_join BASE PATH: one slash between them.
url_join() {
  echo "${1%/}/${2#/}"
}
