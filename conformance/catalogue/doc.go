// Package catalogue lists the normative statements of the RFCs and drafts about iWARP,
// and interop advice: what each demands and of whom, why it matters, how it is
// checked, on what evidence, and how severe a violation is.
//
// It is kept in conformance/requirements.yaml, advisories.yaml and reasons.yaml, and
// generated as Go. Package conformance judges connections by it.
package catalogue
