package nvme

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// Sizes of the private data, in octets.
const (
	ConnectRequestLen = 32
	ConnectAcceptLen  = 32
	ConnectRejectLen  = 4
)

const refCM = "NVMe RDMA Transport 1.0 section 3.2"

// ConnectRequest is the private data with which a host asks for a queue:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            RECFMT             |              QID              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            HRQSIZE            |            HSQSIZE            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            CNTLID             |        Reserved (22)          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ConnectRequest struct {
	// RecordFormat is 0 for the layout above.
	RecordFormat uint16
	// QueueID is 0 for the admin queue.
	QueueID uint16
	// ReceiveQueueSize is the number of entries of the host's receive queue;
	// SendQueueSize, which counts from 0, that of its send queue.
	ReceiveQueueSize, SendQueueSize uint16
	// ControllerID was added by version 1.1 of the format's document; 0 before.
	ControllerID uint16
	Reserved     [22]byte
}

// DecodeConnectRequest reads the private data at the start of b.
func DecodeConnectRequest(b []byte) (ConnectRequest, error) {
	if len(b) < ConnectRequestLen {
		return ConnectRequest{}, dissect.Short(dissect.LayerNVMe, "short_connect_request", len(b))
	}
	return ConnectRequest{
		RecordFormat:     binary.LittleEndian.Uint16(b),
		QueueID:          binary.LittleEndian.Uint16(b[2:]),
		ReceiveQueueSize: binary.LittleEndian.Uint16(b[4:]),
		SendQueueSize:    binary.LittleEndian.Uint16(b[6:]),
		ControllerID:     binary.LittleEndian.Uint16(b[8:]),
		Reserved:         [22]byte(b[10:]),
	}, nil
}

// Append appends the 32 octets.
func (c ConnectRequest) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, c.RecordFormat)
	dst = binary.LittleEndian.AppendUint16(dst, c.QueueID)
	dst = binary.LittleEndian.AppendUint16(dst, c.ReceiveQueueSize)
	dst = binary.LittleEndian.AppendUint16(dst, c.SendQueueSize)
	dst = binary.LittleEndian.AppendUint16(dst, c.ControllerID)
	return append(dst, c.Reserved[:]...)
}

// ConnectRequestHeader describes the private data of a request.
var ConnectRequestHeader = dissect.Header{
	Layer: dissect.LayerNVMe, Name: "NVMe/RDMA connect request", Ref: refCM, Size: ConnectRequestLen,
	Fields: []dissect.Field{
		{Name: "nvme-rdma.cm.req.recfmt", Label: "Record format", Kind: dissect.Dec, Bit: 0, Width: 16, LittleEndian: true, Ref: refCM},
		{Name: "nvme-rdma.cm.req.qid", Label: "Queue ID", Kind: dissect.Dec, Bit: 16, Width: 16, LittleEndian: true, Ref: refCM, Names: queueName},
		{Name: "nvme-rdma.cm.req.hrqsize", Label: "Host receive queue size", Kind: dissect.Dec, Bit: 32, Width: 16, LittleEndian: true, Ref: refCM},
		{Name: "nvme-rdma.cm.req.hsqsize", Label: "Host send queue size, counted from 0", Kind: dissect.Dec, Bit: 48, Width: 16, LittleEndian: true, Ref: refCM},
		{Name: "nvme-rdma.cm.req.cntlid", Label: "Controller ID", Kind: dissect.Hex, Bit: 64, Width: 16, LittleEndian: true, Ref: refCM},
		{Name: "nvme-rdma.cm.req.reserved", Label: "Reserved", Kind: dissect.Bytes, Bit: 80, Width: 176, Ref: refCM},
	},
}

func queueName(v uint64) string {
	if v == 0 {
		return "admin"
	}
	return "I/O"
}

// ConnectAccept is the private data of a reply that accepts:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            RECFMT             |            CRQSIZE            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                         Reserved (28)                         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ConnectAccept struct {
	RecordFormat uint16
	// ReceiveQueueSize is the number of entries of the controller's receive queue.
	ReceiveQueueSize uint16
	Reserved         [28]byte
}

// DecodeConnectAccept reads the private data at the start of b.
func DecodeConnectAccept(b []byte) (ConnectAccept, error) {
	if len(b) < ConnectAcceptLen {
		return ConnectAccept{}, dissect.Short(dissect.LayerNVMe, "short_connect_accept", len(b))
	}
	return ConnectAccept{
		RecordFormat:     binary.LittleEndian.Uint16(b),
		ReceiveQueueSize: binary.LittleEndian.Uint16(b[2:]),
		Reserved:         [28]byte(b[4:]),
	}, nil
}

// Append appends the 32 octets.
func (c ConnectAccept) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, c.RecordFormat)
	dst = binary.LittleEndian.AppendUint16(dst, c.ReceiveQueueSize)
	return append(dst, c.Reserved[:]...)
}

// ConnectAcceptHeader describes the private data of a reply that accepts.
var ConnectAcceptHeader = dissect.Header{
	Layer: dissect.LayerNVMe, Name: "NVMe/RDMA connect accept", Ref: refCM, Size: ConnectAcceptLen,
	Fields: []dissect.Field{
		{Name: "nvme-rdma.cm.rsp.recfmt", Label: "Record format", Kind: dissect.Dec, Bit: 0, Width: 16, LittleEndian: true, Ref: refCM},
		{Name: "nvme-rdma.cm.rsp.crqsize", Label: "Controller receive queue size", Kind: dissect.Dec, Bit: 16, Width: 16, LittleEndian: true, Ref: refCM},
		{Name: "nvme-rdma.cm.rsp.reserved", Label: "Reserved", Kind: dissect.Bytes, Bit: 32, Width: 224, Ref: refCM},
	},
}

// ConnectReject is the private data of a reply that rejects:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            RECFMT             |              STS              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ConnectReject struct {
	RecordFormat uint16
	Status       RejectStatus
}

// DecodeConnectReject reads the private data at the start of b.
func DecodeConnectReject(b []byte) (ConnectReject, error) {
	if len(b) < ConnectRejectLen {
		return ConnectReject{}, dissect.Short(dissect.LayerNVMe, "short_connect_reject", len(b))
	}
	return ConnectReject{binary.LittleEndian.Uint16(b), RejectStatus(binary.LittleEndian.Uint16(b[2:]))}, nil
}

// Append appends the 4 octets.
func (c ConnectReject) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, c.RecordFormat)
	return binary.LittleEndian.AppendUint16(dst, uint16(c.Status))
}

// ConnectRejectHeader describes the private data of a reply that rejects.
var ConnectRejectHeader = dissect.Header{
	Layer: dissect.LayerNVMe, Name: "NVMe/RDMA connect reject", Ref: refCM, Size: ConnectRejectLen,
	Fields: []dissect.Field{
		{Name: "nvme-rdma.cm.rej.recfmt", Label: "Record format", Kind: dissect.Dec, Bit: 0, Width: 16, LittleEndian: true, Ref: refCM},
		{
			Name: "nvme-rdma.cm.rej.status", Label: "Status", Kind: dissect.Hex, Bit: 16, Width: 16, LittleEndian: true, Ref: refCM,
			Names: func(v uint64) string { return RejectStatus(v & 0xffff).String() },
		},
	},
}

// RejectStatus says why a controller rejects a connection.
type RejectStatus uint16

// String returns what the status means.
func (s RejectStatus) String() string {
	names := [...]string{
		1: "Invalid Private Data Length", 2: "Invalid RECFMT", 3: "Invalid QID", 4: "Invalid HSQSIZE", 5: "Invalid HRQSIZE",
		6: "No Resources", 7: "Invalid IRD", 8: "Invalid ORD", 9: "Invalid CNTLID",
	}
	if int(s) < len(names) && names[s] != "" {
		return names[s]
	}
	return "unknown status"
}
