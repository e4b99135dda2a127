package ulp

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/smbdirect"
	"github.com/iwdissect/iwdissect/internal/services"
	"github.com/iwdissect/iwdissect/trace"
)

// smbDirect is SMB2 over RDMA.
type smbDirect struct{}

func (smbDirect) Name() string { return "SMB Direct" }

// Ports are the one over iWARP, and that of SMB, which clients also try.
func (smbDirect) Ports() []uint16 { return services.SMBDirect.Ports }

func (smbDirect) New() Decoder { return &smbConn{} }

// Private judges the private data: eight octets with two depths, which others may have as
// well.
func (smbDirect) Private(s *Startup) Fit {
	if len(s.Private) != smbdirect.DepthsLen {
		return Silent
	}
	if d, err := smbdirect.DecodeDepths(s.Private); err != nil || !d.Plausible() {
		return Silent
	}
	return Fits
}

// Recognise judges a message.
func (smbDirect) Recognise(m *Message) Fit {
	if m.Length < smbdirect.DataLen {
		return Contradicts
	}
	if len(m.Octets) < smbdirect.DataLen {
		return Silent
	}
	if isNegotiateRequest(m) || isNegotiateResponse(m) {
		return Proves
	}
	d, err := smbdirect.DecodeData(m.Octets)
	if err != nil {
		return Silent
	}
	return judgeData(&d, m)
}

// isNegotiateRequest reports whether a message is a Negotiate Request: its size, and sizes
// that are not below what they must be.
func isNegotiateRequest(m *Message) bool {
	r, err := smbdirect.DecodeNegotiateRequest(m.Octets)
	return err == nil && m.Whole && m.Length == smbdirect.NegotiateRequestLen &&
		r.MinVersion == smbdirect.Version1 && r.MaxVersion >= r.MinVersion && r.Reserved == 0 && r.CreditsRequested > 0 &&
		r.MaxReceiveSize >= smbdirect.LeastReceiveSize && r.MaxFragmentedSize >= smbdirect.LeastFragmentedSize
}

func isNegotiateResponse(m *Message) bool {
	r, err := smbdirect.DecodeNegotiateResponse(m.Octets)
	return err == nil && m.Whole && m.Length == smbdirect.NegotiateResponseLen &&
		r.MinVersion == smbdirect.Version1 && r.MaxVersion >= r.MinVersion && r.Reserved == 0 &&
		(r.Status != 0 || r.NegotiatedVersion == smbdirect.Version1 && r.CreditsGranted > 0 &&
			r.MaxReceiveSize >= smbdirect.LeastReceiveSize && r.MaxFragmentedSize >= smbdirect.LeastFragmentedSize)
}

// judgeData judges a data transfer: its lengths agree with that of the message.
func judgeData(d *smbdirect.Data, m *Message) Fit {
	length := uint64(m.Length) //nolint:gosec // not negative
	end := uint64(d.Offset) + uint64(d.Length)
	switch {
	case d.CreditsRequested == 0, d.Reserved != 0, d.Flags&^smbdirect.FlagResponseRequested != 0:
		return Contradicts
	case d.Length == 0 && (d.Offset != 0 || d.Remaining != 0 || length >= smbdirect.DataLen+smbdirect.Alignment):
		return Contradicts
	case d.Length == 0:
		return Fits
	case d.Offset < smbdirect.DataLen, d.Offset%smbdirect.Alignment != 0, m.Whole && end != length, end < length:
		return Contradicts
	}
	payload := d.Payload(m.Octets)
	if len(payload) >= 4 {
		switch binary.BigEndian.Uint32(payload) {
		case smbdirect.ProtocolSMB2, smbdirect.ProtocolEncrypted, smbdirect.ProtocolCompressed:
			return Proves
		}
	}
	return FitsWell
}

// smbConn follows one connection.
type smbConn struct {
	// rest is how many octets of an upper-layer message each direction still sends.
	rest [2]uint32
	// asking are the requests of the message that each direction still sends.
	asking [2]asking
}

// asking is the first request of a message that goes on, and how many there are: 0 if it has none.
type asking struct {
	id uint64
	n  int
}

// negotiation is the id of the operation that the negotiation is. Ids of messages count
// from 0.
const negotiation = 1<<64 - 2

// Startup describes the private data.
func (c *smbConn) Startup(s *Startup, n *Note) {
	d, err := smbdirect.DecodeDepths(s.Private)
	if err != nil || len(s.Private) != smbdirect.DepthsLen {
		return
	}
	if d.LittleEndian {
		n.Header(&smbdirect.DepthsLittleHeader, s.Private)
		n.Number(fSMBOrder, 1)
	} else {
		n.Header(&smbdirect.DepthsHeader, s.Private)
	}
	b := appendUint(append(n.Info(), "SMB Direct"...), " ird ", uint64(d.IRD))
	b = appendUint(b, " ord ", uint64(d.ORD))
	if d.LittleEndian {
		b = append(b, " [little-endian]"...)
	}
	n.SetInfo(b)
}

// Message describes a message.
func (c *smbConn) Message(m *Message, n *Note) Fit {
	switch {
	case m.Length < smbdirect.DataLen:
		return Contradicts
	case len(m.Octets) < smbdirect.DataLen:
		return Silent
	case isNegotiateRequest(m):
		c.request(m, n)
		return Proves
	case isNegotiateResponse(m):
		c.response(m, n)
		return Proves
	}
	d, err := smbdirect.DecodeData(m.Octets)
	if err != nil {
		return Silent
	}
	f := judgeData(&d, m)
	if f == Contradicts {
		return f
	}
	n.Header(&smbdirect.DataHeader, m.Octets)
	b := c.payload(&d, m, n)
	b = appendUint(b, ", credits requested ", uint64(d.CreditsRequested))
	if d.CreditsGranted > 0 {
		b = appendUint(b, " granted ", uint64(d.CreditsGranted))
	}
	if d.Flags&smbdirect.FlagResponseRequested != 0 {
		b = append(b, ", response requested"...)
	}
	n.SetInfo(b)
	return f
}

func (c *smbConn) request(m *Message, n *Note) {
	r, err := smbdirect.DecodeNegotiateRequest(m.Octets)
	if err != nil {
		return
	}
	n.Header(&smbdirect.NegotiateRequestHeader, m.Octets)
	n.Begin(negotiation, smbNegotiate)
	b := append(n.Info(), "SMB Direct Negotiate Request"...)
	b = appendVersions(b, r.MinVersion, r.MaxVersion)
	b = appendUint(b, ", credits requested ", uint64(r.CreditsRequested))
	n.SetInfo(appendSizes(b, r.PreferredSendSize, r.MaxReceiveSize, r.MaxFragmentedSize))
}

func (c *smbConn) response(m *Message, n *Note) {
	r, err := smbdirect.DecodeNegotiateResponse(m.Octets)
	if err != nil {
		return
	}
	n.Header(&smbdirect.NegotiateResponseHeader, m.Octets)
	o, known := n.End(negotiation, smbResult(r.Status, r.Status != 0, false))
	b := append(n.Info(), "SMB Direct Negotiate Response"...)
	if r.Status != 0 {
		b = appendStatus(b, r.Status)
	} else {
		b = appendVersions(b, r.NegotiatedVersion, r.NegotiatedVersion)
	}
	b = appendUint(b, ", credits requested ", uint64(r.CreditsRequested))
	b = appendUint(b, " granted ", uint64(r.CreditsGranted))
	b = appendSizes(b, r.PreferredSendSize, r.MaxReceiveSize, r.MaxFragmentedSize)
	b = appendOctets(append(b, ", read-write "...), uint64(r.MaxReadWriteSize))
	if known {
		b = n.appendTook(b, &o)
	}
	n.SetInfo(b)
}

func appendVersions(b []byte, least, most uint16) []byte {
	b = appendUint(b, " version ", uint64(least>>8))
	b = appendUint(b, ".", uint64(least&0xff))
	if most != least {
		b = appendUint(b, " to ", uint64(most>>8))
		b = appendUint(b, ".", uint64(most&0xff))
	}
	return b
}

func appendSizes(b []byte, send, receive, fragmented uint32) []byte {
	b = appendOctets(append(b, ", send "...), uint64(send))
	b = appendOctets(append(b, " receive "...), uint64(receive))
	return appendOctets(append(b, " fragmented "...), uint64(fragmented))
}

func appendStatus(b []byte, status uint32) []byte {
	b = append(b, " FAILED"...)
	if name := smbdirect.StatusName(status); name != unknownName {
		b = append(append(b, ": "...), name...)
	}
	return append(appendHex(b, " (", uint64(status), 8), ')')
}

// payload describes what a data transfer carries.
func (c *smbConn) payload(d *smbdirect.Data, m *Message, n *Note) []byte {
	later := c.rest[m.Dir] != 0 && uint64(c.rest[m.Dir]) == uint64(d.Length)+uint64(d.Remaining)
	if d.Length > 0 {
		c.rest[m.Dir], n.goesOn = d.Remaining, d.Remaining > 0
		if !later {
			n.conn.answers[m.Dir].forget()
			c.asking[m.Dir] = asking{}
		}
	}
	b, octets := n.Info(), d.Payload(m.Octets)
	switch {
	case d.Length == 0:
		b = append(b, "SMB Direct without data"...)
	case later:
		b = n.Continue(append(appendOctets(append(b, "SMB Direct fragment ("...), uint64(d.Length)), ')'))
		b = c.moreOf(m.Dir, n, b)
	case smbdirect.IsSMB2(octets):
		b = c.smb2(octets, n, b)
		if n.goesOn && len(n.begun) > 0 {
			c.asking[m.Dir] = asking{n.begun[0].id, len(n.begun)}
		}
	default:
		b = append(b, "SMB Direct data "...)
		if len(octets) >= 4 {
			switch binary.BigEndian.Uint32(octets) {
			case smbdirect.ProtocolEncrypted:
				b = append(b, "encrypted "...)
			case smbdirect.ProtocolCompressed:
				b = append(b, "compressed "...)
			}
		}
		b = append(appendOctets(append(b, '('), uint64(d.Length)), ')')
	}
	if d.Remaining > 0 {
		b = appendOctets(append(b, ", remaining "...), uint64(d.Remaining))
	}
	return b
}

// moreOf says which requests a fragment is of, if it is of such that wait for their answer.
func (c *smbConn) moreOf(dir trace.Dir, n *Note, b []byte) []byte {
	a := c.asking[dir]
	if a.n == 0 {
		return b
	}
	o := n.Own(a.id)
	if o == nil {
		return b
	}
	b = c.AppendOperation(append(b, " of "...), o)
	if a.n > 1 {
		b = append(appendUint(b, " and ", uint64(a.n-1)), " more"...)
	}
	return b
}

// maxChain bounds how many messages of a chain are looked at.
const maxChain = 16

// smb2 describes a message of SMB2, or a chain of them.
func (c *smbConn) smb2(b []byte, n *Note, line []byte) []byte {
	response := false
	for i := 0; i < maxChain && smbdirect.IsSMB2(b); i++ {
		h, err := smbdirect.DecodeSMB2(b)
		if err != nil || i > 0 && h.Response() != response { // all are requests, or all are responses
			break
		}
		response = h.Response()
		if i > 0 {
			line = append(line, "; "...)
		}
		own := b
		if h.Next >= smbdirect.SMB2Len && int64(h.Next) < int64(len(b)) {
			own = b[:h.Next]
		}
		if h.Response() {
			line = c.answer(&h, own, n, line)
		} else {
			line = c.ask(&h, own, n, line)
		}
		if len(own) == len(b) {
			break
		}
		b = b[h.Next:]
	}
	return line
}

// ask describes a request, and announces its descriptors.
func (c *smbConn) ask(h *smbdirect.SMB2, b []byte, n *Note, line []byte) []byte {
	n.Header(&smbdirect.SMB2RequestHeader, b)
	if h.Command == smbdirect.CommandCancel { // has no answer
		line = append(append(line, "SMB2 "...), h.Command.String()...)
		return append(appendUint(line, " id ", h.MessageID), " request"...)
	}
	o := n.Begin(h.MessageID, smb2Name(h.Command))
	line = append(c.AppendOperation(line, o), " request"...)
	r, err := smbdirect.DecodeReadWrite(h, b)
	if err != nil {
		return line
	}
	body := b[smbdirect.SMB2Len:]
	if h.Command == smbdirect.CommandRead {
		n.Header(&smbdirect.ReadHeader, body)
	} else {
		n.Header(&smbdirect.WriteHeader, body)
	}
	line = appendOctets(append(line, ", "...), uint64(r.Size()))
	line = appendUint(line, " at ", r.FileOffset)
	if len(r.Descriptors) == 0 {
		return line
	}
	listed := len(r.Descriptors) / smbdirect.DescriptorLen
	for i := range listed {
		at := r.Descriptors[i*smbdirect.DescriptorLen:]
		d, err := smbdirect.DecodeDescriptor(at)
		if err != nil {
			break
		}
		if i < maxSegments {
			n.Header(&smbdirect.DescriptorHeader, at)
		}
		if d.Length > 0 {
			n.Announce(o, d.Token, d.Offset, uint64(d.Length))
		}
		if i == 0 {
			line = appendHex(line, ", stag ", uint64(d.Token), 8)
			line = appendHex(line, " to ", d.Offset, 16)
		}
	}
	if listed > 1 {
		line = appendUint(line, " and ", uint64(listed-1))
		line = append(line, " more"...)
	}
	return line
}

// answer describes a response, and ends its request.
func (c *smbConn) answer(h *smbdirect.SMB2, b []byte, n *Note, line []byte) []byte {
	n.Header(&smbdirect.SMB2Header, b)
	if h.Status == smbdirect.StatusPending && h.Flags&smbdirect.SMB2Async != 0 {
		n.Find(h.MessageID)
		line = append(append(line, "SMB2 "...), smb2Name(h.Command)...)
		return append(appendUint(line, " id ", h.MessageID), " pending"...)
	}
	if h.MessageID == notification {
		return append(append(append(line, "SMB2 "...), smb2Name(h.Command)...), " notification"...)
	}
	failed := smbdirect.Failed(h.Status)
	o, known := n.End(h.MessageID, smbResult(h.Status, failed, smbdirect.Ordinary(h.Command, h.Status)))
	line = append(append(line, "SMB2 "...), smb2Name(h.Command)...)
	line = append(appendUint(line, " id ", h.MessageID), " response"...)
	if failed {
		line = appendStatus(line, h.Status)
	}
	if known {
		line = n.appendTook(line, &o)
	}
	return line
}

// smbResult is what a status says.
func smbResult(status uint32, failed, ordinary bool) result {
	return result{failed, ordinary, smbdirect.StatusName(status), status, 8}
}

// notification is the message identifier of what a server says unasked, such as that an oplock is broken (MS-SMB2 2.2.23).
const notification = ^uint64(0)

const smbNegotiate = "Negotiate"

func smb2Name(c smbdirect.Command) string {
	if name := c.String(); name != unknownName {
		return name
	}
	return "command"
}

// AppendOperation names a request.
func (c *smbConn) AppendOperation(b []byte, o *Operation) []byte {
	if o.ID == negotiation {
		return append(b, "SMB Direct Negotiate"...)
	}
	return appendUint(append(append(b, "SMB2 "...), o.Name...), " id ", o.ID)
}

var fSMBOrder = derived(&smbdirect.OrderHeader, "iwarp_mpa.broken_le_legacy")
