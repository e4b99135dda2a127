package e2e

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
)

// This file reads captures a second time, without any code of the product: just
// enough of the file formats, the link layers, IP and TCP for the captures of
// these tests.

// segment is a TCP segment of a capture.
type segment struct {
	ns       int64
	src, dst string
	seq, ack uint32
	flags    byte
	payload  []byte // as far as it was captured
	length   int    // of the payload on the wire
}

const (
	flagFIN = 1
	flagSYN = 2
	flagRST = 4
	flagACK = 16
)

// packetOf is a packet of a capture file.
type packetOf struct {
	ns   int64
	link uint32
	wire int
	data []byte
}

// readCapture reads a pcap or pcapng file in little-endian order.
func readCapture(path string) ([]packetOf, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if len(b) < 24 {
		return nil, errors.New("short file")
	}
	var unit int64
	switch le.Uint32(b) {
	case 0xa1b2c3d4:
		unit = 1000
	case 0xa1b23c4d:
		unit = 1
	case 0x0a0d0d0a:
		return readBlocks(b)
	default:
		return nil, fmt.Errorf("unknown file format %x", b[:4])
	}
	link := le.Uint32(b[20:])
	var out []packetOf
	for b = b[24:]; len(b) > 0; {
		n := int(le.Uint32(b[8:]))
		out = append(out, packetOf{
			ns:   int64(le.Uint32(b))*1e9 + int64(le.Uint32(b[4:]))*unit,
			link: link, wire: int(le.Uint32(b[12:])), data: b[16 : 16+n],
		})
		b = b[16+n:]
	}
	return out, nil
}

// readBlocks reads pcapng: interface descriptions and enhanced packet blocks.
func readBlocks(b []byte) ([]packetOf, error) {
	le := binary.LittleEndian
	type iface struct {
		link uint32
		unit int64 // nanoseconds
	}
	var ifaces []iface
	var out []packetOf
	for len(b) > 0 {
		n := int(le.Uint32(b[4:]))
		body := b[8 : n-4]
		switch le.Uint32(b) {
		case 1:
			i := iface{link: uint32(le.Uint16(body)), unit: 1000}
			for o := body[8:]; len(o) >= 4; {
				code, size := le.Uint16(o), int(le.Uint16(o[2:]))
				if code == 9 && o[4] == 9 {
					i.unit = 1
				}
				o = o[4+(size+3)/4*4:]
			}
			ifaces = append(ifaces, i)
		case 6:
			i := ifaces[le.Uint32(body)]
			t := int64(le.Uint32(body[4:]))<<32 | int64(le.Uint32(body[8:]))
			size := int(le.Uint32(body[12:]))
			out = append(out, packetOf{t * i.unit, i.link, int(le.Uint32(body[16:])), body[20 : 20+size]})
		}
		b = b[n:]
	}
	return out, nil
}

// tcp takes a packet apart; ok is false when it is not TCP.
func (p *packetOf) tcp() (s segment, ok bool) {
	be := binary.BigEndian
	b := p.data
	header := 12 // of Ethernet, without the type
	if p.link == 113 {
		header = 14
	}
	kind := be.Uint16(b[header:])
	cut := header + 2
	if kind == 0x8100 {
		kind = be.Uint16(b[cut+2:])
		cut += 4
	}
	b = b[cut:]
	var length int
	var src, dst netip.Addr
	switch {
	case kind == 0x0800 && b[9] == 6:
		src, _ = netip.AddrFromSlice(b[12:16])
		dst, _ = netip.AddrFromSlice(b[16:20])
		ihl := int(b[0]&15) * 4
		length = int(be.Uint16(b[2:])) - ihl
		if be.Uint16(b[2:]) == 0 { // more than 64 kB, cut by the kernel before it is sent
			length = p.wire - cut - ihl
		}
		b = b[ihl:]
	case kind == 0x86dd && b[6] == 6:
		src, _ = netip.AddrFromSlice(b[8:24])
		dst, _ = netip.AddrFromSlice(b[24:40])
		length = int(be.Uint16(b[4:]))
		b = b[40:]
	default:
		return s, false
	}
	hlen := int(b[12]>>4) * 4
	s = segment{
		ns:  p.ns,
		src: netip.AddrPortFrom(src, be.Uint16(b)).String(), dst: netip.AddrPortFrom(dst, be.Uint16(b[2:])).String(),
		seq: be.Uint32(b[4:]), ack: be.Uint32(b[8:]), flags: b[13], length: length - hlen,
	}
	s.payload = b[hlen:min(len(b), length)]
	return s, true
}

// half is one direction of a TCP connection.
type half struct {
	conn     int
	src, dst string
	fin      bool
	octets   []byte
	have     []bool
}

// halves puts the streams of a capture together. Connections are counted from 0
// by their first frame; a SYN with another sequence number begins a new one.
func halves(path string) ([]*half, error) {
	packets, err := readCapture(path)
	if err != nil {
		return nil, err
	}
	type state struct {
		*half
		base  uint32
		known bool
		isn   uint32
	}
	now := map[string]*state{}
	var out []*half
	conns := 0
	for i := range packets {
		s, ok := packets[i].tcp()
		if !ok {
			continue
		}
		key, back := s.src+" "+s.dst, s.dst+" "+s.src
		if h := now[key]; h == nil || s.flags&(flagSYN|flagACK) == flagSYN && h.known && h.isn != s.seq {
			now[key], now[back] = &state{half: &half{conn: conns, src: s.src, dst: s.dst}}, &state{half: &half{conn: conns, src: s.dst, dst: s.src}}
			out = append(out, now[key].half, now[back].half)
			conns++
		}
		h := now[key]
		first := s.seq
		if s.flags&flagSYN != 0 {
			first++
			h.isn = s.seq
		}
		if !h.known {
			h.known, h.base = true, first
		}
		if s.flags&flagFIN != 0 {
			h.fin = true
		}
		at := int(int32(first - h.base))
		if at < 0 || len(s.payload) == 0 {
			continue
		}
		if need := at + s.length; need > len(h.octets) {
			h.octets = append(h.octets, make([]byte, need-len(h.octets))...)
			h.have = append(h.have, make([]bool, need-len(h.have))...)
		}
		copy(h.octets[at:], s.payload)
		for j := range s.payload {
			h.have[at+j] = true
		}
	}
	return out, nil
}

// fpdu is what the independent framer finds.
type fpdu struct {
	offset, length int64
	whole          bool // all octets were captured
	crc, want      uint32
	ulpdu          []byte // as far as the stream goes
	have           []bool // for each octet of the FPDU
}

// startup is the length of the startup frame with which a stream begins, 0 when
// there is none, and its flags.
func startup(b []byte) (length int, flags byte) {
	if len(b) < 20 || !bytes.Equal(b[:8], []byte("MPA ID R")) {
		return 0, 0
	}
	return 20 + int(binary.BigEndian.Uint16(b[18:])), b[16]
}

// frame walks a stream that has no markers. It ends where the length of the next
// FPDU was not captured, or where the stream ends within an FPDU; such a rest is
// an FPDU of its own when the sender had closed the stream and RFC 5044 3 allows
// its length.
func (h *half) frame() (out []fpdu) {
	start, _ := startup(h.octets)
	return h.frameFrom(start)
}

func (h *half) frameFrom(start int) (out []fpdu) {
	le := binary.LittleEndian
	for at := start; at+2 <= len(h.octets) && h.have[at] && h.have[at+1]; {
		n := int(binary.BigEndian.Uint16(h.octets[at:]))
		size := (2+n+3)/4*4 + 4
		end := at + size
		if end > len(h.octets) && (!h.fin || n > 64768) {
			break
		}
		f := fpdu{offset: int64(at - start), length: int64(size)}
		to := min(end, len(h.octets))
		f.ulpdu = h.octets[at+2 : min(at+2+n, to)]
		f.have = h.have[at:to]
		f.whole = end <= len(h.octets)
		for _, have := range f.have {
			f.whole = f.whole && have
		}
		if f.whole {
			f.crc = le.Uint32(h.octets[end-4:])
			f.want = crc32c(h.octets[at : end-4])
		}
		out = append(out, f)
		at = end
	}
	return out
}

// crc32c computes the CRC bit by bit, RFC 3720 B.4.
func crc32c(b []byte) uint32 {
	crc := ^uint32(0)
	for _, c := range b {
		crc = crc>>8 ^ crcOf[byte(crc)^c]
	}
	return ^crc
}

var crcOf = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i)
		for range 8 {
			if c&1 != 0 {
				c = c>>1 ^ 0x82f63b78
			} else {
				c >>= 1
			}
		}
		t[i] = c
	}
	return t
}()
