package ulp

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/trace"
)

// TestISCSI_Commands: a command without a name is told by the first octet of its CDB.
func TestISCSI_Commands(t *testing.T) {
	f := newFeeder(t, 3260, Protocols()...)
	f.request("")
	command := func(itt, cdb uint32) string {
		h := iser.BHS{Opcode: iser.SCSICommand, Flags: 0x81, ITT: itt}
		h.Words[3] = cdb << 24
		return string(h.Append(iser.Control{Opcode: iser.OpControl}.Append(nil, iser.RFC7145)))
	}
	f.says(trace.I2R, command(1, 0x53), "iSCSI SCSI command 0x53 itt 0x00000001 lun 0")
	f.says(trace.I2R, command(2, 0x00), "iSCSI SCSI Test Unit Ready itt 0x00000002 lun 0")
}
