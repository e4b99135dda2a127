package render

import (
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/reassembly"
)

// Frame implements [pipeline.Sink]: it shows what became known with the frame, and of the
// frame itself what a side did with TCP.
func (f *Follow) Frame(fr *pipeline.Frame) {
	spoke := len(f.pending) > 0
	f.flush()
	if fr.Conn == nil || !f.is(fr.Conn) || fr.Status != packet.OK || !f.begun && !fr.Conn.IsMPA {
		return
	}
	f.segment(fr, spoke)
	if len(f.pending) > 0 {
		f.flush()
	} else if !spoke && f.octets == 0 && fr.Packet.PayloadLen > 1 && fr.Packet.Proto == packet.ProtoTCP {
		f.octets = fr.Moment()
	} else if !spoke {
		f.bare = fr.Moment()
	}
}

// segment shows what is notable of a packet. spoke is true if something was shown that
// the frame completed.
func (f *Follow) segment(fr *pipeline.Frame, spoke bool) {
	p := fr.Packet
	octets := uint64(p.PayloadLen) //nolint:gosec // not negative
	tell := func(what, text, colour string) *spoken {
		e := f.event(what, fr.Conn, fr.Dir, fr.Number, fr.Moment())
		e.text = append(e.text, text...)
		e.colour = colour
		f.hold(e)
		return e
	}
	switch n := fr.Note; {
	case fr.Damaged:
		tell("damaged", "(damaged on its way: the checksum is wrong)", red)
		return
	case n&reassembly.Conflict != 0:
		e := tell("conflict", "(other octets than those that came before in their place)", red)
		e.length = p64(octets)
	case n&reassembly.Retransmission != 0 && !spoke:
		e := tell("retransmission", "(retransmission, ", yellow)
		e.text = append(appendUint(e.text, octets), " octets)"...)
		e.length, e.shape = p64(octets), shapeOf(e, 0)
	case n&reassembly.LateForGap != 0:
		e := tell("late", "(came too late: these octets had been given up)", yellow)
		e.length = p64(octets)
	case n&reassembly.AfterFIN != 0:
		tell("after-fin", "(octets behind the FIN)", red)
	}
	if p.Proto != packet.ProtoTCP {
		return
	}
	f.window(fr, tell)
	if p.Flags&reassembly.FlagRST != 0 {
		tell("rst", "RST, resets the connection", red)
	} else if p.Flags&reassembly.FlagFIN != 0 && fr.Note&reassembly.Retransmission == 0 {
		tell("fin", "FIN, has nothing more to send", cyan)
	}
}

func p64(n uint64) int64 { return int64(n) } //nolint:gosec // the length of a packet

// window shows that a side closes its receive window, or opens it again.
func (f *Follow) window(fr *pipeline.Frame, tell func(what, text, colour string) *spoken) {
	p := fr.Packet
	if p.Flags&(reassembly.FlagSYN|reassembly.FlagRST|reassembly.FlagFIN) != 0 || p.Flags&reassembly.FlagACK == 0 {
		return
	}
	shut := &f.shut[fr.Dir]
	if now := p.Window == 0; now != *shut {
		*shut = now
		if now {
			tell("window-closed", "(receive window closed: it can take nothing more)", yellow)
		} else {
			tell("window-open", "(receive window open again)", "")
		}
	}
}
