package report

// What the text of a report reads out of the results; everything else in them
// is in the document.

type target struct {
	Path         string
	SHA256       string
	Size         int64
	Kind         string
	Format       string
	Architecture string
	Slice        *string
	Slices       []string
}

type binding struct {
	Provider struct {
		ID, Name string
		Version  *string
	}
}

type symbol struct {
	Address string
	Name    *string
}

type layout struct {
	Target struct {
		Bits        int
		Endian      string
		FileType    string `json:"file_type"`
		Machine     string
		Subtype     *string
		OS          *string
		Entry       *string
		BuildID     *string `json:"build_id"`
		Interpreter *string
		Soname      *string
		Compiler    []string
		GoVersion   *string `json:"go_version"`
		Stripped    bool
		Debug       []string
	}
	Mitigations []struct{ Name, State, Detail string }
	Libraries   []struct {
		Name        string
		DelayLoaded bool `json:"delay_loaded"`
		Weak        bool
	}
	RPaths   []string
	Sections struct {
		Total int
		Items []struct {
			Name, Type, Start                      string
			FileSize                               int64 `json:"file_size"`
			Readable, Writable, Executable, Mapped bool
			Entropy                                *float64
		}
	}
	Imports struct {
		Total int
		Items []struct {
			Name             string
			Library, Version *string
			Data             bool
		}
	}
	Exports struct {
		Total int
		Items []struct {
			Name, Address string
			Data          bool
		}
	}
}

type overview struct {
	Target struct{ Entry *symbol }
	Counts struct {
		Procedures          int
		NamedProcedures     int `json:"named_procedures"`
		Strings             int
		BasicBlocks         int   `json:"basic_blocks"`
		Instructions        int   `json:"instructions"`
		CodeBytes           int64 `json:"code_bytes"`
		CallEdges           int   `json:"call_edges"`
		UnresolvedTransfers int   `json:"unresolved_transfers"`
		References          int
	}
	Notes   []string
	Imports []struct {
		Name    string
		Library *string
		Uses    int
	}
	Largest    []procedure `json:"largest_procedures"`
	MostCalled []struct {
		Procedure symbol
		Callers   int
	} `json:"most_called"`
	Strings []struct {
		Address, Value string
		Users          []symbol
	}
}

type procedure struct {
	Address   string
	Name      string
	Demangled *string
	Size      int64
	Kind      string
}

type usedString struct {
	String struct {
		Address, Value string
	}
	Users []symbol
}
