package ulp_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/internal/ulp"
	"github.com/iwdissect/iwdissect/trace"
)

var update = flag.Bool("update", false, "write what upper layers say of the scenarios anew")

// read reads all frames of a capture.
func read(t *testing.T, path string) []capture.Frame {
	t.Helper()
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []capture.Frame
	for {
		var fr capture.Frame
		if err := f.Next(&fr); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		fr.Data = bytes.Clone(fr.Data)
		all = append(all, fr)
	}
}

// scene makes the trace of a scenario. port, if not 0, is the one of the servers.
func scene(t *testing.T, name string, port uint16) []capture.Frame {
	t.Helper()
	s, ok := scenario.Find(name)
	if !ok {
		t.Fatalf("no scenario %s", name)
	}
	script := s.Script(false)
	if port != 0 {
		for i := range script.Connections {
			a := &script.Connections[i].Hosts[synth.Server].Addr
			*a = netip.AddrPortFrom(a.Addr(), port)
		}
	}
	var b bytes.Buffer
	if _, err := synth.Run(&b, script); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trace.pcapng")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func run(t testing.TB, fs []capture.Frame) *tracerun.Result {
	t.Helper()
	return tracerun.Run(t, pipeline.Options{Upper: ulp.New().PDU}, fs)
}

// names are the upper layers of the connections of a result, and how they were recognised.
func names(r *tracerun.Result) []string {
	var all []string
	for _, c := range r.Conns {
		if c.Upper != nil {
			all = append(all, c.Upper.Protocol+" by "+c.Upper.By.String())
		}
	}
	return all
}

// TestScenarios: what is said of each PDU of the generated traces.
func TestScenarios(t *testing.T) {
	for _, name := range []string{"ulp-nvme-rdma", "ulp-iser", "ulp-iser-rfc5046"} {
		t.Run(name, func(t *testing.T) {
			r := run(t, scene(t, name, 0))
			var out strings.Builder
			for _, p := range r.PDUs {
				what, kind := "-", p.Kind.String()
				if p.Segment != nil {
					kind = p.Control.Opcode.String()
				}
				if u := p.Upper; u != nil {
					what = string(u.Info)
					if u.Linked {
						what = "for " + what
					}
				}
				fmt.Fprintf(&out, "%d %v %s: %s\n", p.Conn.Number, p.Dir, kind, what)
			}
			for _, c := range r.Conns {
				u := c.Upper
				fmt.Fprintf(&out, "connection %d: %s by %v, %d outstanding, %d unanswered\n", c.Number, u.Protocol, u.By, u.Outstanding, u.Unanswered)
				for _, o := range u.Operations {
					fmt.Fprintf(&out, "\t%s %d, %d errors\n", o.Name, o.Latency.Count, o.Errors)
				}
			}
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), out.String()); d != "" {
				t.Errorf("(-want +got) %s", d)
			}
		})
	}
}

// TestPort: the names do not come from the port.
func TestPort(t *testing.T) {
	for name, want := range map[string][]string{
		"ulp-nvme-rdma": {"NVMe/RDMA by private data", "NVMe/RDMA by private data", "NVMe/RDMA by private data"},
		"ulp-iser":      {"iSER by content"},
	} {
		if got := names(run(t, scene(t, name, 9999))); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	// A port of another upper layer changes nothing either.
	if got := names(run(t, scene(t, "ulp-nvme-rdma", 3260))); !slices.Equal(got, slices.Repeat([]string{"NVMe/RDMA by private data"}, 3)) {
		t.Errorf("NVMe on the port of iSCSI: %v", got)
	}
	if got := names(run(t, scene(t, "ulp-iser", 4420))); !slices.Equal(got, []string{"iSER by content"}) {
		t.Errorf("iSER on the port of NVMe: %v", got)
	}
	// What is nothing is not named because of its port, once there is a message.
	for _, port := range []uint16{4420, 3260} {
		if got := names(run(t, scene(t, "sends", port))); len(got) > 0 {
			t.Errorf("Sends on port %d: %v", port, got)
		}
	}
}

// TestMiddle: a capture that starts in the middle is recognised by content, and nothing is
// called by the name of something else.
func TestMiddle(t *testing.T) {
	for name, right := range map[string]string{"ulp-nvme-rdma": "NVMe/RDMA", "ulp-iser": "iSER"} {
		all := scene(t, name, 9999)
		recognised := 0
		for from := range all {
			for _, c := range run(t, all[from:]).Conns {
				if c.Upper == nil {
					continue
				}
				recognised++
				if c.Upper.Protocol != right {
					t.Errorf("%s from frame %d on: %s", name, from+1, c.Upper.Protocol)
				}
			}
		}
		if recognised < len(all)/2 {
			t.Errorf("%s: recognised only %d times of %d", name, recognised, len(all))
		}
	}
	// From the first command of the I/O queue on: two commands suffice.
	all := scene(t, "ulp-nvme-rdma", 9999)
	for i, f := range all {
		if bytes.Contains(f.Data, []byte{0x02, 0x40, 12, 0, 1, 0, 0, 0}) {
			r := run(t, all[i:])
			if got := names(r); !slices.Equal(got, []string{"NVMe/RDMA by content", "NVMe/RDMA by private data"}) {
				t.Errorf("%v", got)
			}
			return
		}
	}
	t.Error("no Read was found")
}

// TestDamaged: captures that are cut, and octets that are changed, give no other name, and
// lines stay printable.
func TestDamaged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, right := range map[string]string{"ulp-nvme-rdma": "NVMe/RDMA", "ulp-iser": "iSER", "ulp-iser-rfc5046": "iSER"} {
		all := scene(t, name, 0)
		check := func(what string, fs []capture.Frame) {
			r := run(t, fs)
			for _, p := range r.PDUs {
				if p.Upper == nil {
					continue
				}
				if p.Upper.Protocol != right {
					t.Fatalf("%s, %s: %s", name, what, p.Upper.Protocol)
				}
				for _, c := range p.Upper.Info {
					if c < ' ' || c > '~' {
						t.Fatalf("%s, %s: %q", name, what, p.Upper.Info)
					}
				}
			}
		}
		for n := 40; n < 200; n++ {
			cut := slices.Clone(all)
			for i := range cut {
				cut[i].Data = cut[i].Data[:min(n, len(cut[i].Data))]
			}
			check(fmt.Sprintf("cut to %d octets", n), cut)
		}
		for range 100 {
			bad := slices.Clone(all)
			for range 20 {
				i := rnd.IntN(len(bad))
				d := bytes.Clone(bad[i].Data)
				for range 1 + rnd.IntN(4) {
					d[54+rnd.IntN(len(d)-53)-1] = byte(rnd.Uint32())
				}
				bad[i].Data = d
			}
			check("changed octets", bad)
		}
	}
}

// namesOf are those of the captures in which something is carried; of all others nothing may be said.
var namesOf = map[string][]string{
	"ulp-nvme-rdma-crc-cut.pcap": {"NVMe/RDMA by private data", "NVMe/RDMA by private data"},
	"ulp-nvme-rdma-crc.pcap":     {"NVMe/RDMA by private data", "NVMe/RDMA by private data"},
	// The attempt to connect to the port of iSCSI was one of iSER.
	"ulp-nfs-rdma-crc.pcap":   {"iSER by port"},
	"ulp-nvme-rdma.pcapng":    {"NVMe/RDMA by private data", "NVMe/RDMA by private data", "NVMe/RDMA by private data"},
	"ulp-iser.pcapng":         {"iSER by content"},
	"ulp-iser-rfc5046.pcapng": {"iSER by content"},
}

// TestCaptures: a name that is wrong is as bad as one that is missing. Names of upper
// layers of others are not looked at.
func TestCaptures(t *testing.T) {
	dirs := []string{"../../testdata/pcaps"}
	if dir := os.Getenv("IWDISSECT_CAPTURES"); dir != "" {
		dirs = append(dirs, dir, filepath.Join(dir, "..", "public"))
	}
	n := 0
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err != nil || ext != ".pcap" && ext != ".pcapng" {
				return err
			}
			n++
			got := slices.DeleteFunc(names(run(t, read(t, path))), func(s string) bool {
				return !strings.HasPrefix(s, "NVMe/RDMA") && !strings.HasPrefix(s, "iSER")
			})
			if d := cmp.Diff(namesOf[e.Name()], got); d != "" && len(namesOf[e.Name()])+len(got) > 0 {
				t.Errorf("%s: (-want +got) %s", path, d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 40 {
		t.Errorf("only %d captures", n)
	}
}

// TestReal holds what is said of a real host against what it was told to do: to connect,
// and to read.
func TestReal(t *testing.T) {
	r := run(t, read(t, "../../testdata/pcaps/ulp-nvme-rdma-crc-cut.pcap"))
	var got []string
	for _, c := range r.Conns {
		for _, o := range c.Upper.Operations {
			got = append(got, fmt.Sprintf("%d %s %d", c.Number, o.Name, o.Latency.Count))
		}
	}
	want := []string{"0 Fabrics Connect 1", "0 Property Get 5", "0 Property Set 2", "0 Identify 1", "1 Fabrics Connect 1", "1 Read 3"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got) %s", d)
	}
	// Everything was read into memory that a command had named, of which the controller sent
	// as much as there are blocks.
	sizes := map[uint64]uint64{}
	for _, p := range r.PDUs {
		switch u := p.Upper; {
		case u == nil:
			t.Errorf("PDU %d: nothing is said of it", p.Number)
		case u.Linked && p.Segment.Tagged && p.Dir == trace.R2I:
			sizes[u.Operation.PDU] += uint64(p.FPDU.ULPDULength) - 14
		}
	}
	for pdu, n := range sizes {
		if n != 4096 {
			t.Errorf("PDU %d: %d octets were written for it", pdu, n)
		}
	}
	if len(sizes) != 4 {
		t.Errorf("%d commands with Writes", len(sizes))
	}
}
