package bridged

import (
	"slices"

	"rea/generated/model"
)

// Words that go into results are those of the contracts, whatever a script says.

func oneOf[T ~string](said string, otherwise T, known ...T) T {
	if word := T(said); slices.Contains(known, word) {
		return word
	}
	return otherwise
}

func flowWord(said string) model.Flow {
	return oneOf(said, model.FlowInvalid, model.FlowNext, model.FlowJump, model.FlowConditionalJump, model.FlowIndirectJump,
		model.FlowCall, model.FlowIndirectCall, model.FlowReturn, model.FlowTrap, model.FlowSyscall)
}

func edgeWord(said string) model.EdgeKind {
	return oneOf(said, model.EdgeKindJump, model.EdgeKindFallthrough, model.EdgeKindTaken, model.EdgeKindNotTaken, model.EdgeKindTable, model.EdgeKindLandingPad)
}

func encodingWord(said string) model.StringEncoding {
	return oneOf(said, model.StringEncodingAscii, model.StringEncodingUTF8, model.StringEncodingUTF16LE)
}

func typeWord(said string) model.DataTypeKind {
	return oneOf(said, model.DataTypeKindOther, model.DataTypeKindBase, model.DataTypeKindPointer, model.DataTypeKindStruct, model.DataTypeKindUnion,
		model.DataTypeKindClass, model.DataTypeKindEnum, model.DataTypeKindArray, model.DataTypeKindTypedef, model.DataTypeKindFunction, model.DataTypeKindQualified)
}

func accessWord(said string) string {
	return oneOf(said, "unknown", "read", "write", "read_write", "address")
}

func itemWord(said string) string { return oneOf(said, "data", "instruction", "string", "byte") }

// count is a number of things: never below zero.
func count(n int) int64 { return int64(max(0, n)) }
