package ulp

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/nvme"
	"github.com/iwdissect/iwdissect/internal/services"
	"github.com/iwdissect/iwdissect/trace"
)

// nvmeRDMA is NVMe over RDMA.
type nvmeRDMA struct{}

// connectData is the size of the data of a Connect command in octets.
const connectData = 1024

func (nvmeRDMA) Name() string { return "NVMe/RDMA" }

// Ports are those of I/O and of discovery.
func (nvmeRDMA) Ports() []uint16 { return services.NVMe.Ports }

func (nvmeRDMA) New() Decoder { return &nvmeConn{} }

// Private judges the private data, which both sides must send.
func (nvmeRDMA) Private(s *Startup) Fit {
	if s.Cut {
		return Silent
	}
	switch {
	case s.Rejected:
		r, err := nvme.DecodeConnectReject(s.Private)
		switch {
		case len(s.Private) == 0:
			return Silent // a reject may come from below
		case err != nil || len(s.Private) != nvme.ConnectRejectLen || r.RecordFormat != 0:
			return Contradicts
		}
		return Fits
	case s.Reply:
		r, err := nvme.DecodeConnectAccept(s.Private)
		if err != nil || len(s.Private) != nvme.ConnectAcceptLen || r.RecordFormat != 0 || r.Reserved != [28]byte{} || r.ReceiveQueueSize == 0 {
			return Contradicts
		}
		return FitsWell
	}
	r, err := nvme.DecodeConnectRequest(s.Private)
	if err != nil || len(s.Private) != nvme.ConnectRequestLen || r.RecordFormat != 0 || r.Reserved != [22]byte{} ||
		r.ReceiveQueueSize == 0 || r.SendQueueSize == 0 {
		return Contradicts
	}
	return Proves
}

// Recognise judges a message: a command shows much, a response nothing.
func (nvmeRDMA) Recognise(m *Message) Fit {
	if m.Length == nvme.CompletionLen && m.Whole {
		return Silent
	}
	return command(m)
}

// command judges what may be a command capsule.
func command(m *Message) Fit {
	c, err := nvme.DecodeCommand(m.Octets)
	switch {
	case m.Length < nvme.CommandLen && m.Whole:
		return Contradicts
	case err != nil:
		return Silent // not all was captured
	case c.PSDT != 1 || c.Reserved != 0:
		return Contradicts
	case c.Opcode == nvme.OpFabrics:
		return fabrics(&c, m)
	}
	if _, ok := nvme.OpcodeName(nvme.UnknownQueue, c.Opcode); !ok && c.Opcode < 0x80 {
		return Contradicts
	}
	inside, ok := inCapsule(&c)
	switch {
	case !ok, m.Whole && inside != m.Length-nvme.CommandLen, inside < m.Length-nvme.CommandLen:
		return Contradicts
	case inside > 0, c.SGL.Type == nvme.SGLKeyed && c.SGL.Key != 0 && c.SGL.Length > 0:
		return FitsWell
	}
	return Fits
}

// The other types of descriptors that a command can have.
const (
	sglBitBucket   = 1
	sglSegment     = 2
	sglLastSegment = 3
)

// inCapsule returns how many octets of data or descriptors stand behind the command, and
// whether its descriptor can be one over RDMA.
func inCapsule(c *nvme.Command) (n int, ok bool) {
	s := &c.SGL
	switch {
	case s.Type == nvme.SGLKeyed:
		return 0, s.Subtype == nvme.SGLAddress || s.Subtype == nvme.SGLInvalidate
	case s.Type == nvme.SGLData && s.Subtype == nvme.SGLAddress:
		return 0, s.Address == 0 && s.Length == 0 // no data
	case s.Subtype != nvme.SGLOffset || s.Reserved != 0 || s.Type == sglBitBucket || s.Type > sglLastSegment:
		return 0, false
	case s.Address > 1<<20 || s.Length > 1<<20:
		return 0, false
	}
	return int(s.Address) + int(s.Length), true
}

// fabrics judges a fabrics command.
func fabrics(c *nvme.Command, m *Message) Fit {
	switch t := c.FabricsType(); t {
	case nvme.Connect:
		inside, ok := inCapsule(c)
		switch {
		case !ok || c.Dwords[0]&0xffff != 0 || c.SGL.Length != connectData || inside < m.Length-nvme.CommandLen:
			return Contradicts
		}
		return Proves
	case nvme.PropertyGet, nvme.PropertySet:
		if c.Dwords[0]&^1 != 0 || nvme.Property(c.Dwords[1]) == "" || m.Length != nvme.CommandLen {
			return Contradicts
		}
		return FitsWell
	default:
		if !t.Known() {
			return Contradicts
		}
		return Fits
	}
}

// nvmeConn is one queue: a connection carries one.
type nvmeConn struct {
	queue nvme.Queue
	// host is the direction of commands, if known.
	host  trace.Dir
	known bool
}

// Startup describes the private data.
func (d *nvmeConn) Startup(s *Startup, n *Note) {
	b := append(n.Info(), "NVMe/RDMA "...)
	switch {
	case !s.Reply:
		d.host, d.known = s.Dir, true
		r, err := nvme.DecodeConnectRequest(s.Private)
		if err != nil {
			return
		}
		d.of(r.QueueID)
		n.Header(&nvme.ConnectRequestHeader, s.Private)
		b = appendUint(append(b, "connect"...), " qid ", uint64(r.QueueID))
		b = append(append(append(b, " ("...), d.queue.String()...), ')')
		b = appendUint(b, " hrqsize ", uint64(r.ReceiveQueueSize))
		b = appendUint(b, " hsqsize ", uint64(r.SendQueueSize))
		if r.ControllerID != 0 {
			b = appendHex(b, " cntlid ", uint64(r.ControllerID), 4)
		}
	case s.Rejected:
		r, err := nvme.DecodeConnectReject(s.Private)
		if err != nil {
			n.SetInfo(append(b, "connection rejected"...))
			return
		}
		n.Header(&nvme.ConnectRejectHeader, s.Private)
		b = append(append(b, "reject: "...), r.Status.String()...)
		b = append(appendHex(b, " (", uint64(r.Status), 4), ')')
	default:
		r, err := nvme.DecodeConnectAccept(s.Private)
		if err != nil {
			return
		}
		n.Header(&nvme.ConnectAcceptHeader, s.Private)
		b = appendUint(append(b, "accept"...), " crqsize ", uint64(r.ReceiveQueueSize))
	}
	n.SetInfo(b)
}

// of notes which queue it is.
func (d *nvmeConn) of(qid uint16) {
	if d.queue = nvme.IOQueue; qid == 0 {
		d.queue = nvme.AdminQueue
	}
}

// Message describes a capsule.
func (d *nvmeConn) Message(m *Message, n *Note) Fit {
	response := m.Length == nvme.CompletionLen && m.Whole
	if d.known && response != (m.Dir != d.host) {
		return Contradicts
	}
	if response {
		return d.response(m, n)
	}
	f := command(m)
	if f == Contradicts {
		return f
	}
	c, err := nvme.DecodeCommand(m.Octets)
	if err != nil {
		return Silent
	}
	d.host, d.known = m.Dir, true
	d.command(&c, m, n)
	return f
}

// AppendOperation names a command.
func (d *nvmeConn) AppendOperation(b []byte, o *Operation) []byte {
	b = append(append(b, "NVMe "...), o.Name...)
	return appendUint(b, " cid ", o.ID)
}

// markFabrics is set in the mark of a fabrics command, with its type below.
const markFabrics = 1 << 8

// command describes a command.
func (d *nvmeConn) command(c *nvme.Command, m *Message, n *Note) {
	name := d.nameOf(c)
	o := n.Begin(uint64(c.CID), name)
	b := append(append(n.Info(), "NVMe "...), name...)
	b = appendUint(b, " cid ", uint64(c.CID))
	n.Text(fNVMeCommand, name)
	if d.queue != nvme.UnknownQueue {
		n.Text(fNVMeQueue, d.queue.String())
	}
	if c.Opcode == nvme.OpFabrics {
		o.Mark = markFabrics | uint64(c.FabricsType())
		b = d.fabrics(c, m, n, b)
	} else {
		n.Header(&nvme.CommandHeader, m.Octets)
		if c.NSID != 0 {
			b = appendUint(b, " nsid ", uint64(c.NSID))
		}
		if hasBlocks(name) {
			n.Number(fNVMeLBA, c.StartLBA())
			n.Number(fNVMeBlocks, uint64(c.Blocks())) //nolint:gosec // not negative
			b = appendUint(b, " lba ", c.StartLBA())
			b = appendUint(b, " blocks ", uint64(c.Blocks())) //nolint:gosec // not negative
		}
	}
	n.SetInfo(d.data(c, o, m, n, b))
}

// data describes where the data of a command are, and announces them.
func (d *nvmeConn) data(c *nvme.Command, o *Operation, m *Message, n *Note, b []byte) []byte {
	s := &c.SGL
	n.Header(s.Header(), m.Octets[nvme.OffSGL:])
	if s.Type == sglSegment || s.Type == sglLastSegment {
		return d.list(s, o, m, n, b)
	}
	switch {
	case s.Length == 0:
	case s.Type == nvme.SGLKeyed:
		n.Announce(o, s.Key, s.Address, uint64(s.Length))
		b = appendOctets(append(b, ", "...), uint64(s.Length))
		b = appendHex(b, " at stag ", uint64(s.Key), 8)
		b = appendHex(b, " to ", s.Address, 16)
	default:
		n.Number(fNVMeInside, uint64(s.Length))
		b = append(appendOctets(append(b, ", "...), uint64(s.Length)), " in the capsule"...)
	}
	return b
}

// list announces the descriptors of a list in the capsule, as far as they are there.
func (d *nvmeConn) list(s *nvme.SGL, o *Operation, m *Message, n *Note, b []byte) []byte {
	from := nvme.CommandLen + int(min(s.Address, 1<<20))
	octets := uint64(0)
	listed := int(s.Length / nvme.SGLLen)
	for i := range listed {
		at := from + i*nvme.SGLLen
		if at >= len(m.Octets) {
			break
		}
		e, err := nvme.DecodeSGL(m.Octets[at:])
		if err != nil {
			break
		}
		if e.Type == nvme.SGLKeyed {
			n.Announce(o, e.Key, e.Address, uint64(e.Length))
		}
		octets += uint64(e.Length)
	}
	b = appendUint(b, ", ", uint64(listed)) //nolint:gosec // not negative
	b = append(b, " descriptors in the capsule"...)
	if octets > 0 {
		b = append(appendOctets(append(b, " ("...), octets), ')')
	}
	return b
}

func hasBlocks(name string) bool {
	switch name {
	case "Read", "Write", "Compare", "Write Zeroes", "Write Uncorrectable", "Verify":
		return true
	}
	return false
}

// nameOf names a command, and learns from it which queue it is.
func (d *nvmeConn) nameOf(c *nvme.Command) string {
	if c.Opcode == nvme.OpFabrics {
		switch t := c.FabricsType(); t {
		case nvme.Connect:
			d.of(uint16(c.Dwords[0] >> 16))
			return fabricsNames[0]
		case nvme.PropertyGet:
			d.queue = nvme.AdminQueue
			return fabricsNames[1]
		case nvme.PropertySet:
			d.queue = nvme.AdminQueue
			return fabricsNames[2]
		default:
			return t.String()
		}
	}
	if d.queue == nvme.UnknownQueue {
		d.queue = queueOf(c)
	}
	name, _ := nvme.OpcodeName(d.queue, c.Opcode)
	return name
}

var fabricsNames = [...]string{"Fabrics Connect", "Property Get", "Property Set"}

// queueOf returns the queue that a command can only be on. Queues are not created and
// deleted by commands over fabrics, so that the opcodes for it are those of I/O commands.
func queueOf(c *nvme.Command) nvme.Queue {
	switch c.Opcode {
	case 0x00, 0x01, 0x04, 0x05:
		return nvme.IOQueue
	}
	_, admin := nvme.OpcodeName(nvme.AdminQueue, c.Opcode)
	_, io := nvme.OpcodeName(nvme.IOQueue, c.Opcode)
	switch {
	case admin && !io:
		return nvme.AdminQueue
	case io && !admin:
		return nvme.IOQueue
	}
	return nvme.UnknownQueue
}

// fabrics describes what is special of a fabrics command.
func (d *nvmeConn) fabrics(c *nvme.Command, m *Message, n *Note, b []byte) []byte {
	n.Header(&nvme.FabricsHeader, m.Octets)
	own := m.Octets[nvme.OffSGL+nvme.SGLLen:]
	switch c.FabricsType() {
	case nvme.Connect:
		n.Header(&nvme.ConnectHeader, own)
		b = appendUint(b, " qid ", uint64(c.Dwords[0]>>16))
		b = appendUint(b, " sqsize ", uint64(c.Dwords[1]&0xffff))
		if kato := c.Dwords[2]; kato != 0 {
			b = append(appendUint(b, " kato ", uint64(kato)), " ms"...)
		}
	case nvme.PropertyGet, nvme.PropertySet:
		n.Header(&nvme.PropertyHeader, own)
		if p := nvme.Property(c.Dwords[1]); p != "" {
			b = append(append(b, ' '), p...)
		} else {
			b = appendHex(b, " offset ", uint64(c.Dwords[1]), 8)
		}
		if c.FabricsType() == nvme.PropertySet {
			b = appendHex(b, " = ", uint64(c.Dwords[3])<<32|uint64(c.Dwords[2]), 16)
		}
	case nvme.Disconnect:
		n.Header(&nvme.DisconnectHeader, own)
	default:
	}
	return b
}

// response describes a response capsule.
func (d *nvmeConn) response(m *Message, n *Note) Fit {
	c, err := nvme.DecodeCompletion(m.Octets)
	if err != nil {
		return Silent
	}
	failed := !c.Status.Success()
	var asked string
	var mark uint64
	if failed {
		if o := n.asked(uint64(c.CID)); o != nil {
			asked, mark = o.Name, o.Mark
		}
	}
	name := c.Status.Name(mark&markFabrics != 0)
	o, ok := n.End(uint64(c.CID), result{failed, c.Status.Ordinary(d.queue, asked), name, uint32(c.Status) >> 1 & 0x7ff, 4})
	b := append(n.Info(), "NVMe response"...)
	if ok {
		b = append(append(b, ' '), o.Name...)
	}
	b = appendUint(b, " cid ", uint64(c.CID))
	n.Number(fNVMeStatusField, uint64(c.Status))
	n.Text(fNVMeStatus, name)
	n.Header(&nvme.CompletionHeader, m.Octets)
	if failed {
		b = append(append(b, " FAILED: "...), name...)
		b = append(appendHex(b, " (", uint64(c.Status)>>1&0x7ff, 4), ')')
		if c.Status.DoNotRetry() {
			b = append(b, " do not retry"...)
		}
	} else {
		b = append(b, " success"...)
		b = d.result(&c, &o, n, b)
	}
	if ok {
		b = n.appendTook(b, &o)
	}
	n.SetInfo(b)
	if ok {
		return FitsWell
	}
	return Silent
}

// result describes what a successful command gave back.
func (d *nvmeConn) result(c *nvme.Completion, o *Operation, n *Note, b []byte) []byte {
	switch o.Mark {
	case markFabrics | uint64(nvme.Connect):
		n.Number(fNVMeController, uint64(c.Dword0&0xffff))
		return appendHex(b, " cntlid ", uint64(c.Dword0&0xffff), 4)
	case markFabrics | uint64(nvme.PropertyGet):
		return appendHex(b, " value ", uint64(c.Dword1)<<32|uint64(c.Dword0), 16)
	}
	return b
}

func derived(h *dissect.Header, name string) *dissect.Field {
	if f := h.Field(name); f != nil {
		return f
	}
	return &dissect.Field{Name: name, Bit: -1} // a test finds it
}

var (
	fNVMeCommand     = derived(&nvme.DerivedHeader, "iwd.nvme.command_name")
	fNVMeQueue       = derived(&nvme.DerivedHeader, "iwd.nvme.queue")
	fNVMeInside      = derived(&nvme.DerivedHeader, "iwd.nvme.incapsule_length")
	fNVMeStatusField = derived(&nvme.DerivedHeader, "nvme.cqe.status")
	fNVMeStatus      = derived(&nvme.DerivedHeader, "iwd.nvme.status_name")
	fNVMeLBA         = derived(&nvme.DerivedHeader, "nvme.cmd.slba")
	fNVMeBlocks      = derived(&nvme.DerivedHeader, "nvme.cmd.nlb")
	fNVMeController  = derived(&nvme.DerivedHeader, "nvme.fabrics.cqe.connect.cntrlid")
)
