package ulp

import "github.com/iwdissect/iwdissect/dissect/rpcrdma"

// The mark of a call is what its reply has to know of it: a reply names neither program nor
// procedure.
//
//	bit 63       there is one
//	bits 60, 61  1: NFS, 2: a callback of NFS, 0: another program
//
// of NFS the version (bits 0 to 7), the procedure (8 to 23), the main operation (24 to 39)
// and whether that is known (40); of others the program (0 to 31), its version (32 to 43)
// and the procedure (44 to 59).
const (
	markKnown    = 1 << 63
	markNFS      = 1 << 60
	markCallback = 2 << 60
	markKinds    = 3 << 60
	markMain     = 1 << 40
)

// rpcMark is the mark of an operation; 0 if its numbers do not fit.
func rpcMark(op *rpcrdma.Operation) uint64 {
	version, procedure := uint64(op.Version), uint64(op.Procedure)
	kind := uint64(0)
	switch {
	case op.Program == rpcrdma.ProgramNFS:
		kind = markNFS
	case op.Callback():
		kind = markCallback
	}
	switch {
	case kind == 0 && version < 1<<12 && procedure < 1<<16:
		return markKnown | uint64(op.Program) | version<<32 | procedure<<44
	case kind == 0 || version >= 1<<8 || procedure >= 1<<16:
		return 0
	}
	mark := markKnown | kind | version | procedure<<8
	if c := &op.Compound; op.HasCompound && c.MainKnown && c.Main < 1<<16 {
		mark |= markMain | uint64(c.Main)<<24
	}
	return mark
}

// markedOperation is the operation of a mark; ok is false if there is none.
func markedOperation(mark uint64) (op rpcrdma.Operation, ok bool) {
	if mark&markKnown == 0 {
		return op, false
	}
	switch mark & markKinds {
	case 0:
		op.Program, op.Version, op.Procedure = uint32(mark), uint32(mark>>32)&0xfff, uint32(mark>>44)&0xffff //nolint:gosec // parts of it
		return op, true
	case markNFS:
		op.Program = rpcrdma.ProgramNFS
	default:
		op.Program = rpcrdma.ProgramCallback
	}
	op.Version, op.Procedure = uint32(mark)&0xff, uint32(mark>>8)&0xffff                  //nolint:gosec // parts of it
	op.Compound.Main, op.Compound.MainKnown = uint32(mark>>24)&0xffff, mark&markMain != 0 //nolint:gosec // a part of it
	return op, true
}

// isNFS reports whether a mark is that of a call of NFS or of its callback.
func isNFS(mark uint64) bool { return mark&markKinds != 0 }
