package pipeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// history is what a sink was told of connections that ended, in that order, with their PDUs by number.
//
// told are the transactions.
type history struct{ lines, told []string }

// behind stands in front of transactions, and behind what else is said.
const behind = "transactions:\n"

// teller is the sink of a run, or of one of several workers.
type teller struct {
	*history
	open map[*trace.Connection][]string // PDUs, by their connection
	pdus map[*trace.Connection][]uint64
	log  []uint64
}

func newTeller(h *history) *teller {
	return &teller{history: h, open: map[*trace.Connection][]string{}, pdus: map[*trace.Connection][]uint64{}}
}

func (s *teller) PDU(p *trace.PDU) {
	s.open[p.Conn] = append(s.open[p.Conn], fmt.Sprint(p.Kind, p.Dir, p.Frame, p.Offset, p.Length))
	s.pdus[p.Conn] = append(s.pdus[p.Conn], p.Number)
	s.log = append(s.log, p.Frame)
}

func (s *teller) Gap(g *trace.GapEvent) {
	s.open[g.Conn] = append(s.open[g.Conn], fmt.Sprint("gap", g.Dir))
	s.pdus[g.Conn] = append(s.pdus[g.Conn], 0)
}

func (s *teller) Transaction(t *trace.Transaction) { s.transaction(t) }
func (s *teller) Frame(*pipeline.Frame)            {}
func (s *teller) Finish()                          { s.lines = append(s.lines, "finished") }

func (s *teller) Ended(c *trace.Connection) { s.Concluded(c)(func(n uint64) uint64 { return n }) }

func (s *teller) Concluded(c *trace.Connection) func(func(uint64) uint64) {
	lines, pdus := s.open[c], s.pdus[c]
	delete(s.open, c)
	delete(s.pdus, c)
	return func(number func(uint64) uint64) {
		for i := range lines {
			n := pdus[i]
			if lines[i][:3] != "gap" {
				n = number(n)
			}
			s.lines = append(s.lines, fmt.Sprintf("%d %d %s", c.Number, n, lines[i]))
		}
		s.lines = append(s.lines, fmt.Sprintf("conn %d %v %v until %d", c.Number, c.Side[0].Addr, c.Ending, c.Until))
	}
}

func (s *teller) Cut(any) any {
	all := s.log
	s.log = nil
	return all
}

// Join sees to it that what is cut belongs together: no frame is of two workers, and none is before one that
// was joined.
func (s *teller) Join(cuts []any) bool {
	seen := map[uint64]int{}
	for i, c := range cuts {
		for _, f := range c.([]uint64) {
			if by, ok := seen[f]; ok && by != i {
				s.lines = append(s.lines, fmt.Sprintf("frame %d is of two", f))
			}
			seen[f] = i
		}
	}
	return true
}

// transaction takes down a transaction.
func (h *history) transaction(t *trace.Transaction) {
	conn, own := t.Conn.Number, *t
	own.Conn = nil
	h.told = append(h.told, fmt.Sprintf("conn %d %+v\n", conn, own))
}

// byWorkers is what so many workers say of a capture, as read does, and what they tell a sink. If they leave it to a
// single run, it is the transactions that they have told of by then.
func byWorkers(f *capture.File, opt pipeline.Options, n, over int) (out, history string, err error) {
	defer f.Close()
	var damage []string
	opt.OnError = func(err error) { damage = append(damage, bare(err)) }
	opt.Brief = true
	h := newHistory()
	of := make([]pipeline.Worker, n)
	for i := range of {
		of[i] = pipeline.Worker{Sink: newTeller(h), Memory: pipeline.PartMemory(&opt)}
	}
	w := pipeline.NewWorkers(opt, of)
	w.SetMaxOver(over)
	w.SetManyFlows(1)
	w.Transactions(h.transaction)
	err = w.Read(f)
	if errors.Is(err, pipeline.ErrOrder) {
		return strings.Join(h.told, ""), "", err
	}
	return said(w, damage, err) + behind + strings.Join(h.told, ""), fmt.Sprint(h.lines), err
}

func newHistory() *history { return new(history) }

// inOrder is the same by a single run.
func inOrder(f *capture.File, opt pipeline.Options, over int) (out, history string) {
	defer f.Close()
	var damage []string
	opt.OnError = func(err error) { damage = append(damage, bare(err)) }
	opt.Brief = true
	h := newHistory()
	r := pipeline.New(opt, newTeller(h))
	r.SetMaxOver(over)
	err := r.Read(f)
	return said(r, damage, err) + behind + strings.Join(h.told, ""), fmt.Sprint(h.lines)
}

// said is what a run, or several workers, say of a capture that was read.
func said(r interface {
	Finish() *ended.List
	Totals() pipeline.Totals
	Others() *pipeline.Others
}, damage []string, err error,
) string {
	out := recordsOf(r.Finish())
	return fmt.Sprintf("%s%+v\n%+v\n%q, %v", out, r.Totals(), *r.Others(), damage, bare(err))
}

// agree compares workers with a single run.
func agree(t *testing.T, what string, octets []byte, opt pipeline.Options, over int) {
	t.Helper()
	open := func() *capture.File { return onDisk(t, filepath.Join(t.TempDir(), "load.pcapng"), octets) }
	want, wantHistory := inOrder(open(), opt, over)
	for _, n := range []int{2, 8} {
		got, history, err := byWorkers(open(), opt, n, over)
		if errors.Is(err, pipeline.ErrOrder) {
			t.Errorf("%s, %d workers: %v", what, n, err)
			continue
		}
		if got != want {
			t.Errorf("%s, %d workers: %s", what, n, tracetest.Diff(linesOf(got), linesOf(want)))
		}
		if history != wantHistory {
			t.Errorf("%s, %d workers tell\n%.500s\nwant\n%.500s", what, n, history, wantHistory)
		}
	}
}

func linesOf(s string) []string {
	var out []string
	for l := range bytes.Lines([]byte(s)) {
		out = append(out, string(l))
	}
	return out
}

// TestWorkers: several workers say of a capture what one run says, in the same order, also with damage anywhere.
func TestWorkers(t *testing.T) {
	bulk := scenario.Shape{Size: uint64(tracetest.Count(3<<19, 4<<20, 4<<20)), Flows: 40, Seed: 1, Mix: scenario.Bulk}
	with := func(change func(*scenario.Shape)) scenario.Shape {
		l := bulk
		change(&l)
		return l
	}
	for name, l := range map[string]scenario.Shape{
		"mixed":          with(func(l *scenario.Shape) { l.Size, l.Mix = l.Size*3/2, 0 }),
		"bulk":           bulk,
		"markers":        with(func(l *scenario.Shape) { l.Markers = true }),
		"loss":           with(func(l *scenario.Shape) { l.Loss, l.Reorder = 0.02, 0.02 }),
		"lossy spanning": with(func(l *scenario.Shape) { l.Loss, l.Reorder, l.FPDU = 0.02, 0.02, 16<<10 }),
	} {
		for _, sums := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, checksums %v", name, sums), func(t *testing.T) {
				t.Parallel()
				var b bytes.Buffer
				if _, err := synth.Run(&b, scenario.Load(l)); err != nil {
					t.Fatal(err)
				}
				whole := b.Bytes()
				opt := pipeline.Options{Sums: sums}
				agree(t, "nothing is damaged", whole, opt, 8)
				for _, at := range []int{len(whole) / 2, len(whole) / 100, len(whole) * 98 / 100}[:tracetest.Raced(3, 1)] {
					torn := bytes.Clone(whole)
					for i := at; i < at+3000; i += 700 {
						torn[i] ^= 1
					}
					agree(t, fmt.Sprintf("damage near octet %d", at), torn, opt, 8)
				}
				agree(t, "cut", whole[:len(whole)-4711], opt, 8)
			})
		}
	}
}

// comings are connections that come and go: some use the ports of others again, some are no more than a SYN or
// carry no iWARP, and packets come late.
func comings(n int) []capture.Frame {
	var parts [][]capture.Frame
	for i := range n {
		when := int64(i/4) * second / 7 // four at a time
		switch i % 9 {
		case 2: // it stays open
			parts = append(parts, at(i, when, func(t *tracetest.TCP) {
				t.Play(small(i % 2))
				t.Send(0, make([]byte, 40)) // nobody acknowledges it
			}))
		case 3: // the ports of the one that stays open; of some there is no more than a SYN, or no answer to it
			again := numbered([2]uint32{5_000_000, 6_000_000}, i-1, when+20*second, func(t *tracetest.TCP) { t.Play(small(i % 2)); t.Close() })
			switch i / 9 % 3 {
			case 1:
				again = again[:1]
			case 2:
				again = append(again[:1:1], again[2:]...)
			}
			parts = append(parts, again)
		case 4:
			parts = append(parts, at(i, when, func(t *tracetest.TCP) { t.Handshake() })[:1])
		case 6:
			parts = append(parts, at(i, when, func(t *tracetest.TCP) {
				t.Handshake()
				t.Send(0, []byte("GET / HTTP/1.1\r\n\r\n"))
				t.Close()
			}))
		case 8: // the ports of the one before
			again := numbered([2]uint32{5_000_000, 3_000_000_000}, i-1, when+20*second, func(t *tracetest.TCP) { t.Play(small(i % 2)); t.Close() })
			if i/9%2 == 1 { // its SYNs are missing
				again = again[3:]
			}
			parts = append(parts, again)
		default:
			parts = append(parts, at(i, when, func(t *tracetest.TCP) { t.Play(small(i % 2)); t.Close() }))
		}
	}
	return tracetest.Number(merged(parts...))
}

// TestWorkers_ComeAndGo: connections end while others go on, and are told of in the same order.
func TestWorkers_ComeAndGo(t *testing.T) {
	fs := comings(400)
	for i := range fs {
		if i%3 == 2 { // the clock steps back
			fs[i].Time -= second / 3
		}
	}
	octets := tracetest.PCAP(fs)
	for _, over := range []int{8, 64, 4096} {
		agree(t, fmt.Sprintf("%d stay", over), octets, pipeline.Options{Sums: true}, over)
	}
}

// TestWorkers_Order: what depends on all connections is left to a single run.
func TestWorkers_Order(t *testing.T) {
	fs := comings(100)
	all := budget.New(1 << 30)
	inOrder(inMemory(t, tracetest.PCAP(fs)), pipeline.Options{Memory: all}, 4096)
	for name, tt := range map[string]struct {
		octets []byte
		opt    pipeline.Options
	}{
		"too many connections": {tracetest.PCAP(fs), pipeline.Options{MaxConnections: 60}},
		"too little memory":    {tracetest.PCAP(fs), pipeline.Options{MemoryBytes: 10_000}},
		"too little together":  {tracetest.PCAP(fs), pipeline.Options{MemoryBytes: all.Peak() * 3 / 4}},
		"SCTP":                 {sctpLoad(t), pipeline.Options{}},
	} {
		if _, _, err := byWorkers(inMemory(t, tt.octets), tt.opt, 4, 4096); !errors.Is(err, pipeline.ErrOrder) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func sctpLoad(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Run(&b, scenario.Load(scenario.Shape{Size: 2 << 20, Flows: 8, Seed: 1, SCTP: true})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// broken panics with a PDU.
type broken struct{ *teller }

func (broken) PDU(*trace.PDU) { panic("a fault of this program") }

// TestWorkers_Panic: a worker that panics stops the others, and leaves it to a single run to tell why.
func TestWorkers_Panic(t *testing.T) {
	f := onDisk(t, filepath.Join(t.TempDir(), "load.pcap"), tracetest.PCAP(comings(200)))
	defer f.Close()
	opt := pipeline.Options{Brief: true}
	of := make([]pipeline.Worker, 4)
	for i := range of {
		of[i] = pipeline.Worker{Sink: newTeller(newHistory()), Memory: pipeline.PartMemory(&opt)}
	}
	of[2].Sink = broken{newTeller(newHistory())}
	if err := pipeline.NewWorkers(opt, of).Read(f); !errors.Is(err, pipeline.ErrOrder) {
		t.Error(err)
	}
}

// TestTotals_Add: no count is forgotten.
func TestTotals_Add(t *testing.T) {
	var a, b pipeline.Totals
	apart := []string{"Connections", "PDUs", "FirstTime", "LastTime", "FirstCopy", "FirstClamped", "IP", "Lost"} // of all workers together
	v := reflect.ValueOf(&b).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; !slices.Contains(apart, name) {
			v.Field(i).SetUint(uint64(i) + 1)
		}
	}
	a.Add(&b)
	a.Add(&b)
	v = reflect.ValueOf(&a).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; !slices.Contains(apart, name) && v.Field(i).Uint() != 2*(uint64(i)+1) {
			t.Errorf("%s is %d", name, v.Field(i).Uint())
		}
	}
}

// TestWorkers_Random changes octets of captures in which much is wrong: several workers say what one run says,
// or leave it to it. It is no fuzz test, since what goroutines cover is another thing each time.
func TestWorkers_Random(t *testing.T) {
	rounds, left := tracetest.Raced(tracetest.Count(300, 800, 20_000), 60), 0
	for round := range rounds {
		rnd := random(uint64(round))
		fs := comings(10 + rnd.IntN(30))
		for range rnd.IntN(3) {
			fs = append(fs, captured(rnd.Uint64N(1000))...)
		}
		octets := tracetest.PCAP(tracetest.Number(fs))
		for range rnd.IntN(30) {
			octets[24+rnd.IntN(len(octets)-24)] ^= 1 << rnd.IntN(8)
		}
		octets = octets[:len(octets)-rnd.IntN(40)]
		opt := pipeline.Options{Sums: rnd.IntN(2) == 0, ReorderBytes: 4 << 10}
		scant := rnd.IntN(4) == 0
		if scant {
			opt.TotalReorderBytes = 1 << (10 + rnd.IntN(4))
		}
		if !sameByWorkers(t, octets, opt, 2<<rnd.IntN(3), 1+rnd.IntN(40)) && !scant {
			left++
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	if left > rounds/4 {
		t.Errorf("%d of %d were left to a single run", left, rounds)
	}
}

// sameByWorkers compares workers with a single run, and reports whether they did not leave it to it.
func sameByWorkers(t *testing.T, octets []byte, opt pipeline.Options, workers, over int) bool {
	t.Helper()
	want, wantHistory := inOrder(inMemory(t, octets), opt, over)
	got, history, err := byWorkers(inMemory(t, octets), opt, workers, over)
	if errors.Is(err, pipeline.ErrOrder) {
		if _, told, _ := strings.Cut(want, behind); !strings.HasPrefix(told, got) {
			t.Error("told before, and not in order: ", tracetest.Diff(linesOf(got), linesOf(told)))
		}
		return false
	}
	if got += history; got != want+wantHistory {
		t.Error(tracetest.Diff(linesOf(got), linesOf(want+wantHistory)))
	}
	return true
}

func inMemory(t *testing.T, octets []byte) *capture.File {
	t.Helper()
	f, err := capture.Open("-", bytes.NewReader(octets))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
