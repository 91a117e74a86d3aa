package native_test

import (
	"testing"

	"rea/generated/fault"
	"rea/providers/enginetest"
)

func TestReadBytes(t *testing.T) {
	run(t, enginetest.Sample(), []call{
		{name: "complete", tool: "read_bytes", input: `{"address":"0x404000","length":12}`,
			want: `{"address":"0x404000","requested":12,"returned":12,"complete":true,"reason":null,"bytes":"75736167653a202573000000","ascii":"usage: %s..."}`},
		{name: "into_the_zero_filled_part", tool: "read_bytes", input: `{"address":"0x404070","length":32}`,
			want:        `{"address":"0x404070","requested":32,"returned":16,"complete":false,"reason":"the file stores nothing for 0x404080: the loader fills it with zeros","bytes":"00000000000000000000000000000000","ascii":"................"}`,
			limitations: []string{"the file stores nothing for 0x404080: the loader fills it with zeros"}},
		{name: "over_the_end_of_a_segment", tool: "read_bytes", input: `{"address":"0x4011fc","length":8}`,
			want:        `{"address":"0x4011fc","requested":8,"returned":4,"complete":false,"reason":"nothing is mapped at 0x401200","bytes":"90909090","ascii":"...."}`,
			limitations: []string{"nothing is mapped at 0x401200"}},
		{name: "nothing_stored", tool: "read_bytes", input: `{"address":"0x4040ff","length":8}`,
			want:        `{"address":"0x4040ff","requested":8,"returned":0,"complete":false,"reason":"the file stores nothing for 0x4040ff: the loader fills it with zeros","bytes":"","ascii":""}`,
			limitations: []string{"the file stores nothing for 0x4040ff: the loader fills it with zeros"}},
		{name: "not_mapped", tool: "read_bytes", input: `{"address":"0x4040ff0"}`,
			code: fault.AddressNotMappedCode},
	})
}
