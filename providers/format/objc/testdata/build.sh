#!/bin/sh
# Builds the files of this folder from src with clang and lld 19:
# LLVM=/usr/lib/llvm-19/bin ./build.sh
set -eu
cd "$(dirname "$0")"
LLVM=${LLVM:-/usr/lib/llvm-19/bin}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
for arch in x86_64 arm64; do
	cc="$LLVM/clang --target=$arch-apple-macos12"
	ld="$LLVM/ld64.lld -dylib -arch $arch -platform_version macos 12.0 13.1"
	$cc -O1 -fobjc-runtime=macosx-12 -w -c src/shapes.m -o "$T/shapes.o"
	$ld "$T/shapes.o" src/libobjc.tbd -no_fixup_chains -o "shapes_$arch.dylib"
	$cc -x assembler-with-cpp -c src/stubs.s -o "$T/stubs.o"
	relative=-objc_relative_method_lists
	[ $arch = arm64 ] || relative=-no_objc_relative_method_lists # the linker crashes on the other
	$ld "$T/shapes.o" "$T/stubs.o" src/libobjc.tbd -fixup_chains $relative -o "chained_$arch.dylib"
	$cc -c src/swift.s -o "$T/swift.o"
	$ld "$T/swift.o" -o "swift_$arch.dylib"
done
