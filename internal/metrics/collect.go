package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// The metrics. Labels have few values, all of them ours: no address, port or text of a packet is
// one, so a capture cannot make their number grow.
var (
	frames        = describe("capture_frames_total", "Frames that were captured and handled.")
	octets        = describe("capture_octets_total", "Octets of those frames on the wire.")
	received      = describe("capture_kernel_frames_total", "Frames that the kernel saw for the capture, dropped ones included.")
	drops         = describe("capture_dropped_frames_total", "Frames that the kernel dropped because they came faster than they were handled.")
	full          = describe("capture_ring_full_total", "How often the buffer of the kernel was full.")
	queued        = describe("capture_queue_frames", "Frames that wait in the buffer of the kernel.")
	lag           = describe("capture_lag_seconds", "Age of the latest frame when it was handled or, without traffic, since then.")
	damaged       = describe("capture_damaged_frames_total", "Frames whose headers could not be read as what they claim to be.", "why")
	connections   = describe("connections_total", "TCP connections and DDP stream sessions that were seen.")
	tracked       = describe("connections", "Connections and SCTP associations that are in memory.")
	memory        = describe("memory_octets", "Octets that connections, and what is kept of those that ended, take.")
	ended         = describe("iwarp_connections_ended_total", "Connections with iWARP that ended, or were given up.", "ending")
	startups      = describe("startup_frames_total", "MPA Requests and Replies.", "frame")
	fpdus         = describe("fpdus_total", "FPDUs by what their CRC32c is.", "crc")
	chunks        = describe("sctp_segments_total", "DDP segments over SCTP.")
	segments      = describe("segments_total", "DDP segments by the operation of RDMAP.", "operation")
	payload       = describe("segment_octets_total", "Octets of DDP segments with their headers, by the operation of RDMAP.", "operation")
	malformed     = describe("malformed_segments_total", "FPDUs and chunks whose DDP header could not be read.")
	retransmitted = describe("retransmitted_packets_total", "Packets of connections with iWARP that carried octets again.")
	reordered     = describe("reordered_packets_total", "Packets of connections with iWARP that came while others before them were missing: those behind a loss too.")
	gaps          = describe("gaps_total", "Holes in streams: octets or chunks that were not captured.")
	findings      = describe("findings_total", "Violations of rules, and advice.", "rule", "severity")
	latency       = describe("latency_seconds", "Time from a request to the end of its answer.", "operation")
	outstanding   = describe("outstanding_requests", "The most Reads and atomics that were outstanding at once, for each direction of the connections that ended.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("iwdissect_"+name, help, labels, nil)
}

// Describe implements [prometheus.Collector].
func (r *Recorder) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		frames, octets, received, drops, full, queued, lag, damaged, connections, tracked, memory, ended, startups, fpdus, chunks, segments,
		payload, malformed, retransmitted, reordered, gaps, findings, latency, outstanding,
	} {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. It may be called from any goroutine.
func (r *Recorder) Collect(to chan<- prometheus.Metric) {
	p := r.latest()
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	t := &p.Totals
	count(frames, t.Frames)
	count(octets, t.Octets)
	count(damaged, t.Malformed, "malformed")
	count(damaged, t.Truncated, "cut")
	count(connections, t.Connections)
	gauge(tracked, float64(p.Tracked))
	gauge(memory, float64(p.Memory))
	if p.HasKernel {
		k := &p.Kernel
		count(received, k.Received)
		count(drops, k.Dropped)
		count(full, k.FreezeCount)
		gauge(queued, max(float64(k.Received)-float64(k.Dropped)-float64(t.Frames), 0))
	}
	if p.Latest > 0 {
		gauge(lag, max(float64(p.Now-p.Latest)/1e9, 0))
	}
	p.traffic(count)
	p.judged(count)
	p.histograms(to)
}

// traffic collects what was seen on connections.
func (p *published) traffic(count func(*prometheus.Desc, uint64, ...string)) {
	for i, n := range p.ended {
		count(ended, n, trace.Ending(i).String())
	}
	count(startups, p.startups[0], "request")
	count(startups, p.startups[1], "reply")
	for i, n := range p.crcs {
		count(fpdus, n, mpa.CRCStatus(i).String())
	}
	count(chunks, p.chunks)
	for op, n := range p.segments {
		name := rdmap.Opcode(op).String()
		if n > 0 || rdmap.Opcode(op).Assigned() {
			count(segments, n, name)
			count(payload, p.octets[op], name)
		}
	}
	count(malformed, p.malformed)
	count(retransmitted, p.retransmitted)
	count(reordered, p.reordered)
	count(gaps, p.gaps)
}

// judged collects the findings.
func (p *published) judged(count func(*prometheus.Desc, uint64, ...string)) {
	for i := range p.rules {
		for severity, n := range p.rules[i].found {
			if n > 0 {
				count(findings, n, p.rules[i].id, catalogue.Severity(severity).String())
			}
		}
	}
}

// histograms collects the distributions.
func (p *published) histograms(to chan<- prometheus.Metric) {
	for kind := range p.latency {
		h := &p.latency[kind]
		total, buckets := cumulate(latencyBounds, h.in[:])
		to <- prometheus.MustNewConstHistogram(latency, total, h.sum, buckets, trace.TransactionKind(kind).String())
	}
	total, buckets := cumulate(outstandingBounds, p.outstanding[:])
	to <- prometheus.MustNewConstHistogram(outstanding, total, float64(p.outstandings), buckets)
}

// cumulate adds up the counts of buckets: Prometheus wants how many values are not above each bound.
func cumulate(bounds []float64, in []uint64) (total uint64, buckets map[float64]uint64) {
	buckets = make(map[float64]uint64, len(bounds))
	for i, n := range in {
		total += n
		if i < len(bounds) {
			buckets[bounds[i]] = total
		}
	}
	return total, buckets
}
