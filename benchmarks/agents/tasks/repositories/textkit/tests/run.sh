set -e
mkdir -p build
(cd build && cc -std=c11 -Wall -Wextra -I../include -c ../src/*.c)
for test in tests/test_*.c; do
  program=build/$(basename "$test" .c)
  cc -std=c11 -Wall -Wextra -Iinclude -o "$program" "$test" build/*.o
  "$program"
  echo "ok $test"
done
