package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// upperFailures tells of operations of the upper layer that failed. That is no fault of iWARP, and a note: who looks for the cause of
// a failure is to know that it is not here. Nothing is told where only the port speaks for the upper layer.
func upperFailures(a *about) {
	if a.Upper == nil || a.Upper.By == trace.ByPort {
		return
	}
	for d := range a.Upper.Failures {
		if f := &a.Upper.Failures[d]; f.Count > 0 {
			a.upperFailure(trace.Dir(d), f)
		}
	}
}

// upperFailure tells of those that one side answered.
func (a *about) upperFailure(who trace.Dir, f *trace.UpperFailures) {
	u := a.Upper
	first, most := &f.Statuses[0], &f.Statuses[0]
	for i := range f.Statuses {
		if s := &f.Statuses[i]; s.Count > most.Count {
			most = s
		}
	}
	d := Diagnosis{
		Kind: UpperFailed, Severity: conformance.Note, Dir: who, HasDir: true, Frames: framesAt(f.Frame, f.Asked),
		Title: u.Protocol + " reports errors", same: u.Protocol + statusWords(most),
		Advice: fmt.Sprintf("check the log of the %s for that time: %s says why.", who.Sender(), answerers[u.Protocol]),
	}
	d.Text = "The upper layer reports errors: "
	if !a.wrong() {
		d.same, d.Text = d.same+" alone", "iWARP worked as it should, but the upper layer reports errors: "
	}
	answered := Counted(f.Count, "operation", "operations")
	if all := u.Asked[1-who]; all >= f.Count {
		answered = fmt.Sprintf("%s of %s", Number(f.Count), Counted(all, "operation", "operations"))
	}
	d.Text += fmt.Sprintf("the %s answered %s of %s with an error", who.Sender(), answered, u.Protocol)
	switch known := f.Operation != ""; {
	case known && f.Count == 1:
		d.Text += ", " + f.Operation
	case known:
		d.Text += ". The first one is " + f.Operation
	case f.Count == 1:
		d.Text += "; its request is not known"
	default:
		d.Text += ". The request of the first one is not known"
	}
	if f.Asked > 0 {
		d.Text += fmt.Sprintf(" (frame %d)", f.Asked)
	}
	d.Text += fmt.Sprintf(": %s, in frame %d.", statusWords(first), f.Frame)
	switch {
	case most.Count == f.Count && f.Count > 1:
		d.Text += " All have the same status."
	case f.Count > 1 && most.Count > 1:
		d.Text += fmt.Sprintf(" The most frequent status is %s, %s.", statusWords(most), Counted(most.Count, "time", "times"))
	}
	a.add(d)
}

// wrong reports whether there is a diagnosis of something that failed or is wrong.
func (a *about) wrong() bool {
	for i := range a.diagnoses {
		if a.diagnoses[i].Severity > conformance.Note {
			return true
		}
	}
	return false
}

// answerers are what decides about the operations of an upper layer.
var answerers = map[string]string{
	"NVMe/RDMA":  "its NVMe subsystem, or the storage behind it,",
	"iSER":       "its iSCSI layer, or the storage behind it,",
	"SMB Direct": "its SMB layer, or the file system behind it,",
	"RPC/RDMA":   "its NFS or other RPC service, or the file system behind it,",
}

// statusWords is a status with its number.
func statusWords(s *trace.UpperStatus) string {
	switch {
	case s.Digits == 0:
		return s.Word
	case s.Digits < 0:
		return fmt.Sprintf("%s (%d)", s.Word, s.Code)
	}
	return fmt.Sprintf("%s (0x%0*x)", s.Word, s.Digits, s.Code)
}
