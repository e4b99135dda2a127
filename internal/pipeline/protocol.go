package pipeline

import (
	"bytes"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/analysis"
)

// Protocol is what a TCP connection carries, as its first octets show.
type Protocol uint8

// The protocols.
const (
	// Unrecognized: the first octets are none of the others.
	Unrecognized Protocol = iota
	// Unseen: the snap length took the first octets.
	Unseen
	HTTP
	TLS
	SSH
	// NVMe, ISCSI, SMB and RPC (as NFS uses it) are storage over plain TCP.
	NVMe
	ISCSI
	SMB
	RPC
	// Ceph is its messenger over plain TCP.
	Ceph
	// SMCR begins on TCP and goes on over RoCE (RFC 7609).
	SMCR
	// HalfRequest is the beginning of an MPA Request, and nothing behind it.
	HalfRequest
	// FewOctets are so few that they may be the beginning of an MPA Request by chance, and nothing else.
	FewOctets
)

// half reports whether it is, or may be, the beginning of an MPA Request.
func (p Protocol) half() bool { return p == HalfRequest || p == FewOctets }

// String returns the protocol as people call it.
func (p Protocol) String() string {
	return [...]string{
		"an unknown protocol", "octets that were not captured", "HTTP", "TLS", "SSH", "NVMe/TCP", "iSCSI", "SMB", "RPC (NFS)", "Ceph", "SMC-R",
		"the beginning of an MPA Request", "what may be the beginning of an MPA Request",
	}[p]
}

// Encrypted reports whether nobody can read what it carries.
func (p Protocol) Encrypted() bool { return p == TLS || p == SSH }

// protocolOf tells the protocol from the first octets of both sides.
func protocolOf(first [2][]byte) Protocol {
	if len(first[0])+len(first[1]) == 0 {
		return Unseen
	}
	for side, b := range first {
		if len(b) > 0 && len(b) < mpa.KeyLen && strings.HasPrefix(mpa.RequestKey, string(b)) {
			switch {
			case len(b) >= analysis.LeastKey:
				return HalfRequest
			case len(first[1-side]) == 0:
				return FewOctets
			}
		}
		if p := protocol(b); p != Unrecognized {
			return p
		}
	}
	return Unrecognized
}

// texts are what streams begin with.
var texts = []struct {
	begins   string
	protocol Protocol
}{
	{"GET ", HTTP},
	{"POST ", HTTP},
	{"PUT ", HTTP},
	{"HEAD ", HTTP},
	{"DELETE ", HTTP},
	{"OPTIONS ", HTTP},
	{"CONNECT ", HTTP},
	{"PATCH ", HTTP},
	{"PRI * HTTP/2", HTTP},
	{"HTTP/1.", HTTP},
	{"SSH-", SSH},
	{"ceph v", Ceph},
	{"\xe2\xd4\xc3\xd9", SMCR}, // "SMCR" in EBCDIC (RFC 7609 appendix A)
}

func protocol(b []byte) Protocol {
	for i := range texts {
		if bytes.HasPrefix(b, []byte(texts[i].begins)) {
			return texts[i].protocol
		}
	}
	switch {
	case len(b) >= 6 && b[0] >= 0x14 && b[0] <= 0x17 && b[1] == 3 && b[2] <= 4 && (b[0] != 0x16 || b[5] <= 0x18):
		return TLS // a record (RFC 8446 section 5.1)
	case len(b) >= 8 && bytes.Equal(b[:8], []byte{0, 0, 128, 0, 128, 0, 0, 0}), len(b) >= 8 && bytes.Equal(b[:8], []byte{1, 0, 128, 0, 128, 0, 0, 0}):
		return NVMe // ICReq and ICResp
	case len(b) >= 8 && (bytes.Equal(b[4:8], []byte("\xfeSMB")) || bytes.Equal(b[4:8], []byte("\xffSMB"))) && b[0] == 0:
		return SMB
	case len(b) >= 48 && (b[0] == 0x43 || b[0] == 0x23) && b[2] == 0 && b[3] == 0 && b[4] == 0:
		return ISCSI // a Login Request or Response of version 0 (RFC 7143 section 11.12)
	case len(b) >= 16 && b[0]&0x80 != 0 && bytes.Equal(b[8:16], []byte{0, 0, 0, 0, 0, 0, 0, 2}):
		return RPC // a record with a call of version 2 (RFC 5531)
	}
	return Unrecognized
}
