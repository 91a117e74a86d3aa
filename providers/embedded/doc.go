// Package embedded is the analysis engine that is always there: pure Go, for
// ELF, PE and Mach-O files of x86, x86-64 and AArch64 code.
//
// Opening binds it to a parsed image and costs nothing more. The first question
// about functions runs the whole-program analysis of package program, once;
// questions that come meanwhile wait for the same run and see its progress, and
// when all who wait have given up, the run stops.
//
// The engine holds no analyst state and has no decompiler. Names set by the
// analyst are shown in place of its own.
package embedded
