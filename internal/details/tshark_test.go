package details

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// written is what a form writes of a capture.
func written(t testing.TB, path string, f Form) []byte {
	t.Helper()
	src, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	src.KeepComments(true)
	var out bytes.Buffer
	s := NewSink(&out, Options{Form: f}, nil)
	if src.Format() == "pcap" {
		s.Capture(filepath.Base(path), nil)
	} else {
		s.Capture(filepath.Base(path), src.Interfaces)
	}
	run := pipeline.New(pipeline.Options{}, s)
	var stop *capture.Error
	if err := run.Read(src); err != nil && !errors.As(err, &stop) {
		t.Fatal(err)
	}
	run.Finish()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// flat are the members of a JSON document, in order, members that come twice too: paths
// with the values. Arrays take their numbers into the path.
func flat(t *testing.T, doc []byte) (packets [][]string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var walk func(path string, emit func(string))
	walk = func(path string, emit func(string)) {
		tok, err := d.Token()
		if err != nil {
			t.Fatalf("%v in %q", err, doc[max(0, int(d.InputOffset())-200):min(len(doc), int(d.InputOffset())+50)])
		}
		switch tok {
		case json.Delim('{'):
			for d.More() {
				key, _ := d.Token()
				walk(path+"/"+key.(string), emit)
			}
			d.Token()
		case json.Delim('['):
			for i := 0; d.More(); i++ {
				if path == "" {
					var one []string
					walk("_", func(s string) { one = append(one, s) })
					packets = append(packets, one)
					continue
				}
				walk(fmt.Sprintf("%s[%d]", path, i), emit)
			}
			d.Token()
		default:
			emit(fmt.Sprintf("%s = %v", path, tok))
		}
	}
	walk("", nil)
	return packets
}

func tsharkPath(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("IWDISSECT_TSHARK") == "required" {
			t.Fatal("tshark is not installed, and IWDISSECT_TSHARK says required")
		}
		t.Skip("tshark is not installed")
	}
	return program
}

func tshark(t testing.TB, args ...string) []byte {
	t.Helper()
	args = append([]string{"-n", "-o", "tcp.try_heuristic_first:TRUE"}, args...)
	cmd := exec.CommandContext(t.Context(), tsharkPath(t), args...)
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v: %s", err, told.Bytes())
	}
	return out
}

// compared are the layers whose members are compared.
var compared = []string{"frame", "eth", "vlan", "ip", "ipv6", "tcp", "sctp", "iwarp_mpa", "iwarp_ddp_rdmap"}

// skipped tells of members that are not compared: each by what it is.
func skipped(line string) bool {
	layer, _, _ := strings.Cut(strings.TrimPrefix(line, "_/_source/layers/"), "/")
	if !slices.Contains(compared, layer) {
		return true
	}
	for _, s := range [...]string{
		"tcp.flags.str_tree", "tcp.flags.syn_tree", "tcp.flags.fin_tree", "tcp.flags.reset_tree", // remarks that a connection begins or ends
		"/ipv6.hopopts", "sctp.sack_number_of_tsns", "sctp.sack_gap", "sctp.sack_cumulative_tsn_ack = ", // told apart in internal/fields
		"frame.protocols = ",                         // counts dissectors that it tried
		"tcp.pdu.", "tcp.segment", "tcp.reassembled", // its own reassembly
		"/ip.fragment", "/ip.reassembled", // as above
		"iwarp_rdma.send.", // as above
		"sctp.assoc_index", "sctp.chunk_padding", "sctp.parameter_padding", "sctp.retransmi", "sctp.ack", "sctp.duplicate",
		"tcp.analysis.rto", "oui_resolved", "slaac",
		"iwarp_mpa.enhanced",                          // of Wireshark 4.6
		"iwarp_rdma.term_ddp", "iwarp_rdma.term_rdma", // of which the lengths are wrong there
	} {
		if strings.Contains(line, s) {
			return true
		}
	}
	return false
}

// pdus counts those of a frame.
func pdus(lines []string) (n int) {
	for _, l := range lines {
		if strings.Contains(l, "/iwarp_mpa.ulpdulength = ") || strings.Contains(l, "/iwarp_mpa.rev = ") || strings.Contains(l, "/iwarp_ddp.dv = ") {
			n++
		}
	}
	return n
}

// plainText cuts what follows the name of a chunk or parameter.
func plainText(line string) string {
	for _, s := range [...]string{" chunk (", " parameter ("} {
		for {
			i := strings.Index(line, s)
			if i < 0 {
				break
			}
			j := strings.Index(line[i:], ")")
			if j < 0 {
				break
			}
			line = line[:i+len(s)-2] + line[i+j+1:]
		}
	}
	return line
}

func relevant(lines []string) (out []string) {
	for _, l := range lines {
		if l = plainText(l); !skipped(l) {
			out = append(out, strings.TrimPrefix(l, "_/_source/layers"))
		}
	}
	return out
}

// TestJSON_Tshark compares the members of every frame with tshark's, in their order.
func TestJSON_Tshark(t *testing.T) {
	tsharkPath(t)
	files, _ := filepath.Glob("../../testdata/pcaps/*.pcap*")
	more, _ := filepath.Glob("../../testdata/pcaps/generated/*.pcapng")
	for i, path := range append(files, more...) {
		name := filepath.Base(path)
		if i%15 > 0 && !tracetest.Campaign() && os.Getenv("IWDISSECT_TSHARK") != "required" || unlike[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := flat(t, written(t, path, &JSON{})), flat(t, tshark(t, "-r", path, "-T", "json"))
			if len(ours) != len(theirs) {
				t.Fatalf("%d frames, tshark has %d", len(ours), len(theirs))
			}
			bad := 0
			for n := range ours {
				a, b := relevant(ours[n]), relevant(theirs[n])
				if slices.Equal(a, b) || pdus(a) != pdus(b) { // which PDUs there are is compared in internal/e2e
					continue
				}
				for k := range max(len(a), len(b)) {
					var x, y string
					if k < len(a) {
						x = a[k]
					}
					if k < len(b) {
						y = b[k]
					}
					if x != y {
						t.Errorf("frame %d: %.150q, tshark %.150q", n+1, x, y)
						break
					}
				}
				if bad++; bad > 3 {
					break
				}
			}
		})
	}
}

// unlike are captures of which tshark makes something else, and why.
var unlike = map[string]string{
	"two-interfaces.pcapng":         "a SYN that comes late, with a clock that is off, opens another connection",
	"rtr-frame-2007.pcapng":         "tshark does not know the frame of 2007",
	"tunnel-vxlan-fragments.pcapng": "what is inside a datagram that was assembled is known as a packet only",
	"sctp-stream-reset.pcapng":      "parameters of RE-CONFIG have no names here",
	"hostfwd-raw-initiator-cases.pcap": "connections that break MPA on purpose: tshark reads on where the FPDUs have no place, and " +
		"shows less of startup frames and headers that contradict themselves",
}
