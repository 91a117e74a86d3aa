package native_test

import (
	"testing"

	"rea/generated/fault"
	"rea/providers/enginetest"
)

func TestLists(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "documents", tool: "list_documents", input: `{}`,
			want: `{"documents":["sample"]}`},
		{name: "segments", tool: "list_segments", input: `{}`,
			want: `{"segments":[{"name":"LOAD","start":"0x401000","end":"0x401200","file_offset":4096,"file_size":512,"readable":true,"writable":false,"executable":true,"provenance":"program headers","sections":[{"name":".text","type":"SHT_PROGBITS","start":"0x401000","end":"0x401200","file_offset":4096,"file_size":512,"readable":true,"writable":false,"executable":true,"mapped":true,"entropy":null}]},{"name":"LOAD","start":"0x404000","end":"0x404100","file_offset":8192,"file_size":128,"readable":true,"writable":true,"executable":false,"provenance":"program headers","sections":[{"name":".data","type":"SHT_PROGBITS","start":"0x404000","end":"0x404080","file_offset":8192,"file_size":128,"readable":true,"writable":true,"executable":false,"mapped":true,"entropy":null}]}],"unmapped_sections":[]}`},
		{name: "names_first_page", tool: "list_names", input: `{"limit":2}`,
			want: `{"total":8,"offset":0,"next_offset":2,"items":[{"address":"0x401000","name":"main","demangled":null,"kind":"function","source":"symbol","library":null},{"address":"0x401060","name":"_ZN3foo3barEi","demangled":"foo::bar(int)","kind":"function","source":"symbol","library":null}]}`},
		{name: "names_at_an_address", tool: "list_names", input: `{"address":"404020"}`,
			want: `{"total":2,"offset":0,"next_offset":null,"items":[{"address":"0x404020","name":"secret_key","demangled":null,"kind":"object","source":"symbol","library":null},{"address":"0x404020","name":"secret_key_alias","demangled":null,"kind":"export","source":"export","library":null}]}`},
		{name: "names_at_an_address_of_a_kind", tool: "list_names", input: `{"address":"404020","kind":"export"}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"address":"0x404020","name":"secret_key_alias","demangled":null,"kind":"export","source":"export","library":null}]}`},
		{name: "names_of_a_kind", tool: "list_names", input: `{"kind":"import"}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"address":"0x404078","name":"puts","demangled":null,"kind":"import","source":"import","library":"libc.so.6"}]}`},
		{name: "names_behind_the_end", tool: "list_names", input: `{"offset":8}`,
			want: `{"total":8,"offset":8,"next_offset":null,"items":[]}`},
		{name: "names_offset_of_any_size", tool: "list_names", input: `{"offset":1000000000,"limit":500}`,
			want: `{"total":8,"offset":1000000000,"next_offset":null,"items":[]}`},
		{name: "names_at_no_address", tool: "list_names", input: `{"address":"0x"}`,
			code: fault.InvalidAddressCode},
		{name: "thunks", tool: "list_procedures", input: `{"kind":"thunk"}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"address":"0x4010b0","name":"twice","demangled":null,"named":true,"size":16,"kind":"thunk","source":"symbol","returns":true}]}`},
		{name: "unnamed", tool: "list_procedures", input: `{"named":false}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"address":"0x401040","name":"sub_401040","demangled":null,"named":false,"size":32,"kind":"function","source":"call_target","returns":true}]}`},
		{name: "last_page", tool: "list_procedures", input: `{"offset":6,"limit":1}`,
			want: `{"total":7,"offset":6,"next_offset":null,"items":[{"address":"0x401100","name":"puts","demangled":null,"named":true,"size":16,"kind":"import_stub","source":"import","returns":true}]}`},
		{name: "page_before_the_last", tool: "list_procedures", input: `{"offset":5,"limit":1}`,
			want: `{"total":7,"offset":5,"next_offset":6,"items":[{"address":"0x4010b0","name":"twice","demangled":null,"named":true,"size":16,"kind":"thunk","source":"symbol","returns":true}]}`},
		{name: "used_strings", tool: "list_strings", input: `{"used":true}`,
			want: `{"total":2,"offset":0,"next_offset":null,"items":[{"address":"0x404000","value":"usage: %s","value_truncated":false,"encoding":"ascii","byte_length":9,"section":".data","uses":1},{"address":"0x404010","value":"password","value_truncated":false,"encoding":"ascii","byte_length":8,"section":".data","uses":2}]}`},
		{name: "string_at_an_address", tool: "list_strings", input: `{"address":"0x404030"}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"address":"0x404030","value":"Straße","value_truncated":false,"encoding":"utf8","byte_length":7,"section":".data","uses":0}]}`},
		{name: "strings_of_an_encoding", tool: "list_strings", input: `{"min_length":4,"encoding":"utf16le"}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"address":"0x404068","value":"abcd","value_truncated":false,"encoding":"utf16le","byte_length":8,"section":".data","uses":0}]}`},
		{name: "long_strings", tool: "list_strings", input: `{"min_length":10}`,
			want:        `{"total":1,"offset":0,"next_offset":null,"items":[{"address":"0x404050","value":"PASSWORD of a long","value_truncated":true,"encoding":"ascii","byte_length":20,"section":".data","uses":0}]}`,
			limitations: []string{"5 strings of fewer than 10 bytes are left out; min_length 1 lists them"}},
		{name: "strings_at_no_address", tool: "list_strings", input: `{"address":"g"}`,
			code: fault.InvalidAddressCode},
	})
}
