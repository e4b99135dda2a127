package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// direction tells of what is wrong with what one side sent.
func (p *problems) direction(c *trace.Connection, d trace.Dir) {
	p.framing(c, d)
	p.missing(c, d)
	p.requests(c, d)
	p.packets(c, d)
	if depth, ok := c.Depth(d); ok && int(c.Flow[d].MostOutstanding) > depth {
		p.addf("%v: up to %d requests outstanding, negotiated %d", d, c.Flow[d].MostOutstanding, depth)
	}
}

// count tells how many there are of something in a direction, if there is one, and
// the frame of the first, if that is known.
func (p *problems) count(d trace.Dir, n uint64, one, many string, first uint64) {
	if n == 0 {
		return
	}
	s := d.String() + ": " + Counted(n, one, many)
	if first > 0 {
		s += fmt.Sprintf(", the first in frame %d", first)
	}
	p.add(s)
}

// framing tells of CRCs, markers, pads and headers.
func (p *problems) framing(c *trace.Connection, d trace.Dir) {
	f := &c.Flow[d]
	k := f.Faults()
	p.count(d, f.CRCBad, "FPDU with a bad CRC", "FPDUs with a bad CRC", k.FirstBadCRC)
	p.count(d, k.MarkersBad, "wrong marker", "wrong markers", k.FirstBadMarker)
	p.count(d, k.PadBad, "FPDU with a pad that is not zero", "FPDUs with a pad that is not zero", 0)
	if c.Transport == trace.SCTP {
		p.count(d, f.Rare().Malformed, "chunk whose header cannot be read", "chunks whose header cannot be read", 0)
	} else {
		p.count(d, f.Rare().Malformed, "FPDU whose header cannot be read", "FPDUs whose header cannot be read", 0)
	}
	p.count(d, f.Rare().DuplicateSSNs, "chunk with the DDP-SSN of another one", "chunks with the DDP-SSN of another one", 0)
	p.count(d, f.Rare().Unframed, "octets that are in no FPDU", "octets that are in no FPDU", 0)
	switch f.MarkersSeen {
	case mpa.Yes:
		p.add(d.String() + ": markers are used though not negotiated")
	case mpa.No:
		p.add(d.String() + ": markers are not used though negotiated")
	case mpa.Unknown:
	}
}

// missing tells of gaps in the capture, and of CRCs that cannot be verified.
func (p *problems) missing(c *trace.Connection, d trace.Dir) {
	f := &c.Flow[d]
	k := f.Faults()
	if gone := f.Rare().GapOctets - k.DamagedOctets; gone > 0 {
		what := "octets missing from the capture in "
		if c.Transport == trace.SCTP {
			what = "DDP-SSNs missing in "
		}
		what += Counted(f.Rare().Gaps-k.DamagedGaps, "gap", "gaps")
		if n := f.Rare().NoRoom; n > 0 {
			what += fmt.Sprintf(", %d of them given up to bound memory", n)
		}
		p.count(d, gone, what, what, 0)
	}
	one, many := "octet", "octets"
	if c.Transport == trace.SCTP {
		one, many = "DDP-SSN", "DDP-SSNs"
	}
	p.count(d, f.Rare().Torn+f.Rare().Headless, "message of which SCTP fragments are missing", "messages of which SCTP fragments are missing", 0)
	p.count(d, k.DamagedOctets, one+" in damaged packets only", many+" in damaged packets only", 0)
	p.count(d, f.Rare().CRCUnverifiable, "FPDU whose CRC cannot be verified", "FPDUs whose CRC cannot be verified", 0)
}

// requests tells of requests and responses that do not go together.
func (p *problems) requests(c *trace.Connection, d trace.Dir) {
	f := &c.Flow[d]
	p.refused(f, d)
	p.count(d, f.Rare().Unmatched, "response without a captured request", "responses without a captured request", 0)
}

// packets tells of packets that differ from their copies or were damaged.
func (p *problems) packets(c *trace.Connection, d trace.Dir) {
	k := c.Flow[d].Faults()
	p.count(d, k.Conflicts, "retransmission with other octets", "retransmissions with other octets", 0)
	p.count(d, k.Damaged, "packet with a wrong TCP checksum, left out", "packets with a wrong TCP checksum, left out", k.FirstDamaged)
}
