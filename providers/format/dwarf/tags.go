package dwarf

// Tags that are read.
const (
	tagArrayType, tagClassType, tagEnumerationType, tagFormalParameter = 0x01, 0x02, 0x04, 0x05
	tagLexicalBlock, tagMember, tagPointerType, tagReferenceType       = 0x0b, 0x0d, 0x0f, 0x10
	tagCompileUnit, tagStructureType, tagSubroutineType, tagTypedef    = 0x11, 0x13, 0x15, 0x16
	tagUnionType, tagUnspecifiedParameters, tagVariant, tagInheritance = 0x17, 0x18, 0x19, 0x1c
	tagPtrToMember, tagSubrangeType, tagBaseType, tagConstType         = 0x1f, 0x21, 0x24, 0x26
	tagEnumerator, tagSubprogram, tagVariable, tagVolatileType         = 0x28, 0x2e, 0x34, 0x35
	tagVariantPart, tagRestrictType, tagNamespace, tagUnspecifiedType  = 0x33, 0x37, 0x39, 0x3b
	tagRvalueReference, tagTemplateAlias, tagAtomicType                = 0x42, 0x43, 0x47
	tagModule, tagInlinedSubroutine                                    = 0x1e, 0x1d
)
