package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/dissect/nvme"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/dissect/smbdirect"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// asked is a request of an upper layer and its answer.
type asked struct{ request, answer []byte }

// nvmeAsked is a command of an I/O queue, or of an admin queue.
func nvmeAsked(op uint8, sct, sc uint8) asked {
	c := nvme.Command{Opcode: op, PSDT: 1, CID: 7, SGL: nvme.SGL{Type: nvme.SGLKeyed, Key: 0x1100, Length: 4096}}
	return asked{c.Append(nil), nvme.Completion{CID: 7, Status: nvme.StatusOf(sct, sc)}.Append(nil)}
}

// nvmeConnect makes a queue known.
func nvmeConnect(qid uint32) asked {
	c := nvme.Command{Opcode: nvme.OpFabrics, NSID: uint32(nvme.Connect), PSDT: 1, SGL: nvme.SGL{Type: nvme.SGLKeyed, Key: 0x1000, Length: 1024}}
	c.Dwords[0] = qid << 16
	return asked{c.Append(nil), nvme.Completion{}.Append(nil)}
}

// iserAsked is a SCSI command that is answered with a status, and if there are any with sense data.
func iserAsked(scsi uint32, status uint8, sense ...byte) asked {
	head := iser.Control{Opcode: iser.OpControl}
	h := iser.BHS{Opcode: iser.SCSICommand, Flags: 0x80, ITT: 5}
	h.Words[3] = scsi << 24
	a := iser.BHS{Opcode: iser.SCSIResponse, Flags: 0x80, ITT: 5, Three: status}
	var data []byte
	if len(sense) > 0 {
		data = append([]byte{0, byte(len(sense))}, sense...)
		a.DataLength = uint32(len(data))
		for len(data)%4 != 0 {
			data = append(data, 0)
		}
	}
	return asked{h.Append(head.Append(nil, iser.RFC7145)), append(a.Append(head.Append(nil, iser.RFC7145)), data...)}
}

// fixedSense are sense data of the fixed format, descriptorSense of the descriptor format.
func fixedSense(key byte, asc byte) []byte {
	return []byte{0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, asc, 0, 0, 0, 0, 0}
}

func descriptorSense(key byte, asc byte) []byte { return []byte{0x72, key, asc, 0, 0, 0, 0, 0} }

// iserRejects is a command that is rejected.
func iserRejects(reason uint8) asked {
	a := iserAsked(0x28, 0)
	h := iser.BHS{Opcode: iser.Reject, Flags: 0x80, Two: reason, ITT: iser.NoTask, DataLength: iser.BHSLen}
	a.answer = append(h.Append(iser.Control{Opcode: iser.OpControl}.Append(nil, iser.RFC7145)), a.request[iser.RFC7145.Len():]...)
	return a
}

// smbAsked is a request of SMB2.
func smbAsked(c smbdirect.Command, status uint32) asked {
	data := func(h smbdirect.SMB2) []byte {
		h.Protocol, h.HeaderSize, h.Command, h.MessageID = smbdirect.ProtocolSMB2, smbdirect.SMB2Len, c, 3
		d := smbdirect.Data{CreditsRequested: 255, CreditsGranted: 1, Offset: 24, Length: smbdirect.SMB2Len}
		return h.Append(append(d.Append(nil), 0, 0, 0, 0))
	}
	return asked{data(smbdirect.SMB2{}), data(smbdirect.SMB2{Flags: smbdirect.SMB2Response, Status: status})}
}

// nfsAsked is a call of NFS version 3.
func nfsAsked(procedure uint32, status byte, change func(*rpcrdma.RPC)) asked {
	h := rpcrdma.Header{XID: 9, Version: rpcrdma.Version1, Credits: 16}
	call := rpcrdma.RPC{XID: 9, Type: rpcrdma.Call, RPCVersion: rpcrdma.RPCVersion2, Program: rpcrdma.ProgramNFS, ProgVersion: 3, Procedure: procedure}
	reply := rpcrdma.RPC{XID: 9, Type: rpcrdma.Reply}
	if change != nil {
		change(&reply)
	}
	return asked{call.Append(h.Append(nil)), append(reply.Append(h.Append(nil)), 0, 0, 0, status)}
}

// TestUpperFailures: operations of the upper layer that failed are told, with a note. What belongs to normal use is not.
func TestUpperFailures(t *testing.T) {
	denied := func(why rpcrdma.AuthStat) func(*rpcrdma.RPC) {
		return func(r *rpcrdma.RPC) { r.ReplyStat, r.RejectStat, r.AuthStat = rpcrdma.Denied, rpcrdma.AuthError, why }
	}
	chunkError := nfsAsked(7, 0, nil)
	chunkError.answer = rpcrdma.Header{XID: 9, Version: rpcrdma.Version1, Credits: 16, Proc: rpcrdma.ProcError, Err: rpcrdma.ErrChunk}.Append(nil)
	for _, tt := range []struct {
		name string
		said []asked
		want string // "": nothing is said
	}{
		{"NVMe media error", []asked{nvmeConnect(1), nvmeAsked(2, 2, 0x81)}, "1 of 2 operations of NVMe/RDMA with an error, NVMe Read cid 7 (frame 8): Unrecovered Read Error (0x0281), in frame 9."},
		{
			"NVMe, several",
			[]asked{nvmeConnect(1), nvmeAsked(2, 2, 0x81), nvmeAsked(1, 0, 6), nvmeAsked(1, 0, 6)},
			"3 of 4 operations of NVMe/RDMA with an error. The first one is NVMe Read cid 7 (frame 8): Unrecovered Read Error (0x0281), in frame 9. The most frequent status is Internal Error (0x0006), 2 times.",
		},
		{"NVMe, all alike", []asked{nvmeConnect(1), nvmeAsked(1, 0, 6), nvmeAsked(1, 0, 6)}, "All have the same status."},
		{"NVMe Compare", []asked{nvmeConnect(1), nvmeAsked(5, 2, 0x85)}, ""},
		{"NVMe event aborted", []asked{nvmeConnect(0), nvmeAsked(0x0c, 0, 7)}, ""},
		{"NVMe command aborted", []asked{nvmeConnect(1), nvmeAsked(2, 0, 7)}, "Command Abort Requested (0x0007)"},
		{"NVMe admin, not there", []asked{nvmeConnect(0), nvmeAsked(6, 0, 2)}, ""},
		{"NVMe I/O, invalid", []asked{nvmeConnect(1), nvmeAsked(2, 0, 2)}, "Invalid Field in Command (0x0002)"},
		{"NVMe queue deleted", []asked{nvmeConnect(1), nvmeAsked(2, 0, 8)}, ""},
		{"NVMe success", []asked{nvmeConnect(1), nvmeAsked(2, 0, 0)}, ""},

		{"SCSI medium error", []asked{iserAsked(0x28, 0), iserAsked(0x28, 2, fixedSense(3, 0x11)...)}, "iSCSI Read(10) itt 0x00000005 (frame 8): CHECK CONDITION, MEDIUM ERROR (0x1100), in frame 9."},
		{"SCSI medium error in descriptors", []asked{iserAsked(0x28, 0), iserAsked(0x28, 2, descriptorSense(3, 0x11)...)}, "CHECK CONDITION, MEDIUM ERROR (0x1100)"},
		{"SCSI unit attention", []asked{iserAsked(0x28, 0), iserAsked(0x28, 2, fixedSense(6, 0x29)...)}, ""},
		{"SCSI unit attention in descriptors", []asked{iserAsked(0x28, 0), iserAsked(0x28, 2, descriptorSense(6, 0x29)...)}, ""},
		{"SCSI recovered error", []asked{iserAsked(0x28, 0), iserAsked(0x28, 2, fixedSense(1, 0x17)...)}, ""},
		{"SCSI Inquiry of a page that is not there", []asked{iserAsked(0x28, 0), iserAsked(0x12, 2, fixedSense(5, 0x24)...)}, ""},
		{"SCSI Read out of range", []asked{iserAsked(0x28, 0), iserAsked(0x28, 2, fixedSense(5, 0x21)...)}, "CHECK CONDITION, ILLEGAL REQUEST (0x2100)"},
		{"SCSI not ready, asked", []asked{iserAsked(0x28, 0), iserAsked(0, 2, fixedSense(2, 4)...)}, ""},
		{"SCSI Read, not ready", []asked{iserAsked(0x28, 0), iserAsked(0x28, 2, fixedSense(2, 4)...)}, "NOT READY"},
		{"SCSI task set full", []asked{iserAsked(0x28, 0), iserAsked(0x28, 0x28)}, ""},
		{"SCSI reservation conflict", []asked{iserAsked(0x28, 0), iserAsked(0x2a, 0x18)}, "RESERVATION CONFLICT (0x18)"},
		{"SCSI good", []asked{iserAsked(0x28, 0), iserAsked(0x28, 0)}, ""},
		{"iSCSI Reject", []asked{iserAsked(0x28, 0), iserRejects(4)}, "iSCSI SCSI Command: protocol error (0x04), in frame 9."},
		{"iSCSI Reject of an immediate command", []asked{iserAsked(0x28, 0), iserRejects(6)}, ""},

		{"SMB2 disk full", []asked{smbAsked(smbdirect.CommandWrite, 0xC000007F)}, "SMB2 WRITE id 3 (frame 6): STATUS_DISK_FULL (0xc000007f), in frame 7."},
		{"SMB2 unknown error of a READ", []asked{smbAsked(smbdirect.CommandRead, 0xC0000999)}, "unknown (0xc0000999)"},
		{"SMB2 end of file", []asked{smbAsked(smbdirect.CommandRead, 0xC0000011)}, ""},
		{"SMB2 no such name", []asked{smbAsked(5, 0xC0000034)}, ""},
		{"SMB2 disk full on CREATE", []asked{smbAsked(5, 0xC000007F)}, "STATUS_DISK_FULL"},
		{"SMB2 no more files", []asked{smbAsked(14, 0x80000006)}, ""},
		{"SMB2 more processing", []asked{smbAsked(1, 0xC0000016)}, ""},

		{"NFS stale", []asked{nfsAsked(6, 70, nil)}, "NFS READ xid 0x00000009 (frame 6): STALE (70), in frame 7."},
		{"NFS no space", []asked{nfsAsked(7, 28, nil)}, "NOSPC (28)"},
		{"NFS no entry", []asked{nfsAsked(3, 2, nil)}, ""},
		{"NFS not empty", []asked{nfsAsked(13, 66, nil)}, ""},
		{"NFS OK", []asked{nfsAsked(6, 0, nil)}, ""},
		{"RPC denied", []asked{nfsAsked(6, 0, denied(1))}, "AUTH_BADCRED, in frame 7."},
		{"RPC, another flavor", []asked{nfsAsked(6, 0, denied(5))}, ""},
		{"RPC garbage", []asked{nfsAsked(6, 0, func(r *rpcrdma.RPC) { r.AcceptStat = 4 })}, "GARBAGE_ARGS"},
		{"RPC program not there", []asked{nfsAsked(6, 0, func(r *rpcrdma.RPC) { r.AcceptStat = 1 })}, ""},
		{"RDMA_ERROR", []asked{chunkError}, "RDMA_ERROR ERR_CHUNK"},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		if strings.HasPrefix(tt.name, "NVMe") {
			d.Private = [2][]byte{
				nvme.ConnectRequest{QueueID: uint16(tt.said[0].request[42]), ReceiveQueueSize: 8, SendQueueSize: 8}.Append(nil),
				nvme.ConnectAccept{ReceiveQueueSize: 8}.Append(nil),
			}
		}
		d.Request()
		d.Reply()
		for _, a := range tt.said {
			d.Message(tracetest.Client, rdmap.OpSend, a.request, 1400)
			d.Message(tracetest.Server, rdmap.OpSend, a.answer, 1400)
		}
		var c tracetest.TCP
		c.Handshake()
		for _, turn := range d.Turns {
			c.Send(turn.Side, turn.Data)
		}
		all := diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(c.Packets)))
		said := text(all, diagnose.UpperFailed)
		if (said == "") != (tt.want == "") || !strings.Contains(said, tt.want) {
			t.Errorf("%s:\n%s", tt.name, said)
		}
		if said != "" && !strings.HasPrefix(said, "note upper-layer responder ") {
			t.Errorf("%s:\n%s", tt.name, said)
		}
	}
}
