package e2e

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// rebuild puts the headers of an FPDU together again from its fields: what the
// product says must add up to the octets that were sent.
func rebuild(p *pduRecord) []byte {
	r := rebuilder{p: p}
	if p.Fields["iwarp_ddp.tagged_flag"] == nil {
		return nil
	}
	tagged := r.bit("iwarp_ddp.tagged_flag", 0x80)
	r.b = append(r.b, tagged|r.bit("iwarp_ddp.last_flag", 0x40)|r.hex8("iwarp_ddp.rsvd")<<2|byte(r.dec("iwarp_ddp.dv")))
	r.b = append(r.b, byte(r.dec("iwarp_rdma.version"))<<6|r.hex8("iwarp_rdma.rsv")<<4|r.hex8("iwarp_rdma.opcode"))
	if p.Fields["iwd.malformed"] != nil {
		return r.b
	}
	opcode := p.str("iwarp_rdma.opcode")
	if tagged != 0 {
		r.hex("iwarp_ddp.stag")
		r.hex("iwarp_ddp.tagged_offset")
		return r.b
	}
	if opcode == "0x04" || opcode == "0x06" {
		r.hex("iwarp_rdma.inval_stag")
	} else {
		r.octets("iwarp_rdma.reserved")
	}
	r.u32("iwarp_ddp.qn")
	r.u32("iwarp_ddp.msn")
	r.u32("iwarp_ddp.mo")
	switch opcode {
	case "0x01":
		r.hex("iwarp_rdma.sinkstag")
		r.hex("iwarp_rdma.sinkto")
		r.u32("iwarp_rdma.rdmardsz")
		r.hex("iwarp_rdma.srcstag")
		r.hex("iwarp_rdma.srcto")
	case "0x07":
		r.b = append(r.b, r.hex8("iwarp_rdma.term_layer")<<4|
			r.any8("iwarp_rdma.term_etype_rdma", "iwarp_rdma.term_etype_ddp", "iwarp_rdma.term_etype_llp", "iwarp_rdma.term_etype"))
		r.b = append(r.b, r.any8("iwarp_rdma.term_errcode_rdma", "iwarp_rdma.term_errcode_ddp_tagged",
			"iwarp_rdma.term_errcode_ddp_untagged", "iwarp_rdma.term_errcode_llp", "iwarp_rdma.term_errcode"))
		rest, _ := strconv.ParseUint(p.str("iwarp_rdma.term_rsvd"), 0, 16)
		hdrct := r.bit("iwarp_rdma.term_hdrct_m", 0x80) | r.bit("iwarp_rdma.hdrct_d", 0x40) | r.bit("iwarp_rdma.hdrct_r", 0x20)
		r.b = binary.BigEndian.AppendUint16(r.b, uint16(hdrct)<<8|uint16(rest))
	case "0x08", "0x09":
		r.octets("iwd.immediate_data")
	}
	return r.b
}

type rebuilder struct {
	p *pduRecord
	b []byte
}

func (r *rebuilder) bit(name string, mask byte) byte {
	if v, _ := r.p.Fields[name].(bool); v {
		return mask
	}
	return 0
}

func (r *rebuilder) dec(name string) int64 { return r.p.num(name) }

func (r *rebuilder) hex8(name string) byte {
	v, err := strconv.ParseUint(r.p.str(name), 0, 8)
	if err != nil {
		return 0xff
	}
	return byte(v)
}

// any8 is the one of the fields that is there.
func (r *rebuilder) any8(names ...string) byte {
	for _, n := range names {
		if r.p.Fields[n] != nil {
			return r.hex8(n)
		}
	}
	return 0xff
}

func (r *rebuilder) u32(name string) {
	r.b = binary.BigEndian.AppendUint32(r.b, uint32(r.dec(name)))
}

func (r *rebuilder) hex(name string) {
	if s := r.p.str(name); len(s) > 2 {
		r.raw(s[2:])
	}
}

func (r *rebuilder) octets(name string) { r.raw(r.p.str(name)) }

func (r *rebuilder) raw(s string) {
	b, _ := hex.DecodeString(s)
	r.b = append(r.b, b...)
}
