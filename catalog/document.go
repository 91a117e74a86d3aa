package catalog

import "encoding/json"

// FormatVersion of the document; it changes when a reader would have to.
const FormatVersion = 1

// A Document is the catalog, in the order in which it is written.
type Document struct {
	FormatVersion int       `json:"format_version"`
	Package       Package   `json:"package"`
	Revision      Revision  `json:"revision"`
	Digest        string    `json:"catalog_digest"`
	Families      []Family  `json:"families"`
	Tools         []Tool    `json:"tools"`
	Errors        []Fault   `json:"errors"`
	Providers     []Engine  `json:"providers"`
	Commands      []Command `json:"commands"`
}

// Package is what the catalog describes.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Revision is the source the program was built from. Commit is null, and Reason
// says why, when the build does not tell; Modified is null when it is not known
// whether the source differed from the commit.
type Revision struct {
	Commit   *string `json:"commit"`
	Time     *string `json:"time"`
	Modified *bool   `json:"modified"`
	Reason   *string `json:"reason"`
}

// A Family is a group of tools that can be switched on and off together.
type Family struct {
	Name  string   `json:"name"`
	Tools []string `json:"tools"`
}

// A Tool with its schemas as tools/list advertises them.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Family       string          `json:"family"`
	Command      string          `json:"command"`
	Requires     Requires        `json:"requires"`
	Effects      Effects         `json:"effects"`
	Annotations  Annotations     `json:"annotations"`
	Evidence     *Evidence       `json:"evidence"`
	Errors       []string        `json:"errors"`
	Examples     []Example       `json:"examples"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Compact      json.RawMessage `json:"compact_input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

// Requires is what a call needs before it can begin.
type Requires struct {
	Target         bool     `json:"target"`
	Engine         []string `json:"engine"`
	Host           []string `json:"host"`
	ClientRequired []string `json:"client_required"`
	ClientOptional []string `json:"client_optional"`
}

// Effects is what a call may do.
type Effects struct {
	RecordsEvidence     bool `json:"records_evidence"`
	ReadsTarget         bool `json:"reads_target"`
	ChangesSession      bool `json:"changes_session"`
	DiscardsData        bool `json:"discards_data"`
	WritesFiles         bool `json:"writes_files"`
	StartsProcesses     bool `json:"starts_processes"`
	ExecutesForeignCode bool `json:"executes_foreign_code"`
	MutatesDevice       bool `json:"mutates_device"`
	UsesNetwork         bool `json:"uses_network"`
	Idempotent          bool `json:"idempotent"`
}

// Annotations are the MCP hints that follow from the effects.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Evidence is what is sealed about every result.
type Evidence struct {
	PredicateType string `json:"predicate_type"`
	Confidence    string `json:"confidence"`
	Authority     string `json:"authority"`
}

// Example of an input.
type Example struct {
	Title string          `json:"title"`
	Input json.RawMessage `json:"input"`
}

// A Fault is an error code that calls can return.
type Fault struct {
	Code            string          `json:"code"`
	Category        string          `json:"category"`
	Title           string          `json:"title"`
	Description     string          `json:"description"`
	Message         string          `json:"message"`
	Retryable       bool            `json:"retryable"`
	Action          string          `json:"action"`
	RestartRequired bool            `json:"restart_required"`
	Details         json.RawMessage `json:"details_schema"`
}

// An Engine answers the questions about an opened target.
type Engine struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Version      *string  `json:"version"`
	Capabilities []string `json:"capabilities"`
}

// A Command of the command line.
type Command struct {
	Name  string `json:"name"`
	Usage string `json:"usage"`
	Help  string `json:"help"`
	Tool  string `json:"tool,omitempty"`
	Flags []Flag `json:"flags"`
}

// A Flag of a command.
type Flag struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Help     string   `json:"help"`
	Default  string   `json:"default,omitempty"`
	Enum     []string `json:"enum,omitempty"`
	Repeated bool     `json:"repeated,omitempty"`
}
