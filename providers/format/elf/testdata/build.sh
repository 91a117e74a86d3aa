#!/bin/sh
# Rebuilds the sample binaries with GCC, Clang and LLD. Their exact bytes do
# not matter to the tests.
set -e
cd "$(dirname "$0")"
small="-O2 -nostdlib -fno-asynchronous-unwind-tables -Wl,-z,noseparate-code -Wl,--build-id"
gcc -shared -fPIC $small -fasynchronous-unwind-tables -Wl,-z,lazy -o shared_x86_64.elf sample.c
gcc -shared -fPIC -s $small -fasynchronous-unwind-tables -fcf-protection -Wl,-z,ibtplt,-z,now,-z,pack-relative-relocs -o ibt_x86_64.elf sample.c
gcc -m32 -shared -fPIC -s $small -o shared_i386.elf sample.c
gcc -c -O2 -fPIC -fexceptions -ffunction-sections -o object_x86_64.o sample.c
gcc -m32 -c -O2 -fno-pic -o object_i386.o sample.c
aarch64-linux-gnu-gcc -shared -fPIC -s $small -fasynchronous-unwind-tables -Wl,-z,max-page-size=4096 -mbranch-protection=standard -o shared_aarch64.elf sample.c
clang --target=mips-linux-gnu -shared -fPIC -O2 -nostdlib -fuse-ld=lld -Wl,-s -o shared_mips_be.elf sample.c
clang --target=armv7-linux-gnueabihf -shared -fPIC -O2 -nostdlib -fuse-ld=lld -Wl,-s -Wl,--pack-dyn-relocs=android -Wl,-z,max-page-size=4096 -o android_arm.elf sample.c
clang --target=x86_64-linux-gnu -shared -fPIC -O2 -nostdlib -fuse-ld=lld -Wl,-s,--pack-dyn-relocs=android+relr -Wl,-z,max-page-size=4096 -o android_x86_64.elf sample.c
clang++ --target=x86_64-linux-gnu -c -O2 -fPIC -fexceptions -o throw_x86_64.o throw.cc
ld -shared -s -z noseparate-code --eh-frame-hdr -o throw_x86_64.elf throw_x86_64.o
rm throw_x86_64.o
