// Package ahead measures by how much acknowledgements are captured in front of what they acknowledge. No
// receiver acknowledges what it does not have: the two directions were captured with clocks that differ, or at
// two places or in two queues, each with packets that wait.
package ahead

import "time"

// long is what counts as more than packets that wait in the queues of one capture.
const long = int64(2500 * time.Microsecond)

// OutOfOrder is how late a packet may be captured behind one that was sent after it.
const OutOfOrder = int64(10 * time.Millisecond)

// Measure is the measurement of one direction. The zero Measure is ready to use.
type Measure struct {
	// The acknowledgement that is being measured is of what lies from from up to off, captured at that time. 0: none is.
	from, off, at int64
	frame         uint64

	behind, inTime uint64 // packets that came behind their acknowledgement, and since then in front of it
	times, long    uint64 // acknowledgements that were measured, and those of them that came long before
	most           Lead
}

// Lead is how long an acknowledgement was captured before what it acknowledges.
type Lead struct {
	// By is the time between them in nanoseconds.
	By int64
	// Ack and Data are the frames of both.
	Ack, Data uint64
}

// Acknowledged notes an acknowledgement of what lies from an offset up to another one, which was not captured yet.
// A time is in nanoseconds; 0 means that there is none.
func (m *Measure) Acknowledged(from, off, now int64, frame uint64) {
	if m.at == 0 {
		m.from, m.off, m.at, m.frame = from, off, now, frame
	}
}

// Behind notes a packet whose octets, up to end, come for the first time and had been acknowledged.
func (m *Measure) Behind(end, now int64, frame uint64) {
	m.behind++
	if end <= m.from {
		return // an earlier one acknowledged that
	}
	by, measured := now-m.at, m.at != 0 && now != 0 && end <= m.off
	m.at = 0
	if !measured || by < 0 {
		return
	}
	m.times++
	if by >= long {
		m.long++
	}
	if by > m.most.By {
		m.most = Lead{By: by, Ack: m.frame, Data: frame}
	}
}

// InTime notes a packet whose octets come for the first time and had not been acknowledged.
func (m *Measure) InTime() {
	if m.behind > 0 {
		m.inTime++
	}
}

// Lead is the longest lead of the direction, if most packets come behind their acknowledgements and most of these
// are long before them. A packet that the capture missed and that was sent again for nothing comes behind its
// acknowledgement too: one alone, or a few among many, show nothing.
func (m *Measure) Lead() (l Lead, ok bool) {
	return m.most, m.behind >= 2 && m.behind > m.inTime && 2*m.long > m.times
}
