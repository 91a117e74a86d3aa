#!/bin/sh
# Rebuilds the sample objects with GCC and Clang. Their exact bytes do not
# matter to the tests.
set -e
cd "$(dirname "$0")"
gcc -c -O2 -gdwarf-5 -o dwarf5.o sample.c
gcc -c -O1 -gdwarf-4 -fdebug-types-section -o dwarf4_types.o sample.c
gcc -m32 -c -O1 -gdwarf-2 -gstrict-dwarf -o dwarf2_i386.o sample.c
clang -c -O2 -gdwarf-5 -ffunction-sections -o dwarf5_clang.o sample.c
gcc -c -O1 -gdwarf-5 -gdwarf64 -o dwarf5_64.o sample.c
