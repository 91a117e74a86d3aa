// Swift metadata as its compiler lays it out, written by hand: a module "Demo"
// with a class Car (field wheels: Int, name: String?), nested in it an enum
// Gear with two cases, a protocol Drivable, and Car's conformance to it.
	.section __TEXT,__text,regular,pure_instructions
	.globl _main
_main:
	ret
accessor:
	ret
method_one:
	ret
method_two:
	ret

	.section __TEXT,__const
	.p2align 2
module:
	.long 0, 0
	.long module_name - .
car:
	.long 0x80000050                 // class, unique, with a virtual table
	.long module - .
	.long car_name - .
	.long accessor - .
	.long car_fields - .
	.long 0                          // no superclass
	.long 2, 10, 4, 2, 7
	.long 8, 2                       // virtual table: offset, size
	.long 0x10
	.long method_one - .
	.long 0x10
	.long method_two - .
gear:
	.long 0x52                       // enum, unique
	.long car - .
	.long gear_name - .
	.long accessor - .
	.long gear_fields - .
	.long 1, 1
drivable:
	.long 0x43                       // protocol, unique
	.long module - .
	.long drivable_name - .
	.long 0, 3
	.long associated - .
conformance:
	.long drivable - .
	.long car - .
	.long 0
	.long 0
module_name: .asciz "Demo"
car_name: .asciz "Car"
gear_name: .asciz "Gear"
drivable_name: .asciz "Drivable"
associated: .asciz "Fuel Driver"

	.section __TEXT,__swift5_typeref
car_ref:
	.byte 1
	.long car - .
	.byte 0
gear_ref:
	.byte 1
	.long gear - .
	.asciz "Sg"
int_ref: .asciz "Si"
string_ref: .asciz "SSSg"

	.section __TEXT,__swift5_reflstr
wheels: .asciz "wheels"
name: .asciz "name"
current: .asciz "gear"
neutral: .asciz "neutral"
forward: .asciz "forward"

	.section __TEXT,__swift5_fieldmd
	.p2align 2
car_fields:
	.long car_ref - ., 0
	.short 1, 12
	.long 3
	.long 2
	.long int_ref - .
	.long wheels - .
	.long 0
	.long string_ref - .
	.long name - .
	.long 2
	.long gear_ref - .
	.long current - .
gear_fields:
	.long gear_ref - ., 0
	.short 2, 12
	.long 2
	.long 0
	.long int_ref - .
	.long forward - .
	.long 0, 0
	.long neutral - .

	.section __TEXT,__swift5_types
	.p2align 2
types:
	.long car - .
	.long gear - .
	.section __TEXT,__swift5_protos
	.p2align 2
protos:
	.long drivable - .
	.section __TEXT,__swift5_proto
	.p2align 2
conformances:
	.long conformance - .
