package e2e

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// tunnelTraces are the built-in scenarios of tunnels, with the headers that each
// of their frames has.
var tunnelTraces = map[string]string{
	"tunnel-4in4":            "4in4 192.0.2.1>192.0.2.2",
	"tunnel-4in6":            "4in6 2001:db8::1>2001:db8::2",
	"tunnel-6in4":            "6in4 192.0.2.1>192.0.2.2",
	"tunnel-6in6":            "6in6 2001:db8::1>2001:db8::2",
	"tunnel-erspan":          "gre 192.0.2.1>192.0.2.2, erspan",
	"tunnel-erspan1":         "gre 192.0.2.1>192.0.2.2",
	"tunnel-erspan3":         "gre 192.0.2.1>192.0.2.2, erspan",
	"tunnel-geneve":          "geneve 192.0.2.1>192.0.2.2",
	"tunnel-gre":             "gre 192.0.2.1>192.0.2.2",
	"tunnel-gre-ethernet":    "gre 192.0.2.1>192.0.2.2",
	"tunnel-gre-mpls":        "gre 192.0.2.1>192.0.2.2, mpls",
	"tunnel-mpls":            "mpls, mpls",
	"tunnel-mpls-ethernet":   "mpls, mpls",
	"tunnel-nested":          "pppoe, gre 192.0.2.3>192.0.2.4, mpls, mpls, vxlan 192.0.2.7>192.0.2.8",
	"tunnel-pppoe":           "pppoe",
	"tunnel-sctp":            "vxlan 192.0.2.1>192.0.2.2",
	"tunnel-vxlan":           "vxlan 192.0.2.1>192.0.2.2",
	"tunnel-vxlan-fragments": "vxlan 2001:db8::1>2001:db8::2",
}

// writeTrace writes the trace of a script and returns its path.
func writeTrace(t *testing.T, s *synth.Script) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Run(&b, s); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tunnels is how a frame record tells its tunnels, with the ends in order.
func (r *frameRecord) tunnels() string {
	var all []string
	for _, h := range r.Tunnel {
		text := fmt.Sprint(h["kind"])
		if h["src"] != nil {
			ends := []string{fmt.Sprint(h["src"]), fmt.Sprint(h["dst"])}
			slices.Sort(ends)
			text += " " + strings.Join(ends, ">")
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// TestTunnels: what is dissected inside of tunnels is what is dissected without
// them, and each frame tells its tunnels.
func TestTunnels(t *testing.T) {
	seen := 0
	for _, s := range scenario.Builtin() {
		want, ok := tunnelTraces[s.Name]
		if strings.HasPrefix(s.Name, "tunnel-") != ok {
			t.Errorf("%s: tunnels %q", s.Name, want)
		}
		if !ok {
			continue
		}
		seen++
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			script := s.Script(false)
			inside := dissect(t, writeTrace(t, script))
			for i := range inside.frames {
				f := &inside.frames[i]
				if got := f.tunnels(); got != want && !slices.Contains(f.Notes, "ip-fragments") && f.Info != "fragment" {
					t.Fatalf("frame %d goes through %q", f.Frame, got)
				}
			}
			if script.Capture.Snaplen > 0 {
				return // other octets are left of the frames
			}
			script.Link.Tunnels = nil
			script.Link.Fragment = 0
			plain := dissect(t, writeTrace(t, script))
			if len(plain.pdus) == 0 || len(inside.pdus) != len(plain.pdus) || len(inside.transactions) != len(plain.transactions) {
				t.Fatalf("%d PDUs and %d transactions, without tunnels %d and %d",
					len(inside.pdus), len(inside.transactions), len(plain.pdus), len(plain.transactions))
			}
			for i := range plain.pdus {
				p, q := &inside.pdus[i], &plain.pdus[i]
				if p.Info != q.Info || p.Length != q.Length || p.Conn != q.Conn || p.Dir != q.Dir || fmt.Sprint(p.Fields) != fmt.Sprint(q.Fields) {
					t.Errorf("PDU %d is %s %v, without tunnels %s %v", i, p.Info, p.Fields, q.Info, q.Fields)
				}
			}
		})
	}
	if seen != len(tunnelTraces) {
		t.Errorf("%d of %d scenarios", seen, len(tunnelTraces))
	}
}

// tunnelled makes the trace of a small scenario with tunnels.
func tunnelled(t *testing.T, tunnels string) string {
	t.Helper()
	return writeTrace(t, tunnelScript(t, tunnels))
}

func tunnelScript(t *testing.T, tunnels string) *synth.Script {
	t.Helper()
	s, err := scenario.Parse("t.yaml", []byte("summary: a test\ntimeline: [connect, send 10, close]\nlink: {tunnel: "+tunnels+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s.Script(false)
}

// TestTunnels_TooDeep: eight headers are taken off, as many as a scenario can have; frames with nine are said to
// have too many, and are counted.
func TestTunnels_TooDeep(t *testing.T) {
	eight := "ip, ip, ip, ip, ip, ip, ip, ip"
	if d := dissect(t, tunnelled(t, "["+eight+"]")); len(d.pdus) == 0 || len(d.frames[0].Tunnel) != 8 {
		t.Errorf("%d PDUs through eight tunnels", len(d.pdus))
	}
	nine := tunnelScript(t, "["+eight+"]")
	nine.Link.Tunnels = append(nine.Link.Tunnels, tunnelScript(t, "vxlan").Link.Tunnels...)
	path := writeTrace(t, nine)
	for headers, tunnels := range map[int]string{
		1: "erspan1", 2: "erspan", 4: "erspan, erspan3", 5: "{kind: mpls, labels: [1, 2, 3, 4], ethernet: true}, ip", 3: "gre, vxlan, geneve", 6: "pppoe, mpls, ip, ip, ip, ip",
	} {
		script, counted := tunnelScript(t, "["+tunnels+"]"), 0
		for i := range script.Link.Tunnels {
			counted += script.Link.Tunnels[i].Headers()
		}
		if d := dissect(t, writeTrace(t, script)); len(d.frames[0].Tunnel) != headers || counted != headers {
			t.Errorf("%s: %d headers are taken off, and %d counted", tunnels, len(d.frames[0].Tunnel), counted)
		}
	}
	d := dissect(t, path)
	for i := range d.frames {
		if f := &d.frames[i]; !slices.Contains(f.Notes, "tunnel-depth") || f.Info != "malformed: tunnel-depth" || len(f.Tunnel) != 8 {
			t.Fatalf("%+v", f)
		}
	}
	_, out, _ := iwdissect(nil, "analyze", "--format", "json", path)
	if want := fmt.Sprintf(`"malformed_frames":%d`, len(d.frames)); len(d.pdus) != 0 || !bytes.Contains(out, []byte(want)) {
		t.Errorf("%d PDUs, and no %s in %s", len(d.pdus), want, out)
	}
}

// TestTunnels_Tree: the tree of all fields has the tunnels beneath the PDUs.
func TestTunnels_Tree(t *testing.T) {
	_, out, _ := iwdissect(nil, "dissect", "-V", tunnelled(t, "[{kind: gre, key: 42}, {kind: mpls, labels: 7}]"))
	const want = `
    Tunnel of frame 4: Generic Routing Encapsulation, 192.0.2.1 > 192.0.2.2
        Protocol Type: 0x8847  (gre.proto)
        Key: 0x0000002a  (gre.key)
    Tunnel of frame 4: MultiProtocol Label Switching Header
        MPLS Label: 7  (mpls.label)
`
	if n := bytes.Count(out, []byte(want)); n != 1 {
		t.Errorf("%d times in\n%s", n, out)
	}
}

// tunnelFields are the fields of tunnels that tshark has, too.
var tunnelFields = []string{
	"gre.proto", "gre.checksum", "gre.key", "gre.sequence_number", "erspan.version", "erspan.vlan", "erspan.spanid",
	"vxlan.vni", "geneve.vni", "mpls.label", "pppoe.session_id",
}

// TestTunnels_Tshark: tshark finds the same PDUs inside, and the same fields of
// the tunnels.
func TestTunnels_Tshark(t *testing.T) {
	names := slices.Sorted(maps.Keys(tunnelTraces))
	if !tracetest.Campaign() {
		some := names[:0:0] // starting tshark takes its time
		for chunk := range slices.Chunk(names, 6) {
			some = append(some, chunk[0])
		}
		names = some
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ok := scenario.Find(name)
			if !ok {
				t.Fatal("no such scenario")
			}
			path := writeTrace(t, s.Script(false))
			c := &comparison{t: t, capture: name, d: dissect(t, path), met: map[string]int{}}
			theirs := tsharkTunnels(t, path)
			same(t, "frames", len(c.d.frames), len(theirs))
			for i := range c.d.frames {
				ours := make([][]string, len(tunnelFields))
				for _, h := range c.d.frames[i].Tunnel {
					for at, name := range tunnelFields {
						if v, ok := h[name]; ok {
							ours[at] = append(ours[at], text(v))
						}
					}
				}
				for at, name := range tunnelFields {
					if got, want := strings.Join(ours[at], ","), theirs[i][at]; !sameNumbers(got, want) && c.d.frames[i].Info != "fragment" {
						t.Errorf("frame %d: %s is %q; tshark has %q", i+1, name, got, want)
					}
				}
			}
			if script := s.Script(false); script.Capture.Snaplen == 0 && !strings.Contains(string(s.Source), "sctp") {
				c.run(tshark(t, path, false))
			}
		})
	}
}

// sameNumbers compares lists of numbers, of which one may be hexadecimal.
func sameNumbers(a, b string) bool {
	as, bs := strings.Split(a, ","), strings.Split(b, ",")
	return slices.EqualFunc(as, bs, func(a, b string) bool {
		v, err := strconv.ParseUint(a, 0, 64)
		w, err2 := strconv.ParseUint(b, 0, 64)
		return a == b || err == nil && err2 == nil && v == w
	})
}

// tsharkTunnels returns the fields of each frame.
func tsharkTunnels(t *testing.T, path string) (frames [][]string) {
	t.Helper()
	program := tracetest.Tshark(t)
	args := []string{"-n", "-r", path, "-T", "fields", "-E", "separator=;"}
	for _, name := range tunnelFields {
		args = append(args, "-e", name)
	}
	cmd := exec.CommandContext(context.Background(), program, args...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		frames = append(frames, strings.Split(strings.TrimSuffix(line, "\n"), ";"))
	}
	return frames
}
