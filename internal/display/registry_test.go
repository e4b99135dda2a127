package display

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// The fields of the tests.
var registry = func() map[string]*fields.Field {
	opcodes := []string{"Write", "Read Request", "Read Response", "Send", "Send with Invalidate", "Send with SE", "Send with SE and Invalidate", "Terminate"}
	all := []*fields.Field{
		{Name: "frame", Type: fields.None},
		{Name: "frame.number", Type: fields.Frame},
		{Name: "frame.time", Type: fields.Time},
		{Name: "frame.time_relative", Type: fields.Duration},
		{Name: "frame.time_delta", Type: fields.Duration},
		{Name: "frame.protocols", Type: fields.Text},
		{Name: "frame.len", Type: fields.Uint, Bits: 32},
		{Name: "eth", Type: fields.None},
		{Name: "eth.src", Type: fields.Ether},
		{Name: "eth.addr", Type: fields.Ether},
		{Name: "ip", Type: fields.None},
		{Name: "ip.src", Type: fields.IPv4},
		{Name: "ip.addr", Type: fields.IPv4},
		{Name: "ipv6.src", Type: fields.IPv6},
		{Name: "tcp", Type: fields.None},
		{Name: "tcp.srcport", Type: fields.Uint, Bits: 16},
		{Name: "tcp.dstport", Type: fields.Uint, Bits: 16},
		{Name: "tcp.port", Type: fields.Uint, Bits: 16},
		{Name: "tcp.len", Type: fields.Uint, Bits: 32},
		{Name: "tcp.flags", Type: fields.Uint, Bits: 12, Hex: true},
		{Name: "tcp.flags.syn", Type: fields.Bool, Names: func(n uint64) string {
			return []string{"Not set", "Set"}[n&1]
		}},
		{Name: "tcp.payload", Type: fields.Octets},
		{Name: "tcp.window_size_scalefactor", Type: fields.Int, Bits: 32},
		{Name: "iwarp_ddp.stag", Type: fields.Uint, Bits: 32, Hex: true},
		{Name: "iwarp_ddp.tagged_offset", Type: fields.Uint, Bits: 64, Hex: true},
		{Name: "iwarp_rdma.opcode", Type: fields.Uint, Bits: 4, Names: func(n uint64) string {
			if n < uint64(len(opcodes)) {
				return opcodes[n]
			}
			return ""
		}},
		{Name: "iwd.latency", Type: fields.Duration},
		{Name: "iwd.ratio", Type: fields.Float},
		{Name: "9p-dash.x", Type: fields.Uint},
	}
	m := map[string]*fields.Field{}
	for _, f := range all {
		m[f.Name] = f
	}
	return m
}()

func find(name string) *fields.Field { return registry[name] }

func names() []string {
	all := make([]string, 0, len(registry))
	for n := range registry {
		all = append(all, n)
	}
	return all
}

// packet has the values of the fields in one frame.
type packet map[string][]fields.Value

// row has the values that a filter reads.
func (p packet) row(f *Filter) *fields.Row {
	r := fields.NewRow(len(f.Fields()))
	p.fill(r, f)
	return r
}

func (p packet) fill(r *fields.Row, f *Filter) {
	r.Reset()
	for i, field := range f.Fields() {
		for _, v := range p[field.Name] {
			r.Add(i, v)
		}
	}
}

func numbers(ns ...int64) (vs []fields.Value) {
	for _, n := range ns {
		vs = append(vs, fields.Value{Num: uint64(n)})
	}
	return vs
}

func octetsOf(bs ...string) (vs []fields.Value) {
	for _, b := range bs {
		vs = append(vs, fields.Value{Bytes: []byte(b)})
	}
	return vs
}

func addresses(as ...string) (vs []fields.Value) {
	for _, a := range as {
		vs = append(vs, fields.Value{Bytes: netip.MustParseAddr(a).AsSlice()})
	}
	return vs
}

// write is a frame with an RDMA Write from 10.1.0.1 port 49894 to 10.1.0.2 port 7200,
// 213.686 ms after the first one.
func write() packet {
	header := []byte{0x45, 0, 0, 92, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 1, 0, 1, 10, 1, 0, 2}
	offset := uint64(0xffff888000001000)
	return packet{
		"frame": octetsOf("\x8e\x7bframe"), "eth": {{Num: 6, Bytes: []byte("\x8e\x7b\xc7\x9e\xcc\xbd\x08\x00")}},
		"frame.number": numbers(8), "frame.len": numbers(106),
		"frame.time":          numbers(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC).UnixNano()),
		"frame.time_relative": numbers(213686000), "frame.time_delta": numbers(39850000),
		"frame.protocols": octetsOf("eth:ethertype:ip:tcp:iwarp_mpa"),
		"eth.src":         octetsOf("\x8e\xa5\xc2\x93\xc5\x4e"),
		"eth.addr":        octetsOf("\x8e\xa5\xc2\x93\xc5\x4e", "\x8e\x7b\xc7\x9e\xcc\xbd"),
		"ip":              octetsOf(string(header)), "ip.src": addresses("10.1.0.1"), "ip.addr": addresses("10.1.0.1", "10.1.0.2"),
		"tcp": octetsOf("\xc2\xe6\x1c\x20"), "tcp.srcport": numbers(49894), "tcp.dstport": numbers(7200), "tcp.port": numbers(49894, 7200),
		"tcp.len": numbers(40), "tcp.flags": numbers(0x18), "tcp.flags.syn": numbers(0),
		"tcp.payload":                 octetsOf("MPA ID Req\xe9\n\x00 Frame\n"),
		"tcp.window_size_scalefactor": numbers(-2),
		"iwarp_ddp.stag":              numbers(0x17108b00), "iwarp_ddp.tagged_offset": {{Num: offset}},
		"iwarp_rdma.opcode": numbers(0),
		"iwd.latency":       numbers(1500000), "iwd.ratio": {{Num: 0x3fe0000000000000}},
	}
}

// random makes a row of values that octets choose.
func random(data []byte, f *Filter) *fields.Row {
	r := fields.NewRow(len(f.Fields()))
	take := func(n int) []byte {
		b := data[:min(n, len(data))]
		data = data[len(b):]
		return b
	}
	for i := range f.Fields() {
		n := 0
		if b := take(1); len(b) > 0 {
			n = int(b[0] % 4)
		}
		for range n {
			var num [8]byte
			copy(num[:], take(8))
			b := take(1)
			if len(b) > 0 {
				b = take(int(b[0] % 20))
			}
			r.Add(i, fields.Value{Num: binary.BigEndian.Uint64(num[:]), Bytes: b})
		}
	}
	return r
}
