// Package report makes a page of captures that can be mailed: one HTML file with all in it, which
// asks for nothing from anywhere.
//
// While a capture is read, a [Survey] gathers the diagnoses of all connections, and finds those
// that are worth a closer look; [Details] takes in what is drawn of connections, as far as there
// is room. A second reading adds what the first one does not have of those that are shown, such
// as the PDUs of findings. Both keep a bounded amount for each connection. What they found is a
// [Report], which knows nothing of HTML; [Write] makes the page.
//
// All text of the page is escaped twice: what steers the order of letters as in package visible,
// and what HTML would obey by html/template.
package report
