// Package javascript is the family of tools that read JavaScript and Electron
// applications as they are shipped. Nothing of an application is run.
//
// # Packages
//
// From the text up; none knows one that stands below it in this list:
//
//	parse        text → syntax tree: flat nodes, exact ranges, partial on errors
//	scope        tree → what each identifier means
//	symbol       expression → path ("electron.ipcMain.handle") or constant
//	fingerprint  tree → digests that survive renaming and minification
//	bundle       tree → the modules that a bundler packed, and their wrappers
//	facts        tree → imports, exports, endpoints, keys, messages, windows
//	semantic     trees → columns of values, calls and how data flows
//	sourcemap    JSON → original names and positions
//	html         document → its scripts
//	resolve      specifier → file, over package.json
//	tree         folder or archive → files with digests
//	graph        builder of the application graph, ids, tables
//	application  all of the above → one analysis
//
// # Results
//
// An analysis (model application_analysis) has tables that everything else
// points into by index: files, locations (columns file, start, end, line) and
// provenance (extractor, authority, state, confidence, reason). Its graph has
// nodes and edges as rows; a node has an id made of its kind and its identity,
// an edge joins two nodes by index. Modules of bundles, files of code and
// original sources are nodes of the kinds javascript-module, javascript-asset
// and source-module, so a view of modules is a selection of rows by kind.
//
// The semantic graph is the same idea for the inside of programs, where there
// are a hundred times more nodes: its nodes and relations are columns of small
// integers (kind, label, start, end, function, …; kind, from, to), labels are
// indices into a table of strings, and nodes belong to the module whose range of
// rows they lie in. Ids of its nodes are made when they are asked for, from the
// digest of the module, the kind and the range.
package javascript
