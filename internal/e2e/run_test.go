package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/internal/schematest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

// smallCaptures holds the captures that are part of the project.
const smallCaptures = "../../testdata/pcaps"

// invalid are the outputs for programs that are not as docs/schema says, by their arguments.
var invalid sync.Map

// TestMain fails if there are any.
func TestMain(m *testing.M) {
	code := m.Run()
	invalid.Range(func(args, err any) bool {
		fmt.Printf("iwdissect %v: not as docs/schema says: %v\n", args, err)
		code = 1
		return true
	})
	os.Exit(code)
}

// iwdissect runs the product in this process.
func iwdissect(in io.Reader, args ...string) (code int, out, errOut []byte) {
	if in == nil {
		in = strings.NewReader("")
	}
	var o, e bytes.Buffer
	code = cli.Run(&cli.IOStreams{In: in, Out: &o, Err: &e, NoColor: true}, args)
	if err := schematest.Output(o.Bytes()); err != nil {
		invalid.Store(strings.Join(args, " "), err)
	}
	return code, o.Bytes(), e.Bytes()
}

// small lists the captures that are part of the project, the generated ones
// included.
func small(t *testing.T) []string {
	t.Helper()
	return append(taken(t), glob(t, generatedCaptures)...)
}

// taken lists those that were taken from real hosts.
func taken(t *testing.T) []string {
	t.Helper()
	return glob(t, smallCaptures)
}

func glob(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.pcap", "*.pcapng"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	if len(all) == 0 {
		t.Fatalf("no captures in %s", dir)
	}
	sort.Strings(all)
	return all
}

// find returns the path of a capture. It skips the test for one that is not
// part of the project when there is no directory of further ones.
func find(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(smallCaptures, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	dir := os.Getenv("IWDISSECT_CAPTURES")
	if dir == "" {
		t.Skip("not in testdata/pcaps, and IWDISSECT_CAPTURES names no directory of further captures")
	}
	for _, path := range []string{filepath.Join(dir, name), filepath.Join(dir, "..", "public", name)} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatalf("%s is not in the directory of IWDISSECT_CAPTURES", name)
	return ""
}

// The records, with every member that the contract knows. Pointers are members
// that may be absent.
type (
	frameRecord struct {
		Record    string   `json:"record"`
		Frame     int      `json:"frame"`
		Time      string   `json:"time"`
		Len       int      `json:"len"`
		Caplen    int      `json:"caplen"`
		Conn      *int     `json:"conn"`
		Dir       string   `json:"dir"`
		Src       string   `json:"src"`
		Dst       string   `json:"dst"`
		Transport string   `json:"transport"`
		PDUs      []int    `json:"pdus"`
		Carries   []part   `json:"carries"`
		Notes     []string `json:"notes"`
		Info      string   `json:"info"`
		// Tunnel has the headers of tunnels, the outermost first.
		Tunnel []map[string]any `json:"tunnel"`
	}
	part struct {
		Offset *int64 `json:"offset"`
		Length int64  `json:"length"`
		Part   string `json:"part"`
	}
	pduRecord struct {
		Record string         `json:"record"`
		PDU    int            `json:"pdu"`
		Conn   int            `json:"conn"`
		Kind   string         `json:"kind"`
		Dir    string         `json:"dir"`
		Frame  int            `json:"frame"`
		Time   string         `json:"time"`
		Frames []int          `json:"frames"`
		Offset *int64         `json:"offset"`
		Length int64          `json:"length"`
		Info   string         `json:"info"`
		Fields map[string]any `json:"fields"`
	}
	transactionRecord struct {
		Record       string `json:"record"`
		Conn         int    `json:"conn"`
		Frame        int    `json:"frame"`
		Kind         string `json:"kind"`
		RequestPDU   int    `json:"request_pdu"`
		ResponsePDUs []int  `json:"response_pdus"`
		Omitted      int    `json:"response_pdus_omitted"`
		Bytes        int64  `json:"bytes"`
		LatencyFirst int64  `json:"latency_first_ns"`
		Latency      int64  `json:"latency_ns"`
	}
	findingRecord struct {
		Rule  string `json:"rule"`
		Frame int    `json:"frame"`
		PDU   *int   `json:"pdu"`
	}
	connectionRecord struct {
		Record    string         `json:"record"`
		Conn      int            `json:"conn"`
		Transport string         `json:"transport"`
		Initiator string         `json:"initiator"`
		Responder string         `json:"responder"`
		Roles     string         `json:"roles"`
		MPA       map[string]any `json:"mpa"`
		I2R       flowRecord     `json:"i2r"`
		R2I       flowRecord     `json:"r2i"`
		End       map[string]any `json:"end"`
	}
	flowRecord struct {
		Octets     int64 `json:"octets"`
		FPDUs      int   `json:"fpdus"`
		Unframed   int64 `json:"unframed_octets"`
		Gaps       int   `json:"gaps"`
		Requests   int   `json:"requests"`
		Answered   int   `json:"answered"`
		Unanswered int   `json:"unanswered"`
		Unmatched  int   `json:"unmatched_responses"`
		Operations map[string]struct {
			Segments int `json:"segments"`
		} `json:"operations"`
	}
)

func (c *connectionRecord) flows() [2]*flowRecord { return [2]*flowRecord{&c.I2R, &c.R2I} }

// str is a field that is a string, "" when it is absent.
func (p *pduRecord) str(name string) string { s, _ := p.Fields[name].(string); return s }

// num is a field that is a number, -1 when it is absent.
func (p *pduRecord) num(name string) int64 {
	n, ok := p.Fields[name].(json.Number)
	if !ok {
		return -1
	}
	v, err := n.Int64()
	if err != nil {
		return -1
	}
	return v
}

// dissection is what the product says of a capture.
type dissection struct {
	lines        [][]byte // the records as they were printed
	kinds        []string
	frames       []frameRecord
	pdus         []pduRecord
	transactions []transactionRecord
	findings     []findingRecord
	connections  []connectionRecord
}

// frame is the record of a frame by its number.
func (d *dissection) frame(n int) *frameRecord { return &d.frames[n-1] }

func (d *dissection) connection(conn int) *connectionRecord {
	for i := range d.connections {
		if d.connections[i].Conn == conn {
			return &d.connections[i]
		}
	}
	return nil
}

// sender is the endpoint that sent a PDU.
func (d *dissection) sender(p *pduRecord) string {
	c := d.connection(p.Conn)
	if c == nil {
		return ""
	}
	if p.Dir == "r2i" {
		return c.Responder
	}
	return c.Initiator
}

var cache sync.Map // of capture to func() *dissection

// dissect runs dissect over a capture, once for all tests.
func dissect(t *testing.T, path string) *dissection {
	t.Helper()
	once, _ := cache.LoadOrStore(path, sync.OnceValues(func() (*dissection, error) {
		code, out, errOut := iwdissect(nil, "dissect", "--format", "ndjson", path)
		if code != 0 || len(errOut) > 0 {
			t.Errorf("exit code %d: %s", code, errOut)
		}
		return parse(out)
	}))
	d, err := once.(func() (*dissection, error))()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func parse(out []byte) (*dissection, error) {
	d := new(dissection)
	for line := range bytes.Lines(out) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		var kind struct {
			Record string `json:"record"`
		}
		if err := json.Unmarshal(line, &kind); err != nil {
			return nil, err
		}
		d.lines = append(d.lines, line)
		d.kinds = append(d.kinds, kind.Record)
		var err error
		switch kind.Record {
		case "frame":
			d.frames, err = appendRecord(d.frames, line)
		case "pdu":
			d.pdus, err = appendRecord(d.pdus, line)
		case "transaction":
			d.transactions, err = appendRecord(d.transactions, line)
		case "finding":
			d.findings, err = appendRecord(d.findings, line)
		case "connection":
			d.connections, err = appendRecord(d.connections, line)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

func appendRecord[T any](all []T, line []byte) ([]T, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var r T
	if err := dec.Decode(&r); err != nil {
		return nil, err
	}
	return append(all, r), nil
}
