source tests/check.sh
source lib/disk.sh

is "$(human 1536)" 1.5K "sizes are written for people"
is "$(percent 999 1000)" 100 "nearly full is full"
