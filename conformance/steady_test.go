package conformance_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// harm does something to some of the PDUs of a capture before the rules see them.
type harm struct {
	*judge
	rnd  *rand.Rand
	rate int // one in this many; 0: none
	// often is how many PDUs there are from one look at the model to the next; 0: only
	// at the end.
	often, pdus int
	told        []string
	misses      []string
}

// PDU implements [trace.Sink].
func (h *harm) PDU(p *trace.PDU) {
	harmed := false
	if h.rate > 0 && h.rnd.IntN(h.rate) == 0 && (p.FPDU != nil || p.Kind == trace.KindSCTPSegment) {
		x := *p
		flows := p.Conn.Flow
		defer func() { x.Conn.Flow = flows }()
		switch {
		case h.rnd.IntN(2) == 0:
			strain(h.rnd, &x)
		case p.FPDU != nil:
			f := *p.FPDU
			x.FPDU = &f
			harms[h.rnd.IntN(len(harms))](h.rnd, &x, &f)
		default:
			k := *p.Chunk
			x.Chunk = &k
			chunkHarms[h.rnd.IntN(len(chunkHarms))](h.rnd, &x, &k)
		}
		p, harmed = &x, true
	}
	h.judge.PDU(p)
	if h.pdus++; h.often > 0 && (harmed || h.pdus%h.often == 0) {
		h.model(p.Conn)
	}
}

// model returns the whole model of a connection.
func (h *harm) model(c *trace.Connection) {
	h.told = append(h.told, strings.Split(h.judge.Engine.Model(c), "\n")...)
	if misses := h.judge.Engine.Misses(c); misses != "" {
		h.misses = append(h.misses, misses)
	}
}

// Ended hears of the end of a connection before the rules do.
func (h *harm) Ended(c *trace.Connection) {
	h.model(c)
	h.judge.Ended(c)
}

var harms = []func(*rand.Rand, *trace.PDU, *mpa.FPDU){
	func(_ *rand.Rand, _ *trace.PDU, f *mpa.FPDU) { f.CRCStatus, f.CRC = mpa.CRCBad, ^f.CRC },
	func(_ *rand.Rand, _ *trace.PDU, f *mpa.FPDU) { f.CRCStatus = mpa.CRCUnverifiable },
	func(_ *rand.Rand, _ *trace.PDU, f *mpa.FPDU) { f.Sync = mpa.ByCRC },
	func(_ *rand.Rand, _ *trace.PDU, f *mpa.FPDU) { f.Sync = mpa.ByChain },
	func(rnd *rand.Rand, p *trace.PDU, _ *mpa.FPDU) { p.Acked = p.Acked + rnd.Int64N(4000) - 2000 },
	func(rnd *rand.Rand, p *trace.PDU, _ *mpa.FPDU) { p.LastAcked = p.LastAcked + rnd.Int64N(40000) - 2000 },
	func(_ *rand.Rand, p *trace.PDU, _ *mpa.FPDU) { p.Acked, p.LastAcked = -1, -1 },
	func(rnd *rand.Rand, p *trace.PDU, f *mpa.FPDU) { p.Bounds = []int{0, 1 + rnd.IntN(max(f.Size, 2)-1)} },
	func(rnd *rand.Rand, p *trace.PDU, f *mpa.FPDU) { p.Bounds = []int{rnd.IntN(max(f.Size, 1))} },
	func(_ *rand.Rand, p *trace.PDU, _ *mpa.FPDU) { p.Bounds = nil },
	func(rnd *rand.Rand, _ *trace.PDU, f *mpa.FPDU) { f.Unsent = 1 + rnd.IntN(8) },
	func(_ *rand.Rand, p *trace.PDU, _ *mpa.FPDU) { p.HasOffset = false },
	func(rnd *rand.Rand, p *trace.PDU, f *mpa.FPDU) { // another header
		if p.Segment == nil || len(f.Head) < 2 {
			return
		}
		f.Head = slices.Clone(f.Head)
		f.Head[rnd.IntN(min(len(f.Head), p.Segment.HeaderLen))] ^= 1 << rnd.IntN(8)
		var g ddp.Segment
		if p.Segment = nil; ddp.DecodeTo(&g, f.Head) == nil {
			p.Segment, p.Control = &g, rdmap.ControlOf(g.RsvdULP)
		}
	},
	func(rnd *rand.Rand, _ *trace.PDU, f *mpa.FPDU) { // another length
		f.ULPDULength = uint16(max(int(f.ULPDULength)-1-rnd.IntN(64), 20))
		f.Head = f.Head[:min(len(f.Head), int(f.ULPDULength))]
	},
}

var chunkHarms = []func(*rand.Rand, *trace.PDU, *trace.Chunk){
	func(_ *rand.Rand, _ *trace.PDU, k *trace.Chunk) { k.Unordered = false },
	func(_ *rand.Rand, _ *trace.PDU, k *trace.Chunk) { k.Whole = false },
	func(_ *rand.Rand, _ *trace.PDU, k *trace.Chunk) { k.Torn = true },
	func(_ *rand.Rand, _ *trace.PDU, k *trace.Chunk) { k.TSNs = append(slices.Clone(k.TSNs), k.TSNs...) },
	func(rnd *rand.Rand, _ *trace.PDU, k *trace.Chunk) {
		k.Order = []trace.Order{trace.AfterMissing, trace.Late, trace.Duplicate}[rnd.IntN(3)]
	},
	func(_ *rand.Rand, _ *trace.PDU, k *trace.Chunk) { k.InFragments = true },
	func(_ *rand.Rand, _ *trace.PDU, k *trace.Chunk) { k.Arrival.Complete = false },
	func(rnd *rand.Rand, _ *trace.PDU, k *trace.Chunk) { k.Arrival.Heard = rnd.Int64N(40) - 1 },
	func(rnd *rand.Rand, _ *trace.PDU, k *trace.Chunk) {
		k.Arrival.HasPending = true
		k.Arrival.Pending = trace.Pending{Frame: 1, Function: sctpddp.Initiate, Certain: rnd.IntN(2) == 0}
	},
	func(rnd *rand.Rand, p *trace.PDU, k *trace.Chunk) { // another header
		if p.Segment == nil {
			return
		}
		k.Octets = slices.Clone(k.Octets)
		k.Octets[sctpddp.SegmentLen+rnd.IntN(p.Segment.HeaderLen)] ^= 1 << rnd.IntN(8)
		var g ddp.Segment
		if p.Segment = nil; ddp.DecodeTo(&g, k.Octets[sctpddp.SegmentLen:]) == nil {
			p.Segment, p.Control = &g, rdmap.ControlOf(g.RsvdULP)
		}
	},
	func(rnd *rand.Rand, p *trace.PDU, k *trace.Chunk) { // another length
		if p.Segment != nil && len(k.Octets) == k.Length {
			k.Length = max(k.Length-1-rnd.IntN(64), 20)
			k.Octets, p.Length = k.Octets[:k.Length], int64(k.Length)
		}
	},
}

// strain changes something of a direction, while the rules see one PDU.
func strain(rnd *rand.Rand, p *trace.PDU) {
	switch f := &p.Conn.Flow[rnd.IntN(2)]; rnd.IntN(6) {
	case 0:
		f.Waiting = true
	case 1:
		f.SumsUnsure = true
	case 2:
		f.Largest += 70000
	case 3:
		f.Cut = true
	case 4:
		f.Rarely().Unframed++
	case 5:
		f.Sent += 1 << 20
	}
}

// losses are what a capture may lack.
var losses = map[string]func(*rand.Rand, []capture.Frame) []capture.Frame{
	"whole": func(_ *rand.Rand, fs []capture.Frame) []capture.Frame { return fs },
	"holes": func(rnd *rand.Rand, fs []capture.Frame) []capture.Frame {
		return slices.DeleteFunc(slices.Clone(fs), func(capture.Frame) bool { return rnd.IntN(150) == 0 })
	},
	"shuffled": func(rnd *rand.Rand, fs []capture.Frame) []capture.Frame {
		fs = slices.Clone(fs)
		for i := 1; i < len(fs); i++ {
			if rnd.IntN(40) == 0 {
				fs[i].Data, fs[i-1].Data = fs[i-1].Data, fs[i].Data
				fs[i].OrigLen, fs[i-1].OrigLen = fs[i-1].OrigLen, fs[i].OrigLen
			}
		}
		return fs
	},
	"damaged": func(rnd *rand.Rand, fs []capture.Frame) []capture.Frame {
		fs = slices.Clone(fs)
		for i := range fs {
			if rnd.IntN(100) == 0 {
				fs[i].Data = slices.Clone(fs[i].Data)
				fs[i].Data[len(fs[i].Data)-1-rnd.IntN(len(fs[i].Data)/2)] ^= 1 << rnd.IntN(8)
			}
		}
		return fs
	},
	"one way": func(_ *rand.Rand, fs []capture.Frame) []capture.Frame {
		return slices.DeleteFunc(slices.Clone(fs), func(f capture.Frame) bool { return len(f.Data) < 100 && f.Number > 40 })
	},
	"late": func(_ *rand.Rand, fs []capture.Frame) []capture.Frame { return fs[len(fs)/5:] },
	"short": func(_ *rand.Rand, fs []capture.Frame) []capture.Frame {
		fs = slices.Clone(fs)
		for i := range fs {
			if i%97 == 0 {
				fs[i].Data = fs[i].Data[:min(len(fs[i].Data), 120)]
			}
		}
		return fs
	},
}

// said are all findings and verdicts on a capture, in their order.
func said(tb testing.TB, fs []capture.Frame, seed uint64, rate int, long bool) string {
	tb.Helper()
	h := &harm{judge: &judge{}, rnd: rand.New(rand.NewPCG(seed, 9)), rate: rate, often: int(seed%2) * 61}
	h.judge.Engine = conformance.New(conformance.Options{
		OnBug:     func(rule string, why any) { h.told = append(h.told, fmt.Sprint("bug ", rule, why)) },
		OnFinding: func(f *conformance.Finding) { h.told = append(h.told, "told "+text([]conformance.Finding{*f})) },
	}, h.judge)
	if long {
		h.judge.Engine.GoLong()
	}
	r := pipeline.New(pipeline.Options{Brief: true}, h)
	if err := r.Read(tracetest.Source(fs)); err != nil {
		tb.Fatal(err)
	}
	r.Finish()
	if touched := h.judge.Engine.Touched(); len(touched) > 0 {
		tb.Errorf("the halves share %v, and it was written to", touched)
	}
	if len(h.misses) > 0 {
		tb.Errorf("%d times a note of open messages is wrong, first %s", len(h.misses), h.misses[0])
	}
	for i := range h.judge.findings {
		f := h.judge.findings[i]
		f.Conn = nil
		h.told = append(h.told, fmt.Sprintf("found %s %d %+v", f.Rule.ID, f.Further(), text([]conformance.Finding{f})), fmt.Sprint(f.Offset, f.HasOffset, f.Related))
	}
	for _, c := range h.judge.conns {
		for _, v := range c.verdicts {
			h.told = append(h.told, fmt.Sprint(c.Number, " ", v.Rule.ID, " ", v.Verdict, " ", v.Gate))
		}
	}
	return strings.Join(h.told, "\n")
}

// TestSteady: the findings are the same whether the FPDUs of long Writes are only counted
// or each go the long way. The campaign takes all seeds; the plain run one for every
// second capture and loss, all of them in turn.
func TestSteady(t *testing.T) {
	const both = "timeline:\n  - connect\n  - {together: [write 150000 x2, server write 120000 x3, read 40000 x2]}\n  - send 3000\n" +
		"  - {together: [server write 90000, send 100 x3]}\n  - close\n"
	captures := map[string][]capture.Frame{
		"load":       framesOf(t, scenario.Load(scenario.Shape{Size: 3 << 20, Flows: 3, Seed: 7})),
		"both ways":  framesOf(t, parsed(t, both)),
		"one side":   framesOf(t, parsed(t, "timeline: [connect, write 300000 x3, close]\n")),
		"markers":    framesOf(t, parsed(t, "both: {mpa: {markers: true}}\n"+both)),
		"no CRC":     framesOf(t, parsed(t, "both: {mpa: {crc: false}}\n"+both)),
		"large":      framesOf(t, parsed(t, "both: {tcp: {mss: 8960}}\n"+both)),
		"no startup": framesOf(t, parsed(t, both))[5:],
		"SCTP":       framesOf(t, parsed(t, "transport: sctp\n"+both)),
		"shuffled":   framesOf(t, parsed(t, "transport: sctp\nboth: {sctp: {shuffle: true}}\n"+both)),
		"sessions":   framesOf(t, scenario.Load(scenario.Shape{Size: 2 << 20, Flows: 3, Seed: 7, SCTP: true})),
	}
	const seeds = 6
	turn := uint64(0)
	for _, name := range slices.Sorted(maps.Keys(captures)) {
		for _, what := range slices.Sorted(maps.Keys(losses)) {
			turn++
			for seed := range uint64(seeds) {
				if !tracetest.Campaign() && (turn%2 == 0 || seed != turn/2%seeds) {
					continue
				}
				fs, lose := captures[name], losses[what]
				lost := lose(rand.New(rand.NewPCG(seed, 3)), fs)
				rate := []int{0, 200, 30}[seed%3]
				quick, long := said(t, lost, seed, rate, false), said(t, lost, seed, rate, true)
				sameSaid(t, fmt.Sprintf("%s, %s, seed %d", name, what, seed), quick, long)
			}
		}
	}
}

// sameSaid compares what is said of a trace in the quick way and in the long one.
func sameSaid(t *testing.T, name, quick, long string) {
	t.Helper()
	if quick == long {
		return
	}
	a, b := strings.Split(quick, "\n"), strings.Split(long, "\n")
	i := 0
	for i < min(len(a), len(b))-1 && a[i] == b[i] {
		i++
	}
	t.Errorf("%s: %d lines, the long way %d; the first that differ:\n%s\n%s", name, len(a), len(b), a[i], b[i])
}
