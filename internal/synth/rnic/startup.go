package rnic

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// maxEarly bounds what is kept of streaming mode while a key is looked for.
const maxEarly = 64

// Start begins the MPA startup: an initiator sends its Request; a responder
// waits for one from here on. Before, both are in streaming mode.
func (e *Endpoint) Start() {
	if e.phase != Streaming {
		return
	}
	e.phase = Starting
	if e.cfg.Session != nil {
		e.initiate()
		return
	}
	if e.cfg.Startup.Initiator {
		e.frame("request", e.mach.Start())
	}
	if b := e.early; len(b) > 0 {
		e.early = nil
		e.Receive(b)
	}
	if e.ignores(IgnorePhase) && e.cfg.Startup.Initiator && e.phase == Starting {
		e.full() // it does not wait for the Reply
	}
}

// skipStartup begins full operation with nothing said before.
func (e *Endpoint) skipStartup() {
	c := e.cfg.Startup
	e.agreed = startup.Result{
		SendMarkers: c.Markers, RecvMarkers: c.Markers, CRC: c.CRC, IRD: c.IRD, ORD: c.ORD, Version: 1,
	}
	if c.Rev == 0 {
		e.agreed.Version = 0
	}
	if e.cfg.Session != nil {
		e.agreed.SendMarkers, e.agreed.CRC, e.session.open = false, false, true
	}
	e.listen()
	e.framer.Full(e.agreed.SendMarkers, e.agreed.CRC)
	e.phase = Ready
}

// frame sends a startup frame.
func (e *Endpoint) frame(name string, s mpa.Startup) {
	e.out = e.framer.Append(e.out, pdu.PDU{
		Place: pdu.Place{Message: name, Number: 1, Segment: 1, Last: true}, Kind: pdu.Startup, Octets: s.Append(nil),
	})
}

// streaming takes octets outside MPA. They are the upper layer's; a Request
// among them begins the startup of a responder.
func (e *Endpoint) streaming(b []byte) {
	e.tells(&Event{Kind: Streamed, Size: uint64(len(b)), Data: b})
	e.early = append(e.early, b...)
	at, whole := mpa.FindKey(e.early)
	switch {
	case whole && !e.cfg.Startup.Initiator:
		e.early = e.early[at:]
		e.Start()
	case !whole:
		e.early = e.early[at:]
	}
	if len(e.early) > maxEarly+mpa.StartupLen+0xffff {
		e.early = nil
	}
}

// starting takes octets of the peer's startup frame and returns what follows.
func (e *Endpoint) starting(b []byte) []byte {
	n, answer := e.mach.Receive(b)
	if answer != nil {
		name := "reply"
		if e.cfg.Startup.Initiator {
			name = "rtr"
		}
		e.frame(name, *answer)
	}
	switch e.mach.State() {
	case startup.Done:
		e.full()
	case startup.Rejected:
		if e.ignores(IgnoreReject) {
			e.full()
			break
		}
		e.phase = Rejected
		if e.cfg.Startup.Initiator {
			e.ends(RejectedByPeer, rdmap.TermCode{})
		} else {
			e.ends(RejectedHere, rdmap.TermCode{})
		}
		if e.cfg.Startup.Initiator {
			e.closing = true
		}
	case startup.Failed:
		e.ends(StartupFailed, rdmap.TermCode{})
		e.phase, e.closing = Failed, true
	case startup.Idle, startup.Waiting:
	}
	return b[n:]
}

// listens reports whether the peer's startup frame is still to come. Whoever
// ignores phases may be in full operation by then.
func (e *Endpoint) listens() bool {
	s := e.mach.State()
	return !e.ignores(IgnoreStartup) && e.phase <= Ready && (s == startup.Idle || s == startup.Waiting)
}

// full begins full operation. An initiator that has not waited for the Reply
// comes here again with it: then it knows how to read the stream of the peer,
// while its own goes on as it began.
func (e *Endpoint) full() {
	begun := e.phase >= Full
	e.agreed = e.mach.Result()
	if e.mach.State() != startup.Done {
		// Whoever does not wait knows only what it wants itself.
		c := e.cfg.Startup
		e.agreed.CRC, e.agreed.RecvMarkers, e.agreed.IRD, e.agreed.ORD = c.CRC, c.Markers, c.IRD, c.ORD
		e.agreed.Version = min(c.Rev, 1)
	}
	e.listen()
	if begun {
		return
	}
	e.framer.Full(e.agreed.SendMarkers, e.agreed.CRC)
	e.phase = Full
	if c, due := e.mach.Terminate(); due {
		e.ends(TerminatedHere, c)
		e.terminate = &rdmap.Terminate{TermCode: c}
		e.phase = Terminated
		return
	}
	switch {
	case e.ignores(IgnorePhase):
		e.phase = Ready
	case e.cfg.Startup.Initiator:
		e.phase = Ready
		e.indicate()
	case e.ignores(IgnoreRTR):
		e.phase = Ready
	}
}

// listen prepares the receive side for FPDUs.
func (e *Endpoint) listen() {
	if !e.cfg.Startup.Initiator && e.agreed.RTRs.Has(mpa.RTRRead) {
		e.agreed.IRD = max(e.agreed.IRD, 1) // room for it (RFC 6581 section 9.1)
	}
	e.deframer = deframer{markers: e.agreed.RecvMarkers, crc: e.agreed.CRC}
}

// indicate posts the ready-to-receive indication of an initiator in front of
// everything else (RFC 6581 section 9.2).
func (e *Endpoint) indicate() {
	if e.agreed.RTR == 0 || e.ignores(IgnoreRTR) {
		return
	}
	w := Work{Name: "rtr", Number: 1}
	switch {
	case e.agreed.RTR.Has(mpa.RTRRead):
		w.Op, w.RTR = OpRead, true
	case e.agreed.RTR.Has(mpa.RTRWrite):
		w.Op, w.RTR = OpWrite, true
	default:
		w.Op, w.RTR = OpSend, true
	}
	e.undone.add(w.Name, 1, 0)
	rest := e.works
	e.works = queue[Work]{}
	e.works.push(w)
	for rest.len() > 0 {
		e.works.push(rest.pop())
	}
}
