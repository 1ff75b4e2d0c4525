# Which backups to keep. Names begin with their day: 2024-05-31-site.tar.gz

# newest COUNT: of the names on standard input, the newest, newest first.
newest() {
  sort -r | head -n "$1"
}

# daily_of_month MONTH: the names of one month, such as 2024-05.
of_month() {
  grep "^$1-" || true
}

# monthly: the first backup of every month.
monthly() {
  sort | awk -F- '{ month = $1 "-" $2 } !(month in seen) { seen[month] = 1; print }'
}

# expired KEEP: the names that neither belong to the newest KEEP nor are a month's first.
expired() {
  local names
  names=$(cat)
  comm -23 <(sort <<<"$names") <({ newest "$1" <<<"$names"; monthly <<<"$names"; } | sort -u)
}
