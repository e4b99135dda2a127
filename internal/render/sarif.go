package render

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// The parts of SARIF 2.1.0 (OASIS, 2020) that are written once. Results are written member by
// member, see result: there may be millions.
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
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
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

// artifactURI is the URI of a capture: of a file relative to where the program was started, of an
// object its own.
func artifactURI(name string) string {
	scheme, rest, ok := strings.Cut(name, "://")
	switch {
	case ok && scheme == "https":
		return name
	case ok && scheme == "s3":
		bucket, key, _ := strings.Cut(rest, "/")
		return (&url.URL{Scheme: scheme, Host: bucket, Path: "/" + key}).String()
	}
	return (&url.URL{Path: filepath.ToSlash(name)}).String()
}

func (r *sarifReport) Capture(c *Checked) error {
	file := sarifPhysical{sarifArtifact{artifactURI(c.File)}}
	for i := range c.Findings {
		uri := file.Artifact.URI
		if of := c.placeOf(&c.Findings[i]); of.File != c.File {
			uri = artifactURI(of.File)
		}
		r.result(c, &c.Findings[i], uri)
	}
	notify := func(level, text string) {
		r.ran.Notifications = append(r.ran.Notifications, sarifNotification{level, sarifText{text}, []sarifLocation{{file}}})
	}
	if c.Failure != "" {
		r.ran.Successful = false
		notify("error", c.Failure)
	}
	if c.TooFew != "" {
		r.ran.Successful = false
		notify("error", c.TooFew)
	}
	if what := GivenUp(&c.Totals); len(what) > 0 {
		notify("warning", "to bound memory, "+strings.Join(what, ", "))
	}
	return r.out.err
}

// result writes a finding, in a line.
func (r *sarifReport) result(c *Checked, f *Finding, uri string) {
	sep := ",\n"
	if r.results == 0 {
		sep = "\n"
	}
	r.results++
	o := object{b: append(append(r.out.b, sep...), sarifResultIn...)}
	o.open()
	o.str("ruleId", f.Rule.ID)
	o.int("ruleIndex", int64(r.rule(f.Rule)))
	o.str("level", f.Severity.String())
	o.key("message")
	o.open()
	o.str("text", f.place()+": "+said(&f.Finding))
	o.close()
	locations(&o, c, f, uri)
	o.key("partialFingerprints") // a name with a version
	o.open()
	o.str("iwdissect/v1", f.Fingerprint())
	o.close()
	decided(&o, c, f)
	properties(&o, c, f)
	o.close()
	r.out.b = o.b
	r.out.done()
}

// locations says where a finding is. GitHub shows a result only where it has a line, so the
// frame counts as one: that of its own file, where several are one capture. The octets are those
// of the frame in the file.
func locations(o *object, c *Checked, f *Finding, uri string) {
	name := appendUint(append(make([]byte, 0, 64), "connection "...), f.Conn.Number)
	at := sarifPlace{uri: uri, line: c.placeOf(f).Frame, name: string(appendUint(append(name, "/frame "...), f.Frame)), kind: "frame"}
	at.octets, at.hasOctets = c.Places[f.Frame]
	at.append(o)
}

// sarifPlace is where a result is: a line of a file and the octets of it, and what it is called.
type sarifPlace struct {
	uri        string
	line       uint64
	octets     Place
	hasOctets  bool
	name, kind string
}

func (p *sarifPlace) append(o *object) {
	o.key("locations")
	o.openList()
	o.open()
	o.key("physicalLocation")
	o.open()
	o.key("artifactLocation")
	o.open()
	o.str("uri", p.uri)
	o.close()
	o.key("region")
	o.open()
	o.uint("startLine", max(p.line, 1))
	if p.hasOctets {
		o.int("byteOffset", p.octets.Offset)
		o.int("byteLength", int64(p.octets.Length))
	}
	o.close()
	o.close()
	o.key("logicalLocations")
	o.openList()
	o.open()
	o.str("fullyQualifiedName", p.name)
	o.str("kind", p.kind)
	o.close()
	o.closeList()
	o.close()
	o.closeList()
}

// decided says what was decided about a finding: with a baseline of every one
// whether it is new, with a configuration of every one whether it is suppressed.
func decided(o *object, c *Checked, f *Finding) {
	switch {
	case f.Known:
		o.str("baselineState", "unchanged")
	case c.Compared:
		o.str("baselineState", "new")
	}
	if !f.Suppressed && c.Config == "" {
		return
	}
	o.key("suppressions")
	o.openList()
	if f.Suppressed {
		o.open()
		o.str("kind", "external")
		o.str("status", "accepted")
		o.str("justification", f.Reason)
		o.close()
	}
	o.closeList()
}

// properties are what of a finding SARIF has no member for.
func properties(o *object, c *Checked, f *Finding) {
	o.key("properties")
	o.open()
	if c.Point != "" {
		o.str("point", c.Point)
	}
	o.uint("frame", f.Frame)
	o.uint("conn", f.Conn.Number)
	if f.HasDir {
		o.str("dir", f.Dir.String())
	}
	if f.HasPDU {
		o.uint("pdu", f.PDU)
	}
	if f.HasOffset {
		o.int("offset", f.Offset)
	}
	if n := f.Further(); n > 0 {
		o.int("further", int64(n))
	}
	o.close()
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
