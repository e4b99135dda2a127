package e2e

import (
	"slices"
	"strings"
)

// fault is something that tshark 4.0 does wrong, or not at all, on these
// captures. What it excuses stands beside its name in the functions below; it
// excuses nothing else. A fault with captures holds only there, and must be met
// exactly that often. One without holds wherever its condition is met, and must
// be met every time.
type fault struct {
	name     string
	reason   string
	captures map[string]int
}

const rawCapture = "hostfwd-raw-initiator-cases.pcap"

var faults = []fault{
	{
		name:   "RsvdULP of a tagged segment is not shown",
		reason: "it has the field for untagged segments only; RFC 5041 4.2 gives tagged ones an octet of it",
	},
	{
		name:   "a short Send is called malformed",
		reason: "its RPC-over-RDMA heuristic takes any Send and throws on less than 16 octets",
	},
	{
		name:     "a connection that was captured from its middle is not seen",
		reason:   "it finds MPA by the Request only",
		captures: map[string]int{"mid-send-lat-crc.pcap": 400, "mid-write-bw-crc.pcap": 334},
	},
	{
		name:     "a Request whose key is wrong is not seen",
		reason:   "it knows the key or nothing; here one letter is wrong",
		captures: map[string]int{rawCapture: 1},
	},
	{
		name:     "the headers of an FPDU that snaplen cut are not shown",
		reason:   "it reads the CRC field first and gives up when that is not there",
		captures: map[string]int{"snap96-crc.pcap": 274},
	},
	{
		name:     "a Reply without a Request is not seen",
		reason:   "it finds MPA by the Request only",
		captures: map[string]int{rawCapture: 1},
	},
	{
		name:     "a Request in several segments is not seen, nor what follows it",
		reason:   "it needs the key and the header in one segment",
		captures: map[string]int{rawCapture: 3},
	},
	{
		name:     "an FPDU after the Request in its segment is not seen",
		reason:   "it takes a segment with a startup frame for that frame alone",
		captures: map[string]int{rawCapture: 1},
	},
	{
		name:     "FPDUs after a reject are not seen",
		reason:   "a Reply with R ends MPA for it; here both sides went on",
		captures: map[string]int{rawCapture: 1},
	},
	{
		name:     "an FPDU that was never finished is not shown",
		reason:   "it waits for the rest of the FPDU and never dissects what is there, be it an FPDU or octets outside MPA",
		captures: map[string]int{rawCapture: 2},
	},
	{
		name:     "an FPDU whose length field is split over segments is not seen",
		reason:   "it needs the length in one segment; here each octet has its own",
		captures: map[string]int{rawCapture: 1},
	},
	{
		name:     "a DDP header that is cut short is shown only up to the DDP version",
		reason:   "it throws at the end of the ULPDU, before the RDMAP octet that is there",
		captures: map[string]int{rawCapture: 1},
	},
	{
		name:     "an empty ULPDU passes",
		reason:   "it does not ask for a DDP header when ULPDU_Length is 0",
		captures: map[string]int{rawCapture: 1},
	},
	{
		name:     "private data longer than 512 octets ends the dissection",
		reason:   "it stops before the length, with an expert item",
		captures: map[string]int{rawCapture: 1},
	},
	{
		name:     "the RDMAP header follows the opcode, not the T flag",
		reason:   "of a Send that is tagged it shows the STag as reserved, of a Write that is not it shows no reserved octets",
		captures: map[string]int{rawCapture: 2},
	},
	{
		name:     "reserved octets of unknown opcodes are not shown",
		reason:   "it knows opcodes 0 to 7 and those of atomics; here are Immediate Data and an experimental one",
		captures: map[string]int{rawCapture: 2},
	},
}

func faultOf(name string) *fault {
	i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
	if i < 0 {
		panic("no such fault: " + name)
	}
	return &faults[i]
}

// unseen tells whether tshark is known not to see a PDU at all.
func (c *comparison) unseen(p *pduRecord) bool {
	outcome := c.outcome(p.Conn)
	switch {
	case outcome == "none-seen" && p.Kind == "streaming":
		return c.fault("a Request whose key is wrong is not seen")
	case outcome == "none-seen":
		return c.fault("a connection that was captured from its middle is not seen")
	case c.split(p.Conn):
		return c.fault("a Request in several segments is not seen, nor what follows it")
	case outcome == "incomplete" && p.Kind == "mpa_reply":
		return c.fault("a Reply without a Request is not seen")
	case outcome == "incomplete" && p.Kind == "fpdu":
		return c.fault("an FPDU after the Request in its segment is not seen")
	case outcome == "rejected" && p.Kind == "fpdu":
		return c.fault("FPDUs after a reject are not seen")
	case p.Kind == "fpdu" && c.startsWith(p, 1):
		return c.fault("an FPDU whose length field is split over segments is not seen")
	case p.Kind == "streaming", p.Kind == "unframed":
		return c.fault("an FPDU that was never finished is not shown")
	case p.str("iwd.captured") == "partial" && len(c.d.frame(p.Frames[0]).Notes) == 0:
		return c.fault("an FPDU that was never finished is not shown")
	}
	return false
}

// startsWith tells whether the first frame of a PDU has only n octets of it.
func (c *comparison) startsWith(p *pduRecord, n int64) bool {
	carries := c.d.frame(p.Frames[0]).Carries
	return len(carries) == 1 && carries[0].Part == "start" && carries[0].Length == n
}

func (c *comparison) outcome(conn int) string {
	r := c.d.connection(conn)
	if r == nil {
		return ""
	}
	s, _ := r.MPA["outcome"].(string)
	return s
}

// split tells whether the Request of a connection came in several segments.
func (c *comparison) split(conn int) bool {
	return slices.ContainsFunc(c.d.pdus, func(p pduRecord) bool {
		return p.Conn == conn && p.Kind == "mpa_request" && len(p.Frames) > 1
	})
}

// malformed compares what is called malformed.
func (c *comparison) malformed(p *pduRecord, their *tsharkPDU) {
	ours := p.Fields["iwd.malformed"] != nil
	short := shortSend(p)
	switch {
	case ours && p.num("iwarp_mpa.ulpdulength") == 0 && !their.malformed:
		c.fault("an empty ULPDU passes")
	case their.malformed != (ours || short):
		c.errorf("pdu %d, frame %d: malformed is %t; tshark says %t (%s)", p.PDU, p.Frame, ours, their.malformed, p.Info)
	case short:
		c.fault("a short Send is called malformed")
	}
}

func shortSend(p *pduRecord) bool {
	switch p.str("iwarp_rdma.opcode") {
	case "0x03", "0x04", "0x05", "0x06":
		return p.Fields["iwarp_ddp.tagged_flag"] == false && p.Fields["iwarp_ddp.last_flag"] == true &&
			p.num("iwarp_ddp.mo") == 0 && p.num("iwd.payload.length") < 16 && p.str("iwd.captured") == "full"
	}
	return false
}

// extra tells whether a field that only tshark has is a known fault.
func (c *comparison) extra(p *pduRecord, name string) bool {
	return name == "iwarp_rdma.reserved" && p.Fields["iwarp_ddp.tagged_flag"] == true && p.str("iwarp_rdma.opcode") == "0x03" &&
		c.fault("the RDMAP header follows the opcode, not the T flag")
}

// lacking are the fields of a PDU that tshark is known not to show.
func (c *comparison) lacking(p *pduRecord) (names []string) {
	opcode := p.str("iwarp_rdma.opcode")
	switch {
	case p.str("iwd.captured") == "partial":
		if c.fault("the headers of an FPDU that snaplen cut are not shown") {
			for name := range p.Fields {
				if strings.HasPrefix(name, "iwarp_ddp.") || strings.HasPrefix(name, "iwarp_rdma.") {
					names = append(names, name)
				}
			}
		}
		return names
	case p.Fields["iwd.malformed"] != nil && p.num("iwarp_mpa.ulpdulength") > 0:
		if c.fault("a DDP header that is cut short is shown only up to the DDP version") {
			names = append(names, "iwarp_rdma.version", "iwarp_rdma.rsv", "iwarp_rdma.opcode")
		}
	case p.Kind == "mpa_request" && p.num("iwarp_mpa.pdlength") > 512:
		if c.fault("private data longer than 512 octets ends the dissection") {
			names = append(names, "iwarp_mpa.pdlength", "iwarp_mpa.privatedata")
		}
	case p.Fields["iwarp_ddp.tagged_flag"] == true:
		if c.fault("RsvdULP of a tagged segment is not shown") {
			names = append(names, "iwarp_ddp.rsvdulp")
		}
	case opcode == "0x00" || opcode == "0x02":
		if c.fault("the RDMAP header follows the opcode, not the T flag") {
			names = append(names, "iwarp_rdma.reserved")
		}
	case opcode == "0x08" || opcode == "0x0f":
		if c.fault("reserved octets of unknown opcodes are not shown") {
			names = append(names, "iwarp_rdma.reserved")
		}
	}
	return names
}
