// Package report makes a page of captures that can be mailed: one HTML file with all in it, which
// asks for nothing from anywhere.
//
// A capture is read twice. In the first reading a [Survey] gathers the diagnoses of all
// connections, and finds those that are worth a closer look. In the second one [Details] takes
// in what is drawn of these. Both keep a bounded amount for each connection. What they found is
// a [Report], which knows nothing of HTML; [Write] makes the page.
//
// All text of the page is escaped twice: what steers the order of letters as in package visible,
// and what HTML would obey by html/template.
package report
