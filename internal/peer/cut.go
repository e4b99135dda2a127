package peer

import (
	"net"
	"time"

	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// Cut cuts startup frames and FPDUs into several writes, which mostly become TCP segments of
// their own: nothing else on a socket decides about segments. The zero value cuts nothing.
type Cut struct {
	// Each is the size of a piece in octets, 0 for any.
	Each int
	// End cuts so many octets off the end.
	End int
}

// betweenPieces is how long the next piece waits: the one before has left by then.
const betweenPieces = time.Millisecond

// pieces cuts octets.
func (c Cut) pieces(b []byte) (out [][]byte) {
	rest := len(b)
	if c.End > 0 && c.End < len(b) {
		rest = len(b) - c.End
	}
	for at := 0; at < len(b); {
		n := rest - at
		if at >= rest {
			n = len(b) - at
		}
		if c.Each > 0 {
			n = min(n, c.Each)
		}
		out = append(out, b[at:at+n])
		at += n
	}
	return out
}

// putPieces writes units in pieces.
func (c *connection) putPieces(us []pdu.Unit) error {
	for _, u := range us {
		for _, b := range c.opt.Cut.pieces(u.Data) {
			if err := c.write(net.Buffers{b}); err != nil {
				return err
			}
			time.Sleep(betweenPieces)
		}
	}
	return nil
}
