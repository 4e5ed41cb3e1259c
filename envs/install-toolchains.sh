#!/usr/bin/env bash
# Installs what MultiPL-E's programs are compiled and run with, and the sandbox that they run in: Debian's packages and, from
# npm, TypeScript. What is there stays as it is. With --check only says what is missing, and exits with 1 if anything is.
set -euo pipefail

TYPESCRIPT=5.9.3
# program or file | Debian's package
NEEDED="
bwrap            bubblewrap
prlimit          util-linux
python3          python3
g++              g++
javac            openjdk-17-jdk-headless
java             openjdk-17-jdk-headless
/usr/share/java/javatuples.jar  libjavatuples-java
php              php-cli
node             nodejs
npm              npm
mcs              mono-mcs
mono             mono-runtime
/usr/lib/mono/4.5/System.Core.dll      libmono-system-core4.0-cil
/usr/lib/mono/4.5/System.Numerics.dll  libmono-system-numerics4.0-cil
bash             bash
"

there() { [ -e "$1" ] || command -v "$1" >/dev/null; }

missing=()
while read -r item package; do
  if [ -n "$item" ] && ! there "$item"; then
    echo "missing: $item ($package)"
    missing+=("$package")
  fi
done <<<"$NEEDED"
there tsc || echo "missing: tsc (npm: typescript@$TYPESCRIPT)"

if [ "${1:-}" = --check ]; then
  [ ${#missing[@]} = 0 ] && there tsc
  exit
fi
if [ ${#missing[@]} != 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
there tsc || npm install --global --silent --no-fund --no-audit "typescript@$TYPESCRIPT"
