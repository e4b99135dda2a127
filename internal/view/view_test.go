package view_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/internal/ulp"
	"github.com/iwdissect/iwdissect/internal/view"
	"github.com/iwdissect/iwdissect/internal/view/viewtest"
	"github.com/iwdissect/iwdissect/trace"
)

const pcaps = "../../testdata/pcaps"

// sourceOf is a capture file to be shown, without filters.
func sourceOf(path string) view.Source {
	return view.Source{
		Name: filepath.Base(path), Memory: 64 << 20, Run: pipeline.Options{Sums: true},
		Store: view.File{Source: func() (capture.Source, error) { return capture.Open(path, nil) }},
		Upper: func() func(*trace.PDU) { return ulp.New().PDU },
		Compile: func(text string) error {
			_, err := compile(text)
			return err
		},
		Filter: func(_ context.Context, text string) (view.Filter, error) {
			f, err := compile(text)
			if err != nil {
				return nil, err
			}
			return &filter{f: f, c: fields.NewPDUCollector(f.Fields())}, nil
		},
		Complete: func(text string) (offers []string) {
			for _, f := range fields.All() {
				if strings.HasPrefix(f.Name, text) {
					offers = append(offers, f.Name+"\t"+f.Label)
				}
			}
			return offers
		},
	}
}

func compile(text string) (*display.Filter, error) {
	return display.Compile(text, fields.Find, fields.Names)
}

// filter is a filter by what PDUs say, without what the program adds to it: internal/cli tests
// that one.
type filter struct {
	pipeline.Sink
	f *display.Filter
	c *fields.Collector
}

func (f *filter) Watch(opt *pipeline.Options) {
	if f.c.NeedsOpened() {
		opt.Opened = f.c.Opened
	}
}
func (f *filter) Of(capture.Source) {}
func (f *filter) Before(next pipeline.Sink) pipeline.Sink {
	f.Sink = next
	return f
}
func (f *filter) Judged() bool { return false }
func (f *filter) End()         {}
func (f *filter) PDU(p *trace.PDU) {
	if f.c.PDU(p); f.f.Match(f.c.Row()) {
		f.Sink.PDU(p)
	} else {
		f.Sink.(interface{ Skipped(*trace.PDU) }).Skipped(p)
	}
}

func TestView_Filter(t *testing.T) {
	x := start(t, termCapture, 120, 36)
	x.Press("/")
	x.Type("iwarp_rdma.opc")
	x.Wants("> iwarp_rdma.opcode", "Enter apply")
	x.Press("tab")
	x.Type(" == 0")
	x.Wants(" filter: iwarp_rdma.opcode == 0")
	x.Press("enter")
	x.Wants("═ PDUs  1 of 2  that match the filter", "RDMA Write stag", "PDU 3, 1448 octets, frame 10")
	x.WantsNot("MPA Request")
	x.Press("n")
	x.Wants("═ PDUs  1 of 2  that match the filter")
	x.Press("n") // a finding about a PDU that is hidden
	x.Wants("═ PDUs  5 of 6", "the filter is taken away: it hides this PDU")
	x.Press("/", "up")
	x.Wants(" filter: iwarp_rdma.opcode == 0")
	x.Press("ctrl+u")
	x.Type("iwarp_rdma.opcod == 1")
	x.Press("enter")
	x.Wants("no field is named iwarp_rdma.opcod; did you mean iwarp_rdma.opcode? (column 1)", " filter: iwarp_rdma.opcod == 1")
	if !strings.Contains(x.Painted(), "\x1b[1;4;31miwarp_rdma.opcod\x1b[m") {
		t.Errorf("what is wrong is not marked:\n%q", x.Painted())
	}
	x.Press("esc")
	x.Wants("═ PDUs  5 of 6")
	x.Press("/")
	x.Type("iwarp_rdma.opcode == 1")
	x.Press("enter")
	x.Wants("no PDU matches the filter (Esc takes it away)")
	x.Press("esc")
	x.Wants("═ PDUs  1 of 6")
}

// start shows a capture of testdata and waits until it is read.
func start(t testing.TB, name string, width, height int) *viewtest.Terminal {
	t.Helper()
	m := view.NewModel(t.Context(), view.NewCapture(sourceOf(filepath.Join(pcaps, name))), false)
	x := viewtest.Start(t, m, width, height)
	x.Wait()
	return x
}

const termCapture = "term-wbadkey.pcap"

func TestView_Opens(t *testing.T) {
	x := start(t, termCapture, 120, 36)
	x.Wants("15 frames · 6 PDUs · 1 connection · 1 error, 2 warnings · read", ">E 0     10.1.0.1:58189 > 10.1.0.2:7200",
		"═ PDUs  1 of 6", "MPA Request rev 2", "Terminate msn 1 DDP/tagged: Invalid STag",
		"─ PDU 0, 52 octets, frame 4", "Key of a Request", "Octets of frame 4  66 to 117")
}

func TestView_Moves(t *testing.T) {
	x := start(t, termCapture, 120, 36)
	x.Press("down", "down", "j")
	x.Wants("═ PDUs  4 of 6", "─ PDU 3, 1448 octets, frame 10")
	x.Press("k")
	x.Wants("═ PDUs  3 of 6")
	x.Press("G")
	x.Wants("═ PDUs  6 of 6  (at the end)")
	x.Press("g")
	x.Wants("═ PDUs  1 of 6")
	x.Press("pgdown")
	x.Wants("═ PDUs  6 of 6")
}

// A field marks its octets, and an octet leads to its field.
func TestView_FieldMarksOctets(t *testing.T) {
	x := start(t, termCapture, 120, 40)
	x.Press("down", "down", "down", "tab")
	x.Wants("═ PDU 3, 1448 octets, frame 10")
	for range 40 {
		if x.Line("iwarp_ddp.stag") != "" {
			break
		}
		x.Press("down")
	}
	x.Wants("frame 10  iwarp_ddp.stag", "Octets of frame 10  70 to 73")
	for _, marked := range []string{" 40 \x1b[7m95\x1b[m\x1b[7m \x1b[m\x1b[7ma0\x1b[m  ", " \x1b[7m1a\x1b[m\x1b[7m \x1b[m\x1b[7m00\x1b[m 00 "} {
		if !strings.Contains(x.Painted(), marked) {
			t.Errorf("the octets of the STag are not marked, %q:\n%q", marked, x.Painted())
		}
	}
	at, line := x.At("00040")
	x.Click(at+6, line) // the first octet of the line, which is of the TCP header
	x.Wants("tcp.")
}

// The tree shows the octets of a PDU that came in several segments in one piece.
func TestView_Spanning(t *testing.T) {
	x := start(t, "generated/spanning.pcapng", 160, 60)
	x.Press(":", "7", "enter")
	x.Wants("═ PDUs  14 of 37", "Octets of FPDU  0 to 123")
	// Of a segment in which there were markers, those are left out where its headers are shown.
	c := view.NewCapture(sourceOf(filepath.Join(pcaps, "generated/spanning.pcapng")))
	c.Read(t.Context())
	cache := view.NewCache(1 << 20)
	if err := c.Details(t.Context(), []view.ID{{Frame: 9}}, cache); err != nil {
		t.Fatal(err)
	}
	d := cache.Get(view.ID{Frame: 9})
	if d == nil || len(d.Parts) != 2 || d.Parts[1].Name != "FPDU without markers" {
		t.Fatalf("the parts of an FPDU with markers are %+v", d)
	}
}

func TestView_Layers(t *testing.T) {
	x := start(t, termCapture, 120, 40)
	x.Press("tab", "up", "up", "up", "up", "up", "up", "up", "up")
	x.WantsNot("Source Port")
	x.Press("g", "down", "down", "down", "enter")
	x.Wants("Source Port", "- Transmission Control Protocol")
	x.Press("down", "down", "left")
	x.WantsNot("Source Port")
	x.Wants(">+ Transmission Control Protocol")
}

func TestView_NextFinding(t *testing.T) {
	x := start(t, termCapture, 120, 36)
	x.Press("n")
	x.Wants("═ PDUs  4 of 6", ">W       10 c0     i2r  DDP-STAG-02")
	x.Press("n", "n")
	x.Wants("═ PDUs  5 of 6", ">E       12 c0     r2i  RDMAP-TERM-RSVD-01")
	x.Press("n")
	x.Wants("no further finding")
	x.Press("N", "N")
	x.Wants("═ PDUs  4 of 6")
	x.Press("N")
	x.Wants("no finding before this one")
	// From a PDU that was chosen by hand.
	x.Press("G", "N")
	x.Wants("═ PDUs  5 of 6", ">E       12 c0     r2i  RDMAP-TERM-RSVD-01")
}

// TestView_FindingWithoutPDU: a finding about a frame that completed no PDU, as one with a FIN, shows its
// own connection, and takes away a filter that hides that.
func TestView_FindingWithoutPDU(t *testing.T) {
	x := start(t, "cmtime-20conn-crc.pcap", 140, 40)
	filter := func(text string) {
		x.Press("/", "ctrl+u")
		x.Type(text)
		x.Press("enter")
		x.Wait()
		x.Wants("that match the filter")
	}
	filter("tcp.stream == 3")
	x.Press("n")
	x.WantsNot("that match the filter")
	x.Wants(" c0 ", "MPA2-TERM-05", "the filter is taken away: it hides connection 0", "frame 141 completed no PDU")
	if line := x.Line(">        "); !strings.Contains(line, " c0 ") {
		t.Errorf("the PDU is not of connection 0: %s", line)
	}
	// A filter that leaves PDUs of the connection stays.
	filter("tcp.stream == 0")
	x.Press("3", "g", "enter")
	x.Wants("that match the filter", "frame 141 completed no PDU that is listed; this is the last one before")
	// With a connection chosen, those of others are passed over; Enter on one shows all again.
	x.Press("tab", "esc", "1", "g", "enter", "n", "n")
	x.Wants("no further finding on connection ", "(Esc: all)")
	x.Press("3", "g", "down", "down", "enter")
	x.WantsNot("(Esc: all)")
	x.Wants("all connections are shown again; frame ")
}

func TestView_Diagnosis(t *testing.T) {
	x := start(t, termCapture, 120, 36)
	x.Press("2")
	x.Wants(">E conn 0           ended by an error: Invalid STag", "─ The diagnosis", "Try: compare the STag", "Broken rules: DDP-STAG-02")
	x.Press("enter")
	x.Wants("─ PDUs  4 of 6", "frame 10 of the diagnosis, 1 of 2")
	x.Press("enter")
	x.Wants("─ PDUs  5 of 6", "frame 12 of the diagnosis, 2 of 2")
	x.Press("3")
	x.Wants("─ The finding", "Demanded (RFC 5041 section")
	x.Press("1")
	x.Wants("─ The connection", "Agreed: revision 2", "Frames 1 to 15")
}

func TestView_Connection(t *testing.T) {
	x := start(t, "probe-5-connections-p2p.pcap", 140, 40)
	x.Wants("5 connections")
	all := x.Line("PDUs  1 of ")
	x.Press("1", "down", "enter")
	x.Wants("of connection ", "(Esc: all)")
	if line := x.Line("PDUs  1 of "); line == all {
		t.Errorf("the list is as long as before: %s", line)
	}
	for line := range strings.SplitSeq(x.Screen(), "\n") {
		if strings.Contains(line, "i2r") && strings.Contains(line, "c0 ") {
			t.Errorf("a PDU of another connection is listed: %s", line)
		}
	}
	x.Press("esc")
	x.WantsNot("(Esc: all)")
}

func TestView_Follow(t *testing.T) {
	x := start(t, termCapture, 120, 36)
	x.Press("f")
	x.Wants("═ Connection 0  10.1.0.1:58189 --> 10.1.0.2:7200", "<-- Terminate msn 1", "= agreed: revision 2", ">21:54:52.617426  4 ")
	x.Press("n") // to what is wrong
	x.Wants("─ PDU 4, 44 octets, frame 12")
	x.Press("enter")
	x.Wants("═ PDUs  5 of 6")
	x.Press("f", "f")
	x.Wants("═ PDUs  5 of 6")
}

func TestView_GoToFrame(t *testing.T) {
	x := start(t, termCapture, 120, 36)
	x.Press(":")
	x.Type("12")
	x.Wants(" frame: 12")
	x.Press("enter")
	x.Wants("═ PDUs  5 of 6")
	x.Press(":")
	x.Type("13")
	x.Press("enter")
	x.Wants("═ PDUs  6 of 6", "frame 13 completed no PDU that is listed; this is the next one, in frame 14")
	x.Press(":")
	x.Type("x")
	x.Press("enter")
	x.Wants("x is no number of a frame")
	x.Press("esc")
	x.Wants("═ PDUs  6 of 6")
}

func TestView_Help(t *testing.T) {
	x := start(t, termCapture, 80, 24)
	x.Press("?")
	x.Wants("iwdissect view: keys", "PgDn ^F Space", "more lines   Esc ends the help")
	x.Press("end")
	x.Wants("click again", "Times are those of the capture in UTC")
	x.Press("esc")
	x.Wants("PDUs  1 of 6")
}

func TestView_Mouse(t *testing.T) {
	x := start(t, termCapture, 120, 36)
	x.Click(30, 0)
	at, line := x.At("RDMA Write stag")
	x.Click(at, line)
	x.Wants("═ PDUs  4 of 6")
	x.Click(at, line) // again: to the tree
	x.Wants("═ PDU 3, 1448 octets")
	at, line = x.At("2 Diagnoses")
	x.Click(at, line)
	x.Wants("─ The diagnosis")
	x.Press("esc")
	at, line = x.At("MPA Reply")
	x.Wheel(at, line, true)
	x.Wants("PDUs  6 of 6")
	x.Wheel(at, line, false)
	x.Wants("PDUs  3 of 6")
	x.Click(5, 1)
	x.Wants("PDUs  3 of 6")
}

func TestView_Sizes(t *testing.T) {
	m := view.NewModel(t.Context(), view.NewCapture(sourceOf(filepath.Join(pcaps, termCapture))), false)
	x := viewtest.Start(t, m, 80, 24)
	x.Wait()
	for _, size := range [][2]int{{300, 100}, {160, 50}, {89, 16}, {60, 15}, {20, 6}, {19, 6}, {20, 5}, {1, 1}, {80, 24}} {
		x.Size(size[0], size[1])
		for range 4 {
			x.Press("tab")
			viewtest.Fits(t, m, size[0], size[1])
			x.Press("z")
			viewtest.Fits(t, m, size[0], size[1])
			x.Press("z")
		}
		x.Press("?")
		viewtest.Fits(t, m, size[0], size[1])
		x.Press("esc")
	}
}

func TestView_Plain(t *testing.T) {
	m := view.NewModel(t.Context(), view.NewCapture(sourceOf(filepath.Join(pcaps, termCapture))), true)
	x := viewtest.Start(t, m, 100, 30)
	x.Wait()
	x.Press("n")
	for _, colour := range []string{"[31", "[33", "[36", "[90", ";31", ";36"} {
		if strings.Contains(x.Painted(), "\x1b"+colour) {
			t.Errorf("there is a colour, %q:\n%q", colour, x.Painted())
		}
	}
}

func TestView_Quits(t *testing.T) {
	for _, key := range []string{"q", "ctrl+c"} {
		x := start(t, termCapture, 80, 24)
		x.Press(key)
		if !x.Quit {
			t.Errorf("%s does not quit", key)
		}
	}
	x := start(t, termCapture, 80, 24)
	x.Press("ctrl+z")
	if !x.Suspended {
		t.Error("ctrl+z does not suspend")
	}
	x.Press("?", "ctrl+c")
	if !x.Quit {
		t.Error("ctrl+c does not quit from the help")
	}
}

// A file that is cut is shown as far as it goes, and the screen says so.
func TestView_Cut(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(pcaps, termCapture))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.pcap")
	if err := os.WriteFile(path, b[:len(b)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	m := view.NewModel(t.Context(), view.NewCapture(sourceOf(path)), false)
	x := viewtest.Start(t, m, 120, 30)
	x.Wait()
	x.Wants("not read in full", "MPA Request rev 2", "cut.pcap: ")
}

// Without iWARP the diagnoses say what there is instead.
func TestView_Nothing(t *testing.T) {
	var b []byte
	b = append(b, 0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0)
	path := filepath.Join(t.TempDir(), "empty.pcap")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	m := view.NewModel(t.Context(), view.NewCapture(sourceOf(path)), false)
	x := viewtest.Start(t, m, 120, 30)
	x.Wait()
	x.Wants("no connection with iWARP", "no iWARP PDU (2 says what the capture holds)")
	x.Press("enter", "f", "n", "N", "tab", "enter", "left", "tab", "enter", "2", "enter", "3", "enter", ":", "5", "enter")
	viewtest.Fits(t, m, 120, 30)
}

// Frames that come once are kept as far as there is room; those before are told to be gone.
func TestView_Frames(t *testing.T) {
	src := sourceOf(filepath.Join(pcaps, "generated/write-read.pcapng"))
	file, err := src.Store.Open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	frames := view.NewFrames(0) // the least there may be
	src.Store, src.Live, src.Name, src.Run.Sums = frames, true, "eth0", false
	go feed(frames, file, 200)
	m := view.NewModel(t.Context(), view.NewCapture(src), false)
	x := viewtest.Start(t, m, 140, 36)
	x.Wait()
	x.Wants("eth0", "frames are not kept", "200 connections", "(at the end)")
	x.Press("tab")
	x.Wants("═ PDU ", "Octets of frame ")
	// PDUs that were shown while their frames were there are known: those of the connections that were last when the screen was drawn.
	x.Press("shift+tab", "g", "tab")
	for tries := 0; tries < 100 && !strings.Contains(x.Screen(), "is not kept any more"); tries++ {
		x.Press("shift+tab", "down", "tab")
	}
	x.Wants("is not kept any more")
	x.Press("shift+tab", "G", "f")
	x.Wants("(f: PDUs)", "RDMA Write")
	x.Press("esc", "/")
	x.Type("iwarp_rdma.opcode == 1")
	x.Press("enter")
	x.Wants("that match the filter", "RDMA Read Request", "Octets of frame ")
}

// feed adds the frames of a file several times, each time with other ports.
func feed(to *view.Frames, from capture.Source, times int) {
	var all []capture.Frame
	for {
		var f capture.Frame
		if err := from.Next(&f); err != nil {
			if !errors.Is(err, io.EOF) {
				to.End(err)
				return
			}
			break
		}
		f.Data = append([]byte(nil), f.Data...)
		all = append(all, f)
	}
	n := uint64(0)
	for round := range times {
		for i := range all {
			f := all[i]
			n++
			f.Number = n
			f.Data = append([]byte(nil), f.Data...)
			f.Data[34] ^= byte(round) // the ports, behind Ethernet and IPv4
			f.Data[36] ^= byte(round)
			if !to.Add(&f) {
				return
			}
		}
	}
	to.End(nil)
}

// captures are all of testdata.
func captures(t testing.TB) (names []string) {
	for _, pattern := range []string{"*.pcap*", "generated/*.pcap*"} {
		some, err := filepath.Glob(filepath.Join(pcaps, pattern))
		if err != nil || len(some) == 0 {
			t.Fatal("no captures", err)
		}
		names = append(names, some...)
	}
	return names
}

// TestView_Keys presses random keys on random captures: nothing panics, and each screen has its
// size. FuzzKeys does the same with what a fuzzer finds.
func TestView_Keys(t *testing.T) {
	names := captures(t)
	rnd := rand.New(rand.NewPCG(1, uint64(len(names))))
	rounds, keys := tracetest.Count(6, 30, 1000), tracetest.Count(60, 400, 400)
	for range rounds {
		name := names[rnd.IntN(len(names))]
		if i, err := os.Stat(name); err != nil || i.Size() > 4<<20 {
			continue
		}
		in := make([]byte, keys)
		for i := range in {
			in[i] = byte(rnd.Uint32())
		}
		t.Run(filepath.Base(name), func(t *testing.T) { pressAll(t, sourceOf(name), in) })
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x00\x05\x0a\x20\x30"), uint8(0))
	f.Add([]byte("jjjnnnff\x10\x11\x12"), uint8(1))
	var small []string
	for _, name := range captures(f) {
		if i, err := os.Stat(name); err == nil && i.Size() < 64<<10 {
			small = append(small, name)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, which uint8) {
		if len(in) > 200 {
			in = in[:200]
		}
		pressAll(t, sourceOf(small[int(which)%len(small)]), in)
	})
}

// pressed are the keys that random octets stand for.
var pressed = []string{
	"up", "down", "pgup", "pgdown", "home", "end", "left", "right", "tab", "shift+tab", "enter", "esc", "n", "N", "f", "z", "1", "2", "3", "?", ":", "/",
	"space", "j", "k", "g", "G", "h", "l", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+a", "ctrl+e", "5", "x", "=", "é", "字", "\u202e",
}

// pressAll presses the keys that octets stand for, clicks and changes the size.
func pressAll(t *testing.T, src view.Source, in []byte) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := view.NewModel(ctx, view.NewCapture(src), false)
	width, height := 100, 30
	x := viewtest.Start(t, m, width, height)
	for i, b := range in {
		switch {
		case b >= 250:
			width, height = 1+int(b)*i%170, 1+int(b)*i%50
			x.Size(width, height)
		case b >= 220:
			x.Send(tea.MouseClickMsg{X: i * 7 % width, Y: int(b) % height, Button: tea.MouseLeft})
		case b >= 200:
			x.Send(tea.MouseWheelMsg{X: i * 7 % width, Y: int(b) % height, Button: []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}[b&1]})
		default:
			x.Send(viewtest.Key(pressed[int(b)%len(pressed)]))
		}
		if i%4 == 0 {
			x.Wait()
		}
		viewtest.Fits(t, m, width, height)
	}
	x.Wait()
	viewtest.Fits(t, m, width, height)
}

// Each PDU has details: what is read again has the names of what was read first.
func TestView_Details(t *testing.T) {
	seen := 0
	for _, name := range captures(t) {
		if info, err := os.Stat(name); err != nil || info.Size() > 100<<10 && !tracetest.Campaign() {
			continue
		}
		src := sourceOf(name)
		c := view.NewCapture(src)
		c.Read(t.Context())
		var ids []view.ID
		from, to := c.All.Range()
		for k := from; k < to; k++ {
			ids = append(ids, c.All.Row(k).ID)
		}
		cache := view.NewCache(1 << 30)
		if err := c.Details(t.Context(), ids, cache); err != nil {
			t.Fatal(err)
		}
		for k, id := range ids {
			d := cache.Get(id)
			if d == nil {
				t.Fatalf("%s: PDU %d, %v, has no details", name, k, id)
			}
			number := ""
			for _, line := range d.Lines[d.First:] {
				if line.Name == "iwd.pdu" {
					number = line.Text
					break
				}
			}
			if want := fmt.Sprintf("%d", k); !strings.HasSuffix(number, ": "+want) {
				t.Fatalf("%s: the details of PDU %d begin with those of %q", name, k, number)
			}
			for _, line := range d.Lines {
				stands(t, name, d, line)
				if line.Part >= 0 && (line.Pos < 0 || line.Pos > len(d.Parts[line.Part].Octets)) && !strings.Contains(name, "snap") {
					t.Errorf("%s: PDU %d: %q stands at %d to %d of %d octets of %s", name, k, line.Text, line.Pos, line.Pos+line.Size, len(d.Parts[line.Part].Octets), d.Parts[line.Part].Name)
				}
			}
			seen++
		}
	}
	if seen == 0 {
		t.Error("there was no PDU")
	}
}

// stands fails the test if a line with a number has other octets than that.
func stands(t *testing.T, file string, d *view.Detail, line view.TreeLine) {
	t.Helper()
	_, value, _ := strings.Cut(line.Text, ": 0x")
	want, err := hex.DecodeString(value)
	if err != nil || line.Part < 0 || line.Size != len(want) || !strings.HasPrefix(line.Name, "iwarp_") || strings.Contains(line.Text, " = ") {
		return
	}
	octets := d.Parts[line.Part].Octets
	if got := octets[min(line.Pos, len(octets)):min(line.Pos+line.Size, len(octets))]; len(got) == len(want) && string(got) != string(want) {
		t.Errorf("%s: %s, %q, stands at %d of %s, where there is %x", file, line.Name, line.Text, line.Pos, d.Parts[line.Part].Name, got)
	}
}
