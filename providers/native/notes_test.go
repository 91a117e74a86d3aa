package native_test

import (
	"testing"

	"rea/generated/fault"
	"rea/providers/enginetest"
)

func TestNotes(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "no_comment", tool: "comment", input: `{"address":"0x401000"}`,
			want: `{"address":"0x401000","comment":null}`},
		{name: "set_comment", tool: "set_comment", input: `{"address":"0x401000","comment":"entry \u001b[0m"}`,
			want: `{"address":"0x401000","comment":"entry \u001b[0m","previous":null}`},
		{name: "read_comment", tool: "comment", input: `{"address":"0x401000"}`,
			want: `{"address":"0x401000","comment":"entry \u001b[0m"}`},
		{name: "inline_is_another", tool: "inline_comment", input: `{"address":"0x401000"}`,
			want: `{"address":"0x401000","comment":null}`},
		{name: "replace_comment", tool: "set_comment", input: `{"address":"401000","comment":"b"}`,
			want: `{"address":"0x401000","comment":"b","previous":"entry \u001b[0m"}`},
		{name: "remove_comment", tool: "set_comment", input: `{"address":"401000","comment":""}`,
			want: `{"address":"0x401000","comment":null,"previous":"b"}`},
		{name: "set_inline", tool: "set_inline_comment", input: `{"address":"0x401004","comment":"loads the text"}`,
			want: `{"address":"0x401004","comment":"loads the text","previous":null}`},
		{name: "read_inline", tool: "inline_comment", input: `{"address":"0x401004"}`,
			want: `{"address":"0x401004","comment":"loads the text"}`},
		{name: "comment_where_nothing_is_mapped", tool: "set_comment", input: `{"address":"0x1","comment":"x"}`,
			code: fault.AddressNotMappedCode},
		{name: "bookmark", tool: "set_bookmark", input: `{"address":"0x401060","name":"look"}`,
			want: `{"address":"0x401060","name":"look","previous":null}`},
		{name: "bookmark_without_label", tool: "set_bookmark", input: `{"address":"0x401000"}`,
			want: `{"address":"0x401000","name":"","previous":null}`},
		{name: "bookmarks_by_address", tool: "list_bookmarks", input: `{}`,
			want: `{"bookmarks":[{"address":"0x401000","name":""},{"address":"0x401060","name":"look"}]}`},
		{name: "bookmark_again", tool: "set_bookmark", input: `{"address":"0x401060","name":"again"}`,
			want: `{"address":"0x401060","name":"again","previous":"look"}`},
		{name: "remove_bookmark", tool: "unset_bookmark", input: `{"address":"0x401060"}`,
			want: `{"address":"0x401060","removed":true,"previous":"again"}`},
		{name: "remove_bookmark_twice", tool: "unset_bookmark", input: `{"address":"0x401060"}`,
			want: `{"address":"0x401060","removed":false,"previous":null}`},
		{name: "bookmark_at_no_address", tool: "unset_bookmark", input: `{"address":"zz"}`,
			code: fault.InvalidAddressCode},
		{name: "names_all_or_none", tool: "set_names", input: `{"names":[{"address":"0x401040","name":"check"},{"address":"0x900000","name":"x"}]}`,
			code: fault.AddressNotMappedCode},
		{name: "nothing_was_applied", tool: "address_name", input: `{"address":"0x401040"}`,
			want: `{"address":"0x401040","name":null,"demangled":null,"source":null}`},
		{name: "names_one_address_twice", tool: "set_names", input: `{"names":[{"address":"0x401040","name":"a"},{"address":"401040","name":"b"}]}`,
			code: fault.InvalidRequestCode},
		{name: "names", tool: "set_names", input: `{"names":[{"address":"0x401040","name":"check"},{"address":"0x404010","name":"secret"}]}`,
			want: `{"names":[{"address":"0x401040","name":"check","previous":null},{"address":"0x404010","name":"secret","previous":null}]}`},
		{name: "analyst_name", tool: "address_name", input: `{"address":"0x401040"}`,
			want: `{"address":"0x401040","name":"check","demangled":null,"source":"analyst"}`},
		{name: "analyst_names_among_others", tool: "list_names", input: `{"kind":"analyst"}`,
			want: `{"total":2,"offset":0,"next_offset":null,"items":[{"address":"0x401040","name":"check","demangled":null,"kind":"analyst","source":"analyst","library":null},{"address":"0x404010","name":"secret","demangled":null,"kind":"analyst","source":"analyst","library":null}]}`},
		{name: "analyst_names_in_order", tool: "list_names", input: `{"offset":1,"limit":2}`,
			want: `{"total":10,"offset":1,"next_offset":3,"items":[{"address":"0x401040","name":"check","demangled":null,"kind":"analyst","source":"analyst","library":null},{"address":"0x401060","name":"_ZN3foo3barEi","demangled":"foo::bar(int)","kind":"function","source":"symbol","library":null}]}`},
		{name: "analyst_name_resolves", tool: "procedure_address", input: `{"procedure":"check"}`,
			want: `{"procedure":{"address":"0x401040","name":"check"}}`},
		{name: "remove_a_name", tool: "set_names", input: `{"names":[{"address":"0x401040","name":""}]}`,
			want: `{"names":[{"address":"0x401040","name":null,"previous":"check"}]}`},
		{name: "removed", tool: "address_name", input: `{"address":"0x401040"}`,
			want: `{"address":"0x401040","name":null,"demangled":null,"source":null}`},
	})
}

func TestCursor(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "starts_at_the_entry", tool: "current_address", input: `{}`,
			want: `{"document":"sample","address":"0x401000","name":"main"}`},
		{name: "document", tool: "current_document", input: `{}`,
			want: `{"document":"sample"}`},
		{name: "procedure", tool: "current_procedure", input: `{}`,
			want: `{"document":"sample","address":"0x401000","procedure":{"address":"0x401000","name":"main","demangled":null,"named":true,"size":64,"kind":"function","source":"symbol","returns":true}}`},
		{name: "goto", tool: "goto_address", input: `{"address":"0x401068"}`,
			want: `{"address":"0x401068","name":null,"procedure":{"address":"0x401060","name":"_ZN3foo3barEi","demangled":"foo::bar(int)","named":true,"size":32,"kind":"function","source":"symbol","returns":true}}`},
		{name: "moved", tool: "current_address", input: `{}`,
			want: `{"document":"sample","address":"0x401068","name":null}`},
		{name: "goto_refused", tool: "goto_address", input: `{"address":"0x2"}`,
			code: fault.AddressNotMappedCode},
		{name: "not_moved", tool: "current_address", input: `{}`,
			want: `{"document":"sample","address":"0x401068","name":null}`},
		{name: "in_data", tool: "goto_address", input: `{"address":"0x404020"}`,
			want: `{"address":"0x404020","name":"secret_key","procedure":null}`},
		{name: "no_procedure", tool: "current_procedure", input: `{}`,
			want: `{"document":"sample","address":"0x404020","procedure":null}`},
		{name: "references_at_the_cursor", tool: "xrefs", input: `{}`,
			want: `{"address":"0x404020","name":"secret_key","total":0,"offset":0,"next_offset":null,"items":[]}`},
	})
}
