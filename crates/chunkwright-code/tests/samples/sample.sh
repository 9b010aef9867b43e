#!/usr/bin/env bash
# Копии: makes copies of a folder.
set -euo pipefail

source ./lib.sh
. /etc/profile

readonly NAME="копия"
targets=(
  one
  two
)

# Prints what went wrong.
die() {
  echo "$NAME: $*" >&2
  exit 1
}

function usage {
  cat <<EOF
usage: $0 FOLDER
EOF
}

function copy() {
  local from=$1
  inner() {
    echo "$from"
  }
  for target in "${targets[@]}"; do
    # each has its own
    cp -r "$from" "$target"
    inner
  done
  case "$from" in
    /*) echo absolute ;;
    *)
      echo relative
      ;;
  esac
}

if [[ -n "${DEBUG:-}" ]]; then
  debug() {
    echo "$@"
  }
else
  debug() { :; }
fi

subshell() (
  cd /
  ls
)

while getopts "hn:" option; do
  case $option in
    h) usage ;;
    n) NAME=$OPTARG ;;
  esac
done

copy "$@"
