package fields

import (
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/reassembly"
)

// noteNames are the notes of a frame, in the order in which they are written.
var noteNames = []struct {
	note reassembly.Note
	name string
}{
	{reassembly.Retransmission, "retransmission"},
	{reassembly.OutOfOrder, "out-of-order"},
	{reassembly.KeepAlive, "keep-alive"},
	{reassembly.Conflict, "overlap-conflict"},
	{reassembly.BeforeStart, "before-start"},
	{reassembly.AfterFIN, "after-fin"},
	{reassembly.LateForGap, "late-for-gap"},
}

// AppendNotes appends what is to be said of a frame besides what it carries. The notes
// are words of this program, apart from the reason for which a frame could not be read.
func AppendNotes(notes []string, f *pipeline.Frame) []string {
	if f.Note != 0 {
		for _, n := range noteNames {
			if f.Note&n.note != 0 {
				notes = append(notes, n.name)
			}
		}
	}
	if f.Status == packet.OK && len(f.Packet.Payload) < f.Packet.PayloadLen {
		notes = append(notes, "cut-by-snaplen")
	}
	if len(f.Packet.Fragments) > 1 {
		notes = append(notes, "ip-fragments")
	}
	if f.Status == packet.OK && f.Packet.Proto == packet.ProtoSCTP {
		notes = appendSCTPNotes(notes, f)
	}
	if f.Damaged {
		notes = append(notes, "damaged")
	}
	if f.Duplicate {
		notes = append(notes, "duplicate")
	}
	if f.Reason != "" {
		notes = append(notes, f.Reason)
	}
	return notes
}

// appendSCTPNotes names what is to be said of the checksum of a packet and of its pad.
func appendSCTPNotes(notes []string, f *pipeline.Frame) []string {
	switch f.Checksum {
	case sctp.Zero:
		notes = append(notes, "checksum-zero")
	case sctp.Bad:
		notes = append(notes, "checksum-bad")
	case sctp.Reversed:
		notes = append(notes, "checksum-reversed")
	case sctp.Good, sctp.Unverifiable:
	}
	if f.Pad != "" {
		notes = append(notes, f.Pad)
	}
	return notes
}
