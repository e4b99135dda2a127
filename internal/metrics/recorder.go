// Package metrics tells a monitoring system what a live capture sees: it counts while frames
// come, and serves the counts over HTTP in the format of Prometheus.
//
// The capture counts in plain memory and publishes a copy about once a second. A server that is
// asked reads the copy, so that neither waits for the other.
package metrics

import (
	"sync"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Recorder counts what one capture finds. All methods but [Recorder.Collect], [Recorder.Describe]
// and [Recorder.Handler] belong to the goroutine that captures.
type Recorder struct {
	now counts
	// rules are the counts of findings by the place of the rule in the catalogue.
	rules map[int]*ofRule

	mutex     sync.Mutex
	published published
}

// ofRule counts the findings of a rule by their severity, which may differ from that of the rule.
type ofRule struct {
	id    string
	found [catalogue.Error + 1]uint64
}

// The bounds of the buckets: response times in seconds, and requests that were outstanding.
var (
	latencyBounds     = []float64{5e-6, 10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 50e-3, 100e-3, 1, 10}
	outstandingBounds = []float64{0, 1, 2, 4, 8, 16, 32, 64, 128, 1024, 16384}
)

const (
	latencyBuckets     = 16 // one more than bounds
	outstandingBuckets = 12
)

// counts are what is counted from the start of the capture.
type counts struct {
	crcs          [mpa.CRCUnverifiable + 1]uint64 // FPDUs
	chunks        uint64                          // DDP segments over SCTP
	segments      [rdmap.Opcodes]uint64
	octets        [rdmap.Opcodes]uint64 // of ULPDUs
	malformed     uint64
	startups      [2]uint64 // Requests and Replies
	retransmitted uint64
	reordered     uint64
	gaps          uint64
	ended         [trace.Abort + 1]uint64
	latency       [trace.TransactionAtomic + 1]histogram
	outstanding   [outstandingBuckets]uint64
	outstandings  uint64 // the sum of all
}

// histogram counts values in buckets.
type histogram struct {
	in  [latencyBuckets]uint64
	sum float64
}

// bucket is the first whose bound is not below a value; behind the last bound there is one more.
func bucket(bounds []float64, v float64) int {
	for i, b := range bounds {
		if v <= b {
			return i
		}
	}
	return len(bounds)
}

// New returns a recorder for a capture.
func New() *Recorder { return &Recorder{rules: make(map[int]*ofRule)} }

// PDU implements [trace.Sink].
func (r *Recorder) PDU(p *trace.PDU) {
	n := &r.now
	switch p.Kind {
	case trace.KindRequest:
		n.startups[0]++
	case trace.KindReply:
		n.startups[1]++
	case trace.KindFPDU:
		if s := p.FPDU.CRCStatus; int(s) < len(n.crcs) {
			n.crcs[s]++
		}
		r.segment(p)
	case trace.KindSCTPSegment:
		n.chunks++
		r.segment(p)
	case trace.KindRTR, trace.KindStreaming, trace.KindUnframed, trace.KindSCTPControl:
	}
}

// segment counts the DDP segment in a PDU.
func (r *Recorder) segment(p *trace.PDU) {
	op := p.Control.Opcode
	if p.Segment == nil || op >= rdmap.Opcodes {
		r.now.malformed++
		return
	}
	_, length, _ := p.ULPDU()
	r.now.segments[op]++
	r.now.octets[op] += uint64(max(length, 0))
}

// Transaction implements [trace.Sink].
func (r *Recorder) Transaction(t *trace.Transaction) {
	if t.Last < 0 || int(t.Kind) >= len(r.now.latency) {
		return
	}
	h, seconds := &r.now.latency[t.Kind], float64(t.Last)/1e9
	h.in[bucket(latencyBounds, seconds)]++
	h.sum += seconds
}

// Gap implements [trace.Sink].
func (r *Recorder) Gap(*trace.GapEvent) { r.now.gaps++ }

// Frame implements [pipeline.Sink].
func (r *Recorder) Frame(f *pipeline.Frame) {
	if f.Note == 0 || f.Conn == nil || !f.Conn.IsMPA {
		return
	}
	if f.Note&reassembly.Retransmission != 0 {
		r.now.retransmitted++
	}
	if f.Note&reassembly.OutOfOrder != 0 {
		r.now.reordered++
	}
}

// Ended implements [pipeline.Judge].
func (r *Recorder) Ended(c *trace.Connection) {
	n := &r.now
	if int(c.Ending) < len(n.ended) {
		n.ended[c.Ending]++
	}
	for d := range c.Flow {
		most := uint64(max(c.Flow[d].MostOutstanding, 0))
		n.outstanding[bucket(outstandingBounds, float64(most))]++
		n.outstandings += most
	}
}

// Finish implements [pipeline.Judge].
func (r *Recorder) Finish() {}

// Finding counts a finding. Rules are those of the catalogue, so their number is bounded.
func (r *Recorder) Finding(f *conformance.Finding) {
	of := r.rules[f.Rule.Place()]
	if of == nil {
		of = &ofRule{id: f.Rule.ID}
		r.rules[f.Rule.Place()] = of
	}
	if int(f.Severity) < len(of.found) {
		of.found[f.Severity]++
	}
}
