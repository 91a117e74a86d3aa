// Package doctor looks at what the program needs on this machine: engines, other
// programs, folders, settings, and how MCP clients start the server.
//
// It only looks. It starts nothing, writes nothing and asks nobody; what can't
// be known that way is reported as unknown.
package doctor

// A Level tells how good a finding is.
type Level string

const (
	OK      Level = "ok"
	Note    Level = "note"    // worth knowing; nothing is wrong
	Problem Level = "problem" // something that is set up doesn't work
)

// Report is everything that was looked at.
type Report struct {
	Program  Program   `json:"program"`
	Host     Host      `json:"host"`
	Engines  []Engine  `json:"engines"`
	Settings []Setting `json:"settings"`
	Programs []Tooling `json:"programs"`
	// Unused are kinds of program that no tool of this build uses.
	Unused  []string `json:"programs_not_used"`
	Folders []Folder `json:"folders"`
	Clients []Client `json:"clients"`
	// Skills are the guides for agents that lie where clients look for them.
	Skills []Skill `json:"skills"`
	// Abandoned are folders of engines whose server was killed.
	Abandoned []string `json:"abandoned"`
	// Interrupted tells that a run of setup was broken off.
	Interrupted bool `json:"setup_interrupted"`
	// Problems are what makes the machine unhealthy.
	Problems []string `json:"problems"`
	Healthy  bool     `json:"healthy"`
}

// Program is this build.
type Program struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	// Registrable is the path that setup would register, null when there is none.
	Registrable *string `json:"registrable_path"`
	Reason      string  `json:"reason,omitempty"`
}

// Host is the machine.
type Host struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	System       string `json:"system,omitempty"`
	Processors   int    `json:"processors"`
}

// An Engine that analyses files.
type Engine struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Version *string `json:"version"`
	// State is available or unavailable; Reason is the condition that fails.
	State        string   `json:"state"`
	Reason       string   `json:"reason,omitempty"`
	Remediation  string   `json:"remediation,omitempty"`
	Capabilities []string `json:"capabilities"`
	// Configured tells that one of its variables is set.
	Configured bool  `json:"configured"`
	Level      Level `json:"level"`
}

// A Setting is a variable of the environment that is set.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Reason string `json:"reason,omitempty"`
	Engine string `json:"engine,omitempty"` // the one that it is for
	Level  Level  `json:"level"`
}

// Tooling is an optional program that tools use.
type Tooling struct {
	Name  string   `json:"name"`
	Path  *string  `json:"path"` // null when it isn't here
	For   string   `json:"for"`
	Tools []string `json:"tools"`
}

// A Folder that is written to.
type Folder struct {
	Purpose string `json:"purpose"`
	Path    string `json:"path"`
	Exists  bool   `json:"exists"`
	Reason  string `json:"reason,omitempty"`
	// Writable is unknown where the system can't tell without writing.
	Writable string `json:"writable"`
	Level    Level  `json:"level"`
}

// A Client that can start the server.
type Client struct {
	ID            string         `json:"id"`
	Name          string         `json:"name"`
	Detected      *string        `json:"detected_by"` // null when it is not installed
	Registrations []Registration `json:"registrations"`
}

// A Skill is a file in the place of the packaged guide.
type Skill struct {
	Path string `json:"path"`
	// State is current, outdated (written by another build) or foreign (not
	// written by setup, or changed since).
	State string `json:"state"`
	Level Level  `json:"level"`
}

// A Registration in one file.
type Registration struct {
	Scope  string `json:"scope"`
	Path   string `json:"path"`
	State  string `json:"state"` // aligned, stale, missing or invalid
	Reason string `json:"reason,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Command is the vector that the client starts.
	Command  []string `json:"command_vector"`
	Disabled bool     `json:"disabled"`
	// Locked tells why setup wouldn't change the file.
	Locked string `json:"locked,omitempty"`
	Server Live   `json:"live_server"`
	Level  Level  `json:"level"`
}

// Live is the state of the server that the client runs now.
type Live struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// unknown is all that can be said without a connection.
var unknown = Live{"unknown", "only the client's own connection identifies a running server; binary_session reports it there"}
