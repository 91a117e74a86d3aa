package native_test

import (
	"testing"

	"rea/generated/fault"
	"rea/providers/enginetest"
)

func TestSearches(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "readable_name_in_any_case", tool: "search_procedures", input: `{"pattern":"FOO::"}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"address":"0x401060","name":"_ZN3foo3barEi","demangled":"foo::bar(int)","named":true,"size":32,"kind":"function","source":"symbol","returns":true}]}`},
		{name: "case_matters", tool: "search_procedures", input: `{"pattern":"FOO::","case_sensitive":true}`,
			want: `{"total":0,"offset":0,"next_offset":null,"items":[]}`},
		{name: "expression", tool: "search_procedures", input: `{"pattern":"^TWI.*e$","mode":"regex","limit":1}`,
			want: `{"total":2,"offset":0,"next_offset":1,"items":[{"address":"0x4010a0","name":"twice","demangled":null,"named":true,"size":16,"kind":"function","source":"symbol","returns":true}]}`},
		{name: "expression_case_matters", tool: "search_procedures", input: `{"pattern":"^TWI.*e$","mode":"regex","case_sensitive":true}`,
			want: `{"total":0,"offset":0,"next_offset":null,"items":[]}`},
		{name: "literal_is_no_expression", tool: "search_procedures", input: `{"pattern":"t.*e"}`,
			want: `{"total":0,"offset":0,"next_offset":null,"items":[]}`},
		{name: "control_characters_are_data", tool: "search_procedures", input: `{"pattern":"odd"}`,
			want: `{"total":1,"offset":0,"next_offset":null,"items":[{"address":"0x401080","name":"odd\u001b[31m\n","demangled":null,"named":true,"size":32,"kind":"function","source":"symbol","returns":true}]}`},
		{name: "expression_does_not_compile", tool: "search_procedures", input: `{"pattern":"a(b","mode":"regex"}`,
			code: fault.InvalidPatternCode},
		{name: "look_around_is_not_re2", tool: "search_procedures", input: `{"pattern":"(?!a)b","mode":"regex"}`,
			code: fault.InvalidPatternCode},
		{name: "unbalanced_both_ways", tool: "search_procedures", input: `{"pattern":"a)(b","mode":"regex"}`,
			code: fault.InvalidPatternCode},
		{name: "strings_with_users", tool: "search_strings", input: `{"pattern":"password"}`,
			want:        `{"total":2,"offset":0,"next_offset":null,"items":[{"string":{"address":"0x404010","value":"password","value_truncated":false,"encoding":"ascii","byte_length":8,"section":".data","uses":2},"users":[{"address":"0x401040","name":"sub_401040"},{"address":"0x401060","name":"_ZN3foo3barEi"}]},{"string":{"address":"0x404050","value":"PASSWORD of a long","value_truncated":true,"encoding":"ascii","byte_length":20,"section":".data","uses":0},"users":[]}]}`,
			limitations: []string{"strings longer than what the engine keeps of one: 1; the rest of them was not searched"}},
		{name: "strings_case_matters", tool: "search_strings", input: `{"pattern":"PASS","case_sensitive":true}`,
			want:        `{"total":1,"offset":0,"next_offset":null,"items":[{"string":{"address":"0x404050","value":"PASSWORD of a long","value_truncated":true,"encoding":"ascii","byte_length":20,"section":".data","uses":0},"users":[]}]}`,
			limitations: []string{"strings longer than what the engine keeps of one: 1; the rest of them was not searched"}},
		{name: "strings_literal_metacharacters", tool: "search_strings", input: `{"pattern":"[a-z]+("}`,
			want:        `{"total":1,"offset":0,"next_offset":null,"items":[{"string":{"address":"0x404040","value":"[a-z]+(","value_truncated":false,"encoding":"ascii","byte_length":7,"section":".data","uses":0},"users":[]}]}`,
			limitations: []string{"strings longer than what the engine keeps of one: 1; the rest of them was not searched"}},
		{name: "strings_beyond_ascii", tool: "search_strings", input: `{"pattern":"STRAßE"}`,
			want:        `{"total":1,"offset":0,"next_offset":null,"items":[{"string":{"address":"0x404030","value":"Straße","value_truncated":false,"encoding":"utf8","byte_length":7,"section":".data","uses":0},"users":[]}]}`,
			limitations: []string{"strings longer than what the engine keeps of one: 1; the rest of them was not searched"}},
		{name: "strings_invalid_expression", tool: "search_strings", input: `{"pattern":"[a-z]+(","mode":"regex"}`,
			code: fault.InvalidPatternCode},
	})
}
