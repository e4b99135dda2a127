package iwdissect_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket/pcapgo"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/layers"
	"github.com/iwdissect/iwdissect/trace"
)

const (
	rping  = "testdata/pcaps/rping-p2p-write-crc.pcap"
	badCRC = "testdata/pcaps/generated/terminate-bad-crc.pcapng"
	// swapped breaks several rules, of more than one severity.
	swapped = "testdata/pcaps/term-rbadkey.pcap"
)

// large makes a capture that is read ahead by another goroutine.
func large(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large.pcap")
	command(t, append([]string{"generate", "--size", "4MiB", "-o", path}, args...)...)
	return path
}

// awaitGoroutines waits until at most as many goroutines run as before.
func awaitGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

// TestPDUs_Break: leaving the loop ends the pass at once and leaves nothing open.
func TestPDUs_Break(t *testing.T) {
	path := large(t)
	before := runtime.NumGoroutine()
	c, err := iwdissect.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for pass := range 3 {
		n := 0
		for _, err := range c.PDUs() {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 10 {
				break
			}
		}
		if frames := c.Totals().Frames; n != 10 || frames == 0 || frames > 200 {
			t.Errorf("pass %d: %d PDUs, %d frames were read", pass, n, frames)
		}
		awaitGoroutines(t, before)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestConnections_Break: a loop that is left while the connections at the end of
// the capture are handed out gets no more of them.
func TestConnections_Break(t *testing.T) {
	c := open(t, "testdata/pcaps/cmtime-20conn-crc.pcap")
	n := 0
	for range c.Connections() {
		if n++; n == 2 {
			break
		}
	}
	if all := count(t, c.Connections()); n != 2 || all < 20 {
		t.Error(n, all)
	}
}

// TestPDUs_Panic: a panic in the loop reaches who catches it, and the file is
// closed; it is not taken for that of a rule.
func TestPDUs_Panic(t *testing.T) {
	path := large(t)
	before := runtime.NumGoroutine()
	c := open(t, path)
	for _, kinds := range []iwdissect.Kinds{iwdissect.PDUs, iwdissect.Findings | iwdissect.Transactions, iwdissect.Frames} {
		func() {
			defer func() {
				if why := recover(); why != "out" {
					t.Error("recovered:", why)
				}
			}()
			for range c.Events(kinds) {
				panic("out")
			}
		}()
		awaitGoroutines(t, before)
	}
	for range 2 { // the same inside what the rules are asked for
		func() {
			defer func() {
				if why := recover(); why != "out" {
					t.Error("recovered:", why)
				}
			}()
			for range open(t, badCRC).Findings(conformance.None) {
				panic("out")
			}
		}()
	}
}

// TestWithContext: the range ends with the error of the context, at once where the
// loop cancels it, and soon where another goroutine does.
func TestWithContext(t *testing.T) {
	path := large(t)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	c := open(t, path, iwdissect.WithContext(ctx))
	n := 0
	var last error
	for _, err := range c.PDUs() {
		if last != nil {
			t.Fatal("more after", last)
		}
		if last = err; err == nil {
			if n++; n == 5 {
				cancel()
			}
		}
	}
	if n != 5 || !errors.Is(last, context.Canceled) || !c.Totals().Incomplete {
		t.Error(n, last, c.Totals().Warnings())
	}
	awaitGoroutines(t, before)

	// Once it is cancelled nothing is read.
	for kinds := range iwdissect.Frames {
		for e, err := range c.Events(kinds) {
			if !errors.Is(err, context.Canceled) {
				t.Error(e, err)
			}
		}
	}
	if got := c.Totals(); got.Frames != 0 || !got.Incomplete {
		t.Error(got.Frames, "frames were read;", got.Warnings())
	}

	// A range that yields nothing meanwhile ends as well.
	ctx, cancel = context.WithCancel(context.Background())
	given := 0
	endless, err := iwdissect.NewSource(frames(func() (layers.Frame, error) {
		if given++; given == 1000 {
			go cancel()
		}
		return layers.Frame{Data: make([]byte, 60), LinkType: 1}, nil
	}), iwdissect.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range endless.PDUs() {
		last = err
	}
	if !errors.Is(last, context.Canceled) || endless.Totals().Frames == 0 || !endless.Totals().Incomplete {
		t.Error(last, endless.Totals())
	}
}

// frames is a source of its own kind.
type frames func() (layers.Frame, error)

func (f frames) Next() (layers.Frame, error) { return f() }

// TestOpen_Again: a file is read again by each range, also inside of one.
func TestOpen_Again(t *testing.T) {
	c := open(t, rping)
	want := count(t, c.PDUs())
	outer := 0
	for range c.PDUs() {
		if outer++; outer == 3 {
			if n := count(t, c.PDUs()); n != want {
				t.Error("the inner range yields", n)
			}
		}
	}
	if outer != want || want == 0 {
		t.Error(outer, want)
	}
}

// TestNewReader_Consumed: what comes from a reader is read once.
func TestNewReader_Consumed(t *testing.T) {
	file, err := os.ReadFile(rping)
	if err != nil {
		t.Fatal(err)
	}
	c, err := iwdissect.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want := count(t, open(t, rping).PDUs())
	if n := count(t, c.PDUs()); n != want {
		t.Errorf("%d PDUs, want %d", n, want)
	}
	n := 0
	for pdu, err := range c.PDUs() {
		if n++; pdu != nil || !errors.Is(err, iwdissect.ErrConsumed) {
			t.Error(pdu, err)
		}
	}
	if n != 1 {
		t.Error(n, "steps")
	}
}

// TestOpen_Gone: of a range over a file that is there no more nothing is left of the range before.
func TestOpen_Gone(t *testing.T) {
	file, err := os.ReadFile(rping)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gone.pcap")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, path)
	for range c.Findings(conformance.None) { // it is the totals that matter
	}
	if c.Totals().Frames == 0 || c.Verdicts().Rules() == 0 {
		t.Fatal(c.Totals())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Findings(conformance.None) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
	if got := c.Totals(); got != (iwdissect.Totals{Incomplete: true}) || c.Verdicts().Rules() != 0 {
		t.Errorf("%+v, %d rules", got, c.Verdicts().Rules())
	}
}

func TestCapture_Closed(t *testing.T) {
	c := open(t, rping)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Findings(conformance.None) {
		if !errors.Is(err, iwdissect.ErrClosed) {
			t.Error(err)
		}
	}
	c, n := open(t, rping), 0
	for range c.PDUs() { // closed by the loop
		if n++; n == 2 {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if n != 2 {
		t.Error(n, "steps")
	}
}

// TestNewReader_Pipe: PDUs come as they are written, before the end.
func TestNewReader_Pipe(t *testing.T) {
	file, err := os.ReadFile(rping)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	seen := make(chan struct{})
	go func() {
		half := len(file) / 2
		w.Write(file[:half])
		<-seen // a PDU of the first half
		w.Write(file[half:])
		w.Close()
	}()
	c, err := iwdissect.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range c.PDUs() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 {
			close(seen)
		}
	}
	if want := count(t, open(t, rping).PDUs()); n != want {
		t.Error(n, want)
	}
}

// TestJoin: frames are numbered on from file to file, and a file that is not there
// is told of.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	file, err := os.ReadFile(rping)
	if err != nil {
		t.Fatal(err)
	}
	records := recordsOf(file)
	cut := records[len(records)/2]
	first, second := filepath.Join(dir, "1.pcap"), filepath.Join(dir, "2.pcap")
	write(t, first, file[:cut])
	write(t, second, append(bytes.Clone(file[:24]), file[cut:]...))
	c, err := iwdissect.Join([]string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	want := count(t, open(t, rping).PDUs())
	for range 2 {
		if n := count(t, c.PDUs()); n != want || c.Totals().Frames != uint64(len(records)) {
			t.Errorf("%d PDUs in %d frames, want %d in %d", n, c.Totals().Frames, want, len(records))
		}
	}
	for frame, want := range map[uint64]string{0: "", 1: first, uint64(len(records)): second, uint64(len(records)) + 1: ""} {
		if path, _, ok := c.Locate(frame); path != want || ok != (want != "") {
			t.Errorf("frame %d is in %q, want %q", frame, path, want)
		}
	}
	c, err = iwdissect.Join([]string{first, filepath.Join(dir, "none"), second})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range c.PDUs() {
		var e *iwdissect.Error
		switch {
		case err == nil:
			n++
		case !errors.As(err, &e) || e.Code != "open" || !e.Resumed || filepath.Base(e.File) != "none":
			t.Error(err)
		}
	}
	if n != want || c.Totals().Errors != 1 {
		t.Error(n, want, c.Totals())
	}
	if _, err := iwdissect.Join(nil); err == nil {
		t.Error("no files are joined")
	}
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// recordsOf returns where the records of a pcap file begin.
func recordsOf(file []byte) (at []int) {
	for i := 24; i < len(file); i += 16 + int(binary.LittleEndian.Uint32(file[i+8:])) {
		at = append(at, i)
	}
	return at
}

// TestPDUs_Truncated: a file that ends in the middle yields what was in it, the
// error with its place, and the connections.
func TestPDUs_Truncated(t *testing.T) {
	file, err := os.ReadFile(rping)
	if err != nil {
		t.Fatal(err)
	}
	records := recordsOf(file)
	k := len(records) / 2
	path := filepath.Join(t.TempDir(), "cut.pcap")
	write(t, path, file[:records[k]+20])
	var pdus, conns int
	var bad *iwdissect.Error
	c := open(t, path)
	for e, err := range c.Events(iwdissect.PDUs | iwdissect.Connections) {
		switch {
		case err != nil:
			if bad != nil || !errors.As(err, &bad) {
				t.Fatal(err)
			}
		case e.PDU != nil:
			pdus++
		default:
			conns++
		}
	}
	if bad == nil || bad.File != path || bad.Frame != uint64(k)+1 || bad.Offset != int64(records[k]) || bad.Code != "truncated" || bad.Resumed || !errors.Is(bad, io.ErrUnexpectedEOF) {
		t.Fatalf("%#v", bad)
	}
	if want := path + ": frame "; !strings.HasPrefix(bad.Error(), "iwdissect: "+want) {
		t.Error(bad)
	}
	if pdus == 0 || conns != 1 || c.Totals().Frames != uint64(k) {
		t.Error(pdus, conns, c.Totals())
	}
}

// TestPDUs_Damaged: a block that names an interface which does not exist is
// yielded as an error, and the frames behind it are read.
func TestPDUs_Damaged(t *testing.T) {
	file, err := os.ReadFile(badCRC)
	if err != nil {
		t.Fatal(err)
	}
	const enhanced, damaged = 6, 7
	n, at := 0, 0
	for i := 0; i < len(file); i += int(binary.LittleEndian.Uint32(file[i+4:])) {
		if binary.LittleEndian.Uint32(file[i:]) == enhanced {
			if n++; n == damaged {
				at = i
				binary.LittleEndian.PutUint32(file[i+8:], 99)
			}
		}
	}
	c, err := iwdissect.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var before, behind int
	var bad *iwdissect.Error
	for f, err := range c.Frames() {
		switch {
		case err != nil:
			if bad != nil || !errors.As(err, &bad) {
				t.Fatal(err)
			}
		case bad == nil:
			before++
		default:
			if behind++; behind == 1 && f.Number != damaged+1 {
				t.Error(f.Number)
			}
		}
	}
	if bad == nil || bad.File != "" || bad.Frame != damaged || bad.Offset != int64(at) || bad.Code != "interface" || !bad.Resumed {
		t.Fatalf("%#v", bad)
	}
	if total := c.Totals(); before != damaged-1 || before+behind != n-1 || total.Errors != 1 || len(total.Warnings()) != 1 {
		t.Error(before, behind, n, total, total.Warnings())
	}
}

func TestOpen_Errors(t *testing.T) {
	dir := t.TempDir()
	empty, text := filepath.Join(dir, "empty"), filepath.Join(dir, "text")
	write(t, empty, nil)
	write(t, text, []byte("this is a text and no capture at all"))
	for path, code := range map[string]string{
		filepath.Join(dir, "none"): "open", dir: "directory", empty: "empty", text: "format", "-": "open",
	} {
		c, err := iwdissect.Open(path)
		var e *iwdissect.Error
		if c != nil || !errors.As(err, &e) || e.Code != code || e.Frame != 0 || e.File == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := iwdissect.Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	broken := errors.New("broken")
	if _, err := iwdissect.NewReader(io.MultiReader(strings.NewReader("\xd4\xc3"), reader{broken})); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// reader fails.
type reader struct{ err error }

func (r reader) Read([]byte) (int, error) { return 0, r.err }

func TestOptions_Errors(t *testing.T) {
	for name, opt := range map[string]iwdissect.Option{
		"rule":   iwdissect.EnableRules("NO-SUCH-RULE"),
		"glob":   iwdissect.DisableRules("MPA-*", "["),
		"layout": iwdissect.ForceLayout(mpa.LayoutRTR2007),
		"limit":  iwdissect.WithLimits(iwdissect.Limits{Connections: -1}),
	} {
		if c, err := iwdissect.Open(rping, opt); c != nil || err == nil || !strings.HasPrefix(err.Error(), "iwdissect: ") {
			t.Error(name, c, err)
		}
	}
}

// TestOptions_AreThoseOfTheProgram: each option does what its flag does.
func TestOptions_AreThoseOfTheProgram(t *testing.T) {
	const draft = "testdata/pcaps/generated/draft01-rtr-send.pcapng"
	first := func(c *iwdissect.Capture) (layout mpa.Layout) {
		for conn, err := range c.Connections() {
			if err != nil {
				t.Fatal(err)
			}
			return conn.Layout
		}
		return layout
	}
	if l := first(open(t, draft, iwdissect.ForceLayout(mpa.LayoutRFC6581))); l != mpa.LayoutRFC6581 {
		t.Error(l)
	}
	if l := first(open(t, draft)); l != mpa.LayoutDraft01 {
		t.Error(l)
	}
	rules := func(opts ...iwdissect.Option) map[string]int {
		seen := map[string]int{}
		for f, err := range open(t, swapped, opts...).Findings(conformance.None) {
			if err != nil {
				t.Fatal(err)
			}
			seen[f.Rule.ID]++
		}
		return seen
	}
	all := rules()
	const rule = "RDMAP-TERM-RSVD-01"
	if all[rule] == 0 || len(all) < 2 {
		t.Fatal(all)
	}
	if only := rules(iwdissect.EnableRules(rule)); only[rule] != all[rule] || len(only) != 1 {
		t.Error(only)
	}
	if rest := rules(iwdissect.DisableRules(rule)); rest[rule] != 0 || len(rest) == 0 {
		t.Error(rest)
	}
	c, severe := open(t, swapped), 0
	for f, err := range c.Findings(conformance.Error) {
		if severe++; err != nil || f.Severity < conformance.Error {
			t.Error(f, err)
		}
	}
	if n := count(t, c.Findings(conformance.None)); severe == 0 || severe >= n {
		t.Errorf("%d errors of %d findings", severe, n)
	}
	c = open(t, rping, iwdissect.WithLimits(iwdissect.Limits{Frames: 7}))
	if n := count(t, c.Frames()); n != 7 {
		t.Error(n)
	}
	// Without its startup a connection whose CRCs are off shows little.
	file, err := os.ReadFile("testdata/pcaps/rping-p2p-write-nocrc.pcap")
	if err != nil {
		t.Fatal(err)
	}
	at := recordsOf(file)
	file = append(file[:24], file[at[8]:at[12]]...)
	pdus := func(opts ...iwdissect.Option) int {
		c, err := iwdissect.NewReader(bytes.NewReader(file), opts...)
		if err != nil {
			t.Fatal(err)
		}
		return count(t, c.PDUs())
	}
	var port uint16
	for conn := range open(t, "testdata/pcaps/rping-p2p-write-nocrc.pcap").Connections() {
		port = conn.Side[trace.R2I].Addr.Port()
	}
	if without, with := pdus(), pdus(iwdissect.DecodeAs(port)); with <= without {
		t.Errorf("%d PDUs with DecodeAs(%d), %d without", with, port, without)
	}
}

// TestUpperLayers: they are recognised when that is asked for, also where no PDUs are.
func TestUpperLayers(t *testing.T) {
	const nfs = "testdata/pcaps/generated/ulp-nfs-rdma.pcapng"
	of := func(opts ...iwdissect.Option) (protocol string, operations int) {
		for conn, err := range open(t, nfs, opts...).Connections() {
			if err != nil {
				t.Fatal(err)
			}
			if conn.Upper != nil {
				return conn.Upper.Protocol, len(conn.Upper.Operations)
			}
		}
		return "", 0
	}
	if p, n := of(iwdissect.WithUpperLayers()); p != "RPC/RDMA" || n != 6 {
		t.Errorf("%q, %d names of operations", p, n)
	}
	if p, _ := of(); p != "" {
		t.Errorf("%q without the option", p)
	}
	n := 0
	for pdu, err := range open(t, nfs, iwdissect.WithUpperLayers()).PDUs() {
		if err != nil {
			t.Fatal(err)
		}
		if u := pdu.Upper; u != nil && u.Linked {
			n++
		}
	}
	if n == 0 {
		t.Error("no Write or Read is for an operation")
	}
}

// TestTotals_Warnings: what had to be given up is said.
func TestTotals_Warnings(t *testing.T) {
	c := open(t, "testdata/pcaps/cmtime-20conn-crc.pcap", iwdissect.WithLimits(iwdissect.Limits{Connections: 3}))
	if n := count(t, c.Connections()); n == 0 {
		t.Fatal("no connection")
	}
	total := c.Totals()
	if total.Evicted == 0 || len(total.Warnings()) != 1 || !strings.Contains(total.Warnings()[0], "connections were ended early") {
		t.Error(total, total.Warnings())
	}
	c = open(t, rping)
	count(t, c.PDUs())
	if total = c.Totals(); len(total.Warnings()) != 0 || total.Frames == 0 || total.PDUs == 0 || total.LastTime <= total.FirstTime {
		t.Error(total, total.Warnings())
	}
	c = open(t, "testdata/pcaps/snap96-crc.pcap")
	count(t, c.PDUs())
	if total = c.Totals(); total.Cut == 0 || len(total.Warnings()) != 1 {
		t.Error(total, total.Warnings())
	}
}

// TestTotals_Complete: each count of a run has a place, but for those listed.
func TestTotals_Complete(t *testing.T) {
	elsewhere := map[string]string{
		"RecordsDropped": "all connections are yielded", "FindingsUnlisted": "all findings are yielded",
		"Emptied": "those of Cut that bring nothing", "Headless": "those of Cut without a whole header",
		"FirstCopy": "the frame of one of Copies", "FirstClamped": "the frame of one of Clamped",
		"Compared": "whether packets seem to be Copies", "Alike": "whether packets seem to be Copies",
		"ComparedBare": "whether packets seem to be Copies", "AlikeBare": "whether packets seem to be Copies",
		"LoneDamaged": "those of IWARP that are a damaged packet, as their records say", "SumsRight": "what records say of connections",
		"Lost": "LostByInterface and LostBySystem",
		"IP":   "FragmentsLost; the rest is about how fragments were put together",
	}
	public := reflect.TypeFor[iwdissect.Totals]()
	for f := range reflect.TypeFor[pipeline.Totals]().Fields() {
		if _, ok := public.FieldByName(f.Name); !ok && elsewhere[f.Name] == "" {
			t.Errorf("Totals has no %s", f.Name)
		}
	}
}

// TestNewSource_Gopacket: a file that gopacket reads has the same PDUs.
func TestNewSource_Gopacket(t *testing.T) {
	for _, path := range []string{rping, badCRC, "testdata/pcaps/sll1-any-rping-crc.pcap", "testdata/pcaps/generated/sctp-sessions.pcapng"} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var src *layers.Source
		if strings.HasSuffix(path, "ng") {
			r, err := pcapgo.NewNgReader(f, pcapgo.DefaultNgReaderOptions)
			if err != nil {
				t.Fatal(err)
			}
			src = layers.NewSource(r)
		} else {
			r, err := pcapgo.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			src = layers.NewSource(r)
		}
		c, err := iwdissect.NewSource(src)
		if err != nil {
			t.Fatal(err)
		}
		type key struct {
			frame uint64
			time  int64
			kind  trace.Kind
			len   int64
		}
		var got, want []key
		for p, err := range c.PDUs() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, key{p.Frame, p.Time, p.Kind, p.Length})
		}
		for p := range open(t, path).PDUs() {
			want = append(want, key{p.Frame, p.Time, p.Kind, p.Length})
		}
		if len(want) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\nwant %v", path, got, want)
		}
	}
}

// TestNewSource_Error: the error of a source is yielded with the frame, and what
// was known by then.
func TestNewSource_Error(t *testing.T) {
	broken := errors.New("broken")
	n := 0
	c, err := iwdissect.NewSource(frames(func() (layers.Frame, error) {
		if n++; n == 3 {
			return layers.Frame{}, broken
		}
		return layers.Frame{Data: make([]byte, 60), Length: -1, LinkType: 1, Time: time.Unix(1, 2)}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for f, err := range c.Frames() {
		var e *iwdissect.Error
		switch {
		case err == nil:
			if read++; f.Length != 60 || f.Time != 1e9+2 {
				t.Errorf("%+v", f)
			}
		case !errors.Is(err, broken) || !errors.As(err, &e) || e.Frame != 3 || e.Code != "read" || e.Resumed:
			t.Error(err)
		}
	}
	if read != 2 {
		t.Error(read)
	}
}

// TestTotals_GapsGivenUp: what came too late for the room that there was is counted, and warned of.
func TestTotals_GapsGivenUp(t *testing.T) {
	file := filepath.Join("testdata", "pcaps", "generated", "reordered.pcapng")
	if whole := open(t, file); count(t, whole.PDUs()) == 0 || whole.Totals().GapsGivenUp != 0 || len(whole.Totals().Warnings()) > 0 {
		t.Fatal(whole.Totals())
	}
	c, err := iwdissect.Open(file, iwdissect.WithLimits(iwdissect.Limits{ReorderBytes: 1}))
	if err != nil {
		t.Fatal(err)
	}
	count(t, c.PDUs())
	if got := c.Totals(); got.GapsGivenUp == 0 || !slices.ContainsFunc(got.Warnings(), func(w string) bool { return strings.Contains(w, "to bound memory") }) {
		t.Error(got.GapsGivenUp, got.Warnings())
	}
}

// FuzzNewReader: whatever the octets are, ranges end, and what they yield makes
// sense.
func FuzzNewReader(f *testing.F) {
	for _, path := range tracetest.Captures(f, ".") {
		if info, err := os.Stat(path); err == nil && info.Size() < 4096 {
			file, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(file)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := iwdissect.NewReader(bytes.NewReader(file), iwdissect.WithLimits(iwdissect.Limits{Connections: 50, ReorderBytes: 1 << 16, TotalReorderBytes: 1 << 18, UnfinishedBytes: 1 << 18}))
		if err != nil {
			var e *iwdissect.Error
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		defer c.Close()
		steps := 0
		for e, err := range c.Events(iwdissect.PDUs | iwdissect.Transactions | iwdissect.Gaps | iwdissect.Findings | iwdissect.Connections | iwdissect.Frames) {
			// A frame of 16 octets at the least brings a few things.
			if steps++; steps > 64*len(file)+1000 {
				t.Fatalf("%d steps for %d octets", steps, len(file))
			}
			switch {
			case err != nil:
				var bad *iwdissect.Error
				if !errors.As(err, &bad) {
					t.Fatal(err)
				}
			case e.PDU != nil:
				e.PDU.Clone()
			case e.Connection != nil:
				e.Connection.Clone()
			case e.Frame != nil && e.Frame.Number > c.Totals().Frames+c.Totals().Errors: // damaged ones take a number too
				t.Fatalf("frame %d: %+v", e.Frame.Number, c.Totals())
			}
		}
	})
}

// idle gives nothing, for good.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// TestNil: what is not given is an error or changes nothing, and no panic later.
func TestNil(t *testing.T) {
	const file = "testdata/pcaps/lo-rping-crc.pcap"
	if c, err := iwdissect.Open(file, nil); err != nil {
		t.Error("a nil option:", err)
	} else if err := c.Close(); err != nil {
		t.Error(err)
	}
	_, noReader := iwdissect.NewReader(nil)
	_, noSource := iwdissect.NewSource(nil)
	_, noContext := iwdissect.Open(file, iwdissect.WithContext(nil)) //nolint:staticcheck // that is the test
	for want, err := range map[string]error{
		"iwdissect: NewReader takes a reader, not nil":    noReader,
		"iwdissect: NewSource takes a source, not nil":    noSource,
		"iwdissect: WithContext takes a context, not nil": noContext,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// TestNewReader_NoProgress: a reader that never gives anything is an error.
func TestNewReader_NoProgress(t *testing.T) {
	if _, err := iwdissect.NewReader(idle{}); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}
