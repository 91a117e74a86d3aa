package evidence

import (
	"maps"
	"slices"

	"rea/generated/model"
)

// The operations that have views.
const (
	layoutOperation      = "inspect_binary_layout"
	applicationOperation = "analyze_javascript_application"
	dossierOperation     = "analyze_function"
)

// viewsOf says which views the results of an operation have, and where in the
// result the facts of each lie.
var viewsOf = map[string]map[model.AnalysisView]view{
	layoutOperation: {
		model.AnalysisViewSummary:     overview{members{"target", "mitigations", "libraries", "rpaths"}, []page{"exports", "imports", "relocations", "sections", "segments", "symbols"}},
		model.AnalysisViewSegments:    page("segments"),
		model.AnalysisViewSections:    page("sections"),
		model.AnalysisViewSection:     row{"sections", model.AnalysisViewSections},
		model.AnalysisViewSymbols:     page("symbols"),
		model.AnalysisViewSymbol:      row{"symbols", model.AnalysisViewSymbols},
		model.AnalysisViewImports:     page("imports"),
		model.AnalysisViewExports:     page("exports"),
		model.AnalysisViewRelocations: page("relocations"),
		model.AnalysisViewMitigations: page("mitigations"),
		model.AnalysisViewLinkage:     members{"libraries", "rpaths"},
	},
	applicationOperation: {
		model.AnalysisViewSummary: applicationSummary{},
		model.AnalysisViewModules: applicationModules{},
		model.AnalysisViewModule:  applicationModule{},
	},
	dossierOperation: {
		model.AnalysisViewSummary: overview{
			members{"procedure", "classification", "signature", "figures", "ranges", "source_file"},
			[]page{
				"assembly", "basic_blocks", "callees", "callers", "comments", "incoming_references", "outgoing_references",
				"referenced_names", "referenced_strings", "unresolved_calls",
			},
		},
		model.AnalysisViewProcedure:          member("procedure"),
		model.AnalysisViewPseudocode:         code("pseudocode"),
		model.AnalysisViewAssembly:           page("assembly"),
		model.AnalysisViewBasicBlocks:        page("basic_blocks"),
		model.AnalysisViewComments:           page("comments"),
		model.AnalysisViewCallers:            page("callers"),
		model.AnalysisViewCallees:            page("callees"),
		model.AnalysisViewIncomingReferences: page("incoming_references"),
		model.AnalysisViewOutgoingReferences: page("outgoing_references"),
		model.AnalysisViewUnresolvedCalls:    page("unresolved_calls"),
		model.AnalysisViewReferencedStrings:  page("referenced_strings"),
		model.AnalysisViewReferencedNames:    page("referenced_names"),
		model.AnalysisViewNativeAPI:          member("native_api"),
	},
}

// Viewed are the operations whose records have views, sorted.
func Viewed() []string { return slices.Sorted(maps.Keys(viewsOf)) }

func viewNames(views map[model.AnalysisView]view) []string {
	names := make([]string, 0, len(views))
	for name := range views {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}
