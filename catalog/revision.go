package catalog

import (
	"runtime/debug"

	"rea/generated/catalog"
)

// Built reads version and revision of the running program from what the linker
// recorded. What it did not record is said to be unknown.
func Built() (catalog.Package, catalog.Revision) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return catalog.Package{Name: "rea", Version: "unknown"}, unknownRevision("the program holds no build information")
	}
	return fromBuildInfo(info)
}

func fromBuildInfo(info *debug.BuildInfo) (catalog.Package, catalog.Revision) {
	pkg := catalog.Package{Name: "rea", Version: info.Main.Version}
	if pkg.Version == "" {
		pkg.Version = "(devel)"
	}
	var r catalog.Revision
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			r.Commit = &s.Value
		case "vcs.time":
			r.Time = &s.Value
		case "vcs.modified":
			modified := s.Value == "true"
			r.Modified = &modified
		}
	}
	if r.Commit == nil {
		return pkg, unknownRevision("built without version control information, as by go run")
	}
	return pkg, r
}

func unknownRevision(reason string) catalog.Revision { return catalog.Revision{Reason: &reason} }
