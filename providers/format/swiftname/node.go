package swiftname

// kind is what a node stands for.
type kind int

const (
	// Names.
	kIdentifier kind = iota + 1
	kModule
	kOperator // text is the operator, index its place: infix, prefix, postfix
	kPrivateName
	kLocalName
	kRelatedName
	// Types that have a name.
	kClass
	kStruct
	kEnum
	kProtocol
	kAlias
	kOtherNominal
	// Other types.
	kBuiltin
	kBound // nominal, then one kList for each level from the innermost
	kFunctionType
	kTuple
	kMetatype
	kExistentialMetatype
	kProtocols // and, as second child, a superclass or AnyObject
	kParam     // generic parameter; text is its name
	kMember    // member type of a generic parameter
	kGeneric   // signature, type
	kWrapped   // text is written before its type
	kSelf
	kOpaque
	kReturned // the opaque result of the entity that holds it
	kImplFunction
	kSugar
	kBox
	// Contexts and entities.
	kExtension
	kFunction
	kVariable
	kSubscript
	kAccessor // text is its word
	kAllocator
	kConstructor
	kDeallocator
	kDestructor
	kSimpleEntity // text is its name
	kClosure
	kInitializer
	kDefaultArgument
	kStatic
	kDeclared // "text entity", for thunks and descriptors that are entities
	// Pieces.
	kEmptyList
	kFirst
	kVariadic
	kLabels
	kElement
	kList
	kThrows
	kAsync
	kSendable
	kActor
	kFunctionFlag
	kSignature
	kRequirement
	kConformance
	kRetroactive
	kAttribute // text is written before the entity
	kText
	kSequence
	kImplPart
)

// node is an element of the stack. What its children are depends on the kind.
type node struct {
	kind     kind
	text     string
	index    int
	children []*node
}

func (n *node) child(i int) *node {
	if n == nil || i >= len(n.children) {
		return nil
	}
	return n.children[i]
}

// find is the first child of a kind, or nil.
func (n *node) find(k kind) *node {
	for _, c := range n.children {
		if c != nil && c.kind == k {
			return c
		}
	}
	return nil
}

func isNominal(k kind) bool { return k >= kClass && k <= kOtherNominal }

func isType(k kind) bool { return k >= kClass && k <= kBox }

func isContext(k kind) bool {
	return isNominal(k) || k == kModule || k >= kExtension && k <= kStatic || k == kBound
}

func isEntity(k kind) bool {
	return isNominal(k) || k >= kExtension && k <= kDeclared
}

func isName(k kind) bool { return k == kIdentifier || k >= kOperator && k <= kRelatedName }
