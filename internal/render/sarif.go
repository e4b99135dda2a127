package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// The parts of SARIF 2.1.0 (OASIS, 2020) that are written.
type (
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"semanticVersion"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID       string          `json:"id"`
		Short    sarifText       `json:"shortDescription"`
		Full     sarifText       `json:"fullDescription"`
		Help     string          `json:"helpUri"`
		Default  sarifConfig     `json:"defaultConfiguration"`
		Property sarifProperties `json:"properties"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		// Fingerprints have a name with a version.
		Fingerprints  map[string]string  `json:"partialFingerprints"`
		BaselineState string             `json:"baselineState,omitempty"`
		Suppressions  []sarifSuppression `json:"suppressions,omitzero"`
		Property      sarifProperties    `json:"properties"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	// GitHub shows a result only where it has a line, so the frame counts as one. The octets are
	// those of the frame in the file.
	sarifRegion struct {
		Line   uint64 `json:"startLine,omitempty"`
		Offset *int64 `json:"byteOffset,omitempty"`
		Length *int   `json:"byteLength,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifProperties map[string]any
)

// sarifReport writes results as they come, since there may be millions. The rules that they
// name and what went wrong follow behind them: members of JSON have no order.
type sarifReport struct {
	out     output
	buf     bytes.Buffer
	enc     *json.Encoder
	results int
	driver  sarifDriver
	ran     sarifInvocation
	index   map[*conformance.Entry]int
}

// How deep in the document its parts are.
const (
	sarifRunIndent = "      "
	sarifResultIn  = sarifRunIndent + "  "
)

// NewSARIFReport writes a SARIF 2.1.0 log of one run; version is that of the
// program. A capture has no lines, so a frame stands for one, and is a logical location too.
func NewSARIFReport(w io.Writer, version string) Report {
	r := &sarifReport{
		out: output{w: w}, index: map[*conformance.Entry]int{},
		driver: sarifDriver{Name: "iwdissect", Version: version, Rules: []sarifRule{}}, ran: sarifInvocation{Successful: true},
	}
	r.enc = json.NewEncoder(&r.buf)
	r.enc.SetEscapeHTML(false) // of the > between endpoints
	r.write("{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n" +
		sarifRunIndent + "\"results\": [")
	return r
}

// write writes a part of the document as it is.
func (r *sarifReport) write(s string) {
	r.out.b = append(r.out.b, s...)
	r.out.done()
}

// value writes a value at a depth.
func (r *sarifReport) value(indent string, v any) {
	r.buf.Reset()
	r.enc.SetIndent(indent, "  ")
	if err := r.enc.Encode(v); err != nil && r.out.err == nil {
		r.out.err = err
	}
	r.out.b = append(r.out.b, bytes.TrimSuffix(r.buf.Bytes(), []byte("\n"))...)
	r.out.done()
}

// result writes a result.
func (r *sarifReport) result(v *sarifResult) {
	sep := ",\n"
	if r.results == 0 {
		sep = "\n"
	}
	r.results++
	r.write(sep + sarifResultIn)
	r.value(sarifResultIn, v)
}

// rule returns the index of a rule in the log.
func (r *sarifReport) rule(e *conformance.Entry) int {
	if i, ok := r.index[e]; ok {
		return i
	}
	i := len(r.driver.Rules)
	r.index[e] = i
	r.driver.Rules = append(r.driver.Rules, sarifRule{
		ID: e.ID, Short: sarifText{e.Statement}, Full: sarifText{why(e)}, Help: e.HelpURI(),
		Default:  sarifConfig{e.Severity.String()},
		Property: sarifProperties{"spec": e.Spec, "section": e.Section, "keyword": e.Level, "layer": e.Layer, "tags": []string{e.Layer}},
	})
	return i
}

func (r *sarifReport) Capture(c *Checked) error {
	file := sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: filepath.ToSlash(c.File)}).String()}}
	for i := range c.Findings {
		f := &c.Findings[i]
		p := sarifProperties{"frame": f.Frame, "conn": f.Conn.Number}
		if f.HasDir {
			p["dir"] = f.Dir.String()
		}
		if f.HasPDU {
			p["pdu"] = f.PDU
		}
		if f.HasOffset {
			p["offset"] = f.Offset
		}
		if n := f.Further(); n > 0 {
			p["further"] = n
		}
		result := sarifResult{
			RuleID: f.Rule.ID, RuleIndex: r.rule(f.Rule), Level: f.Severity.String(), Message: sarifText{f.place() + ": " + said(&f.Finding)},
			Locations:    []sarifLocation{{regionOf(file, c, f.Frame), []sarifLogical{{fmt.Sprintf("connection %d/frame %d", f.Conn.Number, f.Frame), "frame"}}}},
			Fingerprints: map[string]string{"iwdissect/v1": f.Fingerprint},
			Property:     p,
		}
		decide(c, f, &result)
		r.result(&result)
	}
	notify := func(level, text string) {
		r.ran.Notifications = append(r.ran.Notifications, sarifNotification{level, sarifText{text}, []sarifLocation{{Physical: file}}})
	}
	if c.Failure != "" {
		r.ran.Successful = false
		notify("error", c.Failure)
	}
	if what := GivenUp(&c.Totals); len(what) > 0 {
		notify("warning", "to bound memory, "+strings.Join(what, ", "))
	}
	return r.out.err
}

// regionOf is a file with the place of a frame in it.
func regionOf(file sarifPhysical, c *Checked, frame uint64) sarifPhysical {
	file.Region = &sarifRegion{Line: max(frame, 1)}
	if p, ok := c.Places[frame]; ok {
		file.Region.Offset, file.Region.Length = &p.Offset, &p.Length
	}
	return file
}

// decide says what was decided about a finding: with a baseline of every one
// whether it is new, with a configuration of every one whether it is suppressed.
func decide(c *Checked, f *Finding, r *sarifResult) {
	switch {
	case f.Known:
		r.BaselineState = "unchanged"
	case c.Compared:
		r.BaselineState = "new"
	}
	switch {
	case f.Suppressed:
		r.Suppressions = []sarifSuppression{{"external", "accepted", f.Reason}}
	case c.Config != "":
		r.Suppressions = []sarifSuppression{}
	}
}

func (r *sarifReport) Close() error {
	if r.results > 0 {
		r.write("\n" + sarifRunIndent)
	}
	r.write("],\n" + sarifRunIndent + "\"invocations\": ")
	r.value(sarifRunIndent, []sarifInvocation{r.ran})
	r.write(",\n" + sarifRunIndent + "\"tool\": ")
	r.value(sarifRunIndent, sarifTool{r.driver})
	r.write("\n    }\n  ]\n}\n")
	r.out.flush()
	return r.out.err
}
