# Versions with three numbers, such as 1.10.2.

# version_lt A B: whether A comes before B.
version_lt() {
  local -a a b
  IFS=. read -ra a <<<"$1"
  IFS=. read -ra b <<<"$2"
  local place
  for place in 0 1 2; do
    ((${a[place]:-0} < ${b[place]:-0})) && return 0
    ((${a[place]:-0} > ${b[place]:-0})) && return 1
  done
  return 1
}

# version_bump VERSION major|minor|patch: the next version.
version_bump() {
  local major minor patch
  IFS=. read -r major minor patch <<<"$1"
  case $2 in
    major) echo "$((major + 1)).0.0" ;;
    minor) echo "$major.$((minor + 1)).0" ;;
    *) echo "$major.$minor.$((patch + 1))" ;;
  esac
}

# latest: the highest version on standard input.
latest() {
  local best=0.0.0 version
  while read -r version; do
    version_lt "$best" "$version" && best=$version
  done
  echo "$best"
}
