package sctp

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// The parameters that have a meaning here (RFC 9260 section 3.3.2, RFC 5061).
const (
	ParamIPv4       uint16 = 5
	ParamIPv6       uint16 = 6
	ParamCookie     uint16 = 7
	ParamAdaptation uint16 = 0xC006
	// ParamPadding has no meaning (RFC 4820 section 4).
	ParamPadding uint16 = 0x8005
	// ParamZeroSum lets the peer leave checksums out (RFC 9653 section 4).
	ParamZeroSum uint16 = 0x8001

	paramHeaderLen = 4
	initLen        = 16
	sackLen        = 12
)

// Param is a parameter of INIT, INIT ACK or another chunk, or an error cause,
// which has the same shape.
type Param struct {
	Type uint16
	// Value without type, length and pad.
	Value []byte
}

// NextParam takes the first parameter off b. It reports false at the end, and
// an error for a length that cannot be.
func NextParam(b []byte) (p Param, rest []byte, ok bool, err error) {
	if len(b) == 0 {
		return p, nil, false, nil
	}
	if len(b) < paramHeaderLen {
		return p, nil, false, short("short_parameter", len(b))
	}
	n := int(binary.BigEndian.Uint16(b[2:]))
	if n < paramHeaderLen || n > len(b) {
		return p, nil, false, &Error{"parameter_length", 2, errBeyond}
	}
	p = Param{binary.BigEndian.Uint16(b), b[paramHeaderLen:n:n]}
	return p, b[min(n+padLen(n), len(b)):], true, nil
}

// Append appends the parameter with its pad.
func (p Param) Append(dst []byte) []byte {
	n := paramHeaderLen + len(p.Value)
	dst = binary.BigEndian.AppendUint16(dst, p.Type)
	dst = binary.BigEndian.AppendUint16(dst, uint16(n)) //nolint:gosec // what does not fit a packet is the caller's
	dst = append(dst, p.Value...)
	return append(dst, make([]byte, padLen(n))...)
}

// Init is an INIT or an INIT ACK chunk (RFC 9260 sections 3.3.2 and 3.3.3).
type Init struct {
	// Tag is what the peer has to put into its packets.
	Tag uint32
	// Window in octets.
	Window uint32
	// Out and In are the numbers of streams wanted and taken at most.
	Out, In uint16
	// TSN is the first one.
	TSN uint32
	// Params are the parameters, as octets.
	Params []byte
}

// DecodeInit reads an INIT or an INIT ACK.
func DecodeInit(c Chunk) (Init, error) {
	v := c.Value
	if len(v) < initLen {
		return Init{}, short("short_init", chunkHeaderLen+len(v))
	}
	return Init{
		Tag: binary.BigEndian.Uint32(v), Window: binary.BigEndian.Uint32(v[4:]),
		Out: binary.BigEndian.Uint16(v[8:]), In: binary.BigEndian.Uint16(v[10:]),
		TSN: binary.BigEndian.Uint32(v[12:]), Params: v[initLen:],
	}, nil
}

// Chunk returns the chunk, an INIT ACK if ack.
func (i *Init) Chunk(ack bool) Chunk {
	v := binary.BigEndian.AppendUint32(nil, i.Tag)
	v = binary.BigEndian.AppendUint32(v, i.Window)
	v = binary.BigEndian.AppendUint16(v, i.Out)
	v = binary.BigEndian.AppendUint16(v, i.In)
	v = binary.BigEndian.AppendUint32(v, i.TSN)
	t := TypeInit
	if ack {
		t = TypeInitAck
	}
	return New(t, 0, append(v, i.Params...))
}

// param returns the first parameter of a type.
func (i *Init) param(t uint16) ([]byte, bool) {
	for rest := i.Params; ; {
		p, more, ok, err := NextParam(rest)
		if !ok || err != nil {
			return nil, false
		}
		if p.Type == t {
			return p.Value, true
		}
		rest = more
	}
}

// Readable says why the parameters cannot be parsed to their end, if so.
func (i *Init) Readable() error { return checkParams(i.Params, chunkHeaderLen+initLen) }

// checkParams walks parameters, or causes of errors, which begin at an offset of
// their chunk.
func checkParams(b []byte, off int) error {
	for rest := b; ; {
		_, more, ok, err := NextParam(rest)
		if err != nil {
			var e *Error
			if errors.As(err, &e) {
				return &Error{e.Code, off + len(b) - len(rest) + e.Offset, e.Err}
			}
			return err
		}
		if !ok {
			return nil
		}
		rest = more
	}
}

// CheckContent says why what is in a chunk of control cannot be parsed, if so: the
// parameters of a HEARTBEAT or a RE-CONFIG, the causes of an ABORT or an ERROR,
// the blocks that a SACK announces.
func CheckContent(c *Chunk) error {
	switch c.Type {
	case TypeHeartbeat, TypeHeartbeatAck, TypeAbort, TypeError, TypeReconfig:
		return checkParams(c.Value, chunkHeaderLen)
	case TypeSack:
		v := c.Value
		if len(v) < sackLen {
			return short("short_sack", chunkHeaderLen+len(v))
		}
		if n := int(binary.BigEndian.Uint16(v[8:])) + int(binary.BigEndian.Uint16(v[10:])); len(v) < sackLen+4*n {
			return short("short_sack", chunkHeaderLen+len(v))
		}
	default:
	}
	return nil
}

// Adaptation is the Adaptation Layer Indication (RFC 5061 section 4.2.6), if
// there is one.
func (i *Init) Adaptation() (uint32, bool) {
	v, ok := i.param(ParamAdaptation)
	if !ok || len(v) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(v), true
}

// Cookie returns the state cookie of an INIT ACK, if there is one.
func (i *Init) Cookie() ([]byte, bool) { return i.param(ParamCookie) }

// TakesZero reports whether packets without a checksum are taken.
func (i *Init) TakesZero() bool {
	_, ok := i.param(ParamZeroSum)
	return ok
}

// Addresses appends the further addresses of a host with several.
func (i *Init) Addresses(dst []netip.Addr) []netip.Addr {
	for rest := i.Params; ; {
		p, more, ok, err := NextParam(rest)
		if !ok || err != nil {
			return dst
		}
		if a, ok := netip.AddrFromSlice(p.Value); ok && (p.Type == ParamIPv4 && a.Is4() || p.Type == ParamIPv6 && a.Is6()) {
			dst = append(dst, a)
		}
		rest = more
	}
}

// Block is a run of TSNs that have arrived, relative to the cumulative one.
type Block struct{ Start, End uint16 }

// Sack is a SACK chunk (RFC 9260 section 3.3.4).
type Sack struct {
	// TSN is the cumulative one: all up to it have arrived.
	TSN    uint32
	Window uint32
	Blocks []Block
	// Duplicates are TSNs that arrived again.
	Duplicates []uint32
}

// Blocks are the gap blocks of a SACK as octets.
type Blocks []byte

// From is how many TSNs from the given one on are in the block that has it.
func (b Blocks) From(cumulative, tsn uint32) int {
	off := tsn - cumulative
	for ; len(b) >= 4; b = b[4:] {
		if to := uint32(binary.BigEndian.Uint16(b[2:])); uint32(binary.BigEndian.Uint16(b)) <= off && off <= to {
			return int(to-off) + 1
		}
	}
	return 0
}

// Next takes the first block off, relative to the cumulative TSN.
func (b Blocks) Next() (x Block, rest Blocks, ok bool) {
	if len(b) < 4 {
		return x, nil, false
	}
	return Block{binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])}, b[4:], true
}

// Acked reads of a SACK what it acknowledges, without allocating.
func Acked(c *Chunk) (cumulative uint32, b Blocks, err error) {
	v := c.Value
	if len(v) < sackLen {
		return 0, nil, short("short_sack", chunkHeaderLen+len(v))
	}
	n := 4 * int(binary.BigEndian.Uint16(v[8:]))
	return binary.BigEndian.Uint32(v), Blocks(v[sackLen:min(sackLen+n, len(v))]), nil
}

// DecodeSack reads a SACK.
func DecodeSack(c Chunk) (Sack, error) {
	v := c.Value
	if len(v) < sackLen {
		return Sack{}, short("short_sack", chunkHeaderLen+len(v))
	}
	s := Sack{TSN: binary.BigEndian.Uint32(v), Window: binary.BigEndian.Uint32(v[4:])}
	blocks, dups := int(binary.BigEndian.Uint16(v[8:])), int(binary.BigEndian.Uint16(v[10:]))
	rest := v[sackLen:]
	if len(rest) < 4*(blocks+dups) {
		return s, short("short_sack", chunkHeaderLen+len(v))
	}
	for range blocks {
		s.Blocks = append(s.Blocks, Block{binary.BigEndian.Uint16(rest), binary.BigEndian.Uint16(rest[2:])})
		rest = rest[4:]
	}
	for range dups {
		s.Duplicates = append(s.Duplicates, binary.BigEndian.Uint32(rest))
		rest = rest[4:]
	}
	return s, nil
}

// Chunk returns the chunk.
func (s *Sack) Chunk() Chunk {
	v := binary.BigEndian.AppendUint32(nil, s.TSN)
	v = binary.BigEndian.AppendUint32(v, s.Window)
	v = binary.BigEndian.AppendUint16(v, uint16(len(s.Blocks)))     //nolint:gosec // what does not fit a packet is the caller's
	v = binary.BigEndian.AppendUint16(v, uint16(len(s.Duplicates))) //nolint:gosec // likewise
	for _, b := range s.Blocks {
		v = binary.BigEndian.AppendUint16(v, b.Start)
		v = binary.BigEndian.AppendUint16(v, b.End)
	}
	for _, d := range s.Duplicates {
		v = binary.BigEndian.AppendUint32(v, d)
	}
	return New(TypeSack, 0, v)
}

// DecodeTSN reads what SHUTDOWN (RFC 9260 section 3.3.8) and FORWARD TSN (RFC
// 3758 section 3.2) begin with: the cumulative TSN.
func DecodeTSN(c Chunk) (uint32, error) {
	if len(c.Value) < 4 {
		return 0, short("short_tsn", chunkHeaderLen+len(c.Value))
	}
	return binary.BigEndian.Uint32(c.Value), nil
}
