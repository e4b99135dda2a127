package pipeline

import (
	"cmp"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/analysis"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/readahead"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tunnel"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Options of a run.
type Options struct {
	// Layout of the IRD and ORD word; Forced keeps it whatever the traffic shows.
	Layout mpa.Layout
	Forced bool
	// DecodeAs are TCP ports whose connections are treated as MPA.
	DecodeAs []uint16
	// MaxConnections, ReorderBytes (for each direction) and TotalReorderBytes bound
	// memory; 0 stands for the default.
	MaxConnections                  int
	ReorderBytes, TotalReorderBytes int
	// DecoderBytes bounds the octets of unfinished FPDUs and of searches.
	DecoderBytes int
	// Memory is the account for all that grows; nil: one with MemoryBytes, or DefaultMemory
	// if they are 0.
	Memory      *budget.Account
	MemoryBytes int
	// Count ends the run after that many frames, if it is not 0.
	Count uint64
	// Shard keeps part of the connections. Frames of the others are passed over: nobody is told
	// of them, but Saw, and they do not count. What belongs to no connection is in the first part.
	Shard packet.Shard
	// Lean does not collect what only records of PDUs need: the frames that carried a
	// PDU, and the payload of FPDUs that span segments.
	Lean bool
	// Brief hands out PDUs without the frames that carried them and without the payload
	// of FPDUs that span segments, and no records of frames.
	Brief bool
	// Alone hands out each PDU by itself: there are no transactions, and what a Terminate
	// quotes is not looked for.
	Alone bool
	// Frames tells the sink of all frames, even if Brief.
	Frames bool
	// Outlines tells the sink of the packets of connections that carry iWARP, of TCP only what
	// [Frame.Outline] says, instead of all of each frame. It costs little, and goes with Brief.
	Outlines bool
	// Bare looks at nothing but the time and the length of frames: the sink is told of
	// each one, without a Packet, and of nothing else.
	Bare bool
	// Marks says, even if Brief, which PDUs needed octets that came again or out of order.
	Marks bool
	// ReadAhead reads a large file in another goroutine, which also decodes frames and
	// verifies CRCs and checksums, if there is a second processor; with Pipes, what comes
	// on a pipe as well.
	ReadAhead, Pipes bool
	// Sums verifies the checksums of TCP: damaged packets are ignored, as their receiver
	// does, and retransmitted octets are compared.
	Sums bool
	// Upper is called with each PDU before the sink, and sets what it is to the upper layer.
	Upper func(*trace.PDU)
	// NoRecords keeps no records of connections that have ended: Finish returns none.
	NoRecords bool
	// Saw is called with the number and the time of each frame, 0 for none, before the
	// sink learns anything of it.
	Saw func(number uint64, ns int64)
	// Opened is called with each frame when its headers are decoded and its connection is
	// known, of SCTP its association not, before the sink learns anything of the frame.
	// What the reassembly says of it is not known yet. The frame is borrowed until the
	// call returns.
	Opened func(*Frame)
	// Look is called with frames that are plain before they have their place: only what the
	// frame itself holds is known. What it returns is told with the frame, see Frame.Looked.
	// With ReadAhead it runs in the goroutine that reads; without, it is not called.
	Look func(*Frame) uint64
	// Linger settles a connection that has closed, once so many nanoseconds of the capture
	// have passed since its last packet; 0: all live until the end. It goes without ReadAhead.
	Linger int64
	// OnError is called for damage in the input after which reading continued.
	OnError func(error)
}

// Defaults of the bounds.
const (
	DefaultConnections  = 100_000
	DefaultReorder      = 4 << 20
	DefaultTotalReorder = 64 << 20
	DefaultDecoder      = 256 << 20
	DefaultMemory       = 1 << 30
)

// Sink receives what a run finds. PDUs, transactions and gaps come before the frame that
// made them known.
type Sink interface {
	trace.Sink
	Frame(*Frame)
}

// Judge is a sink that also learns when a connection that carried iWARP has ended.
type Judge interface {
	// Ended gets the connection, which may be kept as the record of it.
	Ended(c *trace.Connection)
	// Finish is called after all connections have ended.
	Finish()
}

// Epoch is the time 0 in a run, where 0 stands for none: see [capture.Frame].
const Epoch = capture.Epoch

const _ = uint(trace.Epoch-Epoch) + uint(Epoch-trace.Epoch) // they are the same

// Frame is a frame with what its decoding found. It is borrowed.
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
	// Association is the SCTP association that it belongs to, if HasAssociation: they count
	// from 0 in the capture. See [trace.Connection].
	Association    uint64
	HasAssociation bool
	// Checksum is the checksum status of an SCTP packet; Damaged: the packet was ignored
	// because of it.
	Checksum sctp.Verdict
	Damaged  bool
	// Pad is the fault in the pad of one of its chunks, if any.
	Pad string
	// Span is the part of the stream the frame carries, if HasSpan; Origin the
	// place from which PDU offsets count, if HasOrigin; [Open, OpenTo) the PDU that has
	// begun, if HasOpen: all of it if OpenEnds, else up to the last octet in order.
	From, To int64
	HasSpan  bool
	Origin   int64
	HasOrig  bool
	Open     int64
	OpenTo   int64
	OpenEnds bool
	HasOpen  bool
	// Outline: it is one of Options.Outlines. Only Number, Time, Conn, Dir and Note are set, and
	// of Packet Proto, Flags, PayloadLen and, if it is not 0, Window to any number.
	Outline bool
	// Looked is what Options.Look returned, if HasLooked. Only Options.Opened is told it.
	Looked    uint64
	HasLooked bool
}

// Plain reports whether the frame holds TCP over IP over Ethernet and nothing besides: no
// tunnel, no options or extension headers of IP, no fragment, nothing that was cut.
func (f *Frame) Plain() bool {
	p := f.Packet
	if f.Status != packet.OK || uint16(f.Link) != packet.LinkEthernet || len(f.Tunnels) > 0 || p.Proto != packet.ProtoTCP || p.Notes != 0 {
		return false
	}
	ip := 20
	if p.V6 {
		ip = 40
	}
	return p.NetworkOffset == 14+4*int(p.NumVLANs) && p.SegmentOffset == p.NetworkOffset+ip
}

// Totals of a run.
type Totals struct {
	Frames, Octets, Captured uint64
	// Cut counts frames that the snap length truncated. Of these, Emptied are TCP and SCTP packets of
	// which no octet behind the transport header is left, and Headless those of which that header is not whole.
	Cut, Emptied, Headless uint64
	// Unread counts SCTP packets with chunks that could not be parsed, Damaged
	// those with a wrong checksum while others of the sender are right.
	Unread, Damaged uint64
	// TCP, SCTP and Other count packets; Malformed and Truncated frames could
	// not be read as what they claim to be; Fragments waited for others.
	TCP, SCTP, Other, Malformed, Truncated, Fragments uint64
	// Duplicates are packets that another of the files that are merged had as well. Nothing
	// else counts them.
	Duplicates uint64
	// Copies are TCP packets that were captured twice in one file, as the IP identification, TTL, VLAN or interface
	// proves, FirstCopy is the frame of the first. No connection counts them.
	Copies, FirstCopy uint64
	// Of the TCP packets that were Compared with those before, as some seemed to come twice, Alike are the same as another one and
	// nothing proves that they are copies. Of these, ComparedBare and AlikeBare have no data.
	Compared, Alike, ComparedBare, AlikeBare uint64
	// Lost counts the packets that the capture lost before they were written, as it says itself.
	Lost capture.Lost
	// Connections counts TCP connections and DDP stream sessions, Sessions the
	// latter.
	Connections, Sessions, IWARP uint64
	// LoneDamaged are those of IWARP that are no more than a damaged packet, see [trace.Connection.LoneDamaged].
	LoneDamaged uint64
	// SumsRight counts those of which packets have right TCP checksums, so that wrong ones tell something.
	SumsRight uint64
	// Evicted counts connections that made room for others before they closed, RecordsDropped
	// those of them whose record could not be kept.
	Evicted, RecordsDropped uint64
	// FindingsUnlisted counts findings that there was no memory for. Who keeps findings
	// sets it.
	FindingsUnlisted uint64
	PDUs             uint64
	// Starved counts directions that lost FPDU boundaries to stay within the memory bound.
	Starved uint64
	// GapsGivenUp counts gaps that were given up before what is missing came, to stay within the memory bounds.
	GapsGivenUp uint64
	// RequestsForgotten counts Reads and atomics whose answers are not known, as too many of a side waited for theirs.
	RequestsForgotten uint64
	Errors            uint64
	// FirstTime and LastTime are those of the first and of the last frame that have one, 0 if none has,
	// and [Epoch] for the time 0.
	FirstTime, LastTime int64
	// Clamped counts frames whose time is not within 1677 to 2262 and stands as the end of that range, FirstClamped is the first one.
	Clamped, FirstClamped uint64
	IP                    packet.FragmentStats
}

// at notes the time of a frame, 0 for none.
func (t *Totals) at(time int64) {
	if time == 0 {
		return
	}
	if t.FirstTime == 0 {
		t.FirstTime = time
	}
	t.LastTime = time
}

// frame counts a frame.
func (t *Totals) frame(number uint64, time int64, captured int, orig uint32) {
	t.at(time)
	if time == math.MaxInt64 || time == math.MinInt64 {
		t.clamped(number)
	}
	t.Frames++
	t.Octets += uint64(orig)
	t.Captured += uint64(captured) //nolint:gosec // not negative
	if captured < int(orig) {
		t.Cut++
	}
}

// clamped counts a frame whose time is out of range.
func (t *Totals) clamped(number uint64) {
	if t.Clamped++; t.FirstClamped == 0 {
		t.FirstClamped = number
	}
}

// Run analyses one capture.
type Run struct {
	opt    Options
	sink   Sink
	env    analysis.Env
	dec    *packet.Decoder
	again  *packet.Decoder // of duplicates, nil: there was none
	unwrap tunnel.Unwrapper
	// tunnels are those of the current frame.
	tunnels []tunnel.Header
	flows   *flows
	syns    syns
	pending map[packet.Endpoints]pendingSYN // nil: there was none
	eager   bool                            // each SYN is a connection at once: tests compare
	assocs  *associations
	held    int    // packets that wait beside associations, see [Run.holdsTag]
	live    uint64 // sessions of the associations in the table
	totals  Totals
	records *ended.List // ended connections that carried iWARP
	next    uint64
	pkt     packet.Packet
	frame   Frame
	opening Frame // for Options.Opened
	// delivered is the frame of a segment that was delivered: most frames are, and to fill in
	// all of a Frame takes time.
	delivered Frame
	// outline is that of Options.Outlines, of the packet outlined.
	outline   Frame
	outlined  packet.Packet
	seg       reassembly.Segment
	chunks    analysis.Packet // the current SCTP packet
	ahead     readahead.Options
	others    *Others
	elsewhere uint64          // frames of other shards
	taken     uint64          // the frame at hand, while its connection has it
	decoded   uint64          // the last TCP frame that was decoded, and not predecoded
	verified  mpa.Verified    // what is known of the segment at hand, if no note says it
	note      *readahead.Note // of the last one that was predecoded
	breaks    int             // damaged places of the input
	stopped   atomic.Bool
	// settling are those that have closed, see Options.Linger.
	settling  settling
	latest    int64 // of the times of all frames
	maxOver   int   // as the constant, as is manyFlows
	manyFlows int
	coming    upcoming
	repeats   [settleParts]repeats
	late      uint64 // the last frame that began a connection without SYNs on the ports of one that was settled
	reused    bool   // ports were used again
	copied    bool   // packets may be copies at present, see repeats
	taps      [settleParts]taps
	tapping   bool // packets are remembered in some of taps, or were
	memory    *budget.Account
	// synWeight is what was taken for the SYNs.
	synWeight int
	weighed   uint64 // the changes of the associations when one was weighed last
	// team are the workers that the run is one of, if it is, and found is what it found in the batch at hand.
	team  *Workers
	found share
}

// New prepares a run; sink may be nil.
func New(opt Options, sink Sink) *Run {
	if !opt.Shard.All() {
		opt.Bare = false // to tell whose a frame is takes its headers
	}
	r := &Run{opt: opt, sink: sink, dec: packet.NewDecoder(), flows: newFlows(), syns: newSYNs(), assocs: newAssociations(), maxOver: maxOver, manyFlows: manyFlows, records: new(ended.List), others: new(Others)}
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
	if r.memory = opt.Memory; r.memory == nil {
		r.memory = budget.New(cmp.Or(opt.MemoryBytes, DefaultMemory))
	}
	r.env = analysis.Env{
		Memory:   r.memory,
		Budget:   reassembly.NewBudget(r.opt.ReorderBytes, r.opt.TotalReorderBytes),
		Decoders: mpa.NewBudget(r.opt.DecoderBytes),
		Layout:   opt.Layout, LayoutForced: opt.Forced,
	}
	r.env.Checksum, r.env.Timestamp = r.checksum, r.timestamp
	r.env.Upper, r.env.Brief, r.env.Alone = opt.Upper, opt.Brief, opt.Alone
	if sink != nil {
		r.env.Sink, r.env.Lean, r.env.Brief = sink, opt.Lean, opt.Brief
		r.env.Marks = opt.Marks || !opt.Brief
	}
	return r
}

// Stop ends the run: Read and Finish return before the next frame or connection.
// It may be called by the sink, or from another goroutine.
func (r *Run) Stop() { r.stopped.Store(true) }

// Read processes all frames of the source. It returns the error that ended reading
// early, if there was one, or says that no frame has a link type that can be decoded; damage
// that could be skipped goes to Options.OnError and is counted.
func (r *Run) Read(src capture.Source) error {
	err := r.read(src)
	r.totals.Lost = lostBy(src)
	if err == nil {
		err = r.others.undecodable(src, r.totals.Frames)
	}
	return err
}

// lostBy counts what a capture lost before it was written.
func lostBy(src capture.Source) capture.Lost {
	if l, ok := src.(interface{ Lost() capture.Lost }); ok {
		return l.Lost()
	}
	return capture.Lost{}
}

func (r *Run) read(src capture.Source) error {
	s, ok := src.(interface {
		readahead.Source
		Large() bool
	})
	if ok && r.opt.ReadAhead && r.opt.Linger == 0 && runtime.GOMAXPROCS(0) > 1 {
		switch w, ok := src.(interface{ Waits() bool }); {
		case s.Large():
			return r.readAhead(s, false)
		// Not with a number of frames to stop at: the reader would wait for more.
		case ok && w.Waits() && r.opt.Pipes && r.opt.Count == 0:
			return r.readAhead(s, true)
		}
	}
	var f capture.Frame
	for !r.full() {
		err := src.Next(&f)
		if err == nil {
			r.Frame(&f)
		} else if end, err := r.ended(err); end {
			return err
		}
	}
	return nil
}

// readAhead processes the frames of a source that another goroutine reads.
func (r *Run) readAhead(src readahead.Source, waits bool) error {
	opt := r.ahead
	opt.Waits = waits
	opt.Checksums, opt.Bare, opt.Shard = r.opt.Sums, r.opt.Bare, r.opt.Shard
	opt.Packets = r.showsFrames()
	if l, ok := src.(interface{ Limit(frames uint64) }); ok {
		l.Limit(r.opt.Count)
	}
	if r.opt.Look != nil {
		var own Frame // of the goroutine that reads
		opt.Look = func(f *capture.Frame, p *packet.Packet) uint64 {
			own.Frame, own.Packet = *f, p
			return r.opt.Look(&own)
		}
	}
	a := readahead.Start(src, opt)
	defer a.Close()
	for b := a.Next(); b != nil; b = a.Next() {
		first := b.First()
		var next *readahead.Batch
		if r.flows.n >= r.manyFlows {
			next = a.Peek()
		}
		for i := range b.Len() {
			if r.full() {
				return nil
			}
			if r.flows.n >= r.manyFlows {
				r.upcoming(b, next, i)
			}
			b.Fetch(i + 6)
			n := b.Note(i)
			switch n.Kind() {
			case readahead.Elsewhere:
				r.passOver(first+uint64(i), n.Time)
				continue
			case readahead.SCTP:
				upcomingSCTP(b, i)
			default:
			}
			if r.opt.Look != nil {
				r.opening.Looked, r.opening.HasLooked = b.Looked(i)
			}
			if n.Kind() != readahead.TCP || !r.predecoded(n, first+uint64(i), b.Frame(i), b.Packet(i)) {
				r.decode(b.Frame(i), n)
			}
		}
		if b.Err != nil && !r.full() {
			if end, err := r.ended(b.Err); end {
				return err
			}
		}
	}
	return nil
}

// brief reports whether nobody is shown whole frames.
func (r *Run) brief() bool { return r.sink == nil || r.opt.Outlines || r.opt.Brief && !r.opt.Frames }

// outlines reports whether somebody is shown outlines of frames.
func (r *Run) outlines() bool { return r.sink != nil && r.opt.Outlines }

// showsFrames reports whether somebody is.
func (r *Run) showsFrames() bool { return !r.brief() || r.opt.Opened != nil }

// full reports whether there were as many frames as were asked for.
func (r *Run) full() bool {
	return r.stopped.Load() || r.opt.Count != 0 && r.totals.Frames+r.elsewhere >= r.opt.Count
}

// mostBreaks is at how many damaged places of the input connections are told of them: each is told.
const mostBreaks = 64

// ended reports whether an error of the source ends the input, and returns the error to
// report. Damage that was skipped is reported and counted.
func (r *Run) ended(err error) (bool, error) {
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return true, nil
	}
	var damage *capture.Error
	if !errors.As(err, &damage) || !damage.Resume {
		return true, err
	}
	if r.opt.Shard.First() {
		r.totals.Errors += 1 + damage.More
	}
	if r.breaks++; r.breaks <= mostBreaks {
		for fl := range r.flows.each {
			fl.conn.FileDamaged()
		}
	}
	if r.opt.OnError != nil {
		r.opt.OnError(err)
	}
	return false, nil
}

func (r *Run) init(fl *flow, p *packet.Packet) {
	fl.conn.Init(&r.env, r.number(), endpoints(p), r.forced(p))
	if r.late > 0 && r.late == r.seg.Frame {
		fl.conn.Late(r.late)
	}
	fl.conn.Trace.MayBeRest = r.totals.Evicted > 0 && r.seg.Flags&reassembly.FlagSYN == 0
}

// forced reports whether the user says that the connection of a packet is MPA.
func (r *Run) forced(p *packet.Packet) bool {
	return slices.Contains(r.opt.DecodeAs, p.SrcPort) || slices.Contains(r.opt.DecodeAs, p.DstPort)
}

// makeRoom makes room for another connection.
func (r *Run) makeRoom() {
	if r.flows.n >= r.opt.MaxConnections && r.alone() {
		r.evict()
	}
}

// finish ends a connection and keeps its record if it carried iWARP.
func (r *Run) finish(fl *flow) {
	r.dropPending(fl)
	if r.team != nil {
		r.leaves(fl)
		return
	}
	first := fl.conn.First()
	fl.conn.Finish()
	fl.tally()
	r.keep(fl.conn.Trace)
	if t := fl.conn.Trace; !t.IsMPA {
		r.others.connection(t, first)
	}
}

// keep keeps the record of a connection that has ended, if it carried iWARP.
func (r *Run) keep(c *trace.Connection) {
	if !c.IsMPA {
		return
	}
	c.Until, c.UpperData = r.latest, nil
	if s, ok := r.sink.(Judge); ok {
		s.Ended(c)
	}
	r.totals.keeps(c)
	if r.opt.NoRecords {
		return
	}
	if r.memory.Scarce() {
		r.totals.RecordsDropped++
		return
	}
	r.memory.Keep(r.records.Add(c, recordWeight+analysis.Weight(c)))
}

// keeps counts a connection that carried iWARP.
func (t *Totals) keeps(c *trace.Connection) {
	t.IWARP++
	if _, ok := c.LoneDamaged(); ok {
		t.LoneDamaged++
	}
	if c.Flow[0].SumsRight > 0 || c.Flow[1].SumsRight > 0 {
		t.SumsRight++
	}
}

// evict makes room: it settles connections that have closed, or if there are none ends those
// that were seen least recently.
func (r *Run) evict() {
	n := max(r.opt.MaxConnections/16, 1)
	if r.settleClosed(n) > 0 {
		return
	}
	r.endOldest(n)
}

// Finish ends all connections and returns those that carried iWARP, by number.
func (r *Run) Finish() *ended.List {
	r.env.End = r.totals.LastTime
	r.memory.End()
	r.records.Unpacked()
	flows, lone := r.flows.all(), r.syns.order()
	r.flows = newFlows()
	for i, fl := range flows {
		if r.stopped.Load() {
			break
		}
		lone = r.finishSYNs(lone, fl.conn.Trace.Number)
		r.finish(fl)
		flows[i] = nil // the garbage collector may take it
	}
	r.finishSYNs(lone, r.next)
	r.syns = newSYNs()
	r.weighSYNs()
	r.untap()
	for _, a := range slices.Clone(r.assocs.all) {
		r.beginHeld(a)
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
	return r.records
}

// Open calls a function with each connection that carries iWARP and has not ended, in no
// particular order. They are borrowed.
func (r *Run) Open(f func(*trace.Connection)) {
	for fl := range r.flows.each {
		if fl.conn.Trace.IsMPA {
			f(fl.conn.Trace)
		}
	}
	for _, a := range r.assocs.all {
		a.conn.Each(f)
	}
}

// Tracked is how many connections and associations are in memory.
func (r *Run) Tracked() int { return r.flows.n + r.syns.len() + len(r.assocs.all) }

// Totals returns the counts so far.
func (r *Run) Totals() Totals {
	t := r.totals
	t.Connections, t.PDUs, t.Starved = r.next, r.env.PDUs(), r.env.Decoders.Starved
	t.GapsGivenUp, t.RequestsForgotten = r.env.NoRoom, r.env.Forgotten
	if r.opt.Shard.First() {
		t.IP = r.dec.Stats()
	}
	return t
}

// Others returns what the capture holds besides iWARP: of frames so far, and of
// connections that have ended.
func (r *Run) Others() *Others {
	o := *r.others
	return &o
}
