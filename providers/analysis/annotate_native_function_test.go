package analysis_test

import (
	"testing"

	"rea/generated/fault"
	"rea/providers/enginetest"
)

func TestAnnotateNativeFunction(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "nothing", tool: "annotate_native_function", input: `{"procedure":"main"}`,
			want: `{"procedure":{"address":"0x401000","name":"main"},"applied":[]}`},
		{name: "all_or_none", tool: "annotate_native_function", input: `{"procedure":"main","name":"x","inline_comments":[{"address":"0x401004","comment":"a"},{"address":"0x700000","comment":"b"}]}`,
			code: fault.AddressNotMappedCode},
		{name: "still_main", tool: "inspect_address_context", input: `{"address":"0x401000"}`,
			want: `{"result":{"address":"0x401000","document":"sample","name":{"state":"available","value":"main"},"procedure":{"state":"available","value":{"address":"0x401000","name":"main","demangled":null,"named":true,"size":64,"kind":"function","source":"symbol","returns":true}},"comment":{"state":"available","value":null},"inline_comment":{"state":"available","value":null},"bookmarks":{"state":"available","value":[]},"section":{"state":"available","value":".text"},"string":{"state":"available","value":null}}}`},
		{name: "everything", tool: "annotate_native_function", input: `{"procedure":"main","name":"entry","comment":"c","bookmark":"","inline_comments":[{"address":"401004","comment":"i"},{"address":"0x401044","comment":"outside"}]}`,
			want:        `{"procedure":{"address":"0x401000","name":"entry"},"applied":[{"address":"0x401000","kind":"name","value":"entry","previous":null},{"address":"0x401000","kind":"comment","value":"c","previous":null},{"address":"0x401000","kind":"bookmark","value":"","previous":null},{"address":"0x401004","kind":"inline","value":"i","previous":null},{"address":"0x401044","kind":"inline","value":"outside","previous":null}]}`,
			limitations: []string{"the inline comment at 0x401044 lies outside of the function"}},
		{name: "replaced", tool: "annotate_native_function", input: `{"procedure":"entry","comment":"","bookmark":"b"}`,
			want: `{"procedure":{"address":"0x401000","name":"entry"},"applied":[{"address":"0x401000","kind":"comment","value":null,"previous":"c"},{"address":"0x401000","kind":"bookmark","value":"b","previous":""}]}`},
		{name: "unknown", tool: "annotate_native_function", input: `{"procedure":"nope","name":"x"}`,
			code: fault.ProcedureNotFoundCode},
		{name: "ambiguous", tool: "annotate_native_function", input: `{"procedure":"twice","name":"x"}`,
			code: fault.AmbiguousProcedureCode},
	})
}
