package fields

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// columns are the values of layer fields as tshark -T fields prints them.
type columns struct {
	plan *LayerPlan
	list []*Field
	out  [][]string
}

func (c *columns) PDU(p *trace.PDU)             { c.plan.PDU(p) }
func (*columns) Transaction(*trace.Transaction) {}
func (*columns) Gap(*trace.GapEvent)            {}

func (c *columns) Frame(f *pipeline.Frame) {
	r := NewRow(len(c.list))
	c.plan.Open(f)
	c.plan.Fill(r, Early)
	c.plan.Fill(r, Late)
	c.plan.Shown()
	line := make([]string, len(c.list))
	for i, fd := range c.list {
		var b []byte
		for j, v := range r.Values(i) {
			if j > 0 {
				b = append(b, ',')
			}
			b = AppendColumn(b, fd, v)
		}
		line[i] = string(b)
	}
	c.out = append(c.out, line)
}

func ourColumns(t *testing.T, path string, list []*Field) [][]string {
	t.Helper()
	src, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	src.KeepComments(true)
	c := &columns{plan: NewLayerPlan(list), list: list}
	if src.Format() != "pcap" {
		c.plan.Interfaces = src.Interfaces
	}
	run := pipeline.New(pipeline.Options{}, c)
	var stop *capture.Error
	if err := run.Read(src); err != nil && !errors.As(err, &stop) {
		t.Fatal(err)
	}
	run.Finish()
	return c.out
}

// tsharkRows are what tshark says of captures, by their paths. It takes longest to start, so it is asked
// once for the fields of all tests.
var tsharkRows = map[string][][]string{}

// tsharkColumns are the values of fields as tshark has them.
func tsharkColumns(t *testing.T, path string, list []*Field) [][]string {
	t.Helper()
	asked := append(likeTshark(LayerFields()), iwarpNames()...)
	all, ok := tsharkRows[path]
	if !ok {
		all = askTshark(t, path, asked)
		tsharkRows[path] = all
	}
	at := make([]int, len(list))
	for i, f := range list {
		if at[i] = slices.Index(asked, f); at[i] < 0 {
			t.Fatalf("tshark is not asked for %s", f.Name)
		}
	}
	rows := make([][]string, len(all))
	for n, values := range all {
		rows[n] = make([]string, len(at))
		for i, k := range at {
			rows[n][i] = values[k]
		}
	}
	return rows
}

// askTshark asks tshark for values. The options have it see iWARP on every port.
func askTshark(t *testing.T, path string, list []*Field) [][]string {
	t.Helper()
	args := []string{"-n", "-r", path, "-o", "tcp.try_heuristic_first:TRUE", "-T", "fields", "-E", "separator=|", "-E", "occurrence=a"}
	for _, f := range list {
		args = append(args, "-e", f.Name)
	}
	cmd := exec.CommandContext(t.Context(), "tshark", args...)
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v: %s", err, told.Bytes())
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		values := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if len(values) != len(list) {
			t.Fatalf("%d values of %d fields", len(values), len(list))
		}
		rows = append(rows, values)
	}
	return rows
}

// unlike are fields that mean something else here, or whose text differs: each says why.
var unlike = map[string]string{
	"frame.protocols":            "Wireshark counts the layers that its dissectors begin, also those of payload",
	"frame.time_delta_displayed": "counted with the frames shown",
}

func likeTshark(all []*Field) (list []*Field) {
	for _, f := range all {
		if !strings.HasPrefix(f.Name, "_ws.expert") && f.Type != None && unlike[f.Name] == "" || strings.HasPrefix(f.Name, "tcp.analysis.") {
			list = append(list, f)
		}
	}
	return list
}

// TestLayers_Tshark compares the values of all fields of frame layers with tshark's.
func TestLayers_Tshark(t *testing.T) {
	tracetest.Tshark(t)
	files := tracetest.Captures(t, "../..")
	if dir := os.Getenv("IWDISSECT_CAPTURES"); dir != "" {
		more, _ := filepath.Glob(filepath.Join(dir, "*.pcap*"))
		files = append(files, more...)
	}
	list := likeTshark(LayerFields())
	for i, path := range files {
		if i%tracetest.EveryNth(12) > 0 {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			ours, theirs := ourColumns(t, path, list), tsharkColumns(t, path, list)
			if len(ours) != len(theirs) {
				t.Fatalf("%d frames, tshark has %d", len(ours), len(theirs))
			}
			bad := map[string]int{}
			for n := range ours {
				for k, f := range list {
					if ours[n][k] == theirs[n][k] || excused(filepath.Base(path), f.Name) {
						continue
					}
					if bad[f.Name]++; bad[f.Name] == 1 {
						t.Errorf("frame %d: %s is %q, tshark %q", n+1, f.Name, ours[n][k], theirs[n][k])
					}
				}
			}
			if len(bad) > 0 {
				t.Error(bad)
			}
		})
	}
}

// excuses are captures in which tshark has something else, by the beginnings of names.
var excuses = []struct{ capture, fields, why string }{
	{"", "tcp.analysis.rto", "of several copies of a segment tshark may mean another one"},
	{"net-loss", "tcp.analysis.bytes_in_flight", "guessed in the middle of losses"},
	{"net-loss", "tcp.analysis.push_bytes_sent", "as above"},
	{"sctp-late-start.pcapng", "sctp.sack_cumulative_tsn_ack", "tshark counts from a TSN that comes later"},
	{"sctp-restart.pcapng", "sctp.sack_cumulative_tsn_ack", "tshark takes a restarted association for the old one"},
	{"sctp-snaplen.pcapng", "sctp.", "tshark shows nothing of a chunk that was cut"},
	{"tunnel-", "vxlan.gbp", "tshark shows it where the flag says that it is not there"},
	{"tunnel-vxlan-fragments.pcapng", "eth.", "what is inside a datagram that was assembled is known as a packet only"},
	{"tunnel-vxlan-fragments.pcapng", "ip.", "as above"},
	{"tunnel-vxlan-fragments.pcapng", "udp.", "as above"},
	{"tunnel-vxlan-fragments.pcapng", "ipv6.", "as above"},
	{"two-interfaces.pcapng", "tcp.", "a SYN that comes late, with a clock that is off, opens another connection"},
}

func excused(capture, field string) bool {
	for _, e := range excuses {
		if strings.HasPrefix(capture, e.capture) && strings.HasPrefix(field, e.fields) {
			return true
		}
	}
	return false
}
