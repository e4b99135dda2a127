package render

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"github.com/iwdissect/iwdissect/conformance"
)

// The parts of SARIF 2.1.0 (OASIS, 2020) that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
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

type sarifReport struct {
	w     io.Writer
	run   sarifRun
	index map[*conformance.Entry]int
}

// NewSARIFReport writes a SARIF 2.1.0 log of one run; version is that of the
// program. A capture has no lines, so a frame stands for one, and is a logical location too.
func NewSARIFReport(w io.Writer, version string) Report {
	return &sarifReport{
		w: w, index: map[*conformance.Entry]int{},
		run: sarifRun{
			Tool:        sarifTool{sarifDriver{Name: "iwdissect", Version: version, Rules: []sarifRule{}}},
			Invocations: []sarifInvocation{{Successful: true}},
			Results:     []sarifResult{},
		},
	}
}

// rule returns the index of a rule in the log.
func (r *sarifReport) rule(e *conformance.Entry) int {
	if i, ok := r.index[e]; ok {
		return i
	}
	i := len(r.run.Tool.Driver.Rules)
	r.index[e] = i
	r.run.Tool.Driver.Rules = append(r.run.Tool.Driver.Rules, sarifRule{
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
			RuleID: f.Rule.ID, RuleIndex: r.rule(f.Rule), Level: f.Severity.String(), Message: sarifText{place(&f.Finding) + ": " + said(&f.Finding)},
			Locations:    []sarifLocation{{regionOf(file, c, f.Frame), []sarifLogical{{fmt.Sprintf("connection %d/frame %d", f.Conn.Number, f.Frame), "frame"}}}},
			Fingerprints: map[string]string{"iwdissect/v1": f.Fingerprint},
			Property:     p,
		}
		decide(c, f, &result)
		r.run.Results = append(r.run.Results, result)
	}
	if c.Failure != "" {
		v := &r.run.Invocations[0]
		v.Successful = false
		v.Notifications = append(v.Notifications, sarifNotification{"error", sarifText{c.Failure}, []sarifLocation{{Physical: file}}})
	}
	return nil
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
	e := json.NewEncoder(r.w)
	e.SetEscapeHTML(false) // of the > between endpoints
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{r.run}})
}
