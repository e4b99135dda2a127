package pdu

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
)

// Kind says what a PDU is.
type Kind uint8

// The kinds.
const (
	// Startup is an MPA startup frame.
	Startup Kind = iota
	// Segment is a DDP segment, to be framed as an FPDU.
	Segment
	// Raw are octets that go out as they are: outside MPA, or a scenario's own.
	Raw
	// Control is a DDP Stream Session Control Chunk, over SCTP.
	Control
)

// PDU is what an end of a connection has to say.
type PDU struct {
	Place
	Kind Kind
	// Octets are the startup frame, the ULPDU or the octets as they are. They
	// are the caller's again when the framer returns.
	Octets []byte
}

// Unit is what the transport is given: the octets of one PDU.
type Unit struct {
	Place Place
	Kind  Kind
	// Data are the octets for the stream; the unit owns them.
	Data []byte
	// Fresh begins a TCP segment, whatever the transport does otherwise.
	Fresh bool
	// Faults are those of the chunk that carries it, over SCTP.
	Faults []Fault
}

// Framer turns the PDUs of one end into octets. It is not safe for use by
// several goroutines.
type Framer struct {
	faults map[string][]Fault // by message
	enc    mpa.Encoder
	full   bool
	// session: PDUs become user messages of SCTP; ssn is the next DDP-SSN.
	session bool
	ssn     uint16
	held    []held
	joined  []byte // ULPDUs that the next one is put behind
	join    bool
	joins   []Fault // those that want it
	room    func(n int) []byte
	spoil   func() bool // whether the CRC of an FPDU is to be wrong, nil: never
	watch   func(Place) // nil: nobody watches
}

// held is a unit that lets others pass.
type held struct {
	pdu   PDU
	edits []Fault
	after int
}

// NewFramer returns a framer with the faults for one end of a connection. The
// error names a field that no header has, or a value that does not fit.
func NewFramer(faults []Fault) (*Framer, error) {
	f := &Framer{room: func(n int) []byte { return make([]byte, 0, n) }}
	for i := range faults {
		for _, v := range faults[i].Set {
			if err := Check(v); err != nil {
				return nil, err
			}
		}
		if f.faults == nil {
			f.faults = map[string][]Fault{}
		}
		m := faults[i].At.Message
		f.faults[m] = append(f.faults[m], faults[i])
	}
	return f, nil
}

// Full begins full operation: offset 0 of the marker grid is the next octet.
func (f *Framer) Full(markers, crc bool) {
	f.enc = mpa.Encoder{Markers: markers, CRC: crc}
	f.full = true
}

// Session begins a DDP stream session over SCTP: PDUs are numbered, not framed.
func (f *Framer) Session() { f.session = true }

// Room has the octets of FPDUs without faults put into buffers that room returns.
func (f *Framer) Room(room func(n int) []byte) { f.room = room }

// Append appends the units that the PDU becomes: one, or with faults none or
// several.
func (f *Framer) Append(dst []Unit, p PDU) []Unit {
	if f.watch != nil {
		f.watch(p.Place)
	}
	if len(f.faults) == 0 {
		return f.plain(dst, p)
	}
	edits := f.picked(p.Place, p.Kind)
	release := f.pass()
	dst = f.faulty(dst, p, edits)
	for _, h := range release {
		dst = f.send(dst, h.pdu, h.edits)
	}
	return dst
}

// Flush appends the units that are still held back, when nothing more comes.
func (f *Framer) Flush(dst []Unit) []Unit {
	all := f.held
	f.held = nil
	for _, h := range all {
		dst = f.send(dst, h.pdu, h.edits)
	}
	if f.join {
		f.join = false
		b := f.joined
		f.joined = nil
		dst = f.plain(dst, PDU{Kind: Segment, Octets: b})
	}
	return dst
}

// picked are the faults of a PDU.
func (f *Framer) picked(p Place, k Kind) (out []Fault) {
	for _, x := range f.faults[p.Message] {
		if x.At.Picks(p) {
			x.Fate.picked(k)
			out = append(out, x)
		}
	}
	return out
}

// Watch has watch told of every PDU, before its faults.
func (f *Framer) Watch(watch func(Place)) { f.watch = watch }

// Spoil has the CRC of those FPDUs wrong that have no other fault and for which spoil says
// so: one bit of it.
func (f *Framer) Spoil(spoil func() bool) { f.spoil = spoil }

// plain frames a PDU without faults.
func (f *Framer) plain(dst []Unit, p PDU) []Unit {
	u := Unit{Place: p.Place, Kind: p.Kind, Fresh: p.Kind == Startup}
	if f.session {
		u.Data = f.wrap(p.Kind, p.Octets, nil)
		return append(dst, u)
	}
	if p.Kind == Segment {
		// An endpoint makes no ULPDU that is too long.
		u.Data, _ = f.enc.Append(f.room(wireSize(len(p.Octets), f.enc.Markers)), p.Octets)
		if f.spoil != nil && f.enc.CRC && f.spoil() {
			u.Data[len(u.Data)-1] ^= 1
		}
	} else {
		u.Data = append([]byte(nil), p.Octets...)
		f.stray(p.Kind, len(u.Data))
	}
	return append(dst, u)
}

// stray moves the marker grid behind octets that are no FPDU: whatever stands
// in the stream of full operation is counted.
func (f *Framer) stray(k Kind, n int) {
	if f.full && k == Raw {
		f.enc.Offset += int64(n)
	}
}

// wireSize is at least the size of an FPDU.
func wireSize(ulpdu int, markers bool) int {
	n := ulpdu + 2 + 3 + 4
	if markers {
		n += (n/(mpa.MarkerInterval-mpa.MarkerSize) + 2) * mpa.MarkerSize
	}
	return n
}

// pass lets one more PDU pass those that are held back, and returns those that
// have waited enough.
func (f *Framer) pass() (out []held) {
	kept := f.held[:0]
	for _, h := range f.held {
		for i := range h.edits {
			h.edits[i].Fate.Did("hold")
		}
		if h.after--; h.after <= 0 {
			out = append(out, h)
		} else {
			kept = append(kept, h)
		}
	}
	f.held = kept
	return out
}

// faulty applies what concerns a PDU as a whole.
func (f *Framer) faulty(dst []Unit, p PDU, edits []Fault) []Unit {
	times, hold := 1, 0
	for i := range edits {
		if edits[i].Skip {
			return dst
		}
		times += edits[i].Repeat
		hold = max(hold, edits[i].Hold)
	}
	if hold > 0 {
		p.Octets = append([]byte(nil), p.Octets...)
		for range times {
			f.held = append(f.held, held{p, edits, hold})
		}
		return dst
	}
	for range min(times, maxRepeat) {
		dst = f.send(dst, p, edits)
	}
	return dst
}

// maxRepeat bounds what a scenario can make of one PDU.
const maxRepeat = 10000

// send frames a PDU with its faults.
func (f *Framer) send(dst []Unit, p PDU, edits []Fault) []Unit {
	if p.Kind == Segment && f.join {
		p.Octets = append(f.joined, p.Octets...)
		f.join, f.joined = false, nil
		for i := range f.joins {
			f.joins[i].Fate.Did("join")
		}
	}
	if len(edits) == 0 {
		return f.plain(dst, p)
	}
	before := append([]byte(nil), p.Octets...)
	b := edit(p.Kind, before, edits)
	for i := range edits {
		if edits[i].Join && p.Kind == Segment {
			f.join, f.joined, f.joins = true, b, edits
			return dst
		}
	}
	u := Unit{Place: p.Place, Kind: p.Kind, Fresh: p.Kind == Startup}
	var front, behind []byte
	grid := 0
	for i := range edits {
		x := &edits[i]
		front, behind = append(front, x.Before...), append(behind, x.After...)
		if x.Grid {
			grid += len(x.Before) + len(x.After)
		}
		if x.Glue {
			if u.Fresh && !f.session {
				x.Fate.Did("glue")
			}
			u.Fresh = false
		}
	}
	if f.session {
		u.Data, u.Faults = f.wrap(p.Kind, b, edits), edits
	} else if p.Kind == Segment {
		f.enc.Offset += gridBefore(edits)
		u.Data = f.frame(p.Octets, b, edits)
		f.enc.Offset += int64(grid) - gridBefore(edits)
	} else {
		u.Data = b
		f.stray(p.Kind, len(b))
	}
	for i := range edits {
		edits[i].Fate.sent(&u)
		if n := edits[i].Stop; n > 0 && n < len(u.Data) {
			f.enc.Offset -= int64(len(u.Data) - n)
			u.Data = u.Data[:n]
			edits[i].Fate.Did("stop")
		}
	}
	u.Data = append(append(front, u.Data...), behind...)
	return append(dst, u)
}

// wrap makes the user message of a PDU: the next DDP-SSN, and what it is.
func (f *Framer) wrap(k Kind, b []byte, edits []Fault) []byte {
	var out []byte
	for i := range edits {
		f.ssn += uint16(edits[i].SkipSSN) //nolint:gosec // modulo 65536 by design
		if k != Raw {
			edits[i].Fate.Did("skip_ssn")
		}
	}
	if k == Raw {
		return append(out, b...)
	}
	if k == Control {
		out = append(out, b...)
		if len(out) >= sctpddp.SegmentLen {
			binary.BigEndian.PutUint16(out, f.ssn)
		}
	} else {
		out = sctpddp.Segment{SSN: f.ssn, Segment: b}.Append(make([]byte, 0, sctpddp.SegmentLen+len(b)))
	}
	f.ssn++
	for i := range edits {
		for _, v := range edits[i].Set {
			if v.Name == fieldSSN {
				put(sctpddp.SegmentHeader.Field(fieldSSN), out, v, edits[i].Fate)
			}
		}
	}
	return out
}

func gridBefore(edits []Fault) (n int64) {
	for i := range edits {
		if edits[i].Grid {
			n += int64(len(edits[i].Before))
		}
	}
	return n
}
