// Package signature tells how the functions of a program are called: which
// registers and words of the stack carry their parameters, and what they leave
// as a result.
//
// A function's own code shows which registers it makes use of (package
// callconv). A register that it only hands on is a parameter when the function
// called takes it, which is a question about that function: the answer is the
// least one that satisfies all of them, found by following what is handed on
// until a use. Parameters that are never used show in the callers, which put
// something into a register for nothing but the call.
//
// The answers do not depend on what was asked before. One question looks at a
// bounded number of functions; Limited tells when that was too few.
package signature
