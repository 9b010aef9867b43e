#!/bin/bash
source lib.sh
# does
foo() {
  echo 1
}
function bar { echo 2; }
if true; then
  baz() { :; }
fi
