#!/bin/sh
# Builds the images of this folder from src. Needs clang, lld and llvm (any
# version from 16): LLVM=/usr/lib/llvm-19/bin ./build.sh
set -eu
cd "$(dirname "$0")"
LLVM=${LLVM:-/usr/lib/llvm-19/bin}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
build() { # name target machine extra-link-options...
	name=$1 target=$2 machine=$3
	shift 3
	$LLVM/llvm-dlltool -m "$machine" -d src/imports.def -l "$T/i.lib"
	$LLVM/llvm-dlltool -m "$machine" -d src/delayed.def -l "$T/d.lib"
	$LLVM/clang --target=$target -O1 -fms-extensions -c -Xclang -cfguard src/sample.c -o "$T/s.obj"
	$LLVM/lld-link /nologo /dll /entry:entry /nodefaultlib /out:"$name" "$@" \
		/export:by_ordinal,@20,NONAME /export:forwarded=sample_imports.imported_one \
		/delayload:sample_delayed.dll /timestamp:0 "$T/s.obj" "$T/i.lib" "$T/d.lib" /implib:"$T/x.lib"
}
build sample_x64.dll x86_64-pc-windows-msvc i386:x86-64 /guard:cf /debug /pdb:"$T/sample.pdb" /pdbaltpath:sample.pdb
build sample_arm64.dll aarch64-pc-windows-msvc arm64 /guard:cf
build sample_x86.dll i686-pc-windows-msvc i386 /guard:cf /safeseh
build sample_arm.dll thumbv7-pc-windows-msvc arm
$LLVM/llvm-dlltool -m i386:x86-64 -d src/imports.def -l "$T/i.lib"
$LLVM/clang --target=x86_64-pc-windows-msvc -c src/throw4.s -o "$T/throw4.obj"
$LLVM/lld-link /nologo /dll /entry:entry /nodefaultlib /out:throw4_x64.dll /timestamp:0 "$T/throw4.obj" "$T/i.lib" /implib:"$T/x.lib"
$LLVM/clang --target=x86_64-pc-windows-msvc -O1 -fexceptions -fcxx-exceptions -c src/throw.cpp -o throw_x64.obj
$LLVM/lld-link /nologo /dll /entry:entry /nodefaultlib /out:throw_x64.dll /timestamp:0 throw_x64.obj "$T/i.lib" /implib:"$T/x.lib"
