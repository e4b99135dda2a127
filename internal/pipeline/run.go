package pipeline

import (
	"cmp"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/analysis"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tunnel"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Options of a run.
type Options struct {
	// Layout of the establishment word, kept against evidence if Forced.
	Layout mpa.Layout
	Forced bool
	// DecodeAs are TCP ports whose connections are taken for MPA.
	DecodeAs []uint16
	// MaxConnections, ReorderBytes (a half-stream) and TotalReorderBytes bound
	// memory; 0 stands for the default.
	MaxConnections                  int
	ReorderBytes, TotalReorderBytes int
	// DecoderBytes bounds the octets of unfinished FPDUs and of searches.
	DecoderBytes int
	// Count ends the run after that many frames, if it is not 0.
	Count uint64
	// Lean leaves out what only the records of PDUs need: the frames that
	// carried a PDU, and its payload where that has to be gathered.
	Lean bool
	// Brief hands out PDUs without the frames that carried them and without
	// gathered payload, and no records of frames.
	Brief bool
	// Hopeful verifies CRCs and checksums on another processor where a file is read
	// ahead, and takes them for right until then: about all are. Read returns ErrBadCRC
	// if one is not; then all that the sink was told is void, and the file has to be
	// read again without this.
	Hopeful bool
	// OnHope is told when a run is hopeful, before the first frame.
	OnHope func(*Hope)
	// Sums verifies the checksums of TCP: packets that were damaged on their way are
	// left out, as their receiver does, and octets that come again are compared.
	Sums bool
	// SumsInDoubt leaves that out of a hopeful run: where all CRCs are right no packet
	// was damaged that matters.
	SumsInDoubt bool
	// NoRecords keeps no records of connections that have ended: Finish returns none.
	NoRecords bool
	// OnError is told of damage that reading went on behind.
	OnError func(error)
}

// Defaults of the bounds.
const (
	DefaultConnections  = 100_000
	DefaultReorder      = 4 << 20
	DefaultTotalReorder = 64 << 20
	DefaultDecoder      = 256 << 20
	// maxRecords is the number of ended connections that carried iWARP whose
	// records are kept.
	maxRecords = 100_000
)

// Sink is told what a run finds. PDUs, transactions and gaps come before the
// frame with which they became known.
type Sink interface {
	trace.Sink
	Frame(*Frame)
}

// Judge is a sink that is told when a connection that carried iWARP is over.
type Judge interface {
	// Ended gets the connection that the sink was told of until now, and what
	// remains of it: the same, or a copy.
	Ended(live, record *trace.Connection)
	// Finish says that all are over.
	Finish()
}

// Frame is what is known of a frame once it was read. It is borrowed.
type Frame struct {
	capture.Frame
	Status packet.Status
	Packet *packet.Packet
	Reason string
	// Tunnels are the headers of the tunnels that carried what Packet describes,
	// outermost first.
	Tunnels []tunnel.Header
	// Conn is the connection it belongs to; of SCTP, the session of the first
	// chunk of DDP in it. nil: none.
	Conn *trace.Connection
	Dir  trace.Dir
	Note reassembly.Note
	// Checksum is what is to be said of that of an SCTP packet; Damaged: nothing
	// else was made of the packet because of it.
	Checksum sctp.Verdict
	Damaged  bool
	// Pad says what is wrong with the pad of one of its chunks.
	Pad string
	// Span is the part of the stream the frame carries, if HasSpan; Origin the
	// place from which PDU offsets count, if HasOrigin; Open the PDU that has
	// begun, if HasOpen.
	From, To int64
	HasSpan  bool
	Origin   int64
	HasOrig  bool
	Open     int64
	HasOpen  bool
}

// Totals of a run.
type Totals struct {
	Frames, Octets, Captured uint64
	// Cut counts frames of which the snap length left only the front.
	Cut uint64
	// Unread counts SCTP packets with chunks that could not be laid out, Damaged
	// those with a wrong checksum while others of the sender are right.
	Unread, Damaged uint64
	// TCP, SCTP and Other count packets; Malformed and Truncated frames could
	// not be read as what they claim to be; Fragments waited for others.
	TCP, SCTP, Other, Malformed, Truncated, Fragments uint64
	// Connections counts TCP connections and DDP stream sessions, Sessions the
	// latter.
	Connections, Sessions, IWARP uint64
	// Evicted counts connections that made room for others, RecordsDropped
	// those of them whose record could not be kept.
	Evicted, RecordsDropped uint64
	PDUs                    uint64
	// Starved counts directions that lost their place to bound memory.
	Starved             uint64
	Errors              uint64
	FirstTime, LastTime int64
	IP                  packet.FragmentStats
}

// frame counts a frame.
func (t *Totals) frame(time int64, captured int, orig uint32) {
	if t.Frames == 0 {
		t.FirstTime = time
	}
	t.LastTime = time
	t.Frames++
	t.Octets += uint64(orig)
	t.Captured += uint64(captured) //nolint:gosec // not negative
	if captured < int(orig) {
		t.Cut++
	}
}

// Run analyses one capture.
type Run struct {
	opt    Options
	sink   Sink
	env    analysis.Env
	dec    *packet.Decoder
	unwrap tunnel.Unwrapper
	// tunnels are those of the frame at hand.
	tunnels []tunnel.Header
	flows   *flows
	assocs  *associations
	early   *lookout // decodes packets before they are read; nil: nobody does
	// always: wherever that can be; else where there is time to spare.
	always    bool
	maxTuples int    // how many endpoints are told apart
	hope      *Hope  // that all is right which is verified behind the run; nil: none
	live      uint64 // sessions of the associations in the table
	// rightSums counts checksums of SCTP that are right; negative: some are not.
	rightSums int
	totals    Totals
	records   []*trace.Connection // ended connections that carried iWARP
	next      uint64
	pkt       packet.Packet
	frame     Frame
	seg       reassembly.Segment
	chunks    analysis.Packet // the SCTP packet at hand
	stopped   atomic.Bool
}

// New readies a run; sink may be nil.
func New(opt Options, sink Sink) *Run {
	r := &Run{opt: opt, sink: sink, dec: packet.NewDecoder(), flows: newFlows(), assocs: newAssociations(), maxTuples: maxTuples}
	if opt.MaxConnections == 0 {
		r.opt.MaxConnections = DefaultConnections
	}
	if opt.ReorderBytes == 0 {
		r.opt.ReorderBytes = DefaultReorder
	}
	if opt.TotalReorderBytes == 0 {
		r.opt.TotalReorderBytes = DefaultTotalReorder
	}
	if opt.DecoderBytes == 0 {
		r.opt.DecoderBytes = DefaultDecoder
	}
	r.env = analysis.Env{
		Budget: reassembly.NewBudget(r.opt.ReorderBytes, r.opt.TotalReorderBytes),
		Memory: mpa.NewMemory(r.opt.DecoderBytes),
		Layout: opt.Layout, LayoutForced: opt.Forced,
	}
	if sink != nil {
		r.env.Sink, r.env.Lean, r.env.Brief = sink, opt.Lean, opt.Brief
	}
	return r
}

// ErrBadCRC ends a hopeful run.
var ErrBadCRC = errors.New("a CRC or a checksum is wrong")

// Stop ends the run: Read and Finish return before the next frame or connection.
// It may be called by the sink, or from another goroutine.
func (r *Run) Stop() { r.stopped.Store(true) }

// Read takes in all frames of the source. It returns the error that kept it
// from reading to the end, if there was one; damage that could be read past
// goes to Options.OnError and is counted.
func (r *Run) Read(src capture.Source) error {
	f, ok := src.(*capture.File)
	if !ok {
		return r.read(src.Next, nil, nil)
	}
	if r.brief() {
		r.early = newLookout(r.maxTuples)
		f.Glance(r.early.look, r.always)
	}
	d := r.hopeful(f)
	if d == nil {
		return r.read(f.Next, f, nil)
	}
	err := r.read(f.Next, f, d)
	if d.Settle(); d.bad() {
		return ErrBadCRC
	}
	return err
}

// hopeful has the CRCs verified behind the run, if that can be.
func (r *Run) hopeful(f *capture.File) *Hope {
	if !r.opt.Hopeful || runtime.GOMAXPROCS(0) < 2 {
		return nil
	}
	h := newHope(f)
	if !f.Behind(h.take) {
		return nil
	}
	r.env.Deferred, r.hope = h.crcs, h
	r.opt.Sums = r.opt.Sums && !r.opt.SumsInDoubt
	if r.opt.OnHope != nil {
		r.opt.OnHope(h)
	}
	return h
}

// read takes in all frames, or those up to where a hope fails. If they are those of a file
// the next ones may be known early.
func (r *Run) read(next func(*capture.Frame) error, file *capture.File, h *Hope) error {
	var f capture.Frame
	for !r.stopped.Load() && (r.opt.Count == 0 || r.totals.Frames < r.opt.Count) {
		if h != nil && h.bad() {
			return ErrBadCRC
		}
		if file != nil && r.skip(file) {
			continue
		}
		err := next(&f)
		if err == nil {
			r.Frame(&f)
			continue
		}
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		var damage *capture.Error
		if !errors.As(err, &damage) || !damage.Resume {
			return err
		}
		r.totals.Errors++
		if r.opt.OnError != nil {
			r.opt.OnError(err)
		}
	}
	return nil
}

// skip takes in the next frame of a file without reading it, if it was decoded early.
func (r *Run) skip(file *capture.File) bool {
	at, ok := file.PeekEarly()
	if !ok {
		return false
	}
	e := r.early.of(at)
	fl, side := r.known(e)
	if fl == nil {
		return false
	}
	number, time := file.SkipEarly()
	r.totals.frame(time, int(e.captured), e.orig)
	r.expected(fl, side, e, number, time)
	return true
}

// Frame takes in one frame.
func (r *Run) Frame(f *capture.Frame) {
	t := &r.totals
	t.frame(f.Time, len(f.Data), f.OrigLen)
	e := r.early.in(f)
	if fl, side := r.known(e); fl != nil {
		r.expected(fl, side, e, f.Number, f.Time)
		return
	}
	p := &r.pkt
	status := r.dec.Decode(uint16(f.Link), f.Data, f.OrigLen, f.Number, f.Time, p)
	if r.tunnels != nil {
		r.tunnels = nil
	}
	if status == packet.NotIP || status == packet.OtherTransport {
		status = r.unwrap.Unwrap(r.dec, status, f.Number, f.Time, p)
		r.tunnels = r.unwrap.Headers()
	}
	if status == packet.OK && p.Proto == packet.ProtoTCP {
		t.TCP++
		r.tcp(f, p, e)
		return
	}
	switch status {
	case packet.OK:
		t.SCTP++
		r.sctp(f, p)
		return
	case packet.Malformed:
		t.Malformed++
	case packet.Truncated:
		t.Truncated++
	case packet.Fragment:
		t.Fragments++
	case packet.NotIP, packet.OtherTransport, packet.UnknownLink:
		t.Other++
	}
	if r.sink != nil {
		r.frame = Frame{Frame: *f, Status: status, Packet: p, Tunnels: r.tunnels}
		if status == packet.Malformed || status == packet.Truncated {
			r.frame.Reason = r.dec.Reason()
		}
		r.sink.Frame(&r.frame)
	}
}

// known is the flow of a segment that was decoded early, and the side that sent it, if
// nothing else has to be known of the packet; else nil.
func (r *Run) known(e *early) (fl *flow, side int) {
	if e == nil || e.flags&reassembly.FlagSYN != 0 {
		return nil, 0
	}
	fl, side = r.flows.of(&e.tuple)
	if fl != nil && r.opt.Sums && !(fl.conn.Trace.IsMPA && fl.trusted(side, r.hope)) {
		return nil, 0
	}
	return fl, side
}

// expected hands such a segment to its connection.
func (r *Run) expected(fl *flow, side int, e *early, number uint64, time int64) {
	r.totals.TCP++
	s := &r.seg
	s.Seq, s.Ack, s.Flags, s.Data, s.Len = e.seq, e.ack, e.flags, e.segment[e.header:], len(e.segment)-int(e.header)
	s.Frame, s.Time = number, time
	if s.Fragments != nil {
		s.Fragments = nil
	}
	s.Options, s.OptionsCut, s.MSS, s.SACK = int(e.header)-packet.TCPLen, false, 0, e.sack
	s.Compare, s.HasSum = r.opt.Sums, false
	if r.opt.Sums {
		r.hope.claims.add(packet.ClaimOf(e.segment, e.front))
	}
	fl.conn.Packet(side, s)
}

// brief reports whether nobody is shown frames.
func (r *Run) brief() bool { return r.sink == nil || r.opt.Brief }

// tcp hands a packet to its connection. It may have been decoded early.
func (r *Run) tcp(f *capture.Frame, p *packet.Packet, e *early) {
	s := &r.seg // filled in place: building and copying it shows in the profile
	s.Seq, s.Ack, s.Flags, s.Data, s.Len = p.Seq, p.Ack, p.Flags, p.Payload, p.PayloadLen
	s.Frame, s.Time, s.Fragments = f.Number, f.Time, p.Fragments
	s.Options = p.SegmentLen - p.PayloadLen - packet.TCPLen
	s.OptionsCut = len(p.Options) < s.Options
	if s.MSS = 0; s.Flags&reassembly.FlagSYN != 0 {
		s.MSS, _ = packet.MSS(p.Options)
	}
	s.SACK = len(p.Options) > 0 && packet.SACK(p.Options) != nil
	fl, side := r.flows.find(p)
	switch {
	case fl == nil:
		if r.flows.n >= r.opt.MaxConnections {
			r.evict()
		}
		fl = r.flows.add(p)
		r.init(fl, p)
	case s.Flags&reassembly.FlagSYN != 0 && fl.conn.NewConnection(side, s) && !(r.opt.Sums && fl.spoilt(side, p)):
		r.finish(fl)
		fl, side = r.flows.replace(fl, p), 0
		r.init(fl, p)
	}
	if e != nil {
		r.flows.learn(&e.tuple, fl)
	}
	if r.opt.Sums && fl.damaged(side, s, p, r.hope) {
		if r.sink != nil {
			r.frame = Frame{Frame: *f, Packet: p, Tunnels: r.tunnels, Conn: &fl.conn.Trace, Dir: fl.conn.Dir(side), Damaged: true}
			r.sink.Frame(&r.frame)
		}
		return
	}
	note := fl.conn.Packet(side, s)
	if r.brief() {
		return
	}
	r.frame = Frame{Frame: *f, Packet: p, Tunnels: r.tunnels, Conn: &fl.conn.Trace, Dir: fl.conn.Dir(side), Note: note}
	r.frame.From, r.frame.To, r.frame.HasSpan = fl.conn.Span(side, s)
	r.frame.Origin, r.frame.HasOrig = fl.conn.Origin(side)
	r.frame.Open, r.frame.HasOpen = fl.conn.OpenPDU(side)
	r.sink.Frame(&r.frame)
}

func (r *Run) init(fl *flow, p *packet.Packet) {
	forced := slices.Contains(r.opt.DecodeAs, p.SrcPort) || slices.Contains(r.opt.DecodeAs, p.DstPort)
	fl.conn.Init(&r.env, r.next, endpoints(p), forced)
	r.next++
}

// finish ends a connection and keeps its record if it carried iWARP.
func (r *Run) finish(fl *flow) {
	fl.conn.Finish()
	r.keep(&fl.conn.Trace)
}

// keep keeps the record of a connection that has ended, if it carried iWARP.
func (r *Run) keep(c *trace.Connection) {
	if !c.IsMPA {
		return
	}
	record := c
	if c.Transport == trace.SCTP { // what else is kept of a session is more than its record
		own := *c
		record = &own
	}
	if s, ok := r.sink.(Judge); ok {
		s.Ended(c, record)
	}
	r.totals.IWARP++
	if r.opt.NoRecords {
		return
	}
	if len(r.records) >= maxRecords {
		r.totals.RecordsDropped++
		return
	}
	r.records = append(r.records, record)
}

// evict makes room by ending the connections that were seen least recently.
func (r *Run) evict() {
	for _, fl := range r.flows.oldest(max(r.opt.MaxConnections/16, 1)) {
		r.finish(fl)
		r.totals.Evicted++
	}
}

// Finish ends all connections and returns those that carried iWARP, by number.
func (r *Run) Finish() []*trace.Connection {
	flows := r.flows.all()
	r.flows = newFlows()
	for i, fl := range flows {
		if r.stopped.Load() {
			break
		}
		r.finish(fl)
		flows[i] = nil // what is over makes room for what is told of it
	}
	all := slices.Clone(r.assocs.all)
	slices.SortFunc(all, func(a, b *association) int { return cmp.Compare(a.conn.Number(), b.conn.Number()) })
	for _, a := range all {
		if r.stopped.Load() {
			break
		}
		r.dissociate(a)
	}
	if s, ok := r.sink.(Judge); ok && !r.stopped.Load() {
		s.Finish()
	}
	slices.SortFunc(r.records, func(a, b *trace.Connection) int {
		return int(int64(a.Number) - int64(b.Number)) //nolint:gosec // counts of connections
	})
	return r.records
}

// Totals returns the counts so far.
func (r *Run) Totals() Totals {
	t := r.totals
	t.Connections, t.PDUs, t.IP, t.Starved = r.next, r.env.PDUs(), r.dec.Stats(), r.env.Memory.Starved
	return t
}
