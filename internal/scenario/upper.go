package scenario

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/dissect/nvme"
)

// uppers are the upper layers whose messages can be written out by the names of their
// fields, as octets of a message or as private data.
func uppers() map[string]func(c *compiler, n *node) []byte {
	return map[string]func(c *compiler, n *node) []byte{
		"nvme": (*compiler).nvme,
		"iser": (*compiler).iser,
	}
}

// upper reads a mapping with the name of an upper layer; ok is false if it is none.
func (c *compiler) upper(n *node, p *[]byte) (ok bool) {
	if len(n.Entries) != 1 {
		return false
	}
	e := n.Entries[0]
	write, ok := uppers()[e.Key.Text]
	if !ok {
		return false
	}
	if b := write(c, e.Value); b != nil {
		c.spell(e.Value.Pos, uint64(len(b)), func() { *p = b })
	}
	return true
}

// kind reads a mapping of one key, which says what kind of message it is.
func (c *compiler) kind(n *node, what string, kinds map[string]func(*node) []byte) []byte {
	if !c.Is(n, mapping) {
		return nil
	}
	if len(n.Entries) != 1 {
		c.Fail(n.Pos, "expected one %s: %s", what, strings.Join(slices.Sorted(slices.Values(names(kinds))), ", "))
		return nil
	}
	e := n.Entries[0]
	write, ok := kinds[e.Key.Text]
	if !ok {
		c.Unknown(e.Key.Pos, what, e.Key.Text, names(kinds))
		return nil
	}
	return write(e.Value)
}

// nvme writes private data or a capsule of NVMe over RDMA.
func (c *compiler) nvme(n *node) []byte {
	return c.kind(n, "NVMe message", map[string]func(*node) []byte{
		"connect": func(n *node) []byte {
			r := nvme.ConnectRequest{ReceiveQueueSize: 128, SendQueueSize: 127}
			c.Mapping(n, keys{
				"qid": number(c, &r.QueueID, 0, math.MaxUint16), "hrqsize": number(c, &r.ReceiveQueueSize, 0, math.MaxUint16),
				"hsqsize": number(c, &r.SendQueueSize, 0, math.MaxUint16), "cntlid": number(c, &r.ControllerID, 0, math.MaxUint16),
			})
			return r.Append(nil)
		},
		"accept": func(n *node) []byte {
			r := nvme.ConnectAccept{ReceiveQueueSize: 128}
			c.Mapping(n, keys{"crqsize": number(c, &r.ReceiveQueueSize, 0, math.MaxUint16)})
			return r.Append(nil)
		},
		"reject": func(n *node) []byte {
			var r nvme.ConnectReject
			c.Mapping(n, keys{"status": number(c, &r.Status, 0, math.MaxUint16)})
			return r.Append(nil)
		},
		"command":  c.nvmeCommand,
		"response": c.nvmeResponse,
	})
}

// descriptor says where registered memory is.
type descriptor struct {
	stag   uint32
	to     uint64
	length uint64
	given  bool
}

func (c *compiler) descriptor(d *descriptor) setter {
	return given(&d.given, func(n *node) {
		c.Mapping(n, keys{
			"stag": number(c, &d.stag, 0, math.MaxUint32), "to": number(c, &d.to, 0, allOnes),
			"length": size(c, &d.length, 0, math.MaxUint32),
		})
	})
}

// nvmeCommand writes a command, and data in its capsule.
func (c *compiler) nvmeCommand(n *node) []byte {
	cmd := nvme.Command{PSDT: 1, SGL: nvme.SGL{Type: nvme.SGLKeyed}}
	var name string
	var at descriptor
	var lba, value, inside uint64
	var blocks, kato, property uint32
	var qid, sqsize uint16
	invalidate := false
	if !c.Mapping(n, keys{
		"name": c.text(&name), "cid": number(c, &cmd.CID, 0, math.MaxUint16), "nsid": number(c, &cmd.NSID, 0, math.MaxUint32),
		"lba": number(c, &lba, 0, allOnes), "blocks": number(c, &blocks, 1, 1<<16),
		"data": c.descriptor(&at), "invalidate": c.Boolean(&invalidate), "capsule": size(c, &inside, 0, 1<<16),
		"qid": number(c, &qid, 0, math.MaxUint16), "sqsize": number(c, &sqsize, 0, math.MaxUint16), "kato": number(c, &kato, 0, math.MaxUint32),
		"property": number(c, &property, 0, math.MaxUint32), "value": number(c, &value, 0, allOnes),
	}) {
		return nil
	}
	op, fabrics, ok := nvmeOpcode(name)
	if !ok {
		c.noName(n, "name", "NVMe command", name, nvmeNames())
		return nil
	}
	cmd.Opcode = op
	switch {
	case op != nvme.OpFabrics:
		cmd.Dwords[0], cmd.Dwords[1] = uint32(lba), uint32(lba>>32)
		if blocks > 0 {
			cmd.Dwords[2] = blocks - 1
		}
	case fabrics == nvme.Connect:
		cmd.Dwords = [6]uint32{uint32(qid) << 16, uint32(sqsize), kato}
	case fabrics == nvme.PropertyGet, fabrics == nvme.PropertySet:
		cmd.Dwords = [6]uint32{0, property, uint32(value), uint32(value >> 32)}
	}
	if op == nvme.OpFabrics {
		cmd.NSID = uint32(fabrics)
	}
	switch {
	case at.given:
		cmd.SGL = nvme.SGL{Address: at.to, Length: uint32(at.length), Key: at.stag, Type: nvme.SGLKeyed} //nolint:gosec // of a region
		if invalidate {
			cmd.SGL.Subtype = nvme.SGLInvalidate
		}
	case inside > 0:
		cmd.SGL = nvme.SGL{Length: uint32(inside), Subtype: nvme.SGLOffset}
	}
	return append(cmd.Append(nil), pattern(inside)...)
}

// nvmeOpcode finds a command by its name.
func nvmeOpcode(name string) (op uint8, fabrics nvme.FabricsType, ok bool) {
	for v := range 256 {
		op := uint8(v)
		if t := nvme.FabricsType(op); t.Known() && strings.EqualFold(t.String(), name) {
			return nvme.OpFabrics, t, true
		}
		for _, q := range [...]nvme.Queue{nvme.AdminQueue, nvme.IOQueue} {
			if known, ok := nvme.OpcodeName(q, op); ok && op != nvme.OpFabrics && strings.EqualFold(known, name) {
				return op, 0, true
			}
		}
	}
	return 0, 0, false
}

// nvmeResponse writes a response.
func (c *compiler) nvmeResponse(n *node) []byte {
	var r nvme.Completion
	var sct, sc uint8
	var result uint64
	dnr := false
	c.Mapping(n, keys{
		"cid": number(c, &r.CID, 0, math.MaxUint16), "sqhd": number(c, &r.SQHead, 0, math.MaxUint16),
		"type": number(c, &sct, 0, 7), "code": number(c, &sc, 0, math.MaxUint8), "dnr": c.Boolean(&dnr),
		"result": number(c, &result, 0, allOnes),
	})
	if r.Status = nvme.StatusOf(sct, sc); dnr {
		r.Status |= 1 << 15
	}
	r.Dword0, r.Dword1 = uint32(result), uint32(result>>32)
	return r.Append(nil)
}

// text reads a text.
func (c *compiler) text(p *string) setter {
	return func(n *node) {
		if c.Is(n, scalar) {
			*p = n.Text
		}
	}
}

var layouts = map[string]iser.Layout{iser.RFC7145.String(): iser.RFC7145, iser.RFC5046.String(): iser.RFC5046}

// iser writes private data or a message of iSER.
func (c *compiler) iser(n *node) []byte {
	hello := func(op iser.Opcode, depth string) func(*node) []byte {
		return func(n *node) []byte {
			h := iser.Hello{Opcode: op, MaxVer: 10, MinVer: 10}
			l := iser.RFC7145
			c.Mapping(n, keys{
				depth: number(c, &h.Depth, 0, math.MaxUint16), "layout": word(c, &l, "layout", layouts), "reject": c.Boolean(&h.Reject),
				"maxver": number(c, &h.MaxVer, 0, 15), "minver": number(c, &h.MinVer, 0, 15),
			})
			return h.Append(nil, l)
		}
	}
	return c.kind(n, "iSER message", map[string]func(*node) []byte{
		"private": func(n *node) []byte {
			var p iser.Private
			c.Mapping(n, keys{"no_zbva": c.Boolean(&p.NoZeroBased), "no_invalidate": c.Boolean(&p.NoInvalidate)})
			return p.Append(nil)
		},
		"hello":       hello(iser.OpHello, "ird"),
		"hello_reply": hello(iser.OpHelloReply, "ord"),
		"pdu":         c.iscsi,
	})
}

// login is what a login PDU says.
type login struct{ stage, next uint8 }

var loginStages = map[string]uint8{"security": 0, "operational": 1, "full": 3}

// iscsi writes an iSCSI PDU behind an iSER header.
func (c *compiler) iscsi(n *node) []byte {
	l := iser.RFC7145
	head := iser.Control{Opcode: iser.OpControl}
	h := iser.BHS{Flags: 0x80}
	var name, scsi, text string
	var read, write descriptor
	var unit, status uint16
	var lba uint64
	var blocks, sn, expected uint32
	var length uint64
	log := login{stage: 1, next: 3}
	if !c.Mapping(n, keys{
		"name": c.text(&name), "layout": word(c, &l, "layout", layouts),
		"itt": number(c, &h.ITT, 0, math.MaxUint32), "lun": number(c, &unit, 0, 1<<14-1), "immediate": c.Boolean(&h.Immediate),
		"sn": number(c, &sn, 0, math.MaxUint32), "expected": number(c, &expected, 0, math.MaxUint32),
		"read": c.descriptor(&read), "write": c.descriptor(&write),
		"scsi": c.text(&scsi), "lba": number(c, &lba, 0, allOnes), "blocks": number(c, &blocks, 0, math.MaxUint32),
		"length": size(c, &length, 0, math.MaxUint32), "status": number(c, &status, 0, math.MaxUint16), "text": c.text(&text),
		"stage": word(c, &log.stage, "stage", loginStages), "next": word(c, &log.next, "stage", loginStages),
	}) {
		return nil
	}
	op, ok := iscsiOpcode(name)
	if !ok {
		c.noName(n, "name", "iSCSI PDU", name, iscsiNames())
		return nil
	}
	h.Opcode, h.LUN = op, uint64(unit)<<48
	h.Words[1], h.Words[2] = sn, expected
	switch op {
	case iser.SCSICommand:
		if !c.cdb(n, &h, scsi, lba, blocks) {
			return nil
		}
		h.Words[0] = uint32(length)
	case iser.SCSIResponse:
		h.Three = uint8(status)
	case iser.LoginRequest:
		h.Immediate, h.Flags = true, h.Flags|log.stage<<2|log.next
	case iser.LoginResponse:
		h.Flags, h.Words[4] = h.Flags|log.stage<<2|log.next, uint32(status)<<16
	default:
	}
	if read.given {
		head.RSV, head.ReadSTag, head.ReadBase, h.Flags = true, read.stag, read.to, h.Flags|0x40
	}
	if write.given {
		head.WSV, head.WriteSTag, head.WriteBase, h.Flags = true, write.stag, write.to, h.Flags|0x20
	}
	data := []byte(text)
	if len(data) > 0 { // key=value pairs, each ends with a zero octet
		data = append(bytes.ReplaceAll(data, []byte{' '}, []byte{0}), 0)
	}
	h.DataLength = uint32(len(data)) //nolint:gosec // of a file
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	return append(h.Append(head.Append(nil, l)), data...)
}

// cdb fills in the CDB of a SCSI command.
func (c *compiler) cdb(n *node, h *iser.BHS, name string, lba uint64, blocks uint32) bool {
	for v := range 256 {
		op := uint8(v)
		if known, ok := iser.SCSIName(op); !ok || !strings.EqualFold(known, name) {
			continue
		}
		h.Words[3] = uint32(op) << 24
		switch op {
		case 0x28, 0x2a:
			h.Words[3] |= uint32(lba >> 16 & 0xffff)
			h.Words[4] = uint32(lba&0xffff)<<16 | blocks>>8&0xff
			h.Words[5] = blocks << 24
		case 0x88, 0x8a:
			h.Words[3] |= uint32(lba >> 48)
			h.Words[4] = uint32(lba >> 16)                                  //nolint:gosec // its middle
			h.Words[5], h.Words[6] = uint32(lba)<<16|blocks>>16, blocks<<16 //nolint:gosec // its end
		}
		return true
	}
	c.noName(n, "scsi", "SCSI command", name, scsiNames())
	return false
}

// iscsiOpcode finds a PDU by its name.
func iscsiOpcode(name string) (iser.PDU, bool) {
	for v := range 64 {
		if o := iser.PDU(v); o.Known() && strings.EqualFold(o.String(), name) {
			return o, true
		}
	}
	return 0, false
}
