package analysis_test

import (
	"testing"

	"rea/generated/fault"
	"rea/providers/enginetest"
)

func TestNavigationContext(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "selection", tool: "get_navigation_context", input: `{}`,
			want: `{"result":{"mode":"current_selection","document":"sample","address":"0x401000","name":"main","procedure":{"address":"0x401000","name":"main","demangled":null,"named":true,"size":64,"kind":"function","source":"symbol","returns":true},"modes":{"current_selection":{"available":true,"reason":null},"explicit_document":{"available":true,"reason":null}}}}`},
		{name: "document", tool: "get_navigation_context", input: `{"document":"sample"}`,
			want: `{"result":{"mode":"explicit_document","document":"sample","address":"0x401000","name":"main","procedure":{"address":"0x401000","name":"main","demangled":null,"named":true,"size":64,"kind":"function","source":"symbol","returns":true},"modes":{"current_selection":{"available":true,"reason":null},"explicit_document":{"available":true,"reason":null}}}}`},
		{name: "wrong_document", tool: "get_navigation_context", input: `{"document":"x"}`,
			code: fault.DocumentNotFoundCode},
	})
}

func TestAddressContext(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "annotate", tool: "annotate_native_function", input: `{"procedure":"main","comment":"start","inline_comments":[{"address":"0x401004","comment":"text"}],"bookmark":"here","name":"start_here"}`,
			want: `{"procedure":{"address":"0x401000","name":"start_here"},"applied":[{"address":"0x401000","kind":"name","value":"start_here","previous":null},{"address":"0x401000","kind":"comment","value":"start","previous":null},{"address":"0x401000","kind":"bookmark","value":"here","previous":null},{"address":"0x401004","kind":"inline","value":"text","previous":null}]}`},
		{name: "function_entry", tool: "inspect_address_context", input: `{"address":"0x401000"}`,
			want: `{"result":{"address":"0x401000","document":"sample","name":{"state":"available","value":"start_here"},"procedure":{"state":"available","value":{"address":"0x401000","name":"start_here","demangled":null,"named":true,"size":64,"kind":"function","source":"symbol","returns":true}},"comment":{"state":"available","value":"start"},"inline_comment":{"state":"available","value":null},"bookmarks":{"state":"available","value":[{"address":"0x401000","name":"here"}]},"section":{"state":"available","value":".text"},"string":{"state":"available","value":null}}}`},
		{name: "inside_of_a_string", tool: "inspect_address_context", input: `{"address":"404012"}`,
			want: `{"result":{"address":"0x404012","document":"sample","name":{"state":"available","value":null},"procedure":{"state":"available","value":null},"comment":{"state":"available","value":null},"inline_comment":{"state":"available","value":null},"bookmarks":{"state":"available","value":[]},"section":{"state":"available","value":".data"},"string":{"state":"available","value":"password"}}}`},
		{name: "inline", tool: "inspect_address_context", input: `{"address":"0x401004"}`,
			want: `{"result":{"address":"0x401004","document":"sample","name":{"state":"available","value":null},"procedure":{"state":"available","value":{"address":"0x401000","name":"start_here","demangled":null,"named":true,"size":64,"kind":"function","source":"symbol","returns":true}},"comment":{"state":"available","value":null},"inline_comment":{"state":"available","value":"text"},"bookmarks":{"state":"available","value":[]},"section":{"state":"available","value":".text"},"string":{"state":"available","value":null}}}`},
		{name: "not_mapped", tool: "inspect_address_context", input: `{"address":"0x1"}`,
			code: fault.AddressNotMappedCode},
		{name: "bad_address", tool: "inspect_address_context", input: `{"address":"0xZZ"}`,
			code: fault.InvalidAddressCode},
	})
}
