package rpcrdma

import "encoding/binary"

// Operation is what a call does, as far as its first octets tell.
type Operation struct {
	// Program, Version and Procedure are those of the call.
	Program, Version, Procedure uint32
	// Compound is that of an NFS version 4 COMPOUND or CB_COMPOUND, if HasCompound.
	Compound    Compound
	HasCompound bool
}

// Name is the name of the operation: the procedure, of a COMPOUND its main operation, or
// "" where there is no name for it.
func (o *Operation) Name() string {
	name := "unknown"
	switch {
	case o.Program == ProgramNFS && o.Version == 3:
		name = procedure3(uint64(o.Procedure))
	case o.Program == ProgramNFS && o.Version == 4:
		if name = procedure4(uint64(o.Procedure)); o.HasCompound && o.Compound.MainKnown {
			name = operation4(uint64(o.Compound.Main))
		}
	case o.Callback():
		if name = callbackProcedure(uint64(o.Procedure)); o.HasCompound && o.Compound.MainKnown {
			name = callbackOperation(uint64(o.Compound.Main))
		}
	case o.Procedure == 0:
		name = "NULL"
	}
	if name == "unknown" {
		return ""
	}
	return name
}

// Callback reports whether the program is that of NFS callbacks. RFC 8881 lets the
// client choose its number; the one of Linux, in the range that RFC 5531 section 8.3 calls
// transient, is the one that is known here.
func (o *Operation) Callback() bool { return o.Program == ProgramCallback }

// OperationOf tells what a call does; args are the octets behind its header, as many as
// there are.
func OperationOf(r *RPC, args []byte) Operation {
	o := Operation{Program: r.Program, Version: r.ProgVersion, Procedure: r.Procedure}
	nfs4 := o.Program == ProgramNFS && o.Version == 4
	if (nfs4 || o.Callback()) && o.Procedure == procCompound && r.Credential.Flavor != FlavorGSS {
		o.Compound, o.HasCompound = decodeCompound(args, o.Callback())
	}
	return o
}

// Status is the status of NFS that a reply begins with: of version 3 that of the call, of a
// COMPOUND that of the last operation that was tried. Results are the octets behind the
// header of an accepted reply. ok is false if the operation has none, or the octets are not
// there.
func (o *Operation) Status(results []byte) (status uint32, name string, ok bool) {
	if len(results) < wordLen || o.Procedure == 0 {
		return 0, "", false
	}
	v := binary.BigEndian.Uint32(results)
	switch {
	case o.Program == ProgramNFS && o.Version == 3:
		return v, status3(uint64(v)), true
	case o.Program == ProgramNFS && o.Version == 4 || o.Callback():
		return v, status4(uint64(v)), true
	}
	return 0, "", false
}

// DecodeCompoundReply reads what the results of a COMPOUND begin with: the status of the
// last operation that was tried, the tag, and the number of results. ok is false if they
// are not there.
func DecodeCompoundReply(results []byte) (status uint32, tag []byte, count uint32, ok bool) {
	x := xdr{b: results}
	status, tag, count = x.word("short_compound"), x.opaque("short_tag", maxTag), x.word("short_compound")
	return status, tag, count, x.err == nil
}

const (
	procCompound = 1
	// maxTag is the longest tag that is believed, in octets. The RFCs have no bound; known
	// clients send at most 20 octets.
	maxTag = 1024
	// maxHandle is the longest file handle (RFC 7530 section 2.1).
	maxHandle = 128
	// maxWalk bounds how many operations are gone over.
	maxWalk = 16
)

// Operations of NFS version 4 whose arguments have a known length, and that prepare
// others.
const (
	opGetAttr   = 9
	opGetFH     = 10
	opPutFH     = 22
	opPutPubFH  = 23
	opPutRootFH = 24
	opRestoreFH = 31
	opSaveFH    = 32
	opSequence  = 53

	opCBSequence = 11

	sequenceLen = 32 // session, sequence, slot, highest slot, whether to cache
)

// Compound is the start of the arguments of a COMPOUND (RFC 7530 section 15.2) or a
// CB_COMPOUND.
type Compound struct {
	// Tag is what the client calls it; its octets lie in the input.
	Tag []byte
	// Minor is the minor version, Count the number of operations.
	Minor, Count uint32
	// Main is the first operation that does not only prepare others, as SEQUENCE and PUTFH
	// do, or come with them, as GETATTR does before a CLOSE; if there is none, the GETATTR
	// or the last one. It is not known if the octets end before it.
	Main      uint32
	MainKnown bool
}

// decodeCompound reads the arguments of a COMPOUND, or of a CB_COMPOUND, which has one word
// more. It reports false if their first words are not there.
func decodeCompound(b []byte, callback bool) (Compound, bool) {
	x := xdr{b: b}
	c := Compound{Tag: x.opaque("short_tag", maxTag)}
	c.Minor = x.word("short_compound")
	if callback {
		x.word("short_compound") // callback_ident
	}
	c.Count = x.word("short_compound")
	if x.err != nil {
		return Compound{}, false
	}
	seen := false // a GETATTR
	for i := range min(c.Count, maxWalk) {
		op := x.word("short_operation")
		if x.err != nil {
			break
		}
		attributes := op == opGetAttr && !callback
		if !attributes && !prepares(&x, op, callback) {
			c.Main, c.MainKnown = op, x.err == nil
			break
		}
		if attributes {
			seen = true
			x.bitmap()
		}
		if i+1 == c.Count {
			if c.Main, c.MainKnown = op, true; seen {
				c.Main = opGetAttr
			}
		}
	}
	return c, true
}

// prepares goes over the arguments of an operation that prepares others, and reports
// whether it is one.
func prepares(x *xdr, op uint32, callback bool) bool {
	if callback {
		if op != opCBSequence {
			return false
		}
		x.skip(16 + 4*wordLen) // session, sequence, slot, highest slot, whether to cache
		// What follows is a list of calls that it refers to; none is by far the usual.
		if x.word("short_operation") != 0 {
			x.fail("referring_calls")
		}
		return x.err == nil
	}
	switch op {
	case opSequence:
		x.skip(sequenceLen)
	case opPutFH:
		x.opaque("short_operation", maxHandle)
	case opPutRootFH, opPutPubFH, opGetFH, opSaveFH, opRestoreFH:
	default:
		return false
	}
	return x.err == nil
}

// maxBitmap is the longest bitmap of attributes that is believed, in words.
const maxBitmap = 8

// bitmap goes over a bitmap of attributes.
func (x *xdr) bitmap() {
	n := x.word("short_operation")
	if n > maxBitmap {
		x.fail("short_operation")
		return
	}
	x.skip(int(n) * wordLen)
}

func (x *xdr) skip(n int) {
	if x.err != nil || len(x.b)-x.at < n {
		x.fail("short_operation")
		return
	}
	x.at += n
}
