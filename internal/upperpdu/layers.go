package upperpdu

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/dissect/nvme"
	"github.com/iwdissect/iwdissect/dissect/smbdirect"
	"github.com/iwdissect/iwdissect/trace"
)

// form is how a message is written: the dissector that gets it, and the column of the protocol
// where the dissector does not know it.
type form struct {
	tag       uint16
	dissector string
	protocol  string
}

// The names are those of Wireshark 4.0.
var (
	asSMB2  = form{tag: tagHeuristic, dissector: "smb2_smb_direct"}
	asRPC   = form{tag: tagDissector, dissector: "rpc"}
	asISCSI = form{tag: tagDissector, dissector: "iscsi"}
	asNVMe  = form{tag: tagDissector, dissector: "nvme-tcp"}
)

// asData is a message that no dissector takes by itself.
func asData(protocol string) form {
	return form{tag: tagDissector, dissector: "data", protocol: protocol}
}

// sent is a message of a Send, as far as it was captured.
type sent struct {
	conn    uint64
	dir     trace.Dir
	ends    ends
	frame   uint64 // that completed it, at a time
	time    int64
	comment string
	octets  []byte
	length  int // on the wire
	// proto is the upper layer of the connection, "" if it is not known; old says that an
	// iSER header has the layout of RFC 5046.
	proto string
	old   bool
}

// inner is what is written of a message.
type inner struct {
	as     form
	octets []byte
	length int // on the wire, more than there are octets if some were not captured, or moved otherwise
	// waits says that nothing is written now: fragments of it are to come, or were given up.
	waits bool
}

// unwrap finds the message of the layer above.
func (w *Writer) unwrap(s *sent) inner {
	plain := inner{as: asData(s.proto), octets: s.octets, length: s.length}
	var in inner
	var ok bool
	switch s.proto {
	case "NVMe/RDMA":
		in, ok = w.capsule(s)
	case "iSER":
		in, ok = w.iscsi(s)
	case "SMB Direct":
		in, ok = w.smb(s)
	case rpcRDMA:
		in, ok = w.rpc(s)
	}
	if !ok {
		return plain
	}
	return in
}

// behind is what follows a header of a message.
func (s *sent) behind(header int) inner {
	return inner{octets: s.octets[min(header, len(s.octets)):], length: s.length - header}
}

// The header of a PDU of NVMe/TCP (NVM Express TCP Transport, section 3.6): type, flags, length
// of the header, offset of the data, length of the PDU.
const (
	tcpHeader   = 8
	capsuleCmd  = 4
	capsuleResp = 5
)

// capsule makes a capsule of NVMe/RDMA one of NVMe/TCP, whose dissector is the only one that
// takes it: the same octets behind a header of eight octets.
func (w *Writer) capsule(s *sent) (inner, bool) {
	kind, head := byte(capsuleCmd), nvme.CommandLen
	if s.length == nvme.CompletionLen {
		kind, head = capsuleResp, nvme.CompletionLen
	}
	if s.length < head || len(s.octets) < head {
		return inner{}, false
	}
	data := byte(0)
	if s.length > head {
		data = byte(tcpHeader + head)
	}
	b := append(w.room[:0], kind, 0, byte(tcpHeader+head), data)
	b = binary.LittleEndian.AppendUint32(b, uint32(tcpHeader+s.length)) //nolint:gosec // bounded
	w.room = append(b, s.octets...)
	return inner{as: asNVMe, octets: w.room, length: tcpHeader + s.length}, true
}

// iscsi takes the iSER header off, and pads the data segment, as iSCSI over TCP does.
func (w *Writer) iscsi(s *sent) (inner, bool) {
	layout := iser.RFC7145
	if s.old {
		layout = iser.RFC5046
	}
	if len(s.octets) < layout.Len()+iser.BHSLen || iser.OpcodeOf(s.octets[0]) != iser.OpControl {
		return inner{}, false
	}
	in := s.behind(layout.Len())
	in.as = asISCSI
	if pad := -in.length & 3; pad > 0 && len(in.octets) == in.length {
		w.room = append(append(w.room[:0], in.octets...), "\x00\x00\x00"[:pad]...)
		in.octets, in.length = w.room, in.length+pad
	}
	return in, true
}

// smb takes the SMB Direct header off, and puts the fragments of a message together.
func (w *Writer) smb(s *sent) (inner, bool) {
	d, err := smbdirect.DecodeData(s.octets)
	if err != nil || d.Length == 0 || d.Offset < smbdirect.DataLen || uint64(d.Offset)+uint64(d.Length) > uint64(s.length) { //nolint:gosec // not negative
		return inner{}, false // a negotiation, or credits
	}
	key := way{s.conn, s.dir}
	f := w.fragments[key]
	payload := d.Payload(s.octets)
	switch {
	case f == nil && !beginsSMB(payload):
		return inner{}, false // its first fragment is missing
	case f == nil && d.Remaining == 0:
		return inner{as: asSMB2, octets: payload, length: int(d.Length)}, true
	case f == nil:
		f = new(fragments)
		w.fragments[key] = f
	}
	w.fragment(f, payload, int(d.Length))
	if d.Remaining > 0 && len(w.fragments) <= maxFragmented {
		return inner{waits: true}, true
	}
	w.forget(key)
	if f.gone || d.Remaining > 0 {
		w.Long++
		return inner{waits: true}, true
	}
	return inner{as: asSMB2, octets: f.octets, length: f.length}, true
}

// beginsSMB reports whether octets begin as a message of SMB does.
func beginsSMB(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	switch binary.BigEndian.Uint32(b) {
	case smbdirect.ProtocolSMB2, smbdirect.ProtocolEncrypted, smbdirect.ProtocolCompressed:
		return true
	}
	return false
}
