package details

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	run := pipeline.New(pipeline.Options{Opened: s.Opened}, s)
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

func tshark(t testing.TB, args ...string) []byte {
	t.Helper()
	args = append([]string{"-n", "-o", "tcp.try_heuristic_first:TRUE"}, args...)
	cmd := exec.CommandContext(t.Context(), tracetest.Tshark(t), args...)
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

// Members that one side has and the other has not, by their names, or by the beginnings of
// names that end in a point. Those in both lists differ.
var (
	onlyTheirs = names{
		"its own reassembly": {
			"ip.fragments", "ip.fragment", "ip.fragment.", "ip.reassembled.", "tcp.pdu.size", "tcp.segment_data", "tcp.segments", "tcp.segment", "tcp.segment.",
			"tcp.reassembled.", "sctp.fragments", "sctp.fragment", "sctp.reassembled_in",
		},
		"remarks that a connection begins or ends": {
			"tcp.connection.", "tcp.flags.str_tree", "tcp.flags.syn_tree", "tcp.flags.fin_tree", "tcp.flags.reset_tree",
		},
		"the numbers that it gives associations": {"sctp.assoc_index"},
		"the SACK of each chunk, and which are retransmissions": {
			"sctp.ack", "sctp.ack_frame", "sctp.sack_rtt", "sctp.retransmission", "sctp.retransmission.", "sctp.retransmission_time", "sctp.retransmission_tree",
		},
		"gaps of a SACK in groups, and counted": {
			"sctp.sack_gap_block_start", "sctp.sack_gap_block_end", "sctp.sack_gap_block_start_tsn", "sctp.sack_gap_block_end_tsn", "sctp.sack_number_of_tsns_gap_acked",
		},
		"the octets behind a chunk": {"sctp.chunk_padding"},
		"names of manufacturers":    {"eth.addr.oui_resolved", "eth.dst.oui_resolved", "eth.src.oui_resolved"},
		"options of IPv6":           {"ipv6.opt.", "ipv6.hopopts."},
	}
	onlyOurs = names{
		"came with Wireshark 4.6":  {"iwarp_mpa.enhanced.", "iwarp_mpa.enhanced_flag"},
		"gaps of a SACK as a list": {"sctp.sack_gap_block_start", "sctp.sack_gap_block_end"},
	}
	differ = names{
		"of several copies of a segment tshark may mean another one":                    {"tcp.analysis.rto", "tcp.analysis.rto_frame"},
		"where the first chunks are missing, relative TSNs begin elsewhere":             {"sctp.sack_cumulative_tsn_ack"},
		"tshark takes the headers in a Terminate for shorter, or longer, than they are": {"iwarp_rdma.term_ddp_h", "iwarp_rdma.term_rdma_h"},
	}
)

// names are names of members by what they are.
type names map[string][]string

// has tells if a member is in the list.
func (l names) has(line string) bool {
	path, value, _ := strings.Cut(line, " = ")
	name := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case name == filtered && l.has(value): // -j left out what the value names
		return true
	case (name == filtered || strings.HasPrefix(name, "_ws.expert")) && len(path) > len(name): // of what it stands below
		return l.has(path[:len(path)-len(name)-1])
	}
	for _, all := range l {
		for _, n := range all {
			if name == n || strings.HasSuffix(n, ".") && strings.HasPrefix(name, n) {
				return true
			}
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

// relevant are the members that are compared, but for those that only this side has. Where
// tshark found another number of PDUs, which internal/e2e compares, all of iWARP is left out,
// and chunks that are cut off.
func relevant(lines []string, beside names, samePDUs bool) (out []string) {
	for _, l := range lines {
		l = strings.TrimPrefix(plainText(l), "_/_source/layers")
		layer, _, _ := strings.Cut(strings.TrimPrefix(l, "/"), "/")
		switch {
		case !slices.Contains(compared, layer), beside.has(l), differ.has(l), strings.HasPrefix(l, protocolsMember):
		case !samePDUs && (strings.HasPrefix(layer, "iwarp_") || strings.HasPrefix(l, "/sctp/DATA chunk/")):
		default:
			out = append(out, l)
		}
	}
	return out
}

const protocolsMember = "/frame/frame.protocols = "

// protocols are those of a frame.
func protocols(lines []string) string {
	for _, l := range lines {
		if p, ok := strings.CutPrefix(l, "_/_source/layers"+protocolsMember); ok {
			return p
		}
	}
	return ""
}

// likeProtocols tells if the protocols of a frame are those of tshark, up to the payload of
// iWARP or of others, for which it tries more dissectors.
func likeProtocols(a, b string) bool {
	a, _, ddp := strings.Cut(a, ":iwarp_ddp_rdmap")
	if ddp {
		a += ":iwarp_ddp_rdmap"
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && a != "" && (ddp || !strings.Contains(rest, "iwarp_"))
}

// TestJSON_Tshark compares the members of every frame with tshark's, in their order.
func TestJSON_Tshark(t *testing.T) {
	tracetest.Tshark(t)
	files := tracetest.Captures(t, "../..")
	for i, path := range files {
		name := filepath.Base(path)
		if i%tracetest.EveryNth(15) > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := flat(t, written(t, path, &JSON{})), flat(t, tshark(t, "-r", path, "-T", "json"))
			if len(here) != len(there) {
				t.Fatalf("%d frames, tshark has %d", len(here), len(there))
			}
			bad := 0
			for n := range here {
				if unlike[name].has(n + 1) {
					continue
				}
				same := pdus(here[n]) == pdus(there[n])
				if x, y := protocols(here[n]), protocols(there[n]); same && !strings.HasPrefix(name, "tunnel-") && !likeProtocols(x, y) {
					t.Errorf("frame %d: protocols %s, tshark %s", n+1, x, y) // it has layers of its own in tunnels
				}
				a, b := relevant(here[n], onlyOurs, same), relevant(there[n], onlyTheirs, same)
				if slices.Equal(a, b) {
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

// unlike are frames of which tshark makes something else, and why.
var unlike = map[string]frames{
	"two-interfaces.pcapng":         {"a SYN that comes late, with a clock that is off, opens another connection", []stretch{{9, 20}}},
	"rtr-frame-2007.pcapng":         {"tshark does not know the frame of 2007", []stretch{{6, 6}}},
	"tunnel-vxlan-fragments.pcapng": {"what is inside a datagram that was assembled is known as a packet only", []stretch{{6, 13}, {18, 21}}},
	"sctp-stream-reset.pcapng":      {"parameters of RE-CONFIG have no names here", []stretch{{9, 9}}},
	"hostfwd-raw-initiator-cases.pcap": {
		"tshark shows nothing of private data above 512 octets (frame 136) and of an FPDU without a DDP header (565, 577), and takes the header for " +
			"that of the opcode where the T bit contradicts it (516, 528)",
		[]stretch{{136, 136}, {516, 516}, {528, 528}, {565, 565}, {577, 577}},
	},
}

// frames are some of a capture.
type frames struct {
	why string
	in  []stretch
}

// stretch are the frames from one to another one.
type stretch struct{ from, to int }

func (f frames) has(n int) bool {
	return slices.ContainsFunc(f.in, func(s stretch) bool { return s.from <= n && n <= s.to })
}
