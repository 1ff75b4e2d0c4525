# Figures from access logs: ADDRESS - - [TIME] "METHOD PATH PROTOCOL" STATUS BYTES

# by_status: requests of each status, sorted by status.
by_status() {
  awk -F'"' '{ split($3, rest, " "); count[rest[1]]++ } END { for (status in count) print status, count[status] }' | sort
}

# top_paths COUNT: the paths asked for most.
top_paths() {
  awk -F'"' '{ split($2, request, " "); print request[2] }' | sort | uniq -c | sort -k1,1nr -k2 | head -n "$1" |
    awk '{ print $2, $1 }'
}

# traffic: bytes sent in all.
traffic() {
  awk '{ if ($NF ~ /^[0-9]+$/) total += $NF } END { print total + 0 }'
}

# visitors: how many addresses asked.
visitors() {
  cut -d' ' -f1 | sort -u | grep -c . || true
}
