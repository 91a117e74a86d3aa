// Package report makes the report of a whole binary: what one wants to know of
// an unknown program before asking anything in particular.
//
// It knows nothing that the tools don't tell: [Build] calls them in the order
// in which a person would and keeps their results as they are, [Report.Text]
// sets them for a screen, [Report.JSON] is the document for programs. A part
// that could not be had is named with the reason, and the rest is still there.
package report
