status=0
for test in tests/test_*.sh; do
  if bash "$test"; then echo "ok $test"; else echo "FAILED $test"; status=1; fi
done
exit $status
