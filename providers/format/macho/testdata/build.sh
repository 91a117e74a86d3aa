#!/bin/sh
# Builds the files of this folder from src. Needs clang and lld 19, whose linker
# writes chained fixups: LLVM=/usr/lib/llvm-19/bin ./build.sh
set -eu
cd "$(dirname "$0")"
LLVM=${LLVM:-/usr/lib/llvm-19/bin}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
for arch in x86_64 arm64; do
	cc="$LLVM/clang --target=$arch-apple-macos12 -O1 -fstack-protector"
	ld="$LLVM/ld64.lld -arch $arch -platform_version macos 12.0 13.1 -adhoc_codesign"
	$cc -c src/sample.c -o "sample_$arch.o"
	$cc -fexceptions -c src/throw.cpp -o "$T/throw.o"
	$ld -dylib -install_name @rpath/sample.dylib -rpath @loader_path/lib -no_fixup_chains \
		"sample_$arch.o" src/libsample.tbd -o "sample_$arch.dylib"
	$ld -dylib -install_name @rpath/sample.dylib -fixup_chains -init_offsets \
		"sample_$arch.o" src/libsample.tbd -o "chained_$arch.dylib"
	$ld "$T/throw.o" src/libsample.tbd -o "throw_$arch"
done
$LLVM/llvm-lipo -create sample_x86_64.o sample_arm64.o -output universal.o
