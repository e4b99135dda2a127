package pdu

import (
	"fmt"
	"sync"
)

// Fate tells what became of a fault of a scenario: whether there was a PDU for it, and what of
// it could be done to that. The ends that have the fault note it; nil notes nothing.
type Fate struct {
	mu   sync.Mutex // a fault may be one of several connections, each with a goroutine
	done map[string]bool
	// found: there was a PDU for it; segment: one of them was an ULPDU.
	found, segment bool
	// markers is the most that an FPDU had, octets the size of the longest PDU, and framed that of
	// what was sent for it.
	markers, octets, framed int
	// crcOn: CRCs are used.
	crcOn bool
}

// picked notes a PDU that the fault is for.
func (f *Fate) picked(k Kind) {
	f.note(func() { f.found, f.segment = true, f.segment || k == Segment })
}

// Did notes that something was done, by the key that a scenario has for it.
func (f *Fate) Did(key string) {
	f.note(func() {
		if f.done == nil {
			f.done = map[string]bool{}
		}
		f.done[key] = true
	})
}

// changed notes that something was done, and whether what is sent is another by it.
func (f *Fate) changed(key string, other bool) {
	f.Did(key)
	if other {
		f.Did(changedKey(key))
	}
}

// changedKey is what is noted under once something that was done has changed a PDU.
func changedKey(key string) string { return "changed " + key }

// sized notes how long a PDU is.
func (f *Fate) sized(octets int) {
	f.note(func() { f.octets = max(f.octets, octets) })
}

// sent notes what is sent for a PDU.
func (f *Fate) sent(u *Unit) {
	f.note(func() { f.framed = max(f.framed, len(u.Data)) })
}

// marked notes how many markers are in an FPDU, and whether CRCs are used.
func (f *Fate) marked(markers int, crc bool) {
	f.note(func() { f.markers, f.crcOn = max(f.markers, markers), f.crcOn || crc })
}

func (f *Fate) note(what func()) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
}

// Picked reports whether there was a PDU for the fault.
func (f *Fate) Picked() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.found
}

// Has reports whether something was done.
func (f *Fate) Has(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done[key]
}

// Idle says of each thing that the fault was to do to a PDU and did to none why it could not.
func (x *Fault) Idle() (why []string) {
	f := x.Fate
	if x.Skip || !f.Picked() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range x.Set {
		switch {
		case !f.done[v.Name]:
			why = append(why, "it has no field "+v.Name)
		case !f.done[changedKey(v.Name)]:
			why = append(why, "set: "+v.Name+" has that value without the fault")
		}
	}
	for i := range x.Markers {
		switch {
		case !f.done[markerKey(i)]:
			why = append(why, f.noMarker(x.Markers[i].Number))
		case !f.done[changedKey(markerKey(i))]:
			why = append(why, "marker: it is the same without the fault")
		}
	}
	for _, key := range [...]string{"payload", "octets", "pad"} {
		if f.done[key] && !f.done[changedKey(key)] {
			why = append(why, key+": its octets are the same without the fault")
		}
	}
	for _, k := range [...]struct {
		key    string
		wanted bool
		why    string
	}{
		{"cut", x.Cut != 0, fmt.Sprintf("cut: it has only %d octets", f.octets)},
		{"join", x.Join, "join: no FPDU follows it"},
		{"pad", x.Pad != nil, "pad: it is no FPDU"},
		{"crc", x.CRC.Mode != CRCRight || x.NoCRC, "crc: " + f.noCRC()},
		{"stop", x.Stop > 0, fmt.Sprintf("stop: it has only %d octets", f.framed)},
		{"hold", x.Hold > 0, "hold: its side sends nothing after it"},
		{"glue", x.Glue, "glue: only a startup frame begins a TCP segment of its own"},
		{"skip_ssn", x.SkipSSN > 0, "skip_ssn: it has no DDP-SSN"},
		{"split", x.Split > 0, fmt.Sprintf("split: it has only %d octets", f.framed)},
		{"interleave", x.Interleave, "interleave: it is in one chunk"},
	} {
		if k.wanted && !f.done[k.key] {
			why = append(why, k.why)
		}
	}
	if f.done[tooLong] {
		why = append(why, fmt.Sprintf("its ULPDU would be longer than %d octets, which is the most that an FPDU holds", maxULPDU))
	}
	return why
}

// tooLong is what is noted of a PDU that no FPDU can hold.
const tooLong = "too long"

// markerKey is what the nth fault of a marker is noted under.
func markerKey(n int) string { return fmt.Sprintf("marker %d", n) }

func (f *Fate) noMarker(number int) string {
	switch {
	case !f.segment:
		return "marker: it is no FPDU"
	case f.markers == 0 && number == 0:
		return "marker: it has none; mpa: {markers: true} of the other side asks for them"
	case f.markers == 0:
		return fmt.Sprintf("marker %d: it has none; mpa: {markers: true} of the other side asks for them", number)
	}
	return fmt.Sprintf("marker %d: it has %d", number, f.markers)
}

func (f *Fate) noCRC() string {
	switch {
	case !f.segment:
		return "it is no FPDU"
	case !f.crcOn:
		return "the connection uses none; a number or none changes the field all the same"
	}
	return "it is the same as the right one"
}
