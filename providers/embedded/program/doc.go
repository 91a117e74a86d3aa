// Package program recovers the structure of a whole native program from its
// bytes: functions, basic blocks, calls, jump tables, references and strings.
//
// The work is a sequence of stages, each a fixed point over facts the one
// before it left behind, so that the answer does not depend on the number of
// workers or on timing:
//
//   - seeds: what the file's own tables say about function starts (seeds.go);
//   - descent: decode everything that control flow reaches from them, every
//     instruction once, in parallel (descend.go);
//   - ownership: which blocks belong to which function, which calls do not
//     return, where jumps leave a function (walk.go, noreturn.go);
//   - jump tables, tail calls, split parts and pointers into code, each of
//     which may add starts or successors and send the two stages before it
//     round again (jumptable.go, promote.go, fragments.go, pointers.go);
//   - labels: code that only a symbol without a type names (labels.go);
//   - gaps: code no table and no reference leads to (gaps.go);
//   - holes: unreached code inside a function's own range (holes.go);
//   - a last pass over the owned blocks for references (refs.go) and one over
//     the data for pointers and strings (order.go, strings.go).
//
// Lists are indexed, not linked: FunctionAt, FunctionContaining and
// FunctionNamed give indices into Functions; FunctionRanges, FunctionBlocks,
// BlockEdges, CallsIn, RefsFrom and the like give slices of the flat lists, and
// RefsTo, CallsTo and Named walk their indices by target.
//
// A block ends where compilers end theirs: a call that returns does not end one
// unless it may throw, a conditional jump directly followed by another jump
// ends one together with it, and padding before an aligned block is no block.
//
// A Program is immutable and safe for concurrent use. What recovery could not
// settle is listed (Unresolved, Gaps, Notes), not filled with a guess.
package program
