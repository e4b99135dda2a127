package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// filtersOfEach is how many random filters a capture gets, in the campaign and else.
const (
	filtersOfEach     = 125
	filtersOfEachFast = 12
)

// filterCaptures have something of everything that filters ask for, are small, and tshark
// finds the same PDUs in them.
var filterCaptures = []string{
	"abort-client-exit.pcap", "close-client-disc.pcap", "cmtime-20conn-crc.pcap", "hostfwd-rping.pcap", "lo-rping-crc.pcap",
	"nano-rping-crc.pcapng", "probe-5-connections-p2p.pcap", "probe-pdata-max.pcap", "probe-read-ord1-serialized.pcap",
	"pt-lat-crc.pcap", "rej-app-pdata.pcap", "rping-ipv6-crc.pcap", "rping-p2p-both-crc.pcap", "rping-rev1-nocrc.pcap",
	"rping-rev2-nocrc.pcap", "sll1-any-rping-crc.pcap", "term-rbadkey.pcap", "term-send-toolong.pcap", "term-wbadkey.pcap",
	"term-wro.pcap", "ulp-rping-samens-crc.pcap", "vlan7-rping-crc.pcap", "generated/raw-ip.pcap",
	"generated/cooked.pcapng", "generated/enhanced.pcapng", "generated/ip-fragments.pcapng", "generated/ipv6.pcapng",
	"generated/qinq.pcapng", "generated/reads-in-depth.pcapng", "generated/sctp-i-data.pcapng",
	"generated/sctp-loss-after-capture.pcapng", "generated/sctp-multihomed.pcapng", "generated/sctp-session.pcapng",
	"generated/sctp-streams.pcapng", "generated/sctp-udp.pcapng", "generated/terminate-swapped.pcapng",
	"generated/tso.pcapng", "generated/tunnel-6in4.pcapng", "generated/tunnel-erspan3.pcapng",
	"generated/tunnel-geneve.pcapng", "generated/tunnel-gre-ethernet.pcapng", "generated/tunnel-mpls.pcapng",
	"generated/tunnel-pppoe.pcapng", "generated/tunnel-vxlan.pcapng", "generated/two-connections.pcapng",
	"generated/vlan.pcapng",
}

// frameValues are the fields of a frame.
type frameValues map[*fields.Field][]fields.Value

// TestFilters_Tshark: random filters over the fields that tshark has too match the same
// frames in tshark. The plain run takes some of them.
func TestFilters_Tshark(t *testing.T) {
	known, theirs := sharedFields(t)
	names := sharedNames(t, known)
	n, captures := filtersOfEachFast, filterCaptures[:len(filterCaptures)/6]
	if tracetest.AllCaptures() {
		n, captures = filtersOfEach, tracetest.Every(filterCaptures, tracetest.Count(1, 2, 1))
	}
	var mu sync.Mutex
	total, matching := 0, 0
	t.Run("captures", func(t *testing.T) {
		for i, name := range captures {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := newFilterComparison(t, find(t, name), known)
				all := c.filters(uint64(i), n, theirs, names)
				same := c.compare(all)
				mu.Lock()
				defer mu.Unlock()
				total += len(all)
				matching += same
			})
		}
	})
	if t.Failed() {
		return
	}
	t.Logf("%d filters, %d of them match a frame", total, matching)
	if total < n*len(captures) || 10*matching < 4*total {
		t.Errorf("%d of %d filters match a frame", matching, total)
	}
}

// sharedFields are those that tshark has too.
func sharedFields(t *testing.T) (known []*fields.Field, theirs map[*fields.Field]theirField) {
	t.Helper()
	theirs = map[*fields.Field]theirField{}
	for _, line := range strings.Split(glossary(t, "fields"), "\n") {
		parts := strings.Split(line, "\t")
		if len(parts) < 3 || parts[0] == "F" && len(parts) < 4 {
			continue
		}
		f := fields.Find(parts[2])
		if f == nil || slices.Contains(known, f) || notCompared(f.Name) {
			continue
		}
		want := "protocol"
		if parts[0] == "F" {
			want = parts[3]
		}
		if !slices.Contains(theirTypes[f.Type], strings.TrimRight(want, "0123456789")) && !slices.Contains(theirTypes[f.Type], want) {
			t.Errorf("%s is %s, in tshark %s", f.Name, f.Type, want)
			continue
		}
		if parts[0] == "P" {
			theirs[f], known = theirField{protocol: true}, append(known, f)
			continue
		}
		bits, err := strconv.Atoi(want[strings.LastIndexAny(want, "TN")+1:])
		if err != nil {
			bits = 32 // a number of a frame
		}
		theirs[f] = theirField{bits: bits}
		known = append(known, f)
	}
	if len(known) < 80 {
		t.Fatalf("tshark has only %d of our fields", len(known))
	}
	return known, theirs
}

// glossaries are what tshark has printed of itself.
var glossaries = map[string]string{}

// glossary is what tshark prints of itself. Tests ask one after the other.
func glossary(t *testing.T, what string) string {
	t.Helper()
	if glossaries[what] == "" {
		glossaries[what] = runTshark(t, nil, "-G", what)
	}
	return glossaries[what]
}

// theirField is what a field is in tshark.
type theirField struct {
	protocol bool
	bits     int
}

// notCompared are fields whose values are those of the program, not of the capture.
func notCompared(name string) bool {
	return strings.HasPrefix(name, "iwarp_rdma.send.") || // its own reassembly of Sends
		strings.HasPrefix(name, "_ws.") || // its own remarks
		name == "frame.time_delta_displayed" // depends on what else is displayed
}

// sharedNames are the names that tshark has for values of the fields.
func sharedNames(t *testing.T, known []*fields.Field) map[string]map[uint64]string {
	t.Helper()
	names := map[string]map[uint64]string{}
	for _, line := range strings.Split(glossary(t, "values"), "\n") {
		parts := strings.Split(line, "\t")
		if len(parts) != 4 || !slices.ContainsFunc(known, func(f *fields.Field) bool { return f.Name == parts[1] }) {
			continue
		}
		of := names[parts[1]]
		if of == nil {
			of = map[uint64]string{}
			names[parts[1]] = of
		}
		switch parts[0] {
		case "V":
			n, err := strconv.ParseUint(parts[2], 0, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if of[n] == "" && isName(parts[1], parts[3], n) {
				of[n] = parts[3]
			}
		case "T":
			of[1], of[0] = parts[2], parts[3]
		}
	}
	delete(names, "vlan.priority") // which its own filters do not know
	return names
}

// isName tells if a value is called so in our filters too. TestFilterNames_Tshark has those that must be.
func isName(field, name string, n uint64) bool {
	f, err := display.Compile(field+" == "+strconv.Quote(name), fields.Find, func() []string { return nil })
	if err != nil {
		return strings.HasPrefix(field, "iwarp_")
	}
	row := fields.NewRow(1)
	row.Add(0, fields.Value{Num: n})
	return f.Match(row)
}

// TestFilterNames_Tshark: the names that tshark has for values are names in our filters too.
func TestFilterNames_Tshark(t *testing.T) {
	known, _ := sharedFields(t)
	names := sharedNames(t, known)
	if len(names) < 10 {
		t.Fatalf("only %d fields with names", len(names))
	}
	for field, of := range names {
		for n, name := range of {
			if !strings.HasPrefix(field, "iwarp_") {
				continue // hundreds of them; some of those that occur are in the random filters
			}
			f, err := display.Compile(field+" == "+strconv.Quote(name), fields.Find, func() []string { return nil })
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			row := fields.NewRow(1)
			row.Add(0, fields.Value{Num: n})
			if !f.Match(row) {
				t.Errorf("%s is not %d", f, n)
			}
		}
	}
}

// theirTypes are those of tshark, numbers without their width.
var theirTypes = map[fields.Type][]string{
	fields.None: {"FT_NONE", "protocol"}, fields.Bool: {"FT_BOOLEAN"}, fields.Uint: {"FT_UINT"}, fields.Int: {"FT_INT"},
	fields.Float: {"FT_DOUBLE", "FT_FLOAT"}, fields.Time: {"FT_ABSOLUTE_TIME"}, fields.Duration: {"FT_RELATIVE_TIME"},
	fields.Octets: {"FT_BYTES", "protocol"}, fields.Text: {"FT_STRING", "FT_STRINGZ"}, fields.IPv4: {"FT_IPv4"}, fields.IPv6: {"FT_IPv6"},
	fields.Ether: {"FT_ETHER"}, fields.Frame: {"FT_FRAMENUM"},
}

// runTshark runs tshark and returns what it prints.
func runTshark(t *testing.T, env []string, args ...string) string {
	t.Helper()
	program := tracetest.Tshark(t)
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Env = append(os.Environ(), env...)
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark %v: %v: %s", args, err, told.Bytes())
	}
	return string(out)
}

// filterComparison compares the filters over one capture.
type filterComparison struct {
	t      *testing.T
	path   string
	known  []*fields.Field
	frames []frameValues
	bad    int
}

func newFilterComparison(t *testing.T, path string, known []*fields.Field) *filterComparison {
	t.Helper()
	if strings.Contains(path, "generated") { // layers of tshark's own
		known = slices.DeleteFunc(slices.Clone(known), func(f *fields.Field) bool { return f.Name == "frame.protocols" })
	}
	c := &filterComparison{t: t, path: path, known: known}
	collector := fields.NewCollector(known)
	sink := &filterSink{collector: collector, frame: func(row *fields.Row) {
		values := frameValues{}
		for i, f := range known {
			for _, v := range row.Values(i) {
				v.Bytes = slices.Clone(v.Bytes)
				values[f] = append(values[f], v)
			}
		}
		c.frames = append(c.frames, values)
	}}
	src, err := capture.Open(path, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if src.Format() != "pcap" {
		collector.Interfaces(src.Interfaces)
	}
	run := pipeline.New(pipeline.Options{Opened: collector.Opened}, sink)
	if err := run.Read(src); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	run.Finish()
	return c
}

// filterSink hands on what belongs to a frame, and the row when the frame is complete.
type filterSink struct {
	collector *fields.Collector
	frame     func(*fields.Row)
}

func (s *filterSink) PDU(p *trace.PDU)                  { s.collector.PDU(p) }
func (*filterSink) Gap(*trace.GapEvent)                 {}
func (s *filterSink) Transaction(tr *trace.Transaction) { s.collector.Transaction(tr) }

func (s *filterSink) Frame(f *pipeline.Frame) {
	s.collector.Frame(f)
	s.frame(s.collector.Row())
	s.collector.Reset()
}

// filters are random ones over what the capture has.
func (c *filterComparison) filters(seed uint64, n int, theirs map[*fields.Field]theirField, names map[string]map[uint64]string) []string {
	values := map[*fields.Field][]fields.Value{}
	for _, frame := range c.frames {
		for f, vs := range frame {
			values[f] = append(values[f], vs...)
		}
	}
	m := newFilterMaker(seed, c.known, values, theirs)
	m.names = names
	all := make([]string, n)
	for i := range all {
		all[i] = m.filter(2)
	}
	return all
}

// compare runs all filters here and there, and returns how many match a frame.
func (c *filterComparison) compare(all []string) (matching int) {
	c.t.Helper()
	for i, theirs := range c.matches(all) {
		ours, err := c.ours(all[i])
		switch {
		case err != nil:
			c.errorf("%s\n%v", all[i], err)
		case theirs.err != "":
			c.errorf("%s\ntshark: %s", all[i], theirs.err)
		default:
			if len(ours) > 0 {
				matching++
			}
			c.frame(all[i], ours, theirs.frames)
		}
	}
	return matching
}

func (c *filterComparison) errorf(format string, args ...any) {
	c.t.Helper()
	if c.bad++; c.bad <= 20 {
		c.t.Errorf(format, args...)
	}
}

// frame compares the frames of one filter, but those of which a fault of tshark is known.
func (c *filterComparison) frame(filter string, ours, theirs []int) {
	c.t.Helper()
	compiled, _ := display.Compile(filter, fields.Find, nil)
	excused := func(n int) bool {
		for _, f := range filterFaults {
			if slices.ContainsFunc(compiled.Fields(), func(o *fields.Field) bool { return f.field == o.Name || f.field == "" && isPDU(o) }) && f.in(c.frames[n-1]) {
				return true
			}
		}
		return false
	}
	ours, theirs = slices.DeleteFunc(ours, excused), slices.DeleteFunc(theirs, excused)
	if !slices.Equal(ours, theirs) {
		c.errorf("%s\nframes %v\ntshark %v", filter, ours, theirs)
	}
}

// ours are the frames that a filter matches.
func (c *filterComparison) ours(text string) ([]int, error) {
	f, err := display.Compile(text, fields.Find, func() []string { return nil })
	if err != nil {
		return nil, err
	}
	var frames []int
	row := fields.NewRow(len(f.Fields()))
	for i, values := range c.frames {
		row.Reset()
		for slot, field := range f.Fields() {
			for _, v := range values[field] {
				row.Add(slot, v)
			}
		}
		if f.Match(row) {
			frames = append(frames, i+1)
		}
	}
	return frames, nil
}

// filterMatches are the frames that a filter matches in tshark.
type filterMatches struct {
	frames []int
	err    string
}

// matches runs tshark once for all filters.
func (c *filterComparison) matches(all []string) []filterMatches {
	c.t.Helper()
	dir := c.t.TempDir()
	in, out := filepath.Join(dir, "filters"), filepath.Join(dir, "matches")
	if err := os.WriteFile(in, []byte(strings.Join(all, "\n")+"\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	runTshark(c.t, []string{"IWDISSECT_FILTERS=" + in, "IWDISSECT_MATCHES=" + out, "TZ=UTC"},
		"-q", "-n", "-r", c.path, "-o", "tcp.try_heuristic_first:TRUE", "-o", "tcp.reassemble_out_of_order:TRUE",
		"-X", "lua_script:testdata/filters.lua")
	text, err := os.ReadFile(out)
	if err != nil {
		c.t.Fatalf("tshark ran no Lua: %v", err)
	}
	found := make([]filterMatches, 0, len(all))
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		_, what, _ := strings.Cut(line, "\t")
		var m filterMatches
		if err, failed := strings.CutPrefix(what, "!"); failed {
			m.err = err
		} else {
			for _, n := range strings.Fields(what) {
				i, err := strconv.Atoi(n)
				if err != nil {
					c.t.Fatal(err)
				}
				m.frames = append(m.frames, i)
			}
		}
		found = append(found, m)
	}
	if len(found) != len(all) {
		c.t.Fatalf("tshark tells of %d filters of %d", len(found), len(all))
	}
	return found
}

// isPDU tells if a field is one of iWARP, or of what it carries.
func isPDU(f *fields.Field) bool {
	for _, p := range []string{"iwarp_", "nvme", "iser", "iscsi", "rpcordma", "smb_direct", "rpc."} {
		if strings.HasPrefix(f.Name, p) {
			return true
		}
	}
	return false
}

// filterFault is a field that tshark 4.0 has not, or not alike, in some frames; without a
// name, all fields of iWARP.
type filterFault struct {
	name, field string
	in          func(frameValues) bool
}

var filterFaults = []filterFault{
	{"it shows iwarp_mpa.crc_check in its place where it checks the CRC", "iwarp_mpa.crc", func(f frameValues) bool { return f.has("iwarp_mpa.crc_check") }},
	{"it has no remark on the Reply that rejects", "iwarp_mpa.reject_bit_responder", func(f frameValues) bool { return f.has("iwarp_mpa.reject_bit_responder") }},
	{"it adds a name for what it takes a payload for", "frame.protocols", func(f frameValues) bool { return f.has("iwarp_ddp") || !f.has("tcp") && !f.has("sctp") }},
	{"it has no iWARP over SCTP", "", func(f frameValues) bool { return f.has("sctp") }},
	{"it has the layer again for chunks that it takes apart", "sctp", func(f frameValues) bool { return f.has("sctp.data_tsn") || f.has("sctp.data_tsn_raw") }},
	{"RsvdULP of a tagged segment is not shown", "iwarp_ddp.rsvdulp", func(f frameValues) bool { return f.has("iwarp_ddp.tagged") }},
}

// has tells if a frame has a field.
func (f frameValues) has(name string) bool { return len(f[fields.Find(name)]) > 0 }
