package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// smbDirect is the port of SMB Direct, whose private data is known (MS-SMBD).
const smbDirect = 5445

// depthAdvice is about IRD and ORD.
var depthAdvice = []check{
	{id: "ADV-IRD-SILENT-CLOSE", needs: Neg | Layout | Bidir, transport: onTCP, advice: accepting(func(c *conn, q, r mpa.Enhanced) {
		above := func(a, b uint16) bool { return a != unknownDepth && b != unknownDepth && a > b }
		if !above(r.ORD, q.IRD) && !above(q.ORD, r.IRD) || c.half[trace.I2R].count > 0 || !c.applies(End) {
			return
		}
		if failure := c.givenUp(); failure != "" {
			c.adviseOn(c.reply, fmt.Sprintf("Request IRD %d ORD %d, Reply IRD %d ORD %d", q.IRD, q.ORD, r.IRD, r.ORD), failure)
		}
	})},
	{id: "ADV-REV1-NO-DEPTH", needs: Neg | Start, transport: onTCP, advice: func(c *conn) {
		if !c.plain() || !c.applies() || c.half[trace.R2I].count > 0 || !c.applies(End) {
			return
		}
		if c.t.Flow[trace.I2R].Op(opSend).Segments == 0 {
			return
		}
		if k, ok := c.leaves(trace.R2I); ok {
			c.advise(Finding{Dir: trace.R2I, HasDir: true, Frame: k.Frame}, fmt.Sprintf("the responder %s behind a Send, without an FPDU", k.verb()), "")
		}
	}},
	{id: "ADV-SMBD-LE-IRDORD", needs: Full, transport: onTCP, advice: func(c *conn) {
		if !c.smb() {
			return
		}
		c.frames(func(f *frame, left func() string) {
			b := f.upper()
			if len(b) != 8 || f.partial || !c.applies() {
				return
			}
			ird, ord := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
			if binary.BigEndian.Uint32(b) > 0xffff && binary.BigEndian.Uint32(b[4:]) > 0xffff && ird <= unknownDepth && ord <= unknownDepth {
				c.adviseOn(f, fmt.Sprintf("% x: IRD %d, ORD %d", b, ird, ord), left())
			}
		})
	}},
	{id: "ADV-SMBD-LEGACY-HEADER", needs: Full, transport: onTCP, advice: func(c *conn) {
		f := c.request
		if f == nil || f.Rev != 1 || c.t.Side[trace.R2I].Addr.Port() != smbDirect || len(f.PrivateData) < 8 || f.partial || !c.applies() {
			return
		}
		ird, ord := binary.BigEndian.Uint32(f.PrivateData), binary.BigEndian.Uint32(f.PrivateData[4:])
		if ird <= unknownDepth && ord <= unknownDepth {
			c.adviseOn(f, fmt.Sprintf("IRD %d, ORD %d", ird, ord), "")
		}
	}},
}

// upper is the private data of the upper layer.
func (f *frame) upper() []byte {
	if f.hasWord {
		return f.PrivateData[mpa.EnhancedLen:]
	}
	return f.PrivateData
}

// smb reports whether the upper layer is SMB Direct: by its port, or by the
// negotiate request that the initiator begins with (20 octets, versions 1.0).
func (c *conn) smb() bool {
	first := &c.half[trace.I2R].first
	negotiates := first.segment && first.op == opSend && first.octets == 20 && first.payload == [4]byte{0, 1, 0, 1}
	return negotiates || c.t.Side[trace.R2I].Addr.Port() == smbDirect
}
