package trace

import "slices"

// Rare are counts of what most directions have none of. They are separate from [Flow] to save
// memory.
type Rare struct {
	// Chunks counts DDP segment chunks, Controls session control chunks (over
	// SCTP), LateChunks those after their turn, DuplicateSSNs those with the DDP-SSN of
	// another one.
	Chunks, Controls, LateChunks, DuplicateSSNs uint64
	// DataChunks counts the DATA and I-DATA chunks that carried those of Chunks and Controls,
	// without those that came again: a segment that SCTP fragments is in several.
	DataChunks uint64
	// Spread is the frame with which the packets of the direction had taken several
	// paths in turn for so long that it is no failover, Unnumbered the one with
	// which 32768 DDP-SSNs were under way; 0 if there is none (over SCTP).
	Spread, Unnumbered uint64
	// CRCUnverifiable counts FPDUs whose CRC could not be verified.
	CRCUnverifiable uint64
	// Partial counts FPDUs of which octets are missing.
	Partial uint64
	// Unsent is how many octets the last FPDU lacks of UnsentOf, as the connection or the capture ends in the
	// middle of it; 0 if there is no such FPDU.
	Unsent, UnsentOf uint64
	// Malformed counts FPDUs whose DDP or RDMAP header could not be read.
	Malformed uint64
	// Unframed are octets of full operation that are in no FPDU.
	Unframed uint64
	// Gaps and GapOctets are holes of the capture; over SCTP GapOctets counts the
	// DDP-SSNs that are missing.
	Gaps, GapOctets uint64
	// NeverSent are those of GapOctets over SCTP that are in no chunk although none is missing:
	// their sender left them out, or sent the message without its first fragment.
	NeverSent uint64
	// NoRoom counts those of the gaps that were given up because no more octets or chunks could
	// wait behind them: what is missing may have been captured later.
	NoRoom uint64
	// Torn counts messages over SCTP of which fragments were not captured, with their beginning; Headless
	// those without it, whose DDP-SSN is not known.
	Torn, Headless uint64
	// Retransmitted and Reordered count packets.
	Retransmitted, Reordered uint64
	// Unanswered counts requests of [Flow.Requests] that get no answer, Unmatched answers of
	// the direction without a request.
	Unanswered, Unmatched uint64
	// Unfinished is the first Read of which only a part of the answer came before the connection ended.
	Unfinished UnfinishedRead
	// Unheard counts those of the unanswered ones behind which the other side sent nothing, as
	// the acknowledgement with the request shows: no answer can be hidden in what was not read. For
	// TCP only.
	Unheard uint64
	// Refused are those of the unanswered ones that a Terminate quotes, RefusedFrame is the
	// frame of that.
	Refused, RefusedFrame uint64
	// SumsWrong counts packets with data whose TCP checksum is wrong, as far as it was
	// verified; it is set while none is right, and at the end of the connection. SumsUnfilled counts those
	// whose field was not filled in yet.
	SumsWrong, SumsUnfilled uint32
	// DoubtfulResets are the first resets of the direction that had no effect, or that its sender contradicts (over TCP).
	DoubtfulResets []DoubtfulReset
	// Held are the delays of the direction, nil while there are none; see [Flow.Delays].
	Held *Delays
	// Wrong are its faults, nil while there are none; see [Flow.Faults].
	Wrong *Faults
}

func (r *Rare) clone() *Rare {
	own := copied(r)
	if own == nil {
		return nil
	}
	own.Held, own.Wrong = copied(r.Held), copied(r.Wrong)
	own.DoubtfulResets = slices.Clone(r.DoubtfulResets)
	if k := own.Wrong; k != nil {
		k.Differing, k.BadCRCs, k.Holes = slices.Clone(k.Differing), slices.Clone(k.BadCRCs), slices.Clone(k.Holes)
		for i := range k.BadCRCs {
			k.BadCRCs[i].Frames = slices.Clone(k.BadCRCs[i].Frames)
		}
	}
	return own
}

// Rare returns what most directions have none of.
func (f *Flow) Rare() Rare {
	if f.Seldom == nil {
		return Rare{}
	}
	return *f.Seldom
}

// Rarely returns the same for the caller to change, and allocates it if needed.
func (f *Flow) Rarely() *Rare {
	if f.Seldom == nil {
		f.Seldom = new(Rare)
	}
	return f.Seldom
}

// UnfinishedRead is a Read whose answer has no end; Frame is that of the request, 0 if there is none.
type UnfinishedRead struct {
	Frame uint64
	// Got of the Size octets came, in FPDUs that are whole.
	Got, Size uint64
}
