# Room on disks.

# human BYTES: 1536 is 1.5K.
human() {
  awk -v bytes="$1" 'BEGIN {
    split("B K M G T", units, " ")
    place = 1
    while (bytes >= 1024 && place < 5) { bytes /= 1024; place++ }
    printf(place == 1 ? "%d%s\n" : "%.1f%s\n", bytes, units[place])
  }'
}

# biggest COUNT: of lines "BYTES NAME", the biggest.
biggest() {
  sort -k1,1nr | head -n "$1"
}

# percent USED TOTAL: whole percent, rounded up, so that full means full.
percent() {
  echo $((($1 * 100 + $2 - 1) / $2))
}
