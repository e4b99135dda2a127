package rpcrdma

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// MsgType says whether an RPC message is a call.
type MsgType uint32

// The types (RFC 5531 section 9).
const (
	Call  MsgType = 0
	Reply MsgType = 1
)

// String returns the name of the type.
func (t MsgType) String() string {
	switch t {
	case Call:
		return "call"
	case Reply:
		return "reply"
	}
	return "unknown"
}

// RPCVersion2 is the version of RPC that this package knows.
const RPCVersion2 = 2

// The states of a reply (RFC 5531 section 9).
type (
	// ReplyStat says whether a call was accepted.
	ReplyStat uint32
	// AcceptStat says what became of a call that was accepted.
	AcceptStat uint32
	// RejectStat says why a call was denied.
	RejectStat uint32
	// AuthStat says what was wrong with who sent it.
	AuthStat uint32
)

// The values that decide what follows.
const (
	Accepted ReplyStat = 0
	Denied   ReplyStat = 1

	Success      AcceptStat = 0
	ProgMismatch AcceptStat = 2

	RPCMismatch RejectStat = 0
	AuthError   RejectStat = 1
)

func nameOf(v uint64, names ...string) string {
	if v < uint64(len(names)) {
		return names[v]
	}
	return "unknown"
}

// String returns the name of the value as the RFC has it.
func (s ReplyStat) String() string { return nameOf(uint64(s), "MSG_ACCEPTED", "MSG_DENIED") }

// String returns the name of the value as the RFC has it.
func (s AcceptStat) String() string {
	return nameOf(uint64(s), "SUCCESS", "PROG_UNAVAIL", "PROG_MISMATCH", "PROC_UNAVAIL", "GARBAGE_ARGS", "SYSTEM_ERR")
}

// String returns the name of the value as the RFC has it.
func (s RejectStat) String() string { return nameOf(uint64(s), "RPC_MISMATCH", "AUTH_ERROR") }

// String returns the name of the value as the RFC has it.
func (s AuthStat) String() string {
	return nameOf(uint64(s), "AUTH_OK", "AUTH_BADCRED", "AUTH_REJECTEDCRED", "AUTH_BADVERF", "AUTH_REJECTEDVERF", "AUTH_TOOWEAK",
		"AUTH_INVALIDRESP", "AUTH_FAILED", "AUTH_KERB_GENERIC", "AUTH_TIMEEXPIRE", "AUTH_TKT_FILE", "AUTH_DECODE", "AUTH_NET_ADDR",
		"RPCSEC_GSS_CREDPROBLEM", "RPCSEC_GSS_CTXPROBLEM")
}

// FlavorGSS is the flavor of RPCSEC_GSS (RFC 2203), whose calls may have arguments that
// cannot be read.
const FlavorGSS = 6

func flavorName(v uint64) string {
	return nameOf(v, "AUTH_NONE", "AUTH_SYS", "AUTH_SHORT", "AUTH_DH", "unknown", "unknown", "RPCSEC_GSS", "AUTH_TLS")
}

// Auth is a credential or a verifier (RFC 5531 section 8.2): a flavor, the number of
// octets, and the octets, filled up to a multiple of four.
type Auth struct {
	Flavor uint32
	Body   []byte
}

// MaxAuth is the largest credential or verifier in octets.
const MaxAuth = 400

// RPC is the header of an RPC message (RFC 5531 section 9).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              XID                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                 Type: 0 is a call, 1 a reply                  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Call: RPC version, program, its version, procedure,          |
//	|        credential, verifier                                   |
//	|  Reply, accepted: 0, verifier, accept state,                  |
//	|        for PROG_MISMATCH the lowest and the highest version   |
//	|  Reply, denied: 1, reject state, then for RPC_MISMATCH the    |
//	|        lowest and the highest version, for AUTH_ERROR why     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type RPC struct {
	XID  uint32
	Type MsgType
	// Of a call. What follows RPCVersion is read for version 2.
	RPCVersion, Program, ProgVersion, Procedure uint32
	Credential                                  Auth
	// Verifier is that of a call or an accepted reply.
	Verifier Auth
	// Of a reply.
	ReplyStat  ReplyStat
	AcceptStat AcceptStat
	RejectStat RejectStat
	AuthStat   AuthStat
	// Low and High are the versions that are supported, for PROG_MISMATCH and
	// RPC_MISMATCH.
	Low, High uint32
	// CredentialAt and VerifierAt are where they begin, in octets; 0 if they were not
	// reached.
	CredentialAt, VerifierAt int
	// Len is the size of the header in octets: arguments or results follow.
	Len int
}

// Offsets of the words that the header of a call begins with, in octets.
const (
	offRPCXID      = 0
	offRPCType     = 4
	offRPCVersion  = 8
	offProgram     = 12
	offProgVersion = 16
	offProcedure   = 20

	rpcLen  = 8  // what calls and replies have
	callLen = 24 // up to the credential
)

// xdr reads words in turn. After an error it gives zeroes.
type xdr struct {
	b   []byte
	at  int
	err error
}

func (x *xdr) word(code string) uint32 {
	if x.err != nil || len(x.b)-x.at < wordLen {
		x.fail(code)
		return 0
	}
	x.at += wordLen
	return binary.BigEndian.Uint32(x.b[x.at-wordLen:])
}

func (x *xdr) fail(code string) {
	if x.err == nil {
		x.err = dissect.Short(dissect.LayerRPCRDMA, code, len(x.b))
	}
}

// opaque reads octets with their number before them and zeroes up to a multiple of four
// after them.
func (x *xdr) opaque(code string, most uint32) []byte {
	n := x.word(code)
	if x.err != nil {
		return nil
	}
	if n > most {
		x.err = &dissect.Error{Layer: dissect.LayerRPCRDMA, Code: code, Offset: x.at - wordLen, Err: errLength}
		return nil
	}
	padded := (int(n) + wordLen - 1) &^ (wordLen - 1)
	if len(x.b)-x.at < padded {
		x.fail(code)
		return nil
	}
	at := x.at
	x.at += padded
	return x.b[at : at+int(n) : at+int(n)]
}

// place is where the next word begins, or 0 after an error.
func (x *xdr) place() int {
	if x.err != nil {
		return 0
	}
	return x.at
}

const errLength = listError("more octets than there may be")

func (x *xdr) auth(code string) Auth {
	flavor := x.word(code)
	return Auth{flavor, x.opaque(code, MaxAuth)}
}

// DecodeRPC reads the header of an RPC message at the start of b. It fails if b ends within
// it, or if a credential is longer than one may be; the result then has what stands
// before that place.
func DecodeRPC(b []byte) (RPC, error) {
	x := xdr{b: b}
	var r RPC
	r.XID = x.word("short_rpc")
	r.Type = MsgType(x.word("short_rpc"))
	switch {
	case x.err != nil:
		return RPC{}, x.err
	case r.Type == Call:
		r.call(&x)
	case r.Type == Reply:
		r.reply(&x)
	}
	r.Len = x.at
	return r, x.err
}

func (r *RPC) call(x *xdr) {
	r.RPCVersion = x.word("short_call")
	if r.RPCVersion != RPCVersion2 {
		return
	}
	r.Program = x.word("short_call")
	r.ProgVersion = x.word("short_call")
	r.Procedure = x.word("short_call")
	r.CredentialAt, r.Credential = x.place(), x.auth("short_credential")
	r.VerifierAt, r.Verifier = x.place(), x.auth("short_verifier")
}

func (r *RPC) reply(x *xdr) {
	r.ReplyStat = ReplyStat(x.word("short_reply"))
	switch {
	case x.err != nil:
	case r.ReplyStat == Accepted:
		r.VerifierAt, r.Verifier = x.place(), x.auth("short_verifier")
		r.AcceptStat = AcceptStat(x.word("short_reply"))
		if x.err == nil && r.AcceptStat == ProgMismatch {
			r.Low, r.High = x.word("short_reply"), x.word("short_reply")
		}
	case r.ReplyStat == Denied:
		r.RejectStat = RejectStat(x.word("short_reply"))
		switch {
		case x.err != nil:
		case r.RejectStat == RPCMismatch:
			r.Low, r.High = x.word("short_reply"), x.word("short_reply")
		case r.RejectStat == AuthError:
			r.AuthStat = AuthStat(x.word("short_reply"))
		}
	}
}

// Append appends the octets of the header. The octets that fill up credential and verifier
// are zero.
func (r RPC) Append(dst []byte) []byte {
	dst = appendWords(dst, r.XID, uint32(r.Type))
	switch {
	case r.Type == Call:
		if dst = appendWords(dst, r.RPCVersion); r.RPCVersion != RPCVersion2 {
			return dst
		}
		dst = appendWords(dst, r.Program, r.ProgVersion, r.Procedure)
		return r.Verifier.append(r.Credential.append(dst))
	case r.Type != Reply:
		return dst
	}
	dst = appendWords(dst, uint32(r.ReplyStat))
	switch r.ReplyStat {
	case Accepted:
		dst = appendWords(r.Verifier.append(dst), uint32(r.AcceptStat))
		if r.AcceptStat == ProgMismatch {
			dst = appendWords(dst, r.Low, r.High)
		}
	case Denied:
		dst = appendWords(dst, uint32(r.RejectStat))
		switch r.RejectStat {
		case RPCMismatch:
			dst = appendWords(dst, r.Low, r.High)
		case AuthError:
			dst = appendWords(dst, uint32(r.AuthStat))
		}
	}
	return dst
}

func (a Auth) append(dst []byte) []byte {
	dst = appendWords(dst, a.Flavor, uint32(len(a.Body))) //nolint:gosec // at most 400
	dst = append(dst, a.Body...)
	for n := len(a.Body); n%wordLen != 0; n++ {
		dst = append(dst, 0)
	}
	return dst
}

func appendWords(dst []byte, words ...uint32) []byte {
	for _, w := range words {
		dst = binary.BigEndian.AppendUint32(dst, w)
	}
	return dst
}

// Ordinary reports whether a reply tells of no error, or of one that belongs to normal use: a client finds out which programs and
// versions a server has, which flavor of security it wants, and that a context of RPCSEC_GSS is to be renewed (RFC 5531 section 9,
// RFC 2203 section 5.3.3.3).
func (r *RPC) Ordinary() bool {
	switch {
	case r.ReplyStat == Accepted:
		return r.AcceptStat <= procUnavailable
	case r.RejectStat == AuthError:
		return r.AuthStat == authTooWeak || r.AuthStat == gssCredentialProblem || r.AuthStat == gssContextProblem
	}
	return r.RejectStat == RPCMismatch
}

// The values that belong to normal use: accepted calls up to the first one, and what is said of who sent it.
const (
	procUnavailable      AcceptStat = 3
	authTooWeak          AuthStat   = 5
	gssCredentialProblem AuthStat   = 13
	gssContextProblem    AuthStat   = 14
)
