package fields

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// Hindsight is what a run over all of a capture found out about its PDUs, for a second
// run over the same: findings that became known at the end of a connection, and
// latencies, which are then known of the request as well as of its answer; with Move also
// PDUs that became known behind their frame. It is a sink of the first run. For each
// transaction and each finding it keeps a few octets.
type Hindsight struct {
	latencies   []latency
	findings    []Finding
	reassembled []sendSegment // the PDUs of a Send but the last, with the frame that completed it
	sends       sends
	last        uint64 // the PDU at hand
	sorted      bool
	moved       *moved // nil without Move
}

type latency struct {
	pdu uint64
	ns  int64
}

// PDU implements [trace.Sink].
func (h *Hindsight) PDU(p *trace.PDU) {
	h.last = p.Number
	if h.moved != nil {
		h.moved.pdu(p)
	}
	for _, s := range h.sends.add(p) {
		if s.pdu != p.Number {
			h.reassembled = append(h.reassembled, sendSegment{s.pdu, p.Frame})
		}
	}
}

// Gap implements [trace.Sink].
func (*Hindsight) Gap(*trace.GapEvent) {}

// Transaction implements [trace.Sink].
func (h *Hindsight) Transaction(t *trace.Transaction) {
	if h.moved != nil {
		h.moved.transaction(t)
	}
	if t.Last < 0 {
		return
	}
	last := h.last
	if n := len(t.Responses); n > 0 && t.Omitted == 0 {
		last = t.Responses[n-1] // it may have been captured before the request
	}
	h.latencies = append(h.latencies, latency{t.Request, t.Last}, latency{last, t.Last})
}

// Finding takes in a finding.
func (h *Hindsight) Finding(f *Finding) {
	if f.HasPDU {
		h.findings = append(h.findings, *f)
	}
}

// has reports whether all values of a field are known in advance.
func (h *Hindsight) has(f *Field) bool { return retrospective(f) }

func retrospective(f *Field) bool {
	return f.Name == latencyName || f.Name == ruleName || f.Name == levelName || f.Name == reassembledInName
}

// OfFindings reports whether one of the fields needs the findings of the rules.
func OfFindings(list []*Field) bool {
	return slices.ContainsFunc(list, func(f *Field) bool { return f.Name == ruleName || f.Name == levelName })
}

// Later reports whether a run over all of a capture finds out more about one of the fields
// than is known with the frame.
func Later(list []*Field) bool { return slices.ContainsFunc(list, retrospective) }

func (h *Hindsight) sort() {
	if h.sorted {
		return
	}
	h.sorted = true
	slices.SortStableFunc(h.latencies, func(a, b latency) int { return cmp.Compare(a.pdu, b.pdu) })
	slices.SortStableFunc(h.reassembled, func(a, b sendSegment) int { return cmp.Compare(a.pdu, b.pdu) })
	slices.SortStableFunc(h.findings, func(a, b Finding) int { return cmp.Compare(a.PDU, b.PDU) })
}

// latenciesOf are those of the transactions that a PDU is the request or the last answer
// of.
func (h *Hindsight) latenciesOf(pdu uint64) []latency {
	h.sort()
	i, _ := slices.BinarySearchFunc(h.latencies, pdu, func(l latency, n uint64) int { return cmp.Compare(l.pdu, n) })
	j := i
	for j < len(h.latencies) && h.latencies[j].pdu == pdu {
		j++
	}
	return h.latencies[i:j]
}

// reassembledOf has the frame that completed the Send of which a PDU is a segment.
func (h *Hindsight) reassembledOf(pdu uint64) []sendSegment {
	h.sort()
	i, ok := slices.BinarySearchFunc(h.reassembled, pdu, func(s sendSegment, n uint64) int { return cmp.Compare(s.pdu, n) })
	if !ok {
		return nil
	}
	return h.reassembled[i : i+1]
}

// findingsOf are those about a PDU.
func (h *Hindsight) findingsOf(pdu uint64) []Finding {
	h.sort()
	i, _ := slices.BinarySearchFunc(h.findings, pdu, func(f Finding, n uint64) int { return cmp.Compare(f.PDU, n) })
	j := i
	for j < len(h.findings) && h.findings[j].PDU == pdu {
		j++
	}
	return h.findings[i:j]
}
